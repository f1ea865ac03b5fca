"""What it means that money goes back: the entries of a refund, of a chargeback, and of one that was won.

Owns the postings of DESIGN section 5 for money going back, and the exact proportion in which commissions follow a
refund. Pure: adds to a plan; the caller has checked that the amount remains.
"""

from datetime import datetime
from typing import Final

from app.base.ids import Kind, show, show_or_none
from app.ledger.books import CHARGEBACKS, COMMISSIONS, SALES, Line, partner, psp, receivable, wallet
from app.payments.plan import Plan
from app.payments.state import Chargeback, Payment, Refund

REFUND: Final = "refund"


def refund(
    plan: Plan,
    payment: Payment,
    amount: int,
    *,
    at: datetime,
    source: str,
    actor: str,
    key: str | None = None,
    event_id: int | None = None,
    reason: str | None = None,
) -> tuple[int, int]:
    """Plans a refund of `amount` minor units; returns (refund id, id of its entry).

    A sale's refund takes from `sales`; a top-up's takes what its wallet holds and leaves the rest receivable.
    """  # fmt: skip
    refund_id = next(plan.refund_ids)
    status = "recorded" if event_id is None else "confirmed"
    key = key or show(Kind.REFUND, refund_id)
    plan.refunds.append((refund_id, payment.id, amount, source, status, reason, key, actor, event_id, at))
    payment.refunds.append(Refund(refund_id, amount, source, status, event_id))
    before = payment.refunded_amount
    payment.refunded_amount += amount
    payment.status = payment.settled_status()
    plan.change(payment)
    entry_id = plan.post(
        payment, REFUND, -amount, (*_taken_from_payee(plan, payment, amount, SALES), Line(psp(payment.slug), -amount)),
        at=at, event_id=event_id, party=str(refund_id), refund_id=refund_id, memo=reason,
    )  # fmt: skip
    _take_commissions_back(plan, payment, before, refund_id, at=at, event_id=event_id)
    kind = "payment.refunded" if payment.status == "refunded" else "payment.partially_refunded"
    subject = f"{show(Kind.PAYMENT, payment.id)}/{show(Kind.REFUND, refund_id)}"
    plan.tell(
        payment, kind, subject, event_id=show_or_none(Kind.EVENT, event_id), refund_id=show(Kind.REFUND, refund_id),
        refund_amount=amount,
    )  # fmt: skip
    return refund_id, entry_id


def commission_to_take_back(commission: int, paid: int, refunded_before: int, refunded_after: int) -> int:
    """The part of a commission that a refund takes back.

    Of a commission c, once r of a payment p is refunded, c*r/p is back in all, rounded down; each refund takes back
    what is missing to that. So parts add up exactly, in any number and order: at r = p all of c is back.
    """
    return commission * refunded_after // paid - commission * refunded_before // paid


def open_chargeback(
    plan: Plan, payment: Payment, amount: int, *, at: datetime, event_id: int, dispute_id: str | None
) -> int:
    """Plans that a disputed amount was withdrawn; returns its entry's id. A top-up's is taken as a refund would."""
    reach = plan.wallet_reach(payment, amount) if payment.wallet else 0
    cycle = Chargeback(
        cycle=len(payment.chargebacks) + 1, amount=amount, wallet_part=reach, dispute_id=dispute_id,
        opened_event=event_id, opened_at=at,
    )  # fmt: skip
    lines = (*_payee_lines(payment, amount, reach, CHARGEBACKS), Line(psp(payment.slug), -amount))
    payment.chargebacks.append(cycle)
    plan.chargebacks.append((payment.id, cycle))
    payment.charged_back_amount += amount
    payment.status = payment.settled_status()
    plan.change(payment)
    entry_id = plan.post(payment, "chargeback", -amount, lines, at=at, event_id=event_id, party=str(cycle.cycle))
    _tell_chargeback(plan, payment, cycle, "payment.charged_back", event_id)
    plan.stirred.add(payment.id)
    return entry_id


def reverse_chargeback(plan: Plan, payment: Payment, cycle: Chargeback, *, at: datetime, event_id: int) -> int:
    """Plans that a chargeback was won: each account gets back exactly what it had given. Returns the entry's id."""
    cycle.reversed_event, cycle.reversed_at = event_id, at
    plan.reversals.append((payment.id, cycle))
    payment.charged_back_amount -= cycle.amount
    payment.status = payment.settled_status()
    plan.change(payment)
    payee = _payee_lines(payment, cycle.amount, cycle.wallet_part, CHARGEBACKS)
    lines = (Line(psp(payment.slug), cycle.amount), *(Line(line.account, -line.amount) for line in payee))
    entry_id = plan.post(
        payment, "chargeback_reversal", cycle.amount, lines, at=at, event_id=event_id, party=str(cycle.cycle)
    )
    _tell_chargeback(plan, payment, cycle, "payment.chargeback_reversed", event_id)
    plan.stirred.add(payment.id)
    return entry_id


def _take_commissions_back(
    plan: Plan, payment: Payment, refunded_before: int, refund_id: int, *, at: datetime, event_id: int | None
) -> None:
    for commission in payment.commissions:
        part = commission_to_take_back(
            commission.of(payment.amount), payment.amount, refunded_before, payment.refunded_amount
        )
        if part:
            plan.post(
                payment, "commission_reversal", -part,
                (Line(partner(commission.partner), part), Line(COMMISSIONS, -part)),
                at=at, event_id=event_id, party=f"{commission.partner}/{refund_id}", refund_id=refund_id,
            )  # fmt: skip


def _taken_from_payee(plan: Plan, payment: Payment, amount: int, otherwise: str) -> tuple[Line, ...]:
    reach = plan.wallet_reach(payment, amount) if payment.wallet else 0
    return _payee_lines(payment, amount, reach, otherwise)


def _payee_lines(payment: Payment, amount: int, wallet_part: int, otherwise: str) -> tuple[Line, ...]:
    """Debits of whoever got the money: the wallet as far as it reaches and the rest receivable, or one account."""
    if payment.wallet is None:
        return (Line(otherwise, amount),)
    parts = ((wallet(payment.wallet), wallet_part), (receivable(payment.wallet), amount - wallet_part))
    return tuple(Line(account, part) for account, part in parts if part)


def _tell_chargeback(plan: Plan, payment: Payment, cycle: Chargeback, kind: str, event_id: int) -> None:
    subject = f"{show(Kind.PAYMENT, payment.id)}/{cycle.cycle}"
    plan.tell(payment, kind, subject, event_id=show(Kind.EVENT, event_id), disputed_amount=cycle.amount)
