"""A refund that a person or the shop's application asks for: previewed, checked under the lock, booked once.

Recorded here, it is confirmed by the provider's own event for it (deciding.py), which then is a duplicate.
"""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from app.access.audit import Act, record
from app.base.clock import now
from app.base.db import Connection
from app.base.errors import Refusal
from app.base.ids import Kind, show
from app.payments.plan import Plan, open_plan, wake, write
from app.payments.state import EXPECTED, Payment, lock_payments
from app.refunds import settling


@dataclass(frozen=True, slots=True)
class Issued:
    """A refund as booked, or (in a preview) as it would be: the plan's entries show accounts and amounts."""

    refund_id: int
    entry_id: int
    amount: int
    payment: Payment
    plan: Plan


def issue(
    conn: Connection, payment_id: int, *, amount: int | None, key: str | None, source: str, act: Act, zone: ZoneInfo
) -> Issued:
    """Books a refund of `amount` minor units, or of all that remains; returns what it did.

    `key` is the request's own: the same one again is refused by refund_once (refund_exists, 409). Further refusals:
    payment_not_found (404), payment_not_paid, payment_charged_back, nothing_to_refund, refund_exceeds_payment (409).
    """
    issued = preview(conn, payment_id, amount=amount, key=key, source=source, act=act, zone=zone)
    write(conn, issued.plan)
    wake(conn, issued.plan)
    detail = {"refund": show(Kind.REFUND, issued.refund_id), "amount": issued.amount}
    record(conn, act, "payment.refund", show(Kind.PAYMENT, payment_id), detail)
    return issued


def preview(
    conn: Connection, payment_id: int, *, amount: int | None, key: str | None, source: str, act: Act, zone: ZoneInfo
) -> Issued:
    """The refund as `issue` would book it, planned under the lock but not written."""
    payment = lock_payments(conn, [payment_id]).get(payment_id)
    if payment is None:
        raise Refusal("payment_not_found", "There is no payment with this id.", status=404)
    _check_may_go_back(payment)
    wanted = payment.remaining if amount is None else amount
    if not 0 < wanted <= payment.remaining:
        raise Refusal(
            "refund_exceeds_payment", "The refund exceeds what remains of the payment; refund at most that.",
            remaining=payment.remaining, currency=payment.currency,
        )  # fmt: skip
    plan = open_plan(conn, [payment], decisions=1, zone=zone)
    refund_id, entry_id = settling.refund(
        plan, payment, wanted, at=now(), source=source, actor=act.actor, key=key, reason=act.reason
    )
    return Issued(refund_id, entry_id, wanted, payment, plan)


def _check_may_go_back(payment: Payment) -> None:
    if payment.status in EXPECTED:
        raise Refusal("payment_not_paid", "This payment is not paid; there is nothing to refund.")
    if payment.open_chargeback:
        # A refund beside a chargeback would return the money twice.
        raise Refusal(
            "payment_charged_back", "A chargeback holds this payment's money; a refund would return it twice."
        )
    if payment.remaining == 0:
        raise Refusal("nothing_to_refund", "This payment was refunded in full already.")
