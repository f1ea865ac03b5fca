"""What it means that a payment is paid: its sale, fee and commissions, access, and what the shop is told.

The one place that confirms; events and people come through here alike (DESIGN sections 3 and 5). Pure: adds to a plan.
"""

from datetime import datetime

from app.base.ids import Kind, show, show_or_none
from app.ledger.books import COMMISSIONS, FEES, SALES, Line, partner, psp, wallet
from app.payments.plan import Plan
from app.payments.state import Payment


def confirm(
    plan: Plan, payment: Payment, *, at: datetime, event_id: int | None, fee: int | None, memo: str | None = None
) -> int:
    """Plans the confirmation of a payment that was expected; returns the id of its sale.

    A top-up credits its wallet, anything else is a sale. The provider's fee is posted when the event tells it.
    Each partner's commission is a share of what was paid, rounded down to the minor unit.
    """
    income = wallet(payment.wallet) if payment.wallet else SALES
    cash = psp(payment.slug)
    payment.status, payment.paid_at, payment.paid_by_event = "paid", at, event_id
    plan.change(payment)
    sale_id = plan.post(
        payment, "sale", payment.amount, (Line(cash, payment.amount), Line(income, -payment.amount)),
        at=at, event_id=event_id, memo=memo,
    )  # fmt: skip
    if fee:
        plan.post(payment, "fee", fee, (Line(FEES, fee), Line(cash, -fee)), at=at, event_id=event_id)
    for commission in payment.commissions:
        share = commission.of(payment.amount)
        if share:
            lines = (Line(COMMISSIONS, share), Line(partner(commission.partner), -share))
            plan.post(payment, "commission", share, lines, at=at, event_id=event_id, party=commission.partner)
    _tell(plan, payment, event_id)
    plan.restore_grant(payment, event_id=event_id)
    plan.stirred.add(payment.id)
    return sale_id


def _tell(plan: Plan, payment: Payment, event_id: int | None) -> None:
    subject, event = show(Kind.PAYMENT, payment.id), show_or_none(Kind.EVENT, event_id)
    plan.tell(payment, "payment.paid", subject, event_id=event)
    if payment.wallet:
        plan.tell(payment, "wallet.credited", subject, event_id=event, wallet=payment.wallet)
