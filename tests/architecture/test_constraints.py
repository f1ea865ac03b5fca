"""Every safeguard in the catalogue has a probe and a row in docs/invariants.md; nothing is promised there that is not so."""

import re
from pathlib import Path

import psycopg

from app.base.errors import BY_CONSTRAINT
from app.safeguards.probes import PROBES, Probe
from app.safeguards.trying import SCHEMAS, SQL
from app.safeguards.verify import CHECKS

ROOT = Path(__file__).parent.parent.parent
INVARIANTS = ROOT / "docs/invariants.md"


def row_of(probe: Probe) -> str:
    """As it must stand in the table of named safeguards."""
    by = f"{probe.kind} on `{probe.table}`"
    if probe.safeguard != probe.constraint:
        by = f"{probe.kind} `{probe.safeguard}` on `{probe.table}`"
    return f"| {probe.rule or '—'} | `{probe.constraint}` | {by} | `{probe.name}` | {probe.prevents} |"


def test_every_safeguard_in_the_catalogue_has_a_probe(owner: psycopg.Connection) -> None:
    rows = owner.execute(SQL["safeguards"], {"schemas": list(SCHEMAS)}).fetchall()
    catalogue = {(kind, name, table) for kind, name, table, _ in rows}
    probed = {(probe.kind, probe.safeguard, probe.table) for probe in PROBES}
    assert catalogue - probed == set(), "write a probe for these in app/safeguards/probes.sql"
    assert probed - catalogue == set(), "these probes are for something that is not there"


def test_a_name_means_one_thing() -> None:
    assert len({probe.constraint for probe in PROBES}) == len(PROBES)
    assert all(probe.name == probe.constraint for probe in PROBES)


def test_every_schema_of_ours_is_looked_at(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public')"
    ).fetchall()
    assert {name for (name,) in rows} == set(SCHEMAS)


def test_every_trigger_fires_in_every_session(owner: psycopg.Connection) -> None:
    assert owner.execute(SQL["sleeping_triggers"], {"schemas": list(SCHEMAS)}).fetchall() == []


def test_every_refusal_can_happen() -> None:
    assert set(BY_CONSTRAINT) <= {probe.constraint for probe in PROBES}


def test_every_safeguard_has_its_row_in_the_invariants() -> None:
    lines = set(INVARIANTS.read_text().splitlines())
    missing = [row_of(probe) for probe in PROBES if row_of(probe) not in lines]
    assert not missing, "docs/invariants.md lacks:\n" + "\n".join(missing)
    known = {probe.constraint for probe in PROBES}
    named = set(
        re.findall(
            r"^\| (?:—|\d+) \| `(\w+)` \| (?:check|unique|primary|foreign|trigger)",
            INVARIANTS.read_text(),
            re.MULTILINE,
        )
    )
    assert named == known, "docs/invariants.md names what does not exist"


def test_every_check_of_verify_has_its_row_in_the_invariants() -> None:
    lines = INVARIANTS.read_text().splitlines()
    for check in CHECKS:
        assert f"| {check.rule or '—'} | `{check.name}` | {check.holds} |" in lines


def test_every_test_that_the_invariants_name_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", INVARIANTS.read_text())
    assert named
    for path, function in named:
        source = (ROOT / path).read_text()
        assert not function or f"def {function}(" in source, f"{path}::{function}"
