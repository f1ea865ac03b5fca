"""The provider's own side: what it would send with a body. For simulator and tests, never for verifying.

Each signer restates its provider's documented scheme (providers.md, "Test request" and "Test signature")
and shares no code with the adapter that checks it, so that a mistake in one is not repeated by the other.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.providers import abacatepay, asaas, stripe
from app.providers.registry import UnknownProviderError

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Signed:
    """The headers and the query to send with a body. Query values are decoded: encode them for the URL."""

    headers: Pairs
    query: Pairs


def sign(
    provider: str, body: bytes, *, at: datetime, secret: str | None = None, url_token: str | None = None
) -> Signed:
    """What `provider` sends along with `body` at that time.

    Without a secret AbacatePay signs with its published key; Asaas and Stripe then send no proof at all.
    Raises UnknownProviderError.
    """
    signer = _SIGNERS.get(provider)
    if signer is None:
        raise UnknownProviderError(provider)
    headers, query = signer(body, at, secret, url_token)
    return Signed(headers=(("content-type", "application/json; charset=utf-8"), *headers), query=query)


def _asaas(_body: bytes, _at: datetime, secret: str | None, url_token: str | None) -> tuple[Pairs, Pairs]:
    headers = (("asaas-access-token", secret),) if secret is not None else ()
    return headers, (("token", url_token),) if url_token is not None else ()


def _stripe(body: bytes, at: datetime, secret: str | None, url_token: str | None) -> tuple[Pairs, Pairs]:
    query = (("token", url_token),) if url_token is not None else ()
    if secret is None:
        return (), query
    seconds = int(at.timestamp())
    payload = f"{seconds}.".encode() + body
    digest = hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()
    return (("stripe-signature", f"t={seconds},v1={digest}"),), query


def _abacatepay(body: bytes, _at: datetime, secret: str | None, url_token: str | None) -> tuple[Pairs, Pairs]:
    key = abacatepay.PUBLISHED_KEY if secret is None else secret
    digest = hmac.new(key.encode(), body, hashlib.sha256).digest()
    signature = ("x-webhook-signature", base64.b64encode(digest).decode())
    if url_token is None:
        return (signature,), ()
    return (signature, ("x-webhook-secret", url_token)), (("webhookSecret", url_token),)


_Signer = Callable[[bytes, datetime, str | None, str | None], tuple[Pairs, Pairs]]

_SIGNERS: Final[Mapping[str, _Signer]] = {
    asaas.NAME: _asaas,
    stripe.NAME: _stripe,
    abacatepay.NAME: _abacatepay,
}
