"""What the console asks of intake: events with where they stand, deliveries, decisions, endpoints. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, column, func, literal_column, select, table

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.intake", "pages.sql")

NEEDS_A_PERSON: Final = ("failed", "review", "unmatched", "waiting", "unreadable")
MOST: Final = 200  # deliveries and decisions shown of one event
# Ids follow the order of reception but for the moments that parallel requests take: a bound on ids keeps this much slack.
_SLACK: Final = timedelta(minutes=10)

_event = table(
    "event", *map(column, "id endpoint_id event_key type fact amount currency received_at".split()), schema="intake"
)
_standing = table(
    "standing", *map(column, "event_id status reason payment_id caused_by entry_id detail".split()), schema="intake"
)
_endpoint = table("endpoint", column("id"), column("slug"), column("provider"), schema="intake")
_delivery = table("delivery", column("id"), column("event_id"), column("contradicts"), schema="intake")
_queue = table("queue", column("event_id"), schema="intake")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events a list shows; None does not narrow. `status` may be `received`: not decided yet."""

    status: str | None = None
    slug: str | None = None
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in a list."""

    id: int
    key: str
    type: str
    fact: str
    amount: int | None
    currency: str | None
    received_at: datetime
    slug: str
    status: str
    reason: str
    payment_id: int | None
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    deliveries: int
    cause_type: str | None = None
    cause_received_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event on its page."""

    id: int
    key: str
    type: str
    fact: str
    refs: list[str]
    merchant_reference: str | None
    amount: int | None
    currency: str | None
    fee: int | None
    occurred_at: datetime | None
    provider_refund_id: str | None
    cumulative: bool
    dispute_id: str | None
    account: str | None
    test: bool
    received_at: datetime
    slug: str
    provider: str
    status: str
    reason: str
    payment_id: int | None
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    redeliveries: int
    processed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One time that an event arrived."""

    id: int
    received_at: datetime
    remote_address: str | None
    secret_label: str
    sha256: str
    kept: bool
    contradicts: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of an event."""

    id: int
    status: str
    reason: str
    payment_id: int | None
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    actor: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class Told:
    """An event as its payment's page tells it."""

    id: int
    key: str
    type: str
    fact: str
    amount: int | None
    currency: str | None
    received_at: datetime
    status: str
    reason: str
    caused_by: int | None
    entry_id: int | None
    detail: dict[str, Any]
    deliveries: int


@dataclass(frozen=True, slots=True)
class EndpointSeen:
    """An endpoint and what it saw last."""

    id: int
    slug: str
    provider: str
    has_url_token: bool
    unmatched: str
    options: dict[str, str]
    created_at: datetime
    disabled_at: datetime | None
    labels: list[str]
    retired: int
    last_event: int | None
    last_type: str | None
    last_received_at: datetime | None
    rejections: int
    rejected_at: datetime | None


def events(conn: Connection, wanted: Filter, *, before: int | None, limit: int) -> list[EventRow]:
    """Newest first, below the id `before`; one more than `limit` tells that there are more."""
    statement = _narrowed(_rows(), wanted)
    # Walk the index of the narrowest filter: by status along the standings, else along the events.
    key = _standing.c.event_id if wanted.status and wanted.status != "received" else _event.c.id
    if before is not None:
        statement = statement.where(key < before)
    return [EventRow(*row) for row in select_all(conn, statement.order_by(key.desc()).limit(limit + 1))]


def duplicates(conn: Connection, wanted: Filter, *, before: int | None, limit: int) -> list[EventRow]:
    """Ignored duplicates, newest first, each with the event that came first."""
    first = _event.alias("first")
    statement = _narrowed(_rows(), wanted).add_columns(first.c.type, first.c.received_at)
    statement = statement.join_from(_standing, first, first.c.id == _standing.c.caused_by, isouter=True)
    if before is not None:
        statement = statement.where(_standing.c.event_id < before)
    return [
        EventRow(*row) for row in select_all(conn, statement.order_by(_standing.c.event_id.desc()).limit(limit + 1))
    ]


