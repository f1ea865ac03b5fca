"""Owes messages to the shop's application: written in the same transaction as what they tell (rule 10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg.types.json import Json

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.notifications")


@dataclass(frozen=True, slots=True)
class Message:
    """One outcome to tell. `subject` with `type` makes it unique, so that no outcome is told twice."""

    type: str
    payment_id: int
    subject: str
    data: dict[str, Any]


def enqueue_many(conn: Connection, messages: Sequence[Message]) -> None:
    """Owes those messages; the body has Standard Webhooks' shape (`type`, `data`)."""
    if messages:
        rows = [
            {
                "type": message.type,
                "payment_id": message.payment_id,
                "subject": message.subject,
                "body": {"type": message.type, "data": message.data},
            }
            for message in messages
        ]
        conn.execute(SQL["enqueue"], {"messages": Json(rows)})
