"""What the console asks of payments beyond reads.py: a payment's page, refunds, and who is called so. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import column, select, table

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries
from app.payments import tables
from app.payments.state import Commission

SQL: Final = Queries(__package__ or "app.payments", "pages.sql")

_refund = table(
    "refund",
    *map(column, "id payment_id amount source status reason actor event_id occurred_at created_at".split()),
    schema="payments",
)


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment on its page."""

    id: int
    reference: str
    slug: str
    provider_ref: str | None
    status: str
    amount: int
    currency: str
    registered_amount: int
    refunded_amount: int
    charged_back_amount: int
    wallet: str | None
    grant_subject: str | None
    grant_resource: str | None
    metadata: dict[str, Any]
    source: str
    paid_at: datetime | None
    paid_by_event: int | None
    created_at: datetime

    @property
    def remaining(self) -> int:
        """What may still go back, once paid."""
        return self.amount - self.refunded_amount - self.charged_back_amount


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund, with the reference of its payment."""

    id: int
    payment_id: int
    amount: int
    currency: str
    source: str
    status: str
    reason: str | None
    actor: str
    event_id: int | None
    occurred_at: datetime
    created_at: datetime
    reference: str


@dataclass(frozen=True, slots=True)
class Chargeback:
    """One cycle of a dispute."""

    cycle: int
    amount: int
    dispute_id: str | None
    opened_event: int | None
    opened_at: datetime
    reversed_event: int | None
    reversed_at: datetime | None


def payment(conn: Connection, payment_id: int) -> Payment | None:
    """The payment of that id."""
    row = conn.execute(SQL["payment"], {"payment_id": payment_id}).fetchone()
    return Payment(*row) if row else None


def commissions(conn: Connection, payment_id: int) -> list[Commission]:
    """What partners were promised."""
    return [Commission(*row) for row in conn.execute(SQL["commissions"], {"payment_id": payment_id}).fetchall()]


def refunds_of(conn: Connection, payment_id: int) -> list[Refund]:
    """Its refunds, first to last."""
    return [Refund(*row) for row in conn.execute(SQL["refunds"], {"payment_id": payment_id}).fetchall()]


def chargebacks_of(conn: Connection, payment_id: int) -> list[Chargeback]:
    """Its disputes, first to last."""
    return [Chargeback(*row) for row in conn.execute(SQL["chargebacks"], {"payment_id": payment_id}).fetchall()]


def refunds(conn: Connection, *, status: str | None, before: int | None, limit: int) -> list[Refund]:
    """Newest first, below the id `before`; one more than `limit` tells that there are more."""
    columns = _refund.c
    statement = (
        select(
            columns.id, columns.payment_id, columns.amount, tables.payment.c.currency, columns.source, columns.status,
            columns.reason, columns.actor, columns.event_id, columns.occurred_at, columns.created_at,
            tables.payment.c.reference,
        )
        .join_from(_refund, tables.payment, tables.payment.c.id == columns.payment_id)
        .order_by(columns.id.desc())
        .limit(limit + 1)
    )  # fmt: skip
    if status:
        statement = statement.where(columns.status == status)
    if before is not None:
        statement = statement.where(columns.id < before)
    return [Refund(*row) for row in select_all(conn, statement)]


def refund(conn: Connection, refund_id: int) -> Refund | None:
    """The refund of that id."""
    row = conn.execute(SQL["refund"], {"refund_id": refund_id}).fetchone()
    return Refund(*row) if row else None


def claims(conn: Connection, payment_id: int, refund_id: int) -> list[tuple[str, int, int]]:
    """(the provider's id, amount, event) of what the provider told of a refund."""
    rows = conn.execute(SQL["claims"], {"payment_id": payment_id, "refund_id": refund_id}).fetchall()
    return [(row[0], row[1], row[2]) for row in rows]


def references(conn: Connection, payment_ids: Iterable[int | None]) -> dict[int, str]:
    """Payment -> the merchant's reference."""
    wanted = sorted({payment_id for payment_id in payment_ids if payment_id is not None})
    if not wanted:
        return {}
    return {row[0]: row[1] for row in conn.execute(SQL["references"], {"payment_ids": wanted}).fetchall()}


def refund_by_key(conn: Connection, key: str) -> tuple[int, int, int] | None:
    """(refund, payment, amount) that a form's key made; None if it made none."""
    row = conn.execute(SQL["refund_by_key"], {"key": key}).fetchone()
    return (row[0], row[1], row[2]) if row else None


def by_name(conn: Connection, text: str) -> list[int]:
    """Payments that the merchant or a provider calls so."""
    return [row[0] for row in conn.execute(SQL["by_name"], {"text": text}).fetchall()]


def awaiting(conn: Connection, text: str) -> list[int]:
    """Events that wait for a payment of that name."""
    return [row[0] for row in conn.execute(SQL["awaiting"], {"text": text}).fetchall()]


def by_provider_refund(conn: Connection, text: str) -> list[int]:
    """Refunds that the provider calls so."""
    return [row[0] for row in conn.execute(SQL["by_provider_refund"], {"text": text}).fetchall()]
