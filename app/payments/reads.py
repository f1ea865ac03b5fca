"""What is known of payments: each with its names and grants, and lists of them. Writes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, select

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries
from app.intake.tables import endpoint
from app.payments import tables

SQL: Final = Queries(__package__ or "app.payments", "reads.sql")


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment; amounts in minor units of `currency`."""

    id: int
    reference: str
    slug: str
    provider_ref: str | None
    status: str
    amount: int
    currency: str
    refunded_amount: int
    wallet: str | None
    metadata: dict[str, Any]
    paid_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Grant:
    """Access that a payment gave."""

    id: int
    payment_id: int
    subject: str
    resource: str
    granted_at: datetime


def payment(conn: Connection, payment_id: int) -> Payment | None:
    """The payment of that id."""
    rows = select_all(conn, _payments().where(tables.payment.c.id == payment_id))
    return Payment(*rows[0]) if rows else None


def payments(
    conn: Connection,
    *,
    reference: str | None = None,
    provider_ref: str | None = None,
    status: str | None = None,
    wallet: str | None = None,
    before: int | None,
    limit: int,
) -> list[Payment]:
    """Newest first, below the id `before`, at most `limit`. `provider_ref`: any of the provider's names for it."""
    columns = tables.payment.c
    statement = _payments()
    if reference is not None:
        statement = statement.where(columns.reference == reference)
    if provider_ref is not None:
        name = tables.name.c
        named = select(name.payment_id).where(
            name.value == provider_ref, name.kind == "provider", name.payment_id.is_not(None)
        )
        statement = statement.where(columns.id.in_(named))
    if status is not None:
        statement = statement.where(columns.status == status)
    if wallet is not None:
        statement = statement.where(columns.wallet == wallet)
    if before is not None:
        statement = statement.where(columns.id < before)
    return [Payment(*row) for row in select_all(conn, statement.order_by(columns.id.desc()).limit(limit))]


def provider_names(conn: Connection, payment_ids: Iterable[int]) -> list[tuple[int, str]]:
    """(payment, name) of every name that the provider has for those payments."""
    rows = conn.execute(SQL["provider_names"], {"payment_ids": sorted(payment_ids)}).fetchall()
    return [(row[0], row[1]) for row in rows]


def grants_of(conn: Connection, payment_ids: Iterable[int]) -> list[Grant]:
    """The access that those payments gave, first to last."""
    rows = conn.execute(SQL["grants_of"], {"payment_ids": sorted(payment_ids)}).fetchall()
    return [Grant(*row) for row in rows]


def grants(
    conn: Connection, *, subject: str | None, resource: str | None, before: int | None, limit: int
) -> list[Grant]:
    """Newest first, below the id `before`, at most `limit`."""
    columns = tables.access_grant.c
    statement = select(*columns)
    if subject is not None:
        statement = statement.where(columns.subject == subject)
    if resource is not None:
        statement = statement.where(columns.resource == resource)
    if before is not None:
        statement = statement.where(columns.id < before)
    return [Grant(*row) for row in select_all(conn, statement.order_by(columns.id.desc()).limit(limit))]


def id_of_reference(conn: Connection, reference: str) -> int | None:
    """The payment that the merchant calls so."""
    row = conn.execute(SQL["id_of_reference"], {"reference": reference}).fetchone()
    return row[0] if row else None


def currencies(conn: Connection, payment_ids: Iterable[int]) -> dict[int, str]:
    """Payment -> its currency."""
    rows = conn.execute(SQL["currencies"], {"payment_ids": sorted(payment_ids)}).fetchall()
    return {row[0]: row[1] for row in rows}


def _payments() -> Select[Any]:
    of = tables.payment.c
    return select(
        of.id, of.reference, endpoint.c.slug, of.provider_ref, of.status, of.amount, of.currency,
        of.refunded_amount, of.wallet, of.metadata, of.paid_at, of.created_at,
    ).join_from(tables.payment, endpoint, endpoint.c.id == of.endpoint_id)  # fmt: skip
