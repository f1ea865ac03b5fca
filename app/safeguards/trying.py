"""Tries to do damage, each attempt in a savepoint of its own that is always rolled back, and reports who refused it.

A refusal counts only with the exact SQLSTATE from the exact constraint; what was not tried is not called proven.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, LiteralString

import psycopg

from app.base.db import Connection
from app.base.sql import Queries
from app.safeguards.probes import PROBES, Probe
from app.safeguards.report import Finding

SQL: Final = Queries(__package__ or "app.safeguards")
_SCENE: Final = Queries(__package__ or "app.safeguards", "scene.sql")

SCHEMAS: Final = ("safeguards", "intake", "payments", "ledger", "outbox", "access")
_DOCTORS: Final = 0x646F63746F72  # the advisory lock that one doctor holds
_ATTEMPTS_WHEN_BUSY: Final = 2
_PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Refused:
    """How an attempt ended: by whom it was refused; with no SQLSTATE, by nobody."""

    sqlstate: str | None = None
    constraint: str | None = None
    column: str | None = None
    message: str = ""

    @property
    def busy(self) -> bool:
        """Whether it was not refused but gave up waiting (lock_timeout, statement_timeout)."""
        return self.sqlstate in {"55P03", "57014"}

    def __str__(self) -> str:
        if self.sqlstate is None:
            return "nothing refused it"
        by = f" by {self.constraint}" if self.constraint else ""
        return f"refused with {self.sqlstate}{by}: {self.message}"


@contextmanager
def stage(conn: Connection) -> Iterator[None]:
    """A transaction (or savepoint) with the scene set, in which probes may run; whatever they did is undone."""
    with conn.transaction(force_rollback=True):
        conn.execute(SQL["one_doctor_at_a_time"], {"key": _DOCTORS})
        conn.execute(SQL["be_quick"])
        conn.execute(_SCENE["scene"])
        yield


def attempt(conn: Connection, act: Callable[[], object]) -> Refused:
    """Does it, checks what is deferred as a commit would, and undoes it; returns who refused."""
    try:
        with conn.transaction(force_rollback=True):
            act()
            conn.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.Error as error:
        return Refused(
            error.sqlstate or "unknown",
            error.diag.constraint_name,
            error.diag.column_name,
            error.diag.message_primary or "",
        )
    return Refused()


def try_probes(conn: Connection) -> list[Finding]:
    """One finding for each probe. Inside `stage`, as the owner."""
    asleep = {name: state for name, _, state in conn.execute(SQL["sleeping_triggers"], {"schemas": list(SCHEMAS)})}
    return [_finding(conn, probe, asleep.get(probe.safeguard)) for probe in PROBES]


def _finding(conn: Connection, probe: Probe, asleep: str | None) -> Finding:
    by = f"{probe.kind} {probe.safeguard} on {probe.table}"
    failed, notes = [], [by]
    for statement in probe.statements:
        refused = _try(conn, statement)
        if (refused.sqlstate, refused.constraint) == (probe.sqlstate, probe.constraint):
            continue
        said = f"{_shortened(statement)} -> {refused}"
        if refused.busy and statement.startswith("TRUNCATE") and _is_guarded(conn, probe):
            notes.append(f"{said} (the table was busy; the catalogue has the trigger, on and before TRUNCATE)")
        else:
            failed.append(said)
    if probe.kind == "trigger" and asleep == "D":
        failed.append(f"the trigger {probe.safeguard} is switched off")
    elif probe.kind == "trigger" and asleep:
        failed.append(f"the trigger {probe.safeguard} sleeps in replicated or restored sessions: ENABLE ALWAYS it")
    if failed:
        sentence = f"Not refused as it must be ({probe.sqlstate} {probe.constraint}). {probe.prevents}"
        return Finding(probe.name, probe.rule, False, sentence, (*notes, *failed))
    return Finding(probe.name, probe.rule, True, f"Refused. Otherwise: {probe.prevents}", tuple(notes))


def _try(conn: Connection, statement: LiteralString) -> Refused:
    """An attempt, again where it met a lock; TRUNCATE waits for nobody long."""

    def act() -> None:
        if statement.startswith("TRUNCATE"):
            conn.execute(SQL["be_quicker"])
        conn.execute(statement)

    refused = attempt(conn, act)
    for _ in range(1, _ATTEMPTS_WHEN_BUSY):
        if not refused.busy:
            break
        time.sleep(_PAUSE_SECONDS)
        refused = attempt(conn, act)
    return refused


def _is_guarded(conn: Connection, probe: Probe) -> bool:
    row = conn.execute(SQL["truncate_is_guarded"], {"trigger": probe.safeguard, "table": probe.table}).fetchone()
    return bool(row and row[0])


def _shortened(statement: str) -> str:
    one_line = " ".join(statement.split())
    return one_line if len(one_line) <= 100 else f"{one_line[:99]}…"
