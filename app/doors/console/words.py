"""The console's words for states, kinds and acts: one table each, in the reader's language.

A state is a word, a shape and a tone, in that order of importance; the shapes are drawn in templates/parts/shapes.html.
"""

from dataclasses import dataclass
from typing import Final

from flask_babel import lazy_gettext as _l
from flask_babel.speaklater import LazyString

from app.base.errors import Refusal


@dataclass(frozen=True, slots=True)
class State:
    """How a state is shown. `tone` is a role of the colour tokens: good, wait, odd, bad, quiet."""

    word: LazyString
    shape: str
    tone: str
    means: LazyString


EVENTS: Final[dict[str, State]] = {
    "received": State(_l("Received"), "dots", "quiet", _l("stored and queued; about to be decided")),
    "applied": State(_l("Applied"), "disc", "good", _l("had its effect in the ledger")),
    "duplicate": State(_l("Duplicate"), "rings", "quiet", _l("its effect already existed; nothing was posted again")),
    "ignored": State(_l("Ignored"), "ring", "quiet", _l("moves no money")),
    "unmatched": State(_l("Unmatched"), "diamond", "wait", _l("no such payment is registered yet")),
    "waiting": State(_l("Waiting"), "half", "wait", _l("came before what it depends on")),
    "review": State(_l("In review"), "triangle", "odd", _l("a person must decide")),
    "unreadable": State(_l("Unreadable"), "slash", "odd", _l("authentic, but not understood")),
    "test": State(_l("Test"), "square", "quiet", _l("the provider's test traffic; never booked")),
    "failed": State(_l("Failed"), "cross", "bad", _l("an error of ours; a person must act")),
}

PAYMENTS: Final[dict[str, State]] = {
    "pending": State(_l("Pending"), "ring", "quiet", _l("expected, not paid yet")),
    "paid": State(_l("Paid"), "disc", "good", _l("confirmed; its sale is in the ledger")),
    "partially_refunded": State(_l("Partly refunded"), "half", "wait", _l("part of the money went back")),
    "refunded": State(_l("Refunded"), "back", "wait", _l("all of the money went back")),
    "charged_back": State(_l("Charged back"), "triangle", "bad", _l("a dispute holds the money")),
    "expired": State(_l("Expired"), "slash", "quiet", _l("the charge expired; it may still be paid")),
}

REFUNDS: Final[dict[str, State]] = {
    "recorded": State(_l("Recorded"), "half", "wait", _l("booked here; the provider has not told of it yet")),
    "confirmed": State(_l("Confirmed"), "disc", "good", _l("the provider told of it")),
}

MESSAGES: Final[dict[str, State]] = {
    "owed": State(_l("To be sent"), "half", "wait", _l("written with what it tells; not delivered yet")),
    "delivered": State(_l("Delivered"), "disc", "good", _l("the shop's application answered")),
}

PROOFS: Final[dict[str, State]] = {
    "holds": State(_l("Holds"), "disc", "good", _l("every rule held")),
    "broken": State(_l("Broken"), "cross", "bad", _l("a rule did not hold")),
    "advice": State(_l("Advice"), "diamond", "wait", _l("worth reading; fails nothing")),
    "never": State(_l("Never run"), "dots", "quiet", _l("no proof yet")),
}

KINDS: Final[dict[str, LazyString]] = {
    "sale": _l("Sale"),
    "commission": _l("Commission"),
    "fee": _l("Fee"),
    "debit": _l("Purchase from wallet"),
    "refund": _l("Refund"),
    "commission_reversal": _l("Commission taken back"),
    "chargeback": _l("Chargeback"),
    "chargeback_reversal": _l("Chargeback won"),
    "adjustment": _l("Correction"),
}

FACTS: Final[dict[str, LazyString]] = {
    "paid": _l("was paid"),
    "refunded": _l("was refunded"),
    "chargeback_opened": _l("chargeback opened"),
    "chargeback_reversed": _l("chargeback won"),
    "expired": _l("expired"),
    "informational": _l("nothing about money"),
}

ACCOUNT_TYPES: Final[dict[str, LazyString]] = {
    "asset": _l("Asset"),
    "liability": _l("Liability"),
    "income": _l("Income"),
    "expense": _l("Expense"),
}

ROLES: Final[dict[str, LazyString]] = {
    "viewer": _l("viewer"),
    "support": _l("support"),
    "finance": _l("finance"),
    "admin": _l("admin"),
}

MESSAGE_TYPES: Final[dict[str, LazyString]] = {
    "payment.paid": _l("payment paid"),
    "payment.refunded": _l("payment refunded"),
    "payment.partially_refunded": _l("payment partly refunded"),
    "payment.charged_back": _l("payment charged back"),
    "payment.chargeback_reversed": _l("chargeback won"),
    "wallet.credited": _l("wallet credited"),
    "grant.created": _l("access granted"),
}

ACTS: Final[dict[str, LazyString]] = {
    "event.redeliver": _l("re-delivered the event"),
    "event.accept": _l("accepted the amount really paid"),
    "event.dismiss": _l("dismissed the event"),
    "event.reveal": _l("revealed personal data"),
    "event.acknowledge": _l("looked at the contradiction"),
    "payment.refund": _l("refunded the payment"),
    "payment.confirm": _l("confirmed the payment by hand"),
    "session.begin": _l("signed in"),
}

SOURCES: Final[dict[str, LazyString]] = {
    "operator": _l("a person in this console"),
    "api": _l("the shop's system"),
    "event": _l("the provider's event"),
    "total": _l("the provider's total"),
}

_REFUSALS: Final[dict[str, LazyString]] = {
    "payment_not_found": _l("There is no payment with this id."),
    "event_not_found": _l("There is no event with this id."),
    "event_not_in_review": _l("This event waits for nobody any more; look at its decision."),
    "payment_not_expected": _l("Only an unpaid payment in the event's currency can take its amount."),
    "already_confirmed": _l("This payment is confirmed already; nothing was changed."),
    "payment_not_paid": _l("This payment is not paid; there is nothing to refund."),
    "payment_charged_back": _l("A chargeback holds this payment's money; a refund would return it twice."),
    "nothing_to_refund": _l("This payment was refunded in full already."),
    "refund_exceeds_payment": _l("The refund exceeds what remains of the payment; refund at most that."),
    "refund_exists": _l("This refund was recorded already."),
    "period_closed": _l("That month is closed; post the correction in an open month."),
    "insufficient_balance": _l("The wallet's balance does not reach this amount."),
}


def refusal(refused: Refusal) -> str:
    """What a refusal says, in the reader's language; its own words where the console has none."""
    return str(_REFUSALS.get(refused.code, refused.message))
