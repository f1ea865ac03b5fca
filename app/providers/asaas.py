"""Asaas: a static token in a header, amounts in reais (providers.md section 1).

Proof: `asaas-access-token` carries in clear the token set when the webhook was made; nothing is signed, so
the token is all there is, and an endpoint without one is refused.

Key: the envelope's `id` (`evt_…&…`, sent since 2024-03-25). Without it, two calls are the same when event,
payment, payment status, value, envelope date, refunds and chargeback are all the same. The date and the
chargeback belong to it because CONFIRMED is sent a second time for the same payment when a chargeback is won:
that one must not vanish as a repetition. Erring towards "different" is harmless, since the payment itself
refuses a second sale.

Refunds have no id: the total of `refunds[status=DONE]` is the amount refunded so far. Times without an offset
are Brasília's. A RECEIVED that follows a CONFIRMED is the settlement of the same sale, up to a month later.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from zoneinfo import ZoneInfo

from app.base.money import MoneyError, to_minor_units
from app.providers.body import (
    Json,
    UnreadableError,
    body_key,
    only_header,
    parse_object,
    same_text,
    unreadable_call,
)
from app.providers.contract import Call, Config, Fact, Reading, Rejected
from app.providers.fields import Fields, is_clean, is_number, iso_time, mapping, member

NAME: Final = "asaas"
URL_TOKEN_QUERY: tuple[str, ...] = ()
URL_TOKEN_HEADERS: tuple[str, ...] = ()
SECRET_HEADERS: Final[frozenset[str]] = frozenset({"asaas-access-token"})
NEEDS_URL_TOKEN: bool = False
NEEDS_SECRET: bool = True

TOKEN_HEADER: Final = "asaas-access-token"  # noqa: S105 - the header's name, no secret
CURRENCY: Final = "BRL"

_BRASILIA: Final = ZoneInfo("America/Sao_Paulo")

_FACTS: Final[Mapping[str, Fact]] = {
    "PAYMENT_CONFIRMED": Fact.PAID,
    "PAYMENT_RECEIVED": Fact.PAID,
    "PAYMENT_DUNNING_RECEIVED": Fact.PAID,
    "PAYMENT_REFUNDED": Fact.REFUNDED,
    "PAYMENT_PARTIALLY_REFUNDED": Fact.REFUNDED,
    "PAYMENT_CHARGEBACK_REQUESTED": Fact.CHARGEBACK_OPENED,
    "PAYMENT_OVERDUE": Fact.EXPIRED,
    "PAYMENT_DELETED": Fact.EXPIRED,
    "PAYMENT_BANK_SLIP_CANCELLED": Fact.EXPIRED,
}
_REVIEWS: Final[Mapping[str, str]] = {"PAYMENT_RECEIVED_IN_CASH_UNDONE": "cash_receipt_undone"}
_REVERSE_A_CHARGEBACK: Final = ("PAYMENT_CONFIRMED", "PAYMENT_RECEIVED")
# While the payment itself says so, a RECEIVED is the settlement of the sale and not the end of the dispute.
_DISPUTE_NOT_WON: Final = ("REQUESTED", "IN_DISPUTE", "DISPUTE_LOST")


def verify(call: Call, config: Config) -> str:
    """The label of the token that matches; every active one is compared."""
    secrets = [secret for secret in config.secrets if secret.value]
    if not secrets:
        raise Rejected("endpoint_without_secret")
    token = only_header(call, TOKEN_HEADER, "token")
    matched = [secret.label for secret in secrets if same_text(secret.value, token)]
    if not matched:
        raise Rejected("token_wrong")
    return matched[0]


def read(call: Call, config: Config) -> tuple[Reading, ...]:  # noqa: ARG001 - the contract's signature
    """The one event of the call. Its sandbox is another account, so nothing is marked as a test."""
    try:
        event = parse_object(call)
    except UnreadableError as fault:
        return unreadable_call(call, fault.code)
    fields = Fields()
    kind = fields.required(event.get("event"), "event_type") or ""
    payment = mapping(event, "payment")
    reading = Reading(
        key=_key(call, event, payment, fields),
        type=kind,
        fact=_FACTS.get(kind, Fact.INFORMATIONAL),
        occurred_at=iso_time(event.get("dateCreated"), call.received_at, _BRASILIA),
        review=_REVIEWS.get(kind),
    )
    if reading.fact is Fact.INFORMATIONAL and reading.review is None:
        # Nothing is booked from these: what names the payment is welcome, and never a fault.
        return (fields.finish(_named(reading, event, payment, Fields())),)
    return (fields.finish(_money(_named(reading, event, payment, fields), payment, fields)),)


def _named(reading: Reading, event: Json, payment: Json, fields: Fields) -> Reading:
    return replace(
        reading,
        references=fields.references([payment.get("id")]),
        merchant_reference=fields.optional(payment.get("externalReference"), "merchant_reference"),
        account=fields.optional(member(event, "account", "id"), "account"),
        currency=CURRENCY,
    )


def _money(reading: Reading, payment: Json, fields: Fields) -> Reading:
    if reading.fact is Fact.PAID:
        amount = fields.major(payment.get("value"), CURRENCY)
        return replace(
            reading,
            amount=amount,
            fee=_fee(payment, amount, fields),
            reverses_chargeback=reading.type in _REVERSE_A_CHARGEBACK
            and member(payment, "chargeback", "status") not in _DISPUTE_NOT_WON,
        )
    if reading.fact is Fact.REFUNDED:
        return _refund(reading, payment, fields)
    if reading.fact is Fact.CHARGEBACK_OPENED:
        disputed = member(payment, "chargeback", "value")
        return replace(
            reading,
            # The short form of `chargeback` has no value: then it is about all that remains.
            amount=None if disputed is None else fields.major(disputed, CURRENCY),
            dispute_id=fields.optional(member(payment, "chargeback", "id"), "dispute_id"),
        )
    return reading


def _fee(payment: Json, amount: int | None, fields: Fields) -> int | None:
    """`value - netValue`. A fee above the value (a boleto of R$ 1,00) makes netValue negative: not told."""
    net = payment.get("netValue")
    if net is None or amount is None:
        return None
    try:
        fee = amount - to_minor_units(net if is_number(net) else None, CURRENCY)
    except MoneyError:
        if not (is_number(net) and str(net).startswith("-")):
            fields.note("amount_unreadable")
        return None
    return fee if 0 < fee <= amount else None


def _refund(reading: Reading, payment: Json, fields: Fields) -> Reading:
    """Only `DONE` moved money. REFUNDED without a list is the end of a lost chargeback or a full refund."""
    refunds = payment.get("refunds")
    if refunds is None or refunds == []:
        if reading.type == "PAYMENT_PARTIALLY_REFUNDED":
            fields.note("refunds_missing")
        return replace(reading, cumulative=True)
    if not isinstance(refunds, list) or any(not isinstance(member(one, "status"), str) for one in refunds):
        fields.note("refunds_unreadable")
        return replace(reading, cumulative=True)
    done = [fields.major(member(one, "value"), CURRENCY) for one in refunds if one["status"] == "DONE"]
    if not done:
        return replace(reading, fact=Fact.INFORMATIONAL)
    return replace(reading, amount=sum(amount or 0 for amount in done), cumulative=True)


def _key(call: Call, event: Json, payment: Json, fields: Fields) -> str:
    if event.get("id") is not None:
        return fields.required(event["id"], "event_id") or body_key(call)
    kind, payment_id, status = event.get("event"), payment.get("id"), payment.get("status")
    if not (isinstance(kind, str) and isinstance(payment_id, str)):
        return body_key(call)
    told = [event.get("dateCreated"), payment.get("value"), payment.get("refunds"), payment.get("chargeback")]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]
    key = f"{kind}:{payment_id}:{status}:{payment.get('value')}:{digest}"
    return key if is_clean(key) else body_key(call)
