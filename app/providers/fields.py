"""From JSON values to our words: texts PostgreSQL can hold, exact amounts, times in UTC.

A `Fields` reads the values of one event and remembers the first that could not be read, so that an adapter
states its rules once, top to bottom, and a single wrong value turns the whole reading into an `unreadable`
one: the fact is kept for people to see, the amounts are not, nothing is ever guessed.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from app.base.money import MoneyError, minor_units, to_minor_units
from app.providers.body import Json
from app.providers.contract import Reading

MAX_TEXT: Final = 255
# A provider's clock may run ahead a little; a date beyond this would book into a month that has not begun.
_FUTURE: Final = timedelta(days=1)

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\Z", re.ASCII)


def member(value: object, *path: str) -> object:
    """`value[path[0]][path[1]]…`, or None as soon as something on the way is missing or no object."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def mapping(value: object, *path: str) -> Json:
    """The same where an object is expected: an empty one when there is none."""
    found = member(value, *path)
    return found if isinstance(found, dict) else {}


def is_clean(value: str) -> bool:
    """Whether the text may become a key, a type or a reference: bounded, storable as PostgreSQL text."""
    if len(value) > MAX_TEXT or "\x00" in value:
        return False
    try:
        value.encode("utf-8")  # a lone surrogate ("\ud800") is legal JSON and no Unicode text
    except UnicodeEncodeError:
        return False
    return True


def unix_time(value: object, received_at: datetime) -> datetime | None:
    """Seconds since 1970; None for what is no believable time (the house then uses the reception)."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 253_402_300_800:
        return None
    return _believable(datetime.fromtimestamp(value, UTC), received_at)


def iso_time(value: object, received_at: datetime, zone: ZoneInfo | None = None) -> datetime | None:
    """`2026-08-31 23:30:00`, `…T…Z`, `…-03:00`; without an offset it is in `zone`, or None without a zone."""
    if not isinstance(value, str) or _TIME.match(value) is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            if zone is None:
                return None
            moment = moment.replace(tzinfo=zone)
        return _believable(moment.astimezone(UTC), received_at)
    except (ValueError, OverflowError):
        return None


def _believable(moment: datetime, received_at: datetime) -> datetime | None:
    return moment if moment <= received_at + _FUTURE else None


class Fields:
    """The values of one event, and the first fault found in them."""

    __slots__ = ("fault",)

    def __init__(self) -> None:
        self.fault: str | None = None

    def note(self, fault: str) -> None:
        """Remember a fault; the first one is the one people are told."""
        if self.fault is None:
            self.fault = fault

    def required(self, value: object, name: str) -> str | None:
        """Text without which the event means nothing: notes `<name>_missing` or `<name>_unreadable`."""
        if value is None or value == "":
            self.note(f"{name}_missing")
            return None
        if not isinstance(value, str) or not is_clean(value):
            self.note(f"{name}_unreadable")
            return None
        return value

    def optional(self, value: object, name: str) -> str | None:
        """Text that may be absent; what is no text counts as absent, text that can't be kept is a fault."""
        return self.required(value, name) if isinstance(value, str) and value else None

    def references(self, values: Iterable[object], name: str = "payment_id") -> tuple[str, ...]:
        """The provider's names for the payment, in order, each once; at least one is required."""
        found = dict.fromkeys(
            text for value in values if value is not None and (text := self.required(value, name)) is not None
        )
        if not found:
            self.note(f"{name}_missing")
        return tuple(found)

    def minor(self, value: object) -> int | None:
        """An amount in minor units, above zero."""
        try:
            return self._above_zero(minor_units(value))
        except MoneyError:
            self.note("amount_unreadable")
            return None

    def major(self, value: object, currency: str) -> int | None:
        """A JSON number in major units (reais), above zero. Text is refused: the provider writes numbers."""
        try:
            return self._above_zero(to_minor_units(value if is_number(value) else None, currency))
        except MoneyError:
            self.note("amount_unreadable")
            return None

    def flag(self, value: object, name: str) -> bool | None:
        """True, False, or None when absent; anything else is a fault."""
        if value is None or isinstance(value, bool):
            return value
        self.note(f"{name}_unreadable")
        return None

    def finish(self, reading: Reading) -> Reading:
        """The reading as it stands, or with its amounts withdrawn when something in it could not be read."""
        if self.fault is None:
            return reading
        return replace(reading, unreadable=self.fault, amount=None, fee=None)

    def _above_zero(self, amount: int) -> int | None:
        if amount == 0:
            self.note("amount_zero")
            return None
        return amount


def is_number(value: object) -> bool:
    """A JSON number as this house parses it."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
