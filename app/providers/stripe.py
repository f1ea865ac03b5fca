"""Stripe and Stripe Connect: a timestamped HMAC over the raw body, amounts in minor units (providers.md
section 2).

Proof: `stripe_signature`.

Key: the event's `id`. Names of one payment: `pi_`, `ch_`, `cs_`, in this order, whichever the body gives. The
sale is `payment_intent.succeeded`; charge and session events tell the same money. A subscription's checkout
session names no payment intent, nothing links it to the `pi_` event of the same money, and so it books
nothing by itself.

Refund objects are increments with an id of their own; `charge.refunded` is the total so far. Failures of an
attempt are no end: a later attempt may succeed. Thin events (API v2) carry no amounts and book nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from app.base.money import is_currency
from app.providers import stripe_signature
from app.providers.body import (
    Json,
    UnreadableError,
    body_key,
    parse_object,
    unreadable_call,
)
from app.providers.contract import Call, Config, Fact, Reading
from app.providers.fields import Fields, iso_time, mapping, member, unix_time

NAME: Final = "stripe"
URL_TOKEN_QUERY: tuple[str, ...] = ()
URL_TOKEN_HEADERS: tuple[str, ...] = ()
SECRET_HEADERS: Final[frozenset[str]] = frozenset()
NEEDS_URL_TOKEN: bool = False
NEEDS_SECRET: bool = True

# Stripe writes these with two decimals that are always 00 (docs.stripe.com/currencies#special-cases) …
_TWO_DECIMALS_TOO_MANY: Final = frozenset({"ISK", "UGX"})
# … and this one without the two decimals that ISO 4217 gives it.
_TWO_DECIMALS_TOO_FEW: Final = frozenset({"MGA"})


def verify(call: Call, config: Config) -> str:
    """The label of the secret that signed; every active one is compared."""
    return stripe_signature.verify(call, config)


def read(call: Call, config: Config) -> tuple[Reading, ...]:
    """The one event of the call."""
    try:
        event = parse_object(call)
    except UnreadableError as fault:
        return unreadable_call(call, fault.code)
    fields = Fields()
    kind = fields.required(event.get("type"), "event_type") or ""
    key = fields.required(event.get("id"), "event_id") or body_key(call)
    handler = None if event.get("object") == stripe_signature.THIN else _HANDLERS.get(kind)
    told = fields if handler else Fields()  # where nothing is booked, the rest of the envelope is never a fault
    created = event.get("created")
    reading = Reading(
        key=key,
        type=kind,
        fact=Fact.INFORMATIONAL,
        occurred_at=unix_time(created, call.received_at) or iso_time(created, call.received_at),
        account=told.optional(event.get("account"), "account"),
        test=told.flag(event.get("livemode"), "livemode") is False and config.options.get("mode") != "test",
    )
    if handler is not None:
        reading = handler(reading, mapping(event, "data", "object"), fields)
    return (fields.finish(reading),)


def _payment_intent(reading: Reading, intent: Json, fields: Fields) -> Reading:
    reading = replace(
        reading,
        references=_names(intent, fields, intent.get("id"), _id(intent.get("latest_charge"))),
        merchant_reference=_from_metadata(intent, fields),
    )
    if reading.type == "payment_intent.canceled":
        return replace(reading, fact=Fact.EXPIRED)
    if reading.type == "payment_intent.payment_failed":
        return reading
    return _paid(reading, intent, "amount_received", fields, fee_of=intent.get("latest_charge"))


def _charge(reading: Reading, charge: Json, fields: Fields) -> Reading:
    """A charge that only reserves the money (`captured` false) is no sale; `charge.captured` follows."""
    reading = replace(
        reading,
        references=_names(charge, fields, _id(charge.get("payment_intent")), charge.get("id")),
        merchant_reference=_from_metadata(charge, fields),
    )
    if reading.type == "charge.refunded":
        reading = replace(reading, fact=Fact.REFUNDED, cumulative=True)
        return _amount(reading, charge, "amount_refunded", fields)
    captured, settled = (
        fields.flag(charge.get("captured"), "captured"),
        fields.flag(charge.get("paid"), "paid"),
    )
    if captured is False or settled is False or reading.type == "charge.failed":
        return reading
    if captured is None or settled is None:
        fields.note("capture_unreadable")
    # Before 2020 a charge had no `amount_captured`; one that succeeds captured, did so with its whole amount.
    whole = reading.type == "charge.succeeded" and "amount_captured" not in charge
    return _paid(reading, charge, "amount" if whole else "amount_captured", fields, fee_of=charge)


def _session(reading: Reading, session: Json, fields: Fields) -> Reading:
    reading = replace(
        reading,
        references=_names(session, fields, _id(session.get("payment_intent")), session.get("id")),
        merchant_reference=fields.optional(session.get("client_reference_id"), "merchant_reference")
        or _from_metadata(session, fields),
    )
    if reading.type == "checkout.session.expired":
        return replace(reading, fact=Fact.EXPIRED)
    if reading.type == "checkout.session.async_payment_failed":
        return reading
    if session.get("mode") == "subscription" and session.get("payment_intent") is None:
        return reading
    status = session.get("payment_status")
    if reading.type == "checkout.session.completed" and status != "paid":
        if not isinstance(status, str):
            fields.note("payment_status_unreadable")
        return reading
    return _paid(reading, session, "amount_total", fields)


def _refund(reading: Reading, refund: Json, fields: Fields) -> Reading:
    """Succeeded: an increment. Failed after it was accepted: money comes back to us, and a person decides."""
    reading = replace(
        reading,
        references=fields.references([_id(refund.get("payment_intent")), _id(refund.get("charge"))]),
        refund_id=fields.required(refund.get("id"), "refund_id"),
    )
    status = refund.get("status")
    if reading.type == "refund.failed" or status == "failed":
        return _amount(replace(reading, review="refund_failed_at_provider"), refund, "amount", fields)
    if status == "succeeded":
        return _amount(replace(reading, fact=Fact.REFUNDED), refund, "amount", fields)
    if not isinstance(status, str):
        fields.note("refund_status_unreadable")
    return reading


def _dispute(reading: Reading, dispute: Json, fields: Fields) -> Reading:
    """Only funds that moved are booked; created, updated and closed announce."""
    withdrawn = reading.type == "charge.dispute.funds_withdrawn"
    reading = replace(
        reading,
        fact=Fact.CHARGEBACK_OPENED if withdrawn else Fact.CHARGEBACK_REVERSED,
        references=fields.references([_id(dispute.get("payment_intent")), _id(dispute.get("charge"))]),
        dispute_id=fields.required(dispute.get("id"), "dispute_id"),
    )
    return _amount(reading, dispute, "amount", fields)


def _dispute_notice(reading: Reading, dispute: Json, _fields: Fields) -> Reading:
    spare = Fields()  # nothing is booked: the names only lead a person to the payment
    return replace(
        reading,
        references=spare.references([_id(dispute.get("payment_intent")), _id(dispute.get("charge"))]),
        dispute_id=spare.optional(dispute.get("id"), "dispute_id"),
    )


_Handler = Callable[[Reading, Json, Fields], Reading]

_HANDLERS: Final[Mapping[str, _Handler]] = {
    "payment_intent.succeeded": _payment_intent,
    "payment_intent.canceled": _payment_intent,
    "payment_intent.payment_failed": _payment_intent,
    "charge.succeeded": _charge,
    "charge.captured": _charge,
    "charge.failed": _charge,
    "charge.refunded": _charge,
    "checkout.session.completed": _session,
    "checkout.session.async_payment_succeeded": _session,
    "checkout.session.async_payment_failed": _session,
    "checkout.session.expired": _session,
    "refund.created": _refund,
    "refund.updated": _refund,
    "refund.failed": _refund,
    "charge.refund.updated": _refund,
    "charge.dispute.created": _dispute_notice,
    "charge.dispute.updated": _dispute_notice,
    "charge.dispute.closed": _dispute_notice,
    "charge.dispute.funds_withdrawn": _dispute,
    "charge.dispute.funds_reinstated": _dispute,
}


def _paid(reading: Reading, obj: Json, name: str, fields: Fields, fee_of: object = None) -> Reading:
    reading = _amount(replace(reading, fact=Fact.PAID), obj, name, fields)
    fee = member(fee_of, "balance_transaction", "fee")  # there only when the endpoint's events expand it
    if fee is None or reading.amount is None or fee == 0:
        return reading
    told = fields.minor(fee)
    return replace(reading, fee=told if told is not None and told <= reading.amount else None)


def _amount(reading: Reading, obj: Json, name: str, fields: Fields) -> Reading:
    currency = obj.get("currency")
    code = currency.upper() if isinstance(currency, str) else None
    if not is_currency(code):
        fields.note("currency_unreadable")
        return reading
    amount = fields.minor(obj.get(name))
    if amount is not None and code in _TWO_DECIMALS_TOO_MANY:
        if amount % 100:
            fields.note("amount_unreadable")
        amount //= 100
    if amount is not None and code in _TWO_DECIMALS_TOO_FEW:
        amount *= 100
    return replace(reading, amount=amount, currency=code)


def _names(obj: Json, fields: Fields, *names: object) -> tuple[str, ...]:
    """The names of the payment; the object's own id must be among them."""
    if obj.get("id") is None:
        fields.note("payment_id_missing")
    return fields.references(names)


def _id(value: object) -> object:
    """An id, whether the field holds it or the expanded object."""
    return value.get("id") if isinstance(value, dict) else value


def _from_metadata(obj: Json, fields: Fields) -> str | None:
    for name in ("reference", "order_id"):
        found = fields.optional(member(obj, "metadata", name), "merchant_reference")
        if found is not None:
            return found
    return None
