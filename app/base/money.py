"""Money is an integer of minor units with an ISO 4217 code; this module reads decimals into it, exactly.

Owns: how many decimals a currency has, and the strict reading of provider text. Refuses: floats, exponents,
NaN, negatives, more decimals than the currency has. Nothing is ever rounded here.
"""

import re
from decimal import Decimal
from typing import Final

ZERO_DECIMALS: Final = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THREE_DECIMALS: Final = frozenset("BHD IQD JOD KWD LYD OMR TND".split())

# R$ 1,000,000,000,000.00. PostgreSQL's bigint holds 90,000 times as much, so sums have room.
MAX_MINOR_UNITS: Final = 10**14

_CURRENCY = re.compile(r"[A-Z]{3}\Z")
# Plain digits, at most one separator; "49,90" is how Brazilian text writes R$ 49.90.
_PLAIN_DECIMAL = re.compile(r"(?P<units>[0-9]{1,12})(?:[.,](?P<fraction>[0-9]{1,9}))?\Z")


class MoneyError(ValueError):
    """The text or number is not an exact amount in that currency."""


def is_currency(code: object) -> bool:
    """True for three capital ASCII letters, the shape of ISO 4217."""
    return isinstance(code, str) and _CURRENCY.match(code) is not None


def decimals(currency: str) -> int:
    """How many digits follow the decimal point: BRL 2, JPY 0, KWD 3."""
    if currency in ZERO_DECIMALS:
        return 0
    return 3 if currency in THREE_DECIMALS else 2


def to_minor_units(value: object, currency: str) -> int:
    """Major units as a provider writes them (Decimal from JSON, int, or text) -> minor units, exactly.

    `Decimal("49.9")`, `Decimal("49.90")`, `"49,90"`, `49` in BRL give 4990, 4990, 4990, 4900.
    Raises MoneyError for floats, booleans, exponents (`1e2`), NaN, negatives, and any digit past the
    currency's last decimal, a zero too: "49.900" may be meant as forty-nine thousand, so a person looks.
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise MoneyError("not an amount")
    if isinstance(value, int) and abs(value) > MAX_MINOR_UNITS:  # str() of a huge int raises something else
        raise MoneyError("amount too large")
    # str(Decimal("1e2")) keeps the exponent, so what the provider wrote is what is judged.
    match = _PLAIN_DECIMAL.match(str(value))
    if match is None:
        raise MoneyError("not a plain decimal")
    places = decimals(currency)
    fraction = match["fraction"] or ""
    if len(fraction) > places:
        raise MoneyError(f"more than {places} decimals for {currency}")
    return _bounded(int(match["units"]) * 10**places + int(fraction.ljust(places, "0") or "0"))


def minor_units(value: object) -> int:
    """An amount that already is in minor units: an int >= 0, and no Decimal, whose point would be a doubt."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise MoneyError("not an integer of minor units")
    if value < 0:
        raise MoneyError("negative amount")
    return _bounded(value)


def _bounded(amount: int) -> int:
    if amount > MAX_MINOR_UNITS:
        raise MoneyError("amount too large")
    return amount
