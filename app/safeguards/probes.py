"""The probes: what each one tries, and exactly what must refuse it. Read from probes.sql."""

import re
from dataclasses import dataclass
from typing import Final, LiteralString, cast

from app.base.sql import Queries

_EXPECTED: Final = re.compile(
    r"-- (?:Rule (?P<rule>\d+)\. )?Refused: (?P<sqlstate>\w{5}) (?P<constraint>\w+), "
    r"by (?P<kind>check|unique index|unique|primary key|foreign key|trigger)(?: (?P<trigger>\w+))? "
    r"on (?P<table>\w+\.\w+)\."
)


@dataclass(frozen=True, slots=True)
class Probe:
    """Statements that would each do damage, and the one safeguard that must refuse every one of them."""

    name: str
    rule: int | None
    sqlstate: str
    constraint: str  # as the server reports it
    kind: str
    table: str
    safeguard: str  # as the catalogue has it: the constraint, but for a trigger that raises several
    prevents: str  # what would go wrong in money
    statements: tuple[LiteralString, ...]


def _read(name: str, text: str) -> Probe:
    first, *rest = text.splitlines()
    expected = _EXPECTED.fullmatch(first)
    assert expected, f"probes.sql, {name}: the first line says what must refuse it, not {first!r}"
    words = [line.removeprefix("--").strip() for line in rest if line.startswith("--") and not line.startswith("---")]
    prevents = words[: next((at for at, word in enumerate(words) if not word), len(words))]
    sql = "\n".join(line for line in rest if not line.startswith("--"))
    return Probe(
        name=name,
        rule=int(expected["rule"]) if expected["rule"] else None,
        sqlstate=expected["sqlstate"],
        constraint=expected["constraint"],
        kind=expected["kind"],
        table=expected["table"],
        safeguard=expected["trigger"] or expected["constraint"],
        prevents=" ".join(prevents),
        # LiteralString: text of ours, reviewed with the code.
        statements=tuple(
            cast("LiteralString", part.strip()) for part in re.split(r";\s*(?:\n|$)", sql) if part.strip()
        ),
    )


_SQL: Final = Queries(__package__ or "app.safeguards", "probes.sql")
PROBES: Final = tuple(_read(name, _SQL[name]) for name in _SQL.names())
