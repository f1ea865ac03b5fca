"""The record of who did what, and why: one row an act, in the act's own transaction, never changed (rule 11)."""

from dataclasses import dataclass
from typing import Any, Final

from psycopg.types.json import Jsonb

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.access")


@dataclass(frozen=True, slots=True)
class Act:
    """Who acts (`operator:ana`, `api:shop`, `cli:root`), from where, and the reason given."""

    actor: str
    reason: str | None = None
    remote_address: str | None = None


def record(conn: Connection, act: Act, what: str, on: str, detail: dict[str, Any] | None = None) -> None:
    """Appends one audit record: `what` was done (`event.redeliver`) to `on` (`evn_12`)."""
    conn.execute(
        SQL["record_act"],
        {
            "actor": act.actor,
            "act": what,
            "object": on,
            "reason": act.reason,
            "detail": Jsonb(detail or {}),
            "remote_address": act.remote_address,
        },
    )
