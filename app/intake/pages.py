"""What the console asks of intake beyond reads.py: an event's page, what needs a person, endpoints. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.intake", "pages.sql")

NEEDS_A_PERSON: Final = ("failed", "review", "unmatched", "waiting", "unreadable")
MOST: Final = 200  # deliveries and decisions shown of one event


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
    return [(status, found[status][1], found[status][2]) for status in statuses if status in found]


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
