"""What requests say: the shape of each body and of each list's filters."""

import json
from collections.abc import Iterable
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates, validates_schema

from app.base.money import is_currency
from app.doors.api.fields import Amount, Instant, Month, Name, PageSize, Text, Whole, is_storable

MOST_METADATA: Final = 16 * 1024
MOST_COMMISSIONS: Final = 50
MOST_REASON: Final = 1000

PAYMENT_STATUSES: Final = ("pending", "paid", "partially_refunded", "refunded", "charged_back", "expired")
EVENT_STATUSES: Final = (
    "received", "applied", "duplicate", "ignored", "unmatched", "waiting", "review", "unreadable", "test", "failed",
)  # fmt: skip
ENTRY_KINDS: Final = (
    "sale", "commission", "fee", "debit", "refund", "commission_reversal", "chargeback",
    "chargeback_reversal", "adjustment",
)  # fmt: skip


class NewGrant(Schema):
    """Access that the payment gives once it is paid."""

    subject = Name(required=True, metadata={"description": "Who gets access."})
    resource = Name(required=True, metadata={"description": "What to."})


class NewCommission(Schema):
    """A partner's share: a fixed amount, or basis points of what is paid, rounded down to the minor unit."""

    partner = Name(required=True)
    amount = Amount()
    basis_points = Whole(least=1, most=10_000)

    @validates_schema
    def _one_of_both(self, data: dict[str, Any], **_more: Any) -> None:
        if ("amount" in data) == ("basis_points" in data):
            raise ValidationError("Give either amount or basis_points.", "amount")


class NewPayment(Schema):
    """A payment to expect."""

    reference = Name(required=True, metadata={"description": "Your own name for it; unique."})
    endpoint = Name(required=True, metadata={"description": "The slug of the endpoint that its events come to."})
    provider_ref = Name(allow_none=True, metadata={"description": "The provider's name for it, if you know it by now."})
    amount = Amount(required=True, metadata={"description": "In the currency's minor unit: R$ 49,90 is 4990."})
    currency = fields.String(required=True, metadata={"description": "ISO 4217", "pattern": "^[A-Z]{3}$"})
    wallet = Name(allow_none=True, metadata={"description": "The owner of the wallet that this tops up."})
    grant = fields.Nested(NewGrant, allow_none=True)
    commissions = fields.List(fields.Nested(NewCommission), validate=validate.Length(max=MOST_COMMISSIONS))
    metadata = fields.Dict(
        allow_none=True, metadata={"description": "Any object, at most 16 KiB; given back as it is."}
    )

    @validates("currency")
    def _is_currency(self, value: str, **_more: Any) -> None:
        if not is_currency(value):
            raise ValidationError("Three capital letters of ISO 4217, such as BRL.")

    @validates_schema
    def _each_partner_once(self, data: dict[str, Any], **_more: Any) -> None:
        partners = [one["partner"] for one in data.get("commissions", ())]
        if len(set(partners)) != len(partners):
            raise ValidationError("Name each partner once.", "commissions")

    @validates("metadata")
    def _can_be_kept(self, value: dict[str, Any] | None, **_more: Any) -> None:
        if len(json.dumps(value).encode()) > MOST_METADATA:
            raise ValidationError(f"At most {MOST_METADATA} bytes as JSON.")
        if not all(is_storable(text) for text in _texts(value)):
            raise ValidationError("It holds characters that cannot be kept: NUL, or half of a surrogate pair.")


class PaymentChange(Schema):
    """What may be set later, once."""

    provider_ref = Name(required=True)


class Reason(Schema):
    """Why a person or a system acts; kept in the audit record."""

    reason = Text(required=True, most=MOST_REASON)


class OptionalReason(Schema):
    """Why it is delivered again; kept in the audit record."""

    reason = Text(allow_none=True, most=MOST_REASON)


class NewRefund(Reason):
    """Money to give back."""

    amount = Amount(metadata={"description": "Without it, all that remains."})


class NewDebit(Schema):
    """A purchase paid from a wallet."""

    amount = Amount(required=True)
    reference = Name(required=True, metadata={"description": "Your name for the purchase; a wallet pays it once."})
    memo = Text(allow_none=True, most=MOST_REASON)


class Page(Schema):
    """Where a list goes on, and by how much."""

    cursor = fields.String(metadata={"description": "`next_cursor` of the page before."})
    limit = PageSize()


class PaymentFilter(Page):
    """Which payments."""

    reference = Name()
    provider_ref = Name(metadata={"description": "Any name that the provider has for it."})
    status = fields.String(validate=validate.OneOf(PAYMENT_STATUSES))


class EventFilter(Page):
    """Which events."""

    payment = Name(metadata={"description": "A payment's id, or its reference."})
    status = fields.String(validate=validate.OneOf(EVENT_STATUSES))
    endpoint = Name()
    type = Text(metadata={"description": "The provider's own type."})
    key = Text(most=1024, metadata={"description": "The provider's own id of the event."})
    since = Instant(metadata={"description": "Received at this instant or later."})
    until = Instant(metadata={"description": "Received before this instant."})


class EntryFilter(Page):
    """Which entries."""

    payment = Name(metadata={"description": "A payment's id, or its reference."})
    account = Text(most=512, metadata={"description": "An account's code."})
    period = Month(metadata={"description": "A competence month: 2026-08."})
    kind = fields.String(validate=validate.OneOf(ENTRY_KINDS))


class AccountChoice(Schema):
    """Which of the accounts of one code."""

    currency = fields.String(metadata={"description": "Needed where one code has accounts in several currencies."})


class GrantFilter(Page):
    """Which grants."""

    subject = Name()
    resource = Name()


def _texts(value: object) -> Iterable[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
