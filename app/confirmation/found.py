"""Finds the payments that a set of events names, registers those that the endpoint lets us, and notes who waits.

Owns the meeting of names and events. Order of locks: names, then payments (then balances, in payments/plan.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.base.db import Connection
from app.intake.events import StoredEvent
from app.payments import names
from app.payments.names import Name
from app.payments.registering import Registration, register_many
from app.payments.state import Payment, lock_payments
from app.providers.contract import Fact


@dataclass(slots=True)
class Found:
    """The payment of an event, and how it was found."""

    payment: Payment | None = None
    by_reference_alone: bool = False  # only the merchant's reference led here
    reference_taken: bool = False  # could not be registered from the event
    several: set[int] = field(default_factory=set)  # its names belong to more than one payment
    new_names: list[Name] = field(default_factory=list)  # names without a payment, held by this transaction

    @property
    def payment_id(self) -> int | None:
        return self.payment.id if self.payment else None


def names_of(event: StoredEvent) -> list[Name]:
    """Every name the event gives its payment, the provider's first."""
    found = [Name(ref, event.endpoint_id, "provider") for ref in event.refs]
    if event.merchant_reference:
        found.append(Name(event.merchant_reference, event.endpoint_id, "merchant"))
    return found


def find(conn: Connection, events: Sequence[StoredEvent]) -> dict[int, Found]:
    """For each event (by id) its locked payment, as far as it has one."""
    met = names.find(conn, (name for event in events for name in names_of(event)))
    unsettled = [event for event in events if event.moves_money and not _all_given(event, met)]
    registered: dict[Name, int] = {}
    taken: set[int] = set()
    if unsettled:
        met |= names.hold(conn, (name for event in unsettled for name in names_of(event)))
        registered, taken = _register(conn, unsettled, met)
    payment_of = met | registered
    ids = {event.id: _ids(event, payment_of) for event in events}
    locked = lock_payments(conn, (one for found in ids.values() for one in found))
    found: dict[int, Found] = {}
    for event in events:
        if len(ids[event.id]) == 1:
            own = names_of(event)
            found[event.id] = Found(
                payment=locked[next(iter(ids[event.id]))],
                by_reference_alone=not any(payment_of.get(name) for name in own if name.kind == "provider"),
                new_names=[name for name in own if name in met and met[name] is None],
            )
        else:
            found[event.id] = Found(several=ids[event.id], reference_taken=event.id in taken)
    return found


def _register(
    conn: Connection, events: Sequence[StoredEvent], met: dict[Name, int | None]
) -> tuple[dict[Name, int], set[int]]:
    """Registers unknown paid payments where the endpoint says so.

    Returns the names of the new payments, and the events that could not be registered since their reference is taken.
    Events of one set that share a name are one payment.
    """
    reference_of: dict[Name, str] = {}
    first: dict[str, StoredEvent] = {}
    for event in events:
        own = names_of(event)
        if not own or any(met.get(name) is not None for name in own):
            continue
        reference = next((reference_of[name] for name in own if name in reference_of), None)
        if reference is None:
            if not (event.unmatched == "register" and event.fact == Fact.PAID and event.amount and event.currency):
                continue
            reference = event.merchant_reference or event.refs[0]
            first.setdefault(reference, event)
        reference_of |= dict.fromkeys(own, reference)
    payment_ids = register_many(
        conn,
        [
            Registration(
                reference=reference, endpoint_id=event.endpoint_id, amount=event.amount or 0,
                currency=event.currency or "", provider_ref=event.refs[0] if event.refs else None, source="event",
            )
            for reference, event in first.items()
        ],
    )  # fmt: skip
    given = {name: payment_ids[reference] for name, reference in reference_of.items() if reference in payment_ids}
    return given, {event.id for reference, event in first.items() if reference not in payment_ids}


def _ids(event: StoredEvent, payment_of: dict[Name, int | None]) -> set[int]:
    given = [(name, payment_of.get(name)) for name in names_of(event)]
    by_provider = {payment_id for name, payment_id in given if payment_id is not None and name.kind == "provider"}
    # The provider's own names decide; the merchant's reference may be shared by several charges.
    return by_provider or {payment_id for _, payment_id in given if payment_id is not None}


def _all_given(event: StoredEvent, payment_of: dict[Name, int | None]) -> bool:
    return all(payment_of.get(name) is not None for name in names_of(event))
