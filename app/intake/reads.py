"""What is known of stored events: each with where it stands, lists of them, and their decisions. Writes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, literal_column, select

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries
from app.intake import tables

SQL: Final = Queries(__package__ or "app.intake", "reads.sql")

UNDECIDED: Final = "received"
MOST_OF_A_PAYMENT: Final = 200  # events told with one payment; the list of events has them all
_LARGEST: Final = 2**63 - 1
# Ids follow the order of reception but for the moments that parallel requests take: bounds on ids keep this much slack.
_SLACK: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Event:
    """An event and where it stands; `status` is `received` until it is decided."""

    id: int
    slug: str
    provider: str
    key: str
    type: str
    fact: str
    amount: int | None
    currency: str | None
    received_at: datetime
    status: str
    reason: str
    payment_id: int | None
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    redeliveries: int
    processed_at: datetime | None
    deliveries: int


@dataclass(frozen=True, slots=True)
class EventOfPayment:
    """An event as its payment tells it."""

    payment_id: int
    id: int
    key: str
    type: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision, as it was recorded. `currency` is the event's own."""

    event_id: int
    status: str
    reason: str
    payment_id: int | None
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    actor: str
    decided_at: datetime
    currency: str | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events a list has; None does not narrow."""

    payment_id: int | None = None
    status: str | None = None
    slug: str | None = None
    type: str | None = None
    key: str | None = None
    since: datetime | None = None  # this instant and later
    until: datetime | None = None  # before this instant
    contradicted: bool = False  # only those that arrived again with another meaning


def event(conn: Connection, event_id: int) -> Event | None:
    """The event of that id."""
    rows = select_all(conn, _events().where(tables.event.c.id == event_id))
    return Event(*rows[0]) if rows else None


def events(conn: Connection, wanted: Filter, *, before: int | None, limit: int) -> list[Event]:
    """Newest first, below the id `before`, at most `limit`."""
    statement = _narrowed(_events(), wanted)
    # Walk the index of the narrowest filter: along the standings of a payment or a status, else along the events.
    by_standing = wanted.payment_id is not None or wanted.status not in {None, UNDECIDED}
    key = tables.standing.c.event_id if by_standing else tables.event.c.id
    if before is not None:
        statement = statement.where(key < before)
    return [Event(*row) for row in select_all(conn, statement.order_by(key.desc()).limit(limit))]


def of_payments(conn: Connection, payment_ids: Iterable[int]) -> list[EventOfPayment]:
    """The events that stand to those payments, first to last, at most MOST_OF_A_PAYMENT of each."""
    wanted = {"payment_ids": sorted(payment_ids), "most": MOST_OF_A_PAYMENT}
    return [EventOfPayment(*row) for row in conn.execute(SQL["of_payments"], wanted).fetchall()]


def last_decision(conn: Connection, event_id: int) -> Decided:
    """The newest decision of an event that has one."""
    row = conn.execute(SQL["last_decision"], {"event_id": event_id}).fetchone()
    assert row is not None
    return Decided(*row)


def endpoint(conn: Connection, slug: str) -> tuple[int, bool] | None:
    """(id, whether it takes payments and events) of the endpoint of that slug."""
    return conn.execute(SQL["endpoint"], {"slug": slug}).fetchone()


def standing_counts(conn: Connection) -> list[tuple[str, int]]:
    """(status, how many events stand so, counted up to 10,000) of what is not settled, for metrics."""
    return [(row[0], row[1]) for row in conn.execute(SQL["standing_counts"]).fetchall()]


def _events() -> Select[Any]:
    of, at = tables.event.c, tables.standing.c
    deliveries = select(func.count()).where(tables.delivery.c.event_id == of.id).scalar_subquery()
    return (
        select(
            of.id, tables.endpoint.c.slug, tables.endpoint.c.provider, of.event_key, of.type, of.fact, of.amount,
            of.currency, of.received_at, func.coalesce(at.status, UNDECIDED), func.coalesce(at.reason, UNDECIDED),
            at.payment_id, at.caused_by, at.entry_id, func.coalesce(at.detail, literal_column("'{}'::jsonb")),
            func.coalesce(at.redeliveries, 0), at.processed_at, deliveries,
        )
        .join_from(tables.event, tables.endpoint, tables.endpoint.c.id == of.endpoint_id)
        .join_from(tables.event, tables.standing, at.event_id == of.id, isouter=True)
    )  # fmt: skip


def _narrowed(statement: Select[Any], wanted: Filter) -> Select[Any]:
    of, at = tables.event.c, tables.standing.c
    if wanted.payment_id is not None:
        statement = statement.where(at.payment_id == wanted.payment_id)
    if wanted.status == UNDECIDED:
        statement = statement.where(at.event_id.is_(None), of.id.in_(select(tables.queue.c.event_id)))
    elif wanted.status:
        statement = statement.where(at.status == wanted.status)
    if wanted.slug is not None:
        endpoint_id = select(tables.endpoint.c.id).where(tables.endpoint.c.slug == wanted.slug).scalar_subquery()
        statement = statement.where(of.endpoint_id == endpoint_id)
    if wanted.type is not None:
        statement = statement.where(of.type == wanted.type)
    if wanted.key is not None:
        statement = statement.where(of.event_key == wanted.key)
    if wanted.contradicted:
        contradicted = select(tables.delivery.c.event_id).where(tables.delivery.c.contradicts)
        statement = statement.where(of.id.in_(contradicted))
    return statement.where(*_received(wanted.since, wanted.until))


def _received(since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    """Received in that time. The bounds on ids let any index that ends in the id skip what is too old or too new."""
    of, near = tables.event.c, tables.event.alias("near").c
    found: list[ColumnElement[bool]] = []
    if since:
        older = select(near.id).where(near.received_at < since - _SLACK)
        last_older = older.order_by(near.received_at.desc(), near.id.desc()).limit(1).scalar_subquery()
        found += [of.received_at >= since, of.id > func.coalesce(last_older, 0)]
    if until:
        newer = select(near.id).where(near.received_at > until + _SLACK)
        first_newer = newer.order_by(near.received_at, near.id).limit(1).scalar_subquery()
        found += [of.received_at < until, of.id < func.coalesce(first_newer, _LARGEST)]
    return found
