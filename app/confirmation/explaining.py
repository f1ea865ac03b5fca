"""A decision as one plain sentence, in English or Portuguese: its reason's sentence with everything filled in. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.base.ids import Kind, show, show_or_none
from app.base.money import decimals
from app.confirmation import reasons

_RESTORED: Final = (" Access that was missing was restored.", " O acesso que faltava foi restaurado.")
_PERSON: Final = ("a person", "uma pessoa")
_NOTHING: Final = "—"


@dataclass(frozen=True, slots=True)
class Told:
    """What a sentence is about: a decision or a standing. `currency` is the event's, else the payment's."""

    status: str
    reason: str
    caused_by: int | None
    entry_id: int | None
    detail: Mapping[str, Any]
    currency: str | None


def explain(told: Told, *, portuguese: bool) -> str:
    """The sentence. KeyError for a reason that has none: a test holds that every code has."""
    template = reasons.sentence(told.status, told.reason, portuguese=portuguese)
    currency = told.detail.get("currency") or told.currency

    def amount(name: str) -> str:
        return _amount(told.detail.get(name), currency, portuguese=portuguese)

    said = template.format(
        event=_PERSON[portuguese] if told.caused_by is None else show(Kind.EVENT, told.caused_by),
        entry=show_or_none(Kind.ENTRY, told.entry_id) or _NOTHING,
        payment=told.detail.get("reference") or _NOTHING,
        seen=amount("seen"),
        expected=amount("expected"),
        remaining=amount("remaining"),
        reason=told.reason.replace("_", " "),
    )
    return said + _RESTORED[portuguese] if told.detail.get("grant_restored") else said


def written(amount: int, currency: str, *, portuguese: bool) -> str:
    """Minor units for people: `BRL 1,234.56`; in Portuguese `R$ 1.234,56`, other currencies by their code."""
    places = decimals(currency)
    units, fraction = divmod(abs(amount), 10**places)
    number = f"{units:,}" + (f".{fraction:0{places}}" if places else "")
    if portuguese:
        number = number.translate(str.maketrans(",.", ".,"))
    sign = "-" if amount < 0 else ""
    return f"{sign}{'R$' if portuguese and currency == 'BRL' else currency} {number}"


def _amount(value: Any, currency: str | None, *, portuguese: bool) -> str:
    if isinstance(value, int) and currency:
        return written(value, currency, portuguese=portuguese)
    return _NOTHING if value is None else str(value)
