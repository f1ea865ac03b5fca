"""What answers say: the shape of each object and list, for the OpenAPI page; tests hold real answers to them."""

from typing import Any

from marshmallow import Schema, fields


def _text(*, none: bool = False, **metadata: Any) -> fields.String:
    return fields.String(required=True, allow_none=none, metadata=metadata)


def _amount(description: str = "Minor units.") -> fields.Integer:
    return fields.Integer(required=True, strict=True, metadata={"description": description})


def _time(*, none: bool = False) -> fields.String:
    return _text(none=none, format="date-time")


class Problem(Schema):
    """Every no (RFC 9457). `code` is stable; `errors` names each field that is not right; a code may add more."""

    type = _text()
    title = _text()
    status = fields.Integer(required=True)
    detail = _text(description="One clear sentence: what, where, what to do.")
    code = _text(description="Stable, for machines.", example="insufficient_balance")
    errors = fields.Dict(keys=fields.String(), values=fields.List(fields.String()))


class PostingTold(Schema):
    """One line of an entry."""

    account = _text(example="psp:loja")
    amount = _amount("Minor units: positive for debit, negative for credit.")


class EntryTold(Schema):
    """A journal entry; its postings sum to zero."""

    id = _text(example="ent_1")
    kind = _text()
    amount = _amount("Signed as people read it: a sale +4990, a refund -4990.")
    currency = _text()
    period = _text(example="2026-08", description="Its competence month.")
    occurred_at = _time()
    payment_id = _text(none=True)
    event_id = _text(none=True)
    refund_id = _text(none=True)
    memo = _text(none=True)
    postings = fields.List(fields.Nested(PostingTold), required=True)


class GrantTold(Schema):
    """Access that a payment gave."""

    id = _text(example="grt_1")
    payment_id = _text()
    subject = _text()
    resource = _text()
    granted_at = _time()


class EventOfPaymentTold(Schema):
    """An event as its payment tells it."""

    id = _text(example="evn_1")
    key = _text()
    type = _text()
    status = _text()
    reason = _text()


class PaymentTold(Schema):
    """A payment with all that belongs to it: at most 200 events and 200 entries, the lists have all."""

    id = _text(example="pmt_1")
    reference = _text()
    endpoint = _text()
    provider_ref = _text(none=True)
    provider_refs = fields.List(fields.String(), required=True)
    status = _text(description="pending, paid, partially_refunded, refunded, charged_back or expired")
    amount = _amount()
    currency = _text()
    refunded_amount = _amount()
    wallet = _text(none=True)
    paid_at = _time(none=True)
    created_at = _time()
    metadata = fields.Dict(required=True)
    grants = fields.List(fields.Nested(GrantTold), required=True)
    events = fields.List(fields.Nested(EventOfPaymentTold), required=True)
    entries = fields.List(fields.Nested(EntryTold), required=True)


class RefundTold(Schema):
    """Money that went back. `recorded` here; `confirmed` once the provider told of it."""

    id = _text(example="rfd_1")
    payment_id = _text()
    amount = _amount()
    currency = _text()
    status = _text()
    reason = _text(none=True)
    entry_id = _text(none=True)
    period = _text(none=True)
    created_at = _time()


class EventTold(Schema):
    """A provider's event, where it stands and why."""

    id = _text(example="evn_1")
    endpoint = _text()
    provider = _text()
    key = _text(description="The provider's own id of it.")
    type = _text()
    fact = _text(description="paid, refunded, chargeback_opened, chargeback_reversed, expired or informational")
    status = _text(description="`received` until it is decided")
    reason = _text(description="Stable, for machines.")
    explanation = _text(description="The reason in words, in English or Portuguese as Accept-Language wishes.")
    payment_id = _text(none=True)
    caused_by = _text(none=True, description="The event that came first.")
    deliveries = fields.Integer(required=True, metadata={"description": "How often it arrived."})
    redeliveries = fields.Integer(required=True, metadata={"description": "How often somebody had it decided again."})
    received_at = _time()
    processed_at = _time(none=True)


class DecisionTold(Schema):
    """What was decided of an event."""

    event_id = _text()
    status = _text()
    reason = _text()
    explanation = _text()
    payment_id = _text(none=True)
    caused_by = _text(none=True)
    entry_id = _text(none=True)
    actor = _text()
    decided_at = _time()


class AccountTold(Schema):
    """An account. Its balance is positive on its own side.

    For assets and expenses that is what was debited, for liabilities and income what was credited.
    """

    code = _text(example="wallet:joana")
    type = _text(description="asset, liability, income or expense")
    currency = _text()
    balance = _amount("Minor units, positive on the account's own side.")


class PeriodTold(Schema):
    """A competence month that has entries."""

    period = _text(example="2026-08")
    status = _text(description="open or closed")
    closed_at = _time(none=True)


class WalletTold(Schema):
    """What a wallet holds."""

    owner = _text()
    balance = _amount()
    currency = _text()


class LineTold(Schema):
    """One movement of a wallet, as its owner reads it."""

    entry_id = _text()
    kind = _text()
    amount = _amount("Positive when the wallet got money.")
    balance = _amount("What it held after this.")
    occurred_at = _time()
    memo = _text(none=True)
    payment_id = _text(none=True)


class DebitTold(Schema):
    """A purchase that a wallet paid."""

    entry_id = _text()
    owner = _text()
    amount = _amount()
    currency = _text()
    balance = _amount("What the wallet holds now.")
    reference = _text()
    memo = _text(none=True)


def list_of(item: type[Schema]) -> type[Schema]:
    """The shape of a list's page."""
    return Schema.from_dict(
        {
            "items": fields.List(fields.Nested(item), required=True),
            "next_cursor": _text(none=True, description="Where the list goes on; null at its end."),
        },
        name=item.__name__.removesuffix("Told") + "List",
    )
