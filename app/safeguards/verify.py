"""Verify: recomputes the books in one snapshot and names whatever does not fit.

Reads only, as the application's role. The server adds up; a cursor brings the first few offenders, so that ten million
postings take no memory here. Says what does not fit and what to do; mends nothing.
"""

from dataclasses import dataclass
from itertools import takewhile
from typing import Final, LiteralString

import psycopg
from psycopg import IsolationLevel

from app.base.db import APP_ROLE, Connection
from app.base.runtime import Runtime
from app.base.sql import Queries
from app.safeguards.report import NAMED_AT_MOST, Finding, Report
from app.safeguards.trying import SQL

_CHECKS: Final = Queries(__package__ or "app.safeguards", "verify.sql")


@dataclass(frozen=True, slots=True)
class _Check:
    """One question to the books: its rule, what it means when it fails, the statement that returns offenders."""

    name: str
    rule: int | None
    holds: str
    otherwise: str
    sql: LiteralString


def _read(name: str) -> _Check:
    comment = takewhile(lambda line: line.startswith("--"), _CHECKS[name].splitlines())
    words = " ".join(line.removeprefix("--").strip() for line in comment)
    holds, otherwise, meaning = words.partition(" Otherwise: ")
    assert otherwise, f"verify.sql, {name}: say the rule, then what it means otherwise"
    number, dot, rule = holds.partition(". ")
    if dot and number.startswith("Rule "):
        return _Check(name, int(number.removeprefix("Rule ")), rule, meaning, _CHECKS[name])
    return _Check(name, None, holds, meaning, _CHECKS[name])


CHECKS: Final = tuple(_read(name) for name in _CHECKS.names())


def verify(runtime: Runtime) -> Report:
    """Every check, on the database that the runtime is configured for."""
    options = f"-c role={APP_ROLE}"
    with psycopg.connect(runtime.app_url, connect_timeout=10, options=options, application_name="razao verify") as conn:
        return verify_books(conn)


def verify_books(conn: Connection) -> Report:
    """Every check, in one snapshot on that idle connection."""
    conn.isolation_level = IsolationLevel.REPEATABLE_READ
    conn.read_only = True
    with conn.transaction():
        return ask_all(conn)


def ask_all(conn: Connection) -> Report:
    """Every check, inside the caller's transaction: what that one sees."""
    conn.execute(SQL["read_it_all"])
    return Report(tuple(_ask(conn, check) for check in CHECKS))


def _ask(conn: Connection, check: _Check) -> Finding:
    with conn.cursor(name="verify") as cursor:
        cursor.execute(check.sql)
        offenders = cursor.fetchmany(NAMED_AT_MOST + 1)
    if not offenders:
        return Finding(check.name, check.rule, True, check.holds)
    named = [f"{who}: {what}" for who, what in offenders[:NAMED_AT_MOST]]
    if len(offenders) > NAMED_AT_MOST:
        named.append("… and more")
    return Finding(check.name, check.rule, False, f"Broken: {check.holds} So {check.otherwise}", tuple(named))
