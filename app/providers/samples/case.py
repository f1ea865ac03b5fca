"""One payment as the samples tell it, and what every provider's builder offers."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

_QUOTED_NUMBER = re.compile(r'"\\u0000number:(-?[0-9.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One payment as the samples tell it. `seed` makes the event ids: another seed, other events."""

    payment_id: str
    amount: int  # minor units
    occurred_at: datetime
    seed: str
    merchant_reference: str | None = None
    fee: int = 0
    currency: str = "BRL"
    test: bool = False

    def token(self, what: str) -> str:
        """32 hexadecimal digits that depend on the seed and on `what`, and on nothing else."""
        return hashlib.sha256(f"{self.seed}\x00{what}".encode()).hexdigest()[:32]

    def related(self, prefix: str) -> str:
        """Another name the provider has for the same payment: `ch_…` for `pi_…`, `bill_…` for `char_…`."""
        return prefix + self.payment_id.rpartition("_")[2]


class Samples(Protocol):
    """What can be told about one payment."""

    def payment_id(self, seed: str) -> str:
        """A payment id of the provider's shape."""
        ...

    def paid(self, case: Case) -> tuple[bytes, bytes]:
        """Two different events for the same money, in the order in which the provider sends them."""
        ...

    def refunded(self, case: Case, *, amount: int, total: int) -> bytes | None:
        """A refund of `amount` that makes it `total` so far; None when the provider has no partial one."""
        ...

    def chargeback_opened(self, case: Case) -> bytes: ...

    def chargeback_won(self, case: Case) -> bytes | None: ...

    def expired(self, case: Case) -> bytes | None: ...

    def informational(self, case: Case) -> bytes:
        """A documented event that moves no money."""
        ...

    def unknown(self, case: Case) -> bytes:
        """An event that the documentation does not know (yet)."""
        ...


def digest(seed: str) -> str:
    """64 hexadecimal digits of the seed."""
    return hashlib.sha256(seed.encode()).hexdigest()


def encode(event: Mapping[str, object]) -> bytes:
    """JSON with Decimals written as numbers: json.dumps knows none, and no float touches money here."""
    text = json.dumps(event, default=lambda number: f"\x00number:{number}")
    return _QUOTED_NUMBER.sub(r"\1", text).encode()
