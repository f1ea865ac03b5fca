"""What the console asks of the audit record: who did what, to what, and why. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import column, select, table

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.access", "pages.sql")

_audit = table("audit", *map(column, "id actor act object reason detail remote_address at".split()), schema="access")


@dataclass(frozen=True, slots=True)
class Done:
    """One act of a person or a key."""

    id: int
    actor: str
    act: str
    object: str
    reason: str | None
    detail: dict[str, Any]
    remote_address: str | None
    at: datetime


def audit(conn: Connection, *, actor: str | None, on: str | None, before: int | None, limit: int) -> list[Done]:
    """Newest first, below the id `before`; one more than `limit` tells that there are more."""
    statement = select(*_audit.c).order_by(_audit.c.id.desc()).limit(limit + 1)
    if actor:
        statement = statement.where(_audit.c.actor == actor)
    if on:
        statement = statement.where(_audit.c.object == on)
    if before is not None:
        statement = statement.where(_audit.c.id < before)
    return [Done(*row) for row in select_all(conn, statement)]


def of_objects(conn: Connection, objects: Sequence[str]) -> list[Done]:
    """What was done to any of those, first to last."""
    return [Done(*row) for row in conn.execute(SQL["of_objects"], {"objects": list(objects)}).fetchall()]


def last_of(conn: Connection, act: str, objects: Sequence[str]) -> dict[str, datetime]:
    """Object -> when that act was last done to it."""
    if not objects:
        return {}
    rows = conn.execute(SQL["last_of"], {"objects": list(objects), "act": act}).fetchall()
    return {row[0]: row[1] for row in rows}
