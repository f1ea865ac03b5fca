"""What is known of money that went back. Writes nothing."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.refunds", "reads.sql")


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund with its entry; minor units. `recorded` here, `confirmed` once the provider told of it."""

    id: int
    payment_id: int
    amount: int
    currency: str
    status: str
    reason: str | None
    entry_id: int | None
    period: date | None
    created_at: datetime


def of_payment(conn: Connection, payment_id: int, *, before: int | None, limit: int) -> list[Refund]:
    """The refunds of a payment, newest first, below the id `before`, at most `limit`."""
    wanted = {"payment_id": payment_id, "before": before, "limit": limit}
    return [Refund(*row) for row in conn.execute(SQL["of_payment"], wanted).fetchall()]
