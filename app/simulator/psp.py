"""Sends signed events as a provider does: in bursts, twice at once, out of order, again until it hears a 2xx.

Owns the sending; bodies and signatures come from the providers' samples. Knows nothing of our database.
"""

import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

import httpx

from app.providers.samples import SAMPLES, Case
from app.providers.signing import sign

TRIES: Final = 40
_FIRST_PAUSE_SECONDS: Final = 0.05  # real schedules take hours; the simulator's are compressed
_LONGEST_PAUSE_SECONDS: Final = 2.0
_UNHEARD: Final = 0  # no answer at all


@dataclass(frozen=True, slots=True)
class Psp:
    """One provider calling one address. `secret` and `url_token` are what it was given at its panel."""

    provider: str
    url: str
    secret: str | None = field(default=None, repr=False)
    url_token: str | None = field(default=None, repr=False)

    def send(self, client: httpx.Client, body: bytes, *, forged: bool = False) -> int:
        """One try; returns the status, or 0 when nobody answered. A forgery is signed with a secret of its own."""
        secret = "not-the-secret" if forged else self.secret
        signed = sign(self.provider, body, at=datetime.now(UTC), secret=secret, url_token=self.url_token)
        url = f"{self.url}?{urlencode(signed.query)}" if signed.query else self.url
        try:
            return client.post(url, content=body, headers=list(signed.headers)).status_code
        except httpx.HTTPError:
            return _UNHEARD

    def deliver(self, client: httpx.Client, body: bytes) -> list[int]:
        """Tries until a 2xx, with growing pauses; returns every status heard."""
        heard: list[int] = []
        for attempt in range(TRIES):
            heard.append(self.send(client, body))
            if 200 <= heard[-1] < 300:
                break
            time.sleep(min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS))
        return heard


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment that the simulator will tell of; register it first, or let it arrive unknown."""

    reference: str
    provider_ref: str
    amount: int


@dataclass(slots=True)
class Summary:
    """What a burst did."""

    deliveries: int = 0
    acknowledged: int = 0
    retries: int = 0
    gave_up: int = 0
    forgeries_refused: int = 0
    forgeries_accepted: int = 0
    statuses: Counter[int] = field(default_factory=Counter)

    def as_json(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "deliveries": self.deliveries,
            "acknowledged": self.acknowledged,
            "retries": self.retries,
            "gave_up": self.gave_up,
            "forgeries_refused": self.forgeries_refused,
            "forgeries_accepted": self.forgeries_accepted,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }


def invent(provider: str, count: int, *, seed: str, amount: int) -> list[Payment]:
    """That many payments; another seed, other payments."""
    samples = SAMPLES[provider]
    return [
        Payment(f"{seed}-{number}", samples.payment_id(f"{seed}-{number}"), amount) for number in range(1, count + 1)
    ]


def case_of(provider: str, payment: Payment, *, fee: int = 0) -> Case:
    """The payment as the provider's samples tell it, happening now."""
    return Case(
        payment_id=payment.provider_ref, amount=payment.amount, occurred_at=datetime.now(UTC),
        seed=f"{provider}-{payment.reference}", merchant_reference=payment.reference, fee=fee,
    )  # fmt: skip


def burst(
    psp: Psp,
    payments: Sequence[Payment],
    *,
    repeat: int = 2,
    parallel: int = 8,
    shuffle: bool = True,
    forgeries: int = 0,
    refunds: int = 0,
    chooser: random.Random | None = None,
) -> Summary:
    """Tells each payment by its two events, each delivered `repeat` times at once; then the refunds, late.

    `shuffle` sends them out of order. Forgeries carry a true body and a false signature.
    """
    chooser = chooser or random.Random()  # noqa: S311  order, not secrecy
    samples = SAMPLES[psp.provider]
    cases = [case_of(psp.provider, payment) for payment in payments]
    bodies = [body for case in cases for body in samples.paid(case) for _ in range(repeat)]
    if shuffle:
        chooser.shuffle(bodies)
    back = [samples.refunded(case, amount=case.amount, total=case.amount) for case in cases[:refunds]]
    summary = Summary()
    with httpx.Client(timeout=30, limits=httpx.Limits(max_connections=parallel)) as client:
        _deliver_all(psp, client, bodies, parallel, summary)
        _deliver_all(psp, client, [body for body in back if body for _ in range(repeat)], parallel, summary)
        for case in (cases * forgeries)[:forgeries]:
            status = psp.send(client, samples.paid(case)[0], forged=True)
            summary.statuses[status] += 1
            if 200 <= status < 300:
                summary.forgeries_accepted += 1
            else:
                summary.forgeries_refused += 1
    return summary


def _deliver_all(psp: Psp, client: httpx.Client, bodies: Iterable[bytes], parallel: int, summary: Summary) -> None:
    with ThreadPoolExecutor(parallel) as pool:
        for heard in pool.map(lambda body: psp.deliver(client, body), bodies):
            summary.deliveries += 1
            summary.retries += len(heard) - 1
            summary.statuses.update(heard)
            if 200 <= heard[-1] < 300:
                summary.acknowledged += 1
            else:
                summary.gave_up += 1
