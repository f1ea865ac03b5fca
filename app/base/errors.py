"""The three kinds of no. Here are the refusals, and the one table from a constraint's name to its refusal.

Outcomes are returned values; refusals are raised, carry a stable code and change nothing; anything else is a
fault: it bubbles up, rolls back and alarms. A constraint that is not in the table is a fault, never swallowed.
"""

from dataclasses import dataclass
from typing import Any, Final

import psycopg


class Refusal(Exception):
    """A request that cannot be granted: `code` for machines, `message` says what, where and what to do."""

    def __init__(self, code: str, message: str, *, status: int = 409, **extra: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.extra = extra


class ConfigurationError(Exception):
    """Razão cannot start or run as configured; the message is one clear line for the terminal."""


@dataclass(frozen=True, slots=True)
class _Said:
    code: str
    message: str
    status: int = 409


# Constraint -> refusal. Every name stands in a migration, has a probe in the doctor, and a test that reaches it.
BY_CONSTRAINT: Final[dict[str, _Said]] = {
    "payment_reference_once": _Said(
        "reference_taken", "A payment with this reference exists already; look it up instead of registering it again."
    ),
    "refunds_within_payment": _Said(
        "refund_exceeds_payment", "The refunds would exceed what was paid; see what remains on the payment."
    ),
    "refund_once": _Said("refund_exists", "This refund was recorded already."),
    "wallet_not_overdrawn": _Said("insufficient_balance", "The wallet's balance does not reach this amount."),
    "wallet_one_currency": _Said(
        "wallet_currency_differs", "This wallet holds another currency; a wallet holds one.", 422
    ),
    "entry_once": _Said("entry_exists", "This is in the ledger already, under the same reference."),
    "period_is_open": _Said("period_closed", "That month is closed; post the correction in an open month."),
    "endpoint_once": _Said("endpoint_exists", "An endpoint with this slug exists already."),
    "operator_once": _Said("operator_exists", "An operator with this login exists already."),
    "api_key_one_active": _Said("api_key_exists", "An active API key with this name exists; revoke it first."),
}


def refusal_of(error: psycopg.Error) -> Refusal | None:
    """The refusal that a constraint's violation means to the caller, or None: then it is a fault."""
    said = BY_CONSTRAINT.get(error.diag.constraint_name or "")
    return Refusal(said.code, said.message, status=said.status) if said else None
