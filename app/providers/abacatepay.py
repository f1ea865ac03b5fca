"""AbacatePay: a token in the address proves the origin, a published key the integrity (providers.md 3, 12).

Proof: `X-Webhook-Signature` is base64 HMAC-SHA256 over the raw body with one constant that is the same for
every merchant and printed in the documentation (AbacatePay/documentation, pages/webhooks/security.mdx). It
shows that the body is whole, never who sent it: so an endpoint must have a URL token as well
(`registry.authenticate` checks it). Each configured secret is accepted as a further HMAC key, for a merchant
whose key is private.

Key: the envelope's `id` (`log_…`, the same for all retries). Without it (v1, and some v2 events), two calls
are the same when event and payment id are the same; for a reusable link, whose id is the same for every
payer, also `data`.

Decided by `event`, never by `status`: the documented refunded and disputed bodies still say PAID. Refunds and
disputes are for the whole payment, so they carry no amount ("all that remains"); `*.lost` ends a `*.disputed`
and says the same again. Only a paid event takes its time from `updatedAt`: in the documented refunds that
field keeps the day of the sale, and a refund belongs to the month in which it arrived.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from app.base.money import MoneyError, minor_units
from app.providers.body import (
    Json,
    UnreadableError,
    body_key,
    hmac_sha256_base64,
    only_header,
    parse_object,
    same_text,
    unreadable_call,
)
from app.providers.contract import Call, Config, Fact, Reading, Rejected
from app.providers.fields import Fields, is_clean, iso_time, mapping

NAME: Final = "abacatepay"
URL_TOKEN_QUERY: tuple[str, ...] = ("webhookSecret",)
URL_TOKEN_HEADERS: tuple[str, ...] = ("x-webhook-secret",)
SECRET_HEADERS: Final[frozenset[str]] = frozenset({"x-webhook-secret"})
NEEDS_URL_TOKEN: bool = True
NEEDS_SECRET: bool = False

SIGNATURE_HEADER: Final = "x-webhook-signature"
PUBLISHED_LABEL: Final = "published"
PUBLISHED_KEY: Final = (
    "t9dXRhHHo3yDEj5pVDYz0frf7q6bMKyMRmxxCPIPp3RCplBfXRxqlC6ZpiWmOqj4"
    "L63qEaeUOtrCI8P0VMUgo6iIga2ri9ogaHFs0WIIywSMg0q7RmBfybe1E5XJcfC4"
    "IW3alNqym0tXoAKkzvfEjZxV6bE0oG2zJrNNYmUCKZyV0KZ3JS8Votf9EAWWYdiD"
    "kMkpbMdPggfh1EqHlVkMiTady6jOR3hyzGEHrIz2Ret0xHKMbiqkr9HS1JhNHDX9"
)
CURRENCY: Final = "BRL"

_FACTS: Final[Mapping[str, Fact]] = {
    "billing.paid": Fact.PAID,
    "checkout.completed": Fact.PAID,
    "transparent.completed": Fact.PAID,
    "subscription.completed": Fact.PAID,
    "subscription.renewed": Fact.PAID,
    "billing.refunded": Fact.REFUNDED,
    "checkout.refunded": Fact.REFUNDED,
    "transparent.refunded": Fact.REFUNDED,
    "checkout.disputed": Fact.CHARGEBACK_OPENED,
    "transparent.disputed": Fact.CHARGEBACK_OPENED,
    "checkout.lost": Fact.CHARGEBACK_OPENED,
    "transparent.lost": Fact.CHARGEBACK_OPENED,
}
# Where a body may describe the payment: the charge before the bill that it belongs to.
_CHARGES: Final = ("payment", "transparent", "pixQrCode")
_BILLS: Final = ("checkout", "billing")
# The namespaces whose flat `data` (v1) is the payment itself; a payout's or transfer's is not.
_FLAT: Final = ("billing.", "checkout.", "transparent.")


def verify(call: Call, config: Config) -> str:
    """The label of the key that signed: `published`, or that of a configured secret. All are compared."""
    signature = only_header(call, SIGNATURE_HEADER, "signature")
    keys = [(secret.label, secret.value) for secret in config.secrets if secret.value]
    keys.append((PUBLISHED_LABEL, PUBLISHED_KEY))
    # Compared as text: base64 has spare bits in its last letter, so several texts decode to the same bytes.
    matched = [label for label, key in keys if same_text(hmac_sha256_base64(key, call.body), signature)]
    if not matched:
        raise Rejected("signature_wrong")
    return matched[0]


def read(call: Call, config: Config) -> tuple[Reading, ...]:
    """The one event of the call, v1 or v2."""
    try:
        event = parse_object(call)
    except UnreadableError as fault:
        return unreadable_call(call, fault.code)
    fields = Fields()
    kind = fields.required(event.get("event"), "event_type") or ""
    objects = _objects(kind, mapping(event, "data"))
    fact = _FACTS.get(kind, Fact.INFORMATIONAL)
    moves_money = fact is not Fact.INFORMATIONAL
    named = fields if moves_money else Fields()  # where nothing is booked, what names the payment is never a fault
    reading = Reading(
        key=_key(call, event, objects, fields),
        type=kind,
        fact=fact,
        references=named.references(_ids(objects)),
        merchant_reference=_merchant_reference(objects, named),
        currency=CURRENCY,
        # Only the top-level flag counts: documented live bodies hold `data.transparent.devMode: true`.
        test=named.flag(event.get("devMode"), "dev_mode") is True and config.options.get("mode") != "test",
    )
    if fact is Fact.PAID:
        reading = _paid(reading, call, objects, fields)
    return (fields.finish(reading),)


def _objects(kind: str, data: Json) -> dict[str, Json]:
    found = {name: mapping(data, name) for name in (*_CHARGES, *_BILLS)}
    if data.get("id") is not None and kind.startswith(_FLAT) and not any(found.values()):
        return {"flat": data}
    return {name: value for name, value in found.items() if value}


def _reusable(objects: dict[str, Json]) -> bool:
    """A link that many people pay: its id and reference name no single payment."""
    return any(value.get("frequency") == "MULTIPLE_PAYMENTS" for value in objects.values())


def _ids(objects: dict[str, Json]) -> list[object]:
    charges = [objects[name].get("id") for name in _CHARGES if name in objects]
    if _reusable(objects) and any(charges):
        return charges
    return charges + [value.get("id") for name, value in objects.items() if name not in _CHARGES]


def _merchant_reference(objects: dict[str, Json], fields: Fields) -> str | None:
    if _reusable(objects):
        return None
    given = (fields.optional(value.get("externalId"), "merchant_reference") for value in objects.values())
    return next((reference for reference in given if reference is not None), None)


def _paid(reading: Reading, call: Call, objects: dict[str, Json], fields: Fields) -> Reading:
    main = next(iter(objects.values()), {})
    amount = fields.minor(_paid_amount(objects, main))
    times = (iso_time(value.get("updatedAt"), call.received_at) for value in objects.values())
    only_a_link = _reusable(objects) and not any(objects[name].get("id") for name in _CHARGES if name in objects)
    return replace(
        reading,
        amount=amount,
        fee=_fee(main, amount, fields),
        occurred_at=next((moment for moment in times if moment is not None), None),
        review="payment_of_a_reusable_link" if only_a_link else None,
    )


def _paid_amount(objects: dict[str, Json], main: Json) -> object:
    """What was paid. v1 bills say `paidAmount` 0 although they were paid; there `payment.amount` is right."""
    paid = main.get("paidAmount")
    if paid is None or (paid == 0 and "flat" in objects):
        return main.get("amount")
    return paid


def _fee(main: Json, amount: int | None, fields: Fields) -> int | None:
    given = main.get("platformFee", main.get("fee"))
    if given is None or amount is None:
        return None
    try:
        fee = minor_units(given)
    except MoneyError:
        if not (isinstance(given, int) and given < 0):
            fields.note("amount_unreadable")
        return None
    return fee if 0 < fee <= amount else None


def _key(call: Call, event: Json, objects: dict[str, Json], fields: Fields) -> str:
    if event.get("id") is not None:
        return fields.required(event["id"], "event_id") or body_key(call)
    kind = event.get("event")
    first = next((name for name in _ids(objects) if name is not None), None)
    if not (isinstance(kind, str) and isinstance(first, str)):
        return body_key(call)
    key = f"{kind}:{first}"
    if _reusable(objects):
        told = json.dumps(event.get("data"), sort_keys=True, default=str)
        key += ":" + hashlib.sha256(told.encode()).hexdigest()[:16]
    return key if is_clean(key) else body_key(call)
