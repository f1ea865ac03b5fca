"""What requests give: amounts, names, texts, instants, months, page sizes. Strict: nothing is converted."""

import re
from datetime import date, datetime
from typing import Any, Final

from marshmallow import ValidationError, fields, validate

from app.base.money import MAX_MINOR_UNITS

MOST_TEXT: Final = 255
MOST_PAGE: Final = 200
DEFAULT_PAGE: Final = 50

_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+ -][0-9]{2}:[0-9]{2})\Z", re.ASCII
)
_MONTH: Final = re.compile(r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])\Z", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class Whole(fields.Integer):
    """A JSON integer: no text, no point, no exponent, no boolean."""

    def __init__(self, *, least: int, most: int, **more: Any) -> None:
        said = f"A JSON integer from {least} to {most}."
        super().__init__(
            strict=True,
            validate=validate.Range(least, most, error=said),
            error_messages={"invalid": said, "too_large": said},
            **more,
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> int:
        if type(value) is not int:
            raise self.make_error("invalid")
        return super()._deserialize(value, attr, data, **more)


class Amount(Whole):
    """Money in the currency's minor unit: R$ 49,90 is 4990."""

    def __init__(self, **more: Any) -> None:
        super().__init__(least=1, most=MAX_MINOR_UNITS, **more)


class Text(fields.String):
    """Text that can be kept: no NUL, no half of a surrogate pair."""

    def __init__(self, *, least: int = 1, most: int = MOST_TEXT, **more: Any) -> None:
        checks = [validate.Length(least, most), storable, *more.pop("checks", ())]
        super().__init__(validate=checks, **more)


class Name(Text):
    """What somebody is called: text of one line, without control characters."""

    def __init__(self, **more: Any) -> None:
        super().__init__(checks=(_one_line,), **more)


class PageSize(fields.Integer):
    """How many items a page of a list has."""

    def __init__(self) -> None:
        super().__init__(load_default=DEFAULT_PAGE, validate=validate.Range(1, MOST_PAGE))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> int:
        if not re.fullmatch("[0-9]{1,9}", str(value), re.ASCII):
            raise self.make_error("invalid")
        return super()._deserialize(value, attr, data, **more)


class Instant(fields.DateTime):
    """An instant as RFC 3339 writes it, with its offset."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> datetime:  # noqa: ARG002
        said = "An instant as RFC 3339 writes it, such as 2026-08-31T23:30:00-03:00."
        text = str(value)
        if not _INSTANT.match(text):
            raise ValidationError(said)
        # An unescaped + arrives as a space.
        text = text[:11].replace(" ", "T").upper() + text[11:].replace(" ", "+").upper()
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise ValidationError(said) from error
        if not 1970 <= found.year <= 9998:  # leaves room for every offset
            raise ValidationError(said)
        return found


class Month(fields.String):
    """A competence month, such as 2026-08."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:  # noqa: ARG002
        match = _MONTH.match(str(value))
        if match is None or match["year"] == "0000":
            raise ValidationError("A month, such as 2026-08.")
        return date(int(match["year"]), int(match["month"]), 1)


def storable(text: str) -> None:
    """ValidationError for text that PostgreSQL cannot keep."""
    if not is_storable(text):
        raise ValidationError("It holds characters that cannot be kept: NUL, or half of a surrogate pair.")


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can keep this text."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _one_line(text: str) -> None:
    if _CONTROL.search(text):
        raise ValidationError("It holds control characters.")
