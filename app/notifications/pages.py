"""What the console asks of the outbox: what is owed to the shop's application, and what it has. Reads only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import column, select, table

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.notifications", "pages.sql")

_COLUMNS: Final = "id type payment_id subject body created_at attempts due_at delivered_at"
_message = table("message", *map(column, _COLUMNS.split()), schema="outbox")


@dataclass(frozen=True, slots=True)
class Message:
    """One message owed or delivered."""

    id: int
    type: str
    payment_id: int | None
    subject: str
    body: dict[str, Any]
    created_at: datetime
    attempts: int
    due_at: datetime
    delivered_at: datetime | None

    @property
    def state(self) -> str:
        """`owed` or `delivered`."""
        return "delivered" if self.delivered_at else "owed"


def messages(conn: Connection, *, before: int | None, limit: int) -> list[Message]:
    """Newest first, below the id `before`; one more than `limit` tells that there are more."""
    statement = select(*_message.c).order_by(_message.c.id.desc()).limit(limit + 1)
    if before is not None:
        statement = statement.where(_message.c.id < before)
    return [Message(*row) for row in select_all(conn, statement)]


def of_payment(conn: Connection, payment_id: int) -> list[Message]:
    """What the shop is told of that payment, first to last."""
    return [Message(*row) for row in conn.execute(SQL["of_payment"], {"payment_id": payment_id}).fetchall()]
