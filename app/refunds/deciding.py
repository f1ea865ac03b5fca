"""What an event about money going back means for a payment under its lock: applied, duplicate, waiting or review.

One refund may be told by several voices: by a person here and the provider there, by a refund with an id and by a
cumulative total. Each is counted once. Pure: reads and changes the payment, adds to the plan.
"""

from app.intake.events import Decision, StoredEvent
from app.payments.plan import Plan
from app.payments.state import EXPECTED, Chargeback, Claim, Payment, Refund
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
    claim = payment.claims.get(_name_of(event) or "")
    if claim:
        return _refund_known(payment, event, claim.event_id, claim.refund_id)
    if payment.open_chargeback:
        # A provider reports the end of a lost dispute as a refund (Asaas): that money has gone back already.
        disputed_by = payment.open_chargeback.opened_event
        return _said(event, payment, "duplicate", "covered_by_chargeback", caused_by=disputed_by)
    return _book_what_is_missing(plan, payment, event)


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


def _book_what_is_missing(plan: Plan, payment: Payment, event: StoredEvent) -> Decision:
    """Books the difference between what the provider says has gone back and what is booked of that.

    It says so in two ways: by named refunds, whose amounts add up, and by totals. Whatever the order in which they
    come, what is booked ends as the greater of both. A refund that a person recorded here, and of which the provider
    had said nothing yet, is found again in what is new, if it fits.
    """
    name = _name_of(event)
    told = _told_so_far(payment, event, name)
    if told > payment.amount - payment.charged_back_amount:
        return _said(event, payment, "review", "refund_exceeds_payment", seen=told, remaining=payment.remaining)
    last = payment.refunds[-1] if payment.refunds else None
    first_told_by = last.event_id if last else None
    fitting = _recorded_that_fit(payment, told - _known_to_provider(payment))
    missing = told - _known_to_provider(payment) - sum(refund.amount for refund in fitting)
    if missing > payment.remaining and told > payment.refunded_amount:
        return _said(event, payment, "review", "refund_exceeds_payment", seen=missing, remaining=payment.remaining)
    for refund in fitting:
        refund.status, refund.event_id = "confirmed", event.id
        plan.confirmed_refunds[refund.id] = event.id
    if not 0 < missing <= payment.remaining:
        booked_as = fitting[0] if fitting else last
        _claim(plan, payment, event, name, booked_as)
        return _refund_known(payment, event, first_told_by, booked_as.id if booked_as else None)
    refund_id, entry_id = settling.refund(
        plan, payment, missing, at=event.occurred_at, source="event" if name else "total", actor=f"event:{event.slug}",
        event_id=event.id,
    )  # fmt: skip
    _claim(plan, payment, event, name, payment.refunds[-1])
    return _said(event, payment, "applied", "refund_recorded", entry_id=entry_id, refund_id=refund_id)


def _name_of(event: StoredEvent) -> str | None:
    """The provider's name of this very refund; one without a name or a total is named by its event."""
    if event.cumulative or event.amount is None:
        return None
    return event.provider_refund_id or f"event:{event.key}"


def _told_so_far(payment: Payment, event: StoredEvent, name: str | None) -> int:
    """How much has gone back, as this event and all named refunds before it say; without an amount, all of it."""
    if name:
        return sum(claim.amount for claim in payment.claims.values()) + (event.amount or 0)
    return payment.amount - payment.charged_back_amount if event.amount is None else event.amount


def _known_to_provider(payment: Payment) -> int:
    """What is booked, but for the refunds that only a person here has recorded."""
    return sum(refund.amount for refund in payment.refunds if refund.status == "confirmed")


def _recorded_that_fit(payment: Payment, room: int) -> list[Refund]:
    """The recorded refunds that the provider's news contain: one of just that amount, else the oldest that fit."""
    recorded = [refund for refund in payment.refunds if refund.status == "recorded"]
    exact = [refund for refund in recorded if refund.amount == room]
    if exact:
        return exact[:1]
    fitting = []
    for refund in recorded:
        if refund.amount <= room:
            fitting.append(refund)
            room -= refund.amount
    return fitting


def _claim(plan: Plan, payment: Payment, event: StoredEvent, name: str | None, refund: Refund | None) -> None:
    """Notes a named refund, so that it is counted once (rule 4)."""
    if name and refund and event.amount:
        payment.claims[name] = Claim(event.id, refund.id, event.amount)
        plan.claims.append((name, event.endpoint_id, payment.id, refund.id, event.amount, event.id))


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
