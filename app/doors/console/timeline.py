"""A payment's one timeline: registration, deliveries, decisions, entries, access, messages and people's acts, merged.

Pure: takes what was read, gives moments in order. Gaps are not hidden; a delivery that contradicts says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from flask_babel import gettext as _
from markupsafe import Markup

from app.access.pages import Done
from app.base.ids import Kind, show
from app.doors.console import language, words
from app.doors.console.events import said_of
from app.doors.console.sentences import sentence
from app.doors.console.templating import link
from app.intake.pages import Decided
from app.ledger.pages import Entry
from app.notifications.pages import Message
from app.payments.pages import Payment
from app.payments.reads import Grant

_TONES: Final = {"sale": "good", "chargeback_reversal": "good", "refund": "wait", "chargeback": "bad"}
# What happens in one transaction has one instant: then the order is that of cause and effect.
_ORDER: Final = {"payment": 0, "delivery": 1, "act": 2, "decision": 3, "entry": 4, "access": 5, "message": 6}


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline. `kind` is a key of _ORDER; `since` the time since the line before."""

    at: datetime
    kind: str
    text: Markup
    note: str | None = None
    tone: str = "quiet"
    since: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """All that touched a payment, as it was read."""

    payment: Payment
    deliveries: Sequence[tuple[int, int, datetime, str, bool]]
    decisions: Sequence[tuple[int, Decided]]
    entries: Sequence[Entry]
    grants: Sequence[Grant]
    messages: Sequence[Message]
    acts: Sequence[Done]
    types: Mapping[int, str]


def merged(sources: Sources) -> list[Moment]:
    """Every moment, first to last, each with the time since the one before."""
    moments = sorted(_all(sources), key=lambda moment: (moment.at, _ORDER[moment.kind]))
    earlier: Iterable[datetime | None] = [None, *(moment.at for moment in moments)]
    return [
        Moment(one.at, one.kind, one.text, one.note, one.tone, one.at - last if last else None)
        for one, last in zip(moments, earlier, strict=False)
    ]


def _all(sources: Sources) -> Iterator[Moment]:
    payment = sources.payment
    source = words.SOURCES.get(payment.source, payment.source)
    yield Moment(
        payment.created_at, "payment",
        language.phrase(
            _("Registered by %(source)s: %(amount)s expected."),
            source=str(source), amount=language.money(payment.registered_amount, payment.currency),
        ),
    )  # fmt: skip
    yield from _deliveries(sources)
    for event_id, decision in sources.decisions:
        said = sentence(said_of(decision, payment.currency), sources.types)
        actor = None if decision.actor == "worker" else decision.actor
        tone = words.EVENTS[decision.status].tone
        text = Markup("{} {}").format(link(Kind.EVENT, event_id), said)
        yield Moment(decision.decided_at, "decision", text, actor, tone)
    for entry in sources.entries:
        text = Markup("{} {} <strong>{}</strong>").format(
            words.KINDS[entry.kind], link(Kind.ENTRY, entry.id), language.money(entry.amount, entry.currency)
        )
        if entry.refund_id:
            text += Markup(" · {}").format(link(Kind.REFUND, entry.refund_id))
        note = f"{language.month(entry.period)}" + (f" · {entry.memo}" if entry.memo else "")
        yield Moment(entry.recorded_at, "entry", text, note, _TONES.get(entry.kind, "quiet"))
    for grant in sources.grants:
        said = _("Access to %(resource)s given to %(subject)s.")
        text = language.phrase(said, resource=grant.resource, subject=grant.subject)
        yield Moment(grant.granted_at, "access", text)
    for message in sources.messages:
        yield _message(message)
    for act in sources.acts:
        if act.act == "event.redeliver":  # its decision is a line already, with the person's name
            continue
        did = str(words.ACTS.get(act.act, act.act))
        yield Moment(act.at, "act", Markup("<strong>{}</strong> {}").format(act.actor, did), act.reason)


def _deliveries(sources: Sources) -> Iterator[Moment]:
    seen: set[int] = set()
    for delivery_id, event_id, at, label, contradicts in sources.deliveries:
        kind = sources.types.get(event_id, "")
        said = _("arrived again") if event_id in seen else _("arrived")
        if contradicts:
            said = _("arrived again with another meaning: kept, not applied")
        seen.add(event_id)
        text = Markup('<span class="type">{}</span> {} {}').format(kind, link(Kind.EVENT, event_id), said)
        note = f"{show(Kind.DELIVERY, delivery_id)} · {label}"
        yield Moment(at, "delivery", text, note, "bad" if contradicts else "quiet")


def _message(message: Message) -> Moment:
    name = words.MESSAGE_TYPES.get(message.type, message.type)
    text = language.phrase(_("Message owed to the shop: %(what)s."), what=str(name))
    note = show(Kind.MESSAGE, message.id)
    if message.delivered_at:
        note += " · " + str(words.MESSAGES["delivered"].word)
    return Moment(message.created_at, "message", text, note)