def event(conn: Connection, event_id: int) -> Event | None:
    """The event of that id."""
    row = conn.execute(SQL["event"], {"event_id": event_id}).fetchone()
    return Event(*row) if row else None


def deliveries(conn: Connection, event_id: int) -> list[Delivery]:
    """When and how it arrived, first to last."""
    rows = conn.execute(SQL["deliveries"], {"event_id": event_id, "limit": MOST}).fetchall()
    return [Delivery(*row) for row in rows]


def kept(conn: Connection, event_id: int, delivery_id: int | None) -> tuple[int, bytes, list[list[str]]] | None:
    """(delivery, bytes, headers) of the first delivery, or of one that kept its own."""
    row = conn.execute(SQL["kept"], {"event_id": event_id, "delivery_id": delivery_id}).fetchone()
    return (row[0], bytes(row[1]), row[2] or []) if row else None


def decisions(conn: Connection, event_id: int) -> list[Decided]:
    """Every decision of the event, first to last; of very many, the newest."""
    rows = conn.execute(SQL["decisions"], {"event_id": event_id, "limit": MOST}).fetchall()
    return [Decided(*row) for row in reversed(rows)]


def types(conn: Connection, event_ids: Iterable[int | None]) -> dict[int, tuple[str, datetime]]:
    """Event -> (type, when it was received)."""
    wanted = sorted({event_id for event_id in event_ids if event_id is not None})
    if not wanted:
        return {}
    return {row[0]: (row[1], row[2]) for row in conn.execute(SQL["types"], {"event_ids": wanted}).fetchall()}


def of_payment(conn: Connection, payment_id: int) -> list[Told]:
    """The events that stand to that payment, first to last."""
    rows = conn.execute(SQL["of_payment"], {"payment_id": payment_id, "limit": MOST}).fetchall()
    return [Told(*row) for row in rows]


def deliveries_of_payment(conn: Connection, payment_id: int) -> list[tuple[int, int, datetime, str, bool]]:
    """(delivery, event, when, secret's label, contradicts) of all that arrived about a payment, first to last."""
    rows = conn.execute(SQL["deliveries_of_payment"], {"payment_id": payment_id}).fetchall()
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def decisions_of_payment(conn: Connection, payment_id: int) -> list[tuple[int, Decided]]:
    """(event, decision) of the events that stand to a payment, first to last."""
    rows = conn.execute(SQL["decisions_of_payment"], {"payment_id": payment_id}).fetchall()
    return [(row[0], Decided(*row[1:])) for row in rows]


def needs(conn: Connection, statuses: Sequence[str] = NEEDS_A_PERSON) -> list[tuple[str, int, datetime]]:
    """(status, how many up to 1,000, the oldest's reception) of what needs a person."""
    found = {row[0]: row for row in conn.execute(SQL["needs"], {"statuses": list(statuses)}).fetchall()}
    return [found[status] for status in statuses if status in found]  # type: ignore[misc]  # rows of three


def contradicting(conn: Connection) -> list[tuple[int, datetime]]:
    """(event, last contradiction), newest event first."""
    return [(row[0], row[1]) for row in conn.execute(SQL["contradicting"]).fetchall()]


def queue(conn: Connection) -> tuple[int, datetime | None]:
    """How many events wait for the worker, and since when."""
    row = conn.execute(SQL["queue"]).fetchone()
    assert row is not None
    return row[0], row[1]


def ignored_since(conn: Connection, since: datetime) -> list[tuple[str | None, int, int]]:
    """(currency, duplicates, amount that was not credited twice)."""
    return [(row[0], row[1], row[2]) for row in conn.execute(SQL["ignored_since"], {"since": since}).fetchall()]


def received_since(conn: Connection, since: datetime) -> tuple[int, int]:
    """(deliveries, new events)."""
    row = conn.execute(SQL["received_since"], {"since": since}).fetchone()
    assert row is not None
    return row[0], row[1]


