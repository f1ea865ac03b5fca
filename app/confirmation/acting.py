"""What people and keys may do: re-deliver, accept, dismiss, confirm by hand. Same path, same guards.

Every act leaves an audit record in its transaction.
"""

from zoneinfo import ZoneInfo

from app.access.audit import Act, record
from app.base.clock import now
from app.base.db import Connection
from app.base.errors import Refusal
from app.base.ids import Kind, show
from app.confirmation import found as finding
from app.confirmation.confirming import confirm
from app.intake import events as intake
from app.intake.events import Decision, StoredEvent
from app.payments import confirming, names
from app.payments.plan import open_plan, wake, write
from app.payments.state import EXPECTED, Payment, lock_payments


def redeliver(conn: Connection, event_id: int, *, act: Act, zone: ZoneInfo) -> tuple[Decision, bool]:
    """Has a stored event decided again, as if it had just arrived; returns the decision and whether others were queued.

    Safe to press: an effect that exists is not repeated, missing access is restored. Refusal: event_not_found (404).
    """
    event = _event(conn, event_id)
    [decision], woken = confirm(conn, [event], zone=zone, actor=act.actor, queued=False)
    intake.count_redelivery(conn, event_id)
    detail = {"status": decision.status, "reason": decision.reason}
    record(conn, act, "event.redeliver", show(Kind.EVENT, event_id), detail)
    return decision, woken


def accept(conn: Connection, event_id: int, *, act: Act, zone: ZoneInfo) -> Decision:
    """A person accepts what was really paid: the payment takes the event's amount and is confirmed by it.

    Refusals: event_not_found (404), event_not_in_review, payment_not_expected (409).
    """
    event = _event(conn, event_id)
    held = names.hold(conn, finding.names_of(event))
    payment = _reviewed_payment(conn, event_id)
    if payment.status not in EXPECTED or not event.amount or event.currency != payment.currency:
        raise Refusal("payment_not_expected", "Only an unpaid payment in the event's currency can take its amount.")
    plan = open_plan(conn, [payment], decisions=1, zone=zone)
    plan.named = {name: payment.id for name, owner in held.items() if owner is None}
    before, payment.amount = payment.amount, event.amount
    sale_id = confirming.confirm(plan, payment, at=event.occurred_at, event_id=event.id, fee=event.fee, memo=act.reason)
    write(conn, plan)
    detail = {"registered": before, "accepted": event.amount}
    decision = Decision(event.id, "applied", "accepted_by_person", payment.id, None, sale_id, detail)
    intake.record_decisions(conn, [decision], act.actor)
    wake(conn, plan)
    record(conn, act, "event.accept", show(Kind.EVENT, event_id), detail)
    return decision


def dismiss(conn: Connection, event_id: int, *, act: Act) -> Decision:
    """A person looked at an event that nothing was posted from, and lets it be. Refusals: as `accept`."""
    event = _event(conn, event_id)
    standing = _standing(conn, event_id)
    decision = Decision(event.id, "ignored", "dismissed_by_person", standing[1])
    intake.record_decisions(conn, [decision], act.actor)
    record(conn, act, "event.dismiss", show(Kind.EVENT, event_id), {"was": standing[0]})
    return decision


def confirm_by_person(conn: Connection, payment_id: int, *, act: Act, zone: ZoneInfo) -> int:
    """A person saw the money: confirms the payment as an event would; returns the id of its sale.

    Refusals: payment_not_found (404), already_confirmed (409).
    """
    payment = lock_payments(conn, [payment_id]).get(payment_id)
    if payment is None:
        raise Refusal("payment_not_found", "There is no payment with this id.", status=404)
    if payment.status not in EXPECTED:
        raise Refusal(
            "already_confirmed", f"This payment is {payment.status.replace('_', ' ')} already; nothing was changed."
        )
    plan = open_plan(conn, [payment], decisions=1, zone=zone)
    sale_id = confirming.confirm(plan, payment, at=now(), event_id=None, fee=None, memo=act.reason)
    write(conn, plan)
    wake(conn, plan)
    record(conn, act, "payment.confirm", show(Kind.PAYMENT, payment_id), {"entry": show(Kind.ENTRY, sale_id)})
    return sale_id


def _event(conn: Connection, event_id: int) -> StoredEvent:
    events = intake.get_events(conn, [event_id])
    if not events:
        raise Refusal("event_not_found", "There is no event with this id.", status=404)
    return events[0]


def _standing(conn: Connection, event_id: int) -> tuple[str, int | None]:
    standing = intake.standing(conn, event_id)
    if standing is None or standing[0] not in {"review", "unreadable", "failed", "unmatched", "waiting"}:
        raise Refusal("event_not_in_review", "This event waits for nobody; look at its decision.")
    return standing


def _reviewed_payment(conn: Connection, event_id: int) -> Payment:
    # The payment's lock comes first; under it the standing is looked at again, so that two people cannot both accept.
    status, payment_id = _standing(conn, event_id)
    if status != "review" or payment_id is None:
        raise Refusal("event_not_in_review", "This event is not in review for a payment; look at its decision.")
    payment = lock_payments(conn, [payment_id])[payment_id]
    if _standing(conn, event_id)[0] != "review":
        raise Refusal("event_not_in_review", "Somebody has decided this event meanwhile.")
    return payment
