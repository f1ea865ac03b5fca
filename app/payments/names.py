"""The names by which an endpoint knows a payment, and the events that wait for a name to get its payment.

Two kinds: the provider's own references, and the merchant's reference as the provider repeats it. An unknown name
is kept empty and locked, so that an event and the registration of its payment can never miss each other.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from app.base.db import Connection
from app.intake import events as intake
from app.payments.state import SQL

NameKind = Literal["provider", "merchant"]


class Name(NamedTuple):
    """One name at one endpoint. Sorts as every lock on names does."""

    value: str
    endpoint_id: int
    kind: NameKind


def find(conn: Connection, names: Iterable[Name]) -> dict[Name, int | None]:
    """The payment of each name that has been met; None while it has none."""
    return _run(conn, "find_names", sorted(set(names)))


def hold(conn: Connection, names: Iterable[Name]) -> dict[Name, int | None]:
    """Keeps and locks those names (all that a transaction will need, at once); returns their payments as of now."""
    wanted = sorted(set(names))
    if not wanted:
        return {}
    conn.execute(SQL["keep_names"], _columns(wanted))
    return _run(conn, "lock_names", wanted)


def give(conn: Connection, given: dict[Name, int]) -> bool:
    """Gives names to payments and queues the events that waited for them; True if any did. The names are held."""
    names = sorted(given)
    if not names:
        return False
    columns = _columns(names)
    conn.execute(SQL["give_names"], {**columns, "payment_id": [given[name] for name in names]})
    waited = [row[0] for row in conn.execute(SQL["end_awaiting"], columns).fetchall()]
    intake.enqueue(conn, waited)
    return bool(waited)


def wait_for(conn: Connection, waiting: Iterable[tuple[Name, int]]) -> None:
    """Notes that events (name, event id) wait for a name. The names are held."""
    pairs = sorted(waiting)
    if pairs:
        columns = _columns([name for name, _ in pairs])
        conn.execute(SQL["await_names"], {**columns, "event_id": [event_id for _, event_id in pairs]})


def _run(conn: Connection, query: Literal["find_names", "lock_names"], names: list[Name]) -> dict[Name, int | None]:
    if not names:
        return {}
    rows = conn.execute(SQL[query], _columns(names)).fetchall()
    return {Name(value, endpoint_id, kind): payment_id for value, endpoint_id, kind, payment_id in rows}


def _columns(names: list[Name]) -> dict[str, Any]:
    return {
        "value": [name.value for name in names],
        "endpoint_id": [name.endpoint_id for name in names],
        "kind": [name.kind for name in names],
    }
