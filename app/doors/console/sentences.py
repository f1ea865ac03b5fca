"""A decision as one sentence, with links: why this payment was credited, why that event was ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import url_for
from flask_babel import gettext as _
from markupsafe import Markup

from app.base.ids import Kind, show
from app.confirmation import reasons
from app.doors.console import language


@dataclass(frozen=True, slots=True)
class Said:
    """What a sentence is about: a decision or a standing, and the event's own names."""

    status: str
    reason: str
    caused_by: int | None
    entry_id: int | None
    detail: Mapping[str, Any]
    currency: str | None


def sentence(said: Said, types: Mapping[int, str]) -> Markup:
    """The sentence; `types` gives the type of each event that it may name. Everything stored is escaped."""
    # The sentences are ours; `format` of a Markup escapes every value that is none.
    template = Markup(reasons.sentence(said.status, said.reason, portuguese=language.portuguese()))  # noqa: S704
    currency = said.detail.get("currency") or said.currency
    found = template.format(
        event=_event(said.caused_by, types),
        entry=_entry(said.entry_id),
        payment=said.detail.get("reference", ""),
        seen=_amount(said.detail.get("seen"), currency),
        expected=_amount(said.detail.get("expected"), currency),
        remaining=_amount(said.detail.get("remaining"), currency),
        reason=said.reason.replace("_", " "),
    )
    if said.detail.get("grant_restored"):
        found += Markup(" ") + _("Access that was missing was restored.")
    return found


def beside_state(said: Said, types: Mapping[int, str]) -> Markup:
    """The sentence where its state is shown already: without the word that repeats it."""
    whole = sentence(said, types)
    word, colon, rest = whole.partition(": ")
    if not colon or "<" in word or said.reason == "repeats_itself":
        return whole
    return Markup("{}").format(rest[:1].upper() + rest[1:])


def _event(event_id: int | None, types: Mapping[int, str]) -> Markup:
    if event_id is None:
        return language.phrase(_("a person"))
    shown = show(Kind.EVENT, event_id)
    return Markup('<a href="{}"><span class="type">{}</span> <span class="id">{}</span></a>').format(
        url_for("console.event", event_id=shown), types.get(event_id, ""), shown
    )


def _entry(entry_id: int | None) -> Markup:
    if entry_id is None:
        return Markup("—")
    shown = show(Kind.ENTRY, entry_id)
    return Markup('<a class="id" href="{}">{}</a>').format(url_for("console.entry", entry_id=shown), shown)


def _amount(value: Any, currency: str | None) -> str:
    return language.money(value, currency) if isinstance(value, int) else str(value if value is not None else "—")
