"""What one event means for the payment that it names: the rules of DESIGN section 3, one function a question.

Pure: looks at a payment under its lock, changes it, adds to the plan, and returns the decision with its reason code.
The sentences for the codes are in reasons.py.
"""

from app.confirmation.found import Found
from app.intake.events import Decision, StoredEvent
from app.payments.confirming import confirm
from app.payments.plan import Plan
from app.payments.state import EXPECTED, Payment
from app.providers.contract import Fact
from app.refunds import deciding as refunds
from app.refunds import settling


def decide(plan: Plan, found: Found, event: StoredEvent) -> Decision:
    """The decision for one event. `found` is its payment and how it was found."""
    if event.unreadable:
        return Decision(event.id, "unreadable", event.unreadable, found.payment_id)
    if event.test:
        return Decision(event.id, "test", "test_traffic", found.payment_id)
    if event.review:
        return Decision(event.id, "review", event.review, found.payment_id)
    if event.fact == Fact.INFORMATIONAL:
        return Decision(event.id, "ignored", "moves_no_money", found.payment_id)
    if found.reference_taken:
        return Decision(event.id, "review", "reference_taken", detail={"reference": event.merchant_reference})
    if found.several:
        return Decision(event.id, "review", "names_of_two_payments", detail={"payments": sorted(found.several)})
    if found.payment is None:
        if event.fact == Fact.EXPIRED:
            return Decision(event.id, "ignored", "expired_unknown")
        return Decision(event.id, "unmatched", "payment_unknown")
    if found.by_reference_alone and found.payment.is_another_charge(event.refs):
        # The merchant's reference repeats, but the provider means another charge: perhaps somebody really paid twice.
        return Decision(event.id, "review", "second_charge", found.payment.id, found.payment.paid_by_event)
    return _decide_about(plan, found.payment, event)


def _decide_about(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    match event.fact:
        case Fact.PAID:
            return _decide_paid(plan, payment, event)
        case Fact.REFUNDED:
            return refunds.decide_refund(plan, payment, event)
        case Fact.CHARGEBACK_OPENED:
            return refunds.decide_chargeback(plan, payment, event)
        case Fact.CHARGEBACK_REVERSED:
            return refunds.decide_reversal(plan, payment, event)
        case _:
            return _decide_expired(plan, payment, event)


def _decide_paid(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    if _ends_chargeback(payment, event):
        assert payment.open_chargeback is not None
        entry_id = settling.reverse_chargeback(
            plan, payment, payment.open_chargeback, at=event.occurred_at, event_id=event.id
        )
        return Decision(event.id, "applied", "chargeback_reversed", payment.id, None, entry_id)
    if event.currency != payment.currency:
        return Decision(
            event.id, "review", "currency_differs", payment.id,
            detail={"seen": event.currency, "expected": payment.currency},
        )  # fmt: skip
    if event.amount != payment.amount:
        return Decision(
            event.id, "review", "amount_differs", payment.id, payment.paid_by_event,
            detail={"seen": event.amount, "expected": payment.amount, "currency": payment.currency},
        )  # fmt: skip
    if payment.status in EXPECTED:
        existed = payment.sale
        sale_id = confirm(plan, payment, at=event.occurred_at, event_id=event.id, fee=_fee(event))
        if existed:
            return Decision(event.id, "duplicate", "sale_already_posted", payment.id, existed.event_id, existed.id)
        return Decision(event.id, "applied", "payment_confirmed", payment.id, None, sale_id)
    restored = plan.restore_grant(payment, event_id=event.id)
    reason = "repeats_itself" if payment.paid_by_event == event.id else "payment_already_confirmed"
    sale = payment.sale
    return Decision(
        event.id, "duplicate", reason, payment.id, payment.paid_by_event, sale.id if sale else None,
        {"grant_restored": True} if restored else {},
    )  # fmt: skip


def _decide_expired(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    if payment.status == "pending":
        payment.status = "expired"
        plan.change(payment)
        return Decision(event.id, "applied", "payment_expired", payment.id)
    reason = "already_expired" if payment.status == "expired" else "expired_after_payment"
    return Decision(event.id, "ignored", reason, payment.id, payment.paid_by_event)


def _ends_chargeback(payment: Payment, event: StoredEvent) -> bool:
    """Asaas says CONFIRMED or RECEIVED again when a chargeback was won: the same words as the sale, told later."""
    chargeback = payment.open_chargeback
    if chargeback is None or not event.reverses_chargeback or payment.paid_by_event == event.id:
        return False
    return (event.occurred_at, event.id) > (chargeback.opened_at, chargeback.opened_event or 0)


def _fee(event: StoredEvent) -> int | None:
    """The provider's fee, when the event tells one that leaves something to receive."""
    return event.fee if event.fee and event.amount and event.fee < event.amount else None
