"""Stored events: kept exactly once with their bytes, claimed by one worker at a time, decided in an append-only log.

Owns the tables intake.event, delivery, queue, decision and standing. Refuses to change what was received.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from psycopg.types.json import Json

from app.base.db import Connection
from app.base.sql import Queries
from app.providers.contract import Call, Fact, Reading

SQL: Final = Queries(__package__ or "app.intake")

# Whoever sends these, they are somebody's secret; a provider's own are named by its adapter.
_ALWAYS_SECRET: Final = frozenset({"authorization", "proxy-authorization", "cookie"})
_Key = tuple[str, int]  # (event key, endpoint)
_Row = tuple[dict[str, Any], bytes]

WITHHELD: Final = "(withheld)"
ATTEMPTS_BEFORE_FAILED: Final = 10


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the provider is told of one event: our id, and whether this was its first delivery."""

    event_id: int
    new: bool


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event as the confirmation reads it. Minor units; times aware; `occurred_at` falls back to the reception."""

    id: int
    endpoint_id: int
    slug: str
    unmatched: str
    key: str
    type: str
    fact: str
    refs: list[str]
    merchant_reference: str | None
    amount: int | None
    currency: str | None
    fee: int | None
    occurred_at: datetime
    provider_refund_id: str | None
    cumulative: bool
    dispute_id: str | None
    reverses_chargeback: bool
    test: bool
    unreadable: str | None
    review: str | None
    received_at: datetime

    @property
    def moves_money(self) -> bool:
        """Whether it is understood, real, and says something about money."""
        return not (self.unreadable or self.test or self.review) and self.fact != Fact.INFORMATIONAL


@dataclass(slots=True)
class Decision:
    """What was done with an event, and why: status and reason code, and what it refers to (DESIGN section 2)."""

    event_id: int
    status: str
    reason: str
    payment_id: int | None = None
    caused_by: int | None = None
    entry_id: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One authentic call, and what its provider's adapter read in it."""

    endpoint_id: int
    call: Call
    readings: Sequence[Reading]
    secret_label: str
    remote_address: str | None
    secret_headers: frozenset[str] = frozenset()


def receive(conn: Connection, arrivals: Sequence[Arrival]) -> list[list[Receipt]]:
    """Stores what those calls tell; returns for each call a receipt for each of its readings, in their order.

    The body is kept byte for byte; of the headers, values that are secrets are withheld.

    One statement when all are new, a second for those that were there: run on a connection in autocommit, so that
    the second sees what the first waited for.
    """
    first: dict[_Key, _Row] = {}
    repeated: list[_Row] = []
    for arrival in arrivals:
        for key, row in _rows(arrival).items():
            if first.setdefault(key, row) is not row:
                repeated.append(row)
    new = _store(conn, "receive", list(first.values()))
    known = new | _store(conn, "deliver_again", [row for key, row in first.items() if key not in new] + repeated)
    untold = set(new)
    answers: list[list[Receipt]] = []
    for arrival in arrivals:
        keys = [(reading.key, arrival.endpoint_id) for reading in arrival.readings]
        answers.append([Receipt(known[key], new=key in untold) for key in keys])
        untold.difference_update(keys)
    return answers


def reject(conn: Connection, endpoint_id: int, reason: str, remote_address: str | None) -> None:
    """Notes that a call proved nothing; the log of an endpoint is bounded."""
    conn.execute(SQL["reject"], {"endpoint_id": endpoint_id, "reason": reason, "remote_address": remote_address})


def claim(conn: Connection, limit: int) -> list[StoredEvent]:
    """Up to `limit` due events, held until this transaction ends."""
    return [StoredEvent(*row) for row in conn.execute(SQL["claim"], {"limit": limit}).fetchall()]


def claim_one(conn: Connection, event_id: int) -> StoredEvent | None:
    """That queued event, held; None when it is gone or another worker has it."""
    if conn.execute(SQL["claim_one"], {"event_id": event_id}).fetchone() is None:
        return None
    return next(iter(get_events(conn, [event_id])), None)


def get_events(conn: Connection, event_ids: Sequence[int]) -> list[StoredEvent]:
    """Those events, in order of id."""
    rows = conn.execute(SQL["get_events"], {"event_ids": list(event_ids)}).fetchall()
    return [StoredEvent(*row) for row in rows]


