"""Stripe's proof of origin: a timestamped HMAC over the raw body (providers.md section 2).

`Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]`, HMAC-SHA256 of `t.body` under the whole endpoint secret,
`whsec_` included. Only `v1` counts; several are normal while a secret is rolled. The age is judged both ways,
300 s: the official SDK accepts a time in the future, this house does not (peers 27).

Platform and connected accounts have one secret each, and may share one address: an event that carries
`account` under the secret labelled `platform` while another is labelled `connect` (or the reverse) is
refused.
"""

import hmac
import re
from typing import Final

from app.providers.body import UnreadableError, hmac_sha256, only_header, parse_object
from app.providers.contract import Call, Config, Rejected

HEADER: Final = "stripe-signature"
TOLERANCE_SECONDS: Final = 300
PLATFORM: Final = "platform"
CONNECT: Final = "connect"
THIN: Final = "v2.core.event"

_SECONDS = re.compile(r"[0-9]{1,12}\Z")


def verify(call: Call, config: Config) -> str:
    """The label of the secret that signed. Every active one meets every `v1`, in constant time."""
    secrets = [secret for secret in config.secrets if secret.value]
    if not secrets:
        raise Rejected("endpoint_without_secret")
    stamp, signatures = _signature(only_header(call, HEADER, "signature"))
    matched = []
    for secret in secrets:
        expected = hmac_sha256(secret.value, stamp.encode("ascii"), b".", call.body).hex().encode("ascii")
        verdicts = [hmac.compare_digest(expected, given) for given in signatures]  # all, before any counts
        if any(verdicts):
            matched.append(secret.label)
    if not matched:
        raise Rejected("signature_wrong")
    age = call.received_at.timestamp() - int(stamp)
    if age > TOLERANCE_SECONDS:
        raise Rejected("signature_too_old")
    if age < -TOLERANCE_SECONDS:
        raise Rejected("signature_in_the_future")
    return _of_this_origin(matched, call, {secret.label for secret in secrets})


def _signature(header: str) -> tuple[str, list[bytes]]:
    """The timestamp as written, since that text is signed, and every `v1`; other schemes are noise."""
    pairs = [(name.strip(), value.strip()) for name, _, value in (p.partition("=") for p in header.split(","))]
    stamps = [value for name, value in pairs if name == "t"]
    if len(stamps) != 1 or _SECONDS.match(stamps[0]) is None:
        raise Rejected("signature_malformed")
    signatures = [value.encode("utf-8", "surrogatepass") for name, value in pairs if name == "v1" and value]
    if not signatures:
        raise Rejected("signature_without_v1")
    return stamps[0], signatures


def _of_this_origin(matched: list[str], call: Call, labels: set[str]) -> str:
    if not {PLATFORM, CONNECT} <= labels:
        return matched[0]
    try:
        event = parse_object(call)
    except UnreadableError:
        return matched[0]  # authentic, and stored as unreadable
    if event.get("object") == THIN:
        return matched[0]
    other = PLATFORM if event.get("account") else CONNECT
    for label in matched:
        if label != other:
            return label
    raise Rejected("secret_of_other_origin")
