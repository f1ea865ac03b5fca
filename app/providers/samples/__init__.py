"""Truthful bodies of each provider's events, for the simulator and the tests.

Fields and their types are those of the provider's documentation (providers.md sections 1 to 3); the values
are invented. The same case gives the same bytes: sending one twice is what a provider's retry looks like.
Where a provider has no such event (AbacatePay: partial refund, dispute won, expiry) the builder gives None.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.providers.samples.abacatepay import AbacatePaySamples
from app.providers.samples.asaas import AsaasSamples
from app.providers.samples.case import Case, Samples
from app.providers.samples.stripe import StripeSamples

__all__ = ["SAMPLES", "Case", "Samples"]

SAMPLES: Final[Mapping[str, Samples]] = MappingProxyType(
    {
        "asaas": AsaasSamples(),
        "stripe": StripeSamples(),
        "abacatepay": AbacatePaySamples(),
    }
)