def record_decisions(conn: Connection, decisions: Sequence[Decision], actor: str) -> None:
    """Appends the decisions and moves each event's standing."""
    rows = [
        {
            "event_id": decision.event_id,
            "status": decision.status,
            "reason": decision.reason,
            "payment_id": decision.payment_id,
            "caused_by": decision.caused_by,
            "entry_id": decision.entry_id,
            "detail": decision.detail,
            "actor": actor,
        }
        for decision in decisions
    ]
    conn.execute(SQL["record_decisions"], {"decisions": Json(rows)})


def find_ids(conn: Connection, *, status: str | None, slug: str | None, since: datetime | None) -> list[int]:
    """The ids of the events that stand so, of that endpoint, received since then; each filter may be None."""
    rows = conn.execute(SQL["find_ids"], {"status": status, "slug": slug, "since": since}).fetchall()
    return [row[0] for row in rows]


def standing(conn: Connection, event_id: int) -> tuple[str, int | None] | None:
    """Where the event stands: (status, payment id); None while it is undecided."""
    return conn.execute(SQL["standing"], {"event_id": event_id}).fetchone()


def count_redelivery(conn: Connection, event_id: int) -> None:
    """Counts that a person or a key had this event decided again."""
    conn.execute(SQL["count_redelivery"], {"event_id": event_id})


def enqueue(conn: Connection, event_ids: Iterable[int]) -> None:
    """Queues events for the worker again."""
    ids = sorted(event_ids)
    if ids:
        conn.execute(SQL["enqueue"], {"event_ids": ids})


def enqueue_waiting(conn: Connection, payment_ids: Iterable[int], disputed_ids: Iterable[int]) -> int:
    """Queues the events that wait for these payments (`disputed_ids`: those just disputed); returns how many."""
    ids = sorted(payment_ids)
    if not ids:
        return 0
    wanted = {"payment_ids": ids, "disputed_ids": sorted(disputed_ids)}
    return len(conn.execute(SQL["enqueue_waiting"], wanted).fetchall())


def announce_work(conn: Connection) -> None:
    """Wakes a worker once this transaction commits; for acts of people and keys, not for receptions (see the bell)."""
    conn.execute(SQL["announce_work"])


def dequeue(conn: Connection, event_ids: Sequence[int]) -> None:
    """Takes decided events off the queue."""
    conn.execute(SQL["dequeue"], {"event_ids": list(event_ids)})


def put_off(conn: Connection, event_id: int) -> int:
    """Tries the event again later, with backoff and jitter; returns how often it was tried."""
    row = conn.execute(SQL["put_off"], {"event_id": event_id}).fetchone()
    return row[0] if row else 0


def backlog(conn: Connection) -> tuple[int, float]:
    """How many events are due (counted up to 10,000) and the seconds that the oldest has waited."""
    count, age = conn.execute(SQL["backlog"]).fetchall()[0]
    return count, age


def _rows(arrival: Arrival) -> dict[_Key, _Row]:
    """What is to be stored of a call, by (event key, endpoint); the body apart, since JSON holds no bytes."""
    call = arrival.call
    secret = arrival.secret_headers | _ALWAYS_SECRET
    told_once = {
        "endpoint_id": arrival.endpoint_id,
        "received_at": call.received_at.isoformat(),
        "remote_address": arrival.remote_address,
        "secret_label": arrival.secret_label,
        "headers": [[name, WITHHELD if name in secret else value] for name, value in call.headers],
    }
    return {
        (reading.key, arrival.endpoint_id): (_told(reading) | told_once, call.body)
        for reading in reversed(arrival.readings)  # of one key, the first counts
    }


def _told(reading: Reading) -> dict[str, Any]:
    return {
        "event_key": reading.key,
        "type": reading.type,
        "fact": reading.fact.value,
        "refs": reading.references,
        "merchant_reference": reading.merchant_reference,
        "amount": reading.amount,
        "currency": reading.currency,
        "fee": reading.fee,
        "occurred_at": reading.occurred_at.isoformat() if reading.occurred_at else None,
        "provider_refund_id": reading.refund_id,
        "cumulative": reading.cumulative,
        "dispute_id": reading.dispute_id,
        "reverses_chargeback": reading.reverses_chargeback,
        "account": reading.account,
        "test": reading.test,
        "unreadable": reading.unreadable,
        "review": reading.review,
    }


def _store(conn: Connection, query: Literal["receive", "deliver_again"], rows: Sequence[_Row]) -> dict[_Key, int]:
    if not rows:
        return {}
    parameters = {"events": Json([told for told, _ in rows]), "bodies": [body for _, body in rows]}
    found = conn.execute(SQL[query], parameters).fetchall()
    return {(event_key, endpoint_id): event_id for event_id, event_key, endpoint_id in found}