def endpoints(conn: Connection) -> list[EndpointSeen]:
    """Every endpoint by slug."""
    return [EndpointSeen(*row) for row in conn.execute(SQL["endpoints"]).fetchall()]


def rejections(conn: Connection, limit: int) -> list[tuple[str, str, str | None, datetime]]:
    """(slug, reason, remote address, when), newest first."""
    return [(row[0], row[1], row[2], row[3]) for row in conn.execute(SQL["rejections"], {"limit": limit}).fetchall()]


def choices(conn: Connection) -> tuple[list[str], list[str]]:
    """(slugs, event types) to filter by."""
    slugs = [row[0] for row in conn.execute(SQL["slugs"]).fetchall()]
    return slugs, [row[0] for row in conn.execute(SQL["event_types"]).fetchall()]


def by_key(conn: Connection, key: str) -> list[tuple[int, str, str]]:
    """(event, type, slug) of the events with the provider's own id."""
    return [(row[0], row[1], row[2]) for row in conn.execute(SQL["by_key"], {"key": key}).fetchall()]


def is_event(conn: Connection, event_id: int) -> bool:
    """Whether there is such an event."""
    return conn.execute(SQL["exists"], {"event_id": event_id}).fetchone() is not None


def _rows() -> Select[Any]:
    deliveries = select(func.count()).where(_delivery.c.event_id == _event.c.id).scalar_subquery()
    return (
        select(
            _event.c.id, _event.c.event_key, _event.c.type, _event.c.fact, _event.c.amount, _event.c.currency,
            _event.c.received_at, _endpoint.c.slug, func.coalesce(_standing.c.status, "received"),
            func.coalesce(_standing.c.reason, "received"), _standing.c.payment_id, _standing.c.caused_by, _standing.c.entry_id,
            func.coalesce(_standing.c.detail, literal_column("'{}'::jsonb")), deliveries,
        )
        .join_from(_event, _endpoint, _endpoint.c.id == _event.c.endpoint_id)
        .join_from(_event, _standing, _standing.c.event_id == _event.c.id, isouter=True)
    )  # fmt: skip


def _narrowed(statement: Select[Any], wanted: Filter) -> Select[Any]:
    if wanted.status == "received":
        queued = select(_queue.c.event_id)
        statement = statement.where(_standing.c.event_id.is_(None), _event.c.id.in_(queued))
    elif wanted.status:
        statement = statement.where(_standing.c.status == wanted.status)
    if wanted.slug:
        endpoint_id = select(_endpoint.c.id).where(_endpoint.c.slug == wanted.slug).scalar_subquery()
        statement = statement.where(_event.c.endpoint_id == endpoint_id)
    if wanted.type:
        statement = statement.where(_event.c.type == wanted.type)
    if wanted.contradicted:
        contradicted = select(_delivery.c.event_id).where(_delivery.c.contradicts)
        statement = statement.where(_event.c.id.in_(contradicted))
    return _in_time(statement, wanted)


def _in_time(statement: Select[Any], wanted: Filter) -> Select[Any]:
    """Between two moments. The bounds on ids let any index that ends in the id skip what is too old or too new."""
    near = _event.alias("near")
    if wanted.since:
        older = (
            select(near.c.id)
            .where(near.c.received_at < wanted.since - _SLACK)
            .order_by(near.c.received_at.desc(), near.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = statement.where(_event.c.received_at >= wanted.since, _event.c.id > func.coalesce(older, 0))
    if wanted.until:
        newer = (
            select(near.c.id)
            .where(near.c.received_at > wanted.until + _SLACK)
            .order_by(near.c.received_at, near.c.id)
            .limit(1)
            .scalar_subquery()
        )
        largest = 2**63 - 1
        statement = statement.where(_event.c.received_at < wanted.until, _event.c.id < func.coalesce(newer, largest))
    return statement
