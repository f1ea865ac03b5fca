"""What an event about money going back means for a payment under its lock: applied, duplicate, waiting or review.

One refund may be told by several voices: by a person here and the provider there, by a refund with an id and by a
cumulative total. Each is counted once. Pure: reads and changes the payment, adds to the plan.
"""

from app.intake.events import Decision, StoredEvent
from app.payments.plan import Plan
from app.payments.state import EXPECTED, Chargeback, Payment, Refund
from app.refunds import settling


def decide_refund(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    """Decides a `refunded` event."""
    if payment.status in EXPECTED:
        return _said(event, payment, "waiting", "refund_before_payment")
    if event.currency not in {None, payment.currency}:
        return _said(event, payment, "review", "currency_differs", seen=event.currency, expected=payment.currency)
    own = next((refund for refund in payment.refunds if refund.event_id == event.id), None)
    if own:
        return _refund_known(payment, event, event.id, own.id)
    if event.provider_refund_id and event.provider_refund_id in payment.claims:
        return _refund_known(payment, event, *payment.claims[event.provider_refund_id])
    if payment.open_chargeback:
        # A provider reports the end of a lost dispute as a refund (Asaas): that money has gone back already.
        return _said(
            event, payment, "duplicate", "covered_by_chargeback", caused_by=payment.open_chargeback.opened_event
        )
    if event.provider_refund_id and event.amount is not None and not event.cumulative:
        return _decide_named(plan, payment, event, event.provider_refund_id, event.amount)
    return _decide_total(plan, payment, event)


def decide_chargeback(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    """Decides a `chargeback_opened` event."""
    if payment.status in EXPECTED:
        return _said(event, payment, "waiting", "chargeback_before_payment")
    known = next((one for one in payment.chargebacks if _same_opening(one, event)), None)
    if known:
        return _said(
            event, payment, "duplicate", "chargeback_already_recorded", caused_by=known.opened_event,
            entry_id=payment.entries["chargeback", str(known.cycle)].id,
        )  # fmt: skip
    if payment.open_chargeback:
        return _said(event, payment, "review", "second_dispute", caused_by=payment.open_chargeback.opened_event)
    if event.currency not in {None, payment.currency}:
        return _said(event, payment, "review", "currency_differs", seen=event.currency, expected=payment.currency)
    if event.amount is None and payment.refunded_amount:
        # Part went back as a refund: whether the dispute is about all or about the rest, only a person can say.
        return _said(event, payment, "review", "chargeback_after_refund")
    amount = payment.remaining if event.amount is None else event.amount
    if not 0 < amount <= payment.remaining:
        return _said(event, payment, "review", "chargeback_exceeds_payment", seen=amount, remaining=payment.remaining)
    entry_id = settling.open_chargeback(
        plan, payment, amount, at=event.occurred_at, event_id=event.id, dispute_id=event.dispute_id
    )
    return _said(event, payment, "applied", "chargeback_recorded", entry_id=entry_id)


def decide_reversal(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    """Decides a `chargeback_reversed` event."""
    cycle = next((one for one in reversed(payment.chargebacks) if _may_be_same(one, event)), None)
    if cycle is None:
        return _said(event, payment, "waiting", "reversal_before_chargeback")
    if cycle.reversed_at is not None:
        return _said(
            event, payment, "duplicate", "reversal_already_recorded", caused_by=cycle.reversed_event,
            entry_id=payment.entries["chargeback_reversal", str(cycle.cycle)].id,
        )  # fmt: skip
    entry_id = settling.reverse_chargeback(plan, payment, cycle, at=event.occurred_at, event_id=event.id)
    return _said(event, payment, "applied", "chargeback_reversed", entry_id=entry_id)


def _decide_named(plan: Plan, payment: Payment, event: StoredEvent, provider_refund_id: str, amount: int) -> Decision:
    """A refund that the provider names, with its own amount."""
    booked = _already_booked(payment, amount)
    if booked:
        first_told_by = booked.event_id
        _claim(plan, payment, event, booked, provider_refund_id, amount)
        return _refund_known(payment, event, first_told_by, booked.id)
    if not 0 < amount <= payment.remaining:
        return _said(event, payment, "review", "refund_exceeds_payment", seen=amount, remaining=payment.remaining)
    refund_id, entry_id = settling.refund(
        plan, payment, amount, at=event.occurred_at, source="event", actor=f"event:{event.slug}", event_id=event.id
    )
    _claim(plan, payment, event, payment.refunds[-1], provider_refund_id, amount)
    return _said(event, payment, "applied", "refund_recorded", entry_id=entry_id, refund_id=refund_id)


def _decide_total(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    """A cumulative total, or 'all that remains': the difference to what is booked is what this event adds."""
    total = payment.amount - payment.charged_back_amount if event.amount is None else event.amount
    if not event.cumulative and event.amount is not None:
        total = payment.refunded_amount + event.amount
    if total > payment.amount - payment.charged_back_amount:
        return _said(event, payment, "review", "refund_exceeds_payment", seen=total, remaining=payment.remaining)
    missing = total - payment.refunded_amount
    last = payment.refunds[-1] if payment.refunds else None
    first_told_by = last.event_id if last else None
    if missing >= 0:  # the total covers all that is booked, so what a person recorded really happened
        for refund in payment.refunds:
            _confirm(plan, refund, event)
    if missing <= 0:
        return _refund_known(payment, event, first_told_by, last.id if last else None)
    refund_id, entry_id = settling.refund(
        plan, payment, missing, at=event.occurred_at, source="total", actor=f"event:{event.slug}", event_id=event.id
    )
    return _said(event, payment, "applied", "refund_recorded", entry_id=entry_id, refund_id=refund_id)


def _already_booked(payment: Payment, amount: int) -> Refund | None:
    """The refund that contains this one: a person's of the same amount, else a total's with that much unclaimed."""
    for refund in payment.refunds:
        if refund.source in {"operator", "api"} and refund.amount == amount and not refund.claimed:
            return refund
    for refund in payment.refunds:
        if refund.source == "total" and refund.amount - refund.claimed >= amount:
            return refund
    return None


def _claim(
    plan: Plan, payment: Payment, event: StoredEvent, refund: Refund, provider_refund_id: str, amount: int
) -> None:
    refund.claimed += amount
    payment.claims[provider_refund_id] = (event.id, refund.id)
    plan.claims.append((provider_refund_id, event.endpoint_id, payment.id, refund.id, amount, event.id))
    _confirm(plan, refund, event)


def _confirm(plan: Plan, refund: Refund, event: StoredEvent) -> None:
    """The provider's event says that a refund recorded here really happened."""
    if refund.status == "recorded":
        refund.status, refund.event_id = "confirmed", event.id
        plan.confirmed_refunds[refund.id] = event.id


def _refund_known(payment: Payment, event: StoredEvent, caused_by: int | None, refund_id: int | None) -> Decision:
    entry = payment.entries.get((settling.REFUND, str(refund_id)))
    return _said(
        event, payment, "duplicate", "refund_already_recorded", caused_by=caused_by,
        entry_id=entry.id if entry else None, refund_id=refund_id,
    )  # fmt: skip


def _may_be_same(one: Chargeback, event: StoredEvent) -> bool:
    """Whether the event can be about that dispute: the same id, or one of the two has none."""
    return event.dispute_id is None or one.dispute_id is None or one.dispute_id == event.dispute_id


def _same_opening(one: Chargeback, event: StoredEvent) -> bool:
    """Whether the event tells again what opened that dispute: while it is open, or from before it was won."""
    if one.opened_event == event.id:
        return True
    if event.dispute_id and one.dispute_id:
        return one.dispute_id == event.dispute_id
    return one.reversed_at is None or event.occurred_at <= one.reversed_at


def _said(
    event: StoredEvent,
    payment: Payment,
    status: str,
    reason: str,
    *,
    caused_by: int | None = None,
    entry_id: int | None = None,
    **detail: object,
) -> Decision:
    return Decision(event.id, status, reason, payment.id, caused_by, entry_id, dict(detail))  # fmt: skip
