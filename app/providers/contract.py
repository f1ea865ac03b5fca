"""The contract between a provider's adapter and the house: what goes in, what comes out.

An adapter is one module with two pure functions, `verify` and `read`, and a few constants (see `Provider`).
It never raises anything but `Rejected`, and that only from `verify`: whatever authentic bytes arrive, `read`
answers with readings, an `unreadable` one at worst (DESIGN section 3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Fact(StrEnum):
    """What an event says about money, in our words (DESIGN section 2)."""

    PAID = "paid"
    REFUNDED = "refunded"
    CHARGEBACK_OPENED = "chargeback_opened"
    CHARGEBACK_REVERSED = "chargeback_reversed"
    EXPIRED = "expired"
    INFORMATIONAL = "informational"


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request as it arrived. `headers` has lower-case names, in order, repeated ones kept."""

    body: bytes
    headers: tuple[tuple[str, str], ...]
    query: tuple[tuple[str, str], ...]
    received_at: datetime  # aware, UTC

    def header(self, name: str) -> str | None:
        """The header's value; None when missing or sent more than once (then nobody can say which counts)."""
        values = [value for key, value in self.headers if key == name]
        return values[0] if len(values) == 1 else None

    def query_values(self, name: str) -> list[str]:
        """Every value the query gives under that name, decoded."""
        return [value for key, value in self.query if key == name]


@dataclass(frozen=True, slots=True)
class Secret:
    """One active secret of an endpoint and the label that tells which one matched."""

    label: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Config:
    """What an endpoint knows: active secrets, the optional URL token, options (`K=V` of `endpoint add`)."""

    secrets: tuple[Secret, ...]
    url_token: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict)


class Rejected(Exception):
    """The call did not prove where it comes from.

    `reason` is a stable code for the rejection log, never shown to the caller.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reading:
    """One event as the adapter understood it. Amounts in minor units, times aware in UTC.

    `key` makes the event unique at its endpoint: the provider's event id, or what makes two calls the same
    (each adapter says what). `references` are the provider's names for the payment, the most specific first.
    `amount` and `fee` are above zero or None: an event that tells zero is unreadable, a fee of zero is no fee.
    For `refunded`: `refund_id` when the provider names the refund; `cumulative` when `amount` is the total
    refunded so far, not this refund's own; `amount` None means "all that remains".
    For chargebacks: `dispute_id` when there is one; `amount` None means "all that remains".
    `reverses_chargeback`: a `paid` that, at this provider, means a chargeback was won when one is open.
    `unreadable`: a stable code; the event is authentic but was not understood, so nothing may be booked.
    `review`: a stable code; understood, but it moves money in a way the house does not book by itself, so a
    person must look.
    """

    key: str
    type: str
    fact: Fact
    references: tuple[str, ...] = ()
    merchant_reference: str | None = None
    amount: int | None = None
    currency: str | None = None
    fee: int | None = None
    occurred_at: datetime | None = None
    refund_id: str | None = None
    cumulative: bool = False
    dispute_id: str | None = None
    reverses_chargeback: bool = False
    account: str | None = None
    test: bool = False
    unreadable: str | None = None
    review: str | None = None


class Provider(Protocol):
    """What a provider's module offers. Every attribute is required: a new one cannot forget a decision."""

    NAME: str
    # Query parameters (besides `token`) and headers (lower case) in which it returns the URL token.
    URL_TOKEN_QUERY: tuple[str, ...]
    URL_TOKEN_HEADERS: tuple[str, ...]
    # Headers (lower case) that carry a secret in clear: checked, but never kept with the event.
    SECRET_HEADERS: frozenset[str]
    # Whether an endpoint must have one: AbacatePay's signature key is public, so it alone proves nothing.
    NEEDS_URL_TOKEN: bool
    NEEDS_SECRET: bool

    def verify(self, call: Call, config: Config) -> str:
        """The label of the secret that proved the call; or Rejected. Constant-time, over the raw bytes."""
        ...

    def read(self, call: Call, config: Config) -> tuple[Reading, ...]:
        """At least one reading; never raises. `config.options["mode"] == "test"` marks a sandbox endpoint."""
        ...
