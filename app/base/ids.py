"""Ids as people and machines hold them: a prefix that tells the kind, then the row's number (`pmt_42`)."""

from enum import StrEnum

_LARGEST = 2**63 - 1


class Kind(StrEnum):
    """What an id names."""

    PAYMENT = "pmt"
    EVENT = "evn"
    ENTRY = "ent"
    REFUND = "rfd"
    DELIVERY = "dlv"
    MESSAGE = "msg"
    GRANT = "grt"


def show(kind: Kind, number: int) -> str:
    """`pmt_42` for payment 42."""
    return f"{kind}_{number}"


def show_or_none(kind: Kind, number: int | None) -> str | None:
    """As `show`; None for nothing."""
    return None if number is None else show(kind, number)


def parse(kind: Kind, text: str) -> int | None:
    """The row's number, or None when the text is no id of that kind."""
    prefix, _, digits = text.partition("_")
    if prefix != kind or not (digits.isascii() and digits.isdigit()):
        return None
    number = int(digits)
    return number if number <= _LARGEST else None
