"""What a reader relies on: no commit outside db.py, no assembled SQL, no left-overs, modules and functions that fit a screen."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted((ROOT / "app").rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 70


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_says_its_job_and_fits(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "the first line says what the module is for"
    assert source.count("\n") <= LONGEST_MODULE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


def test_only_the_database_module_commits() -> None:
    """Doors open transactions; capabilities never end them."""
    committers = {named(path) for path in MODULES if re.search(r"\.commit\(\)|\.rollback\(\)", path.read_text())}
    assert committers <= {"app/base/db.py", "app/safeguards/doctor.py", "app/safeguards/trying.py"}


def test_money_never_meets_a_float() -> None:
    """float( appears nowhere below the doors but where a comment says why."""
    for path in MODULES:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if "float(" in line and "doors" not in str(path):
                assert '"-inf"' in line, f"{named(path)}:{number}"


def test_nothing_is_left_over() -> None:
    for path in [*MODULES, *(ROOT / "app").rglob("*.sql"), *(ROOT / "migrations").rglob("*.sql")]:
        assert not re.search(r"\b(TODO|FIXME|XXX)\b|NotImplementedError", path.read_text()), named(path)


def test_every_named_statement_is_used() -> None:
    """A statement nobody names is dead."""
    for path in (ROOT / "app").rglob("*.sql"):
        if path.name in {"probes.sql", "verify.sql"}:
            continue  # run one after the other, by all their names
        python = "".join(module.read_text() for module in path.parent.glob("*.py"))
        python += "".join(module.read_text() for module in (ROOT / "app").rglob("*.py"))
        for name in re.findall(r"^-- name: ([a-z_]+)$", path.read_text(), re.MULTILINE):
            assert f'"{name}"' in python, f"{named(path)}: {name}"


def test_the_floors_hold() -> None:
    """LAYOUT.md's directions, by import-linter."""
    done = subprocess.run([ROOT / ".venv/bin/lint-imports"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
