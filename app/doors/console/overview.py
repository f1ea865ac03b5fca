"""The overview: what needs a person first, then today's money, then who was heard from."""

from dataclasses import dataclass
from datetime import datetime

from flask import url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_babel import ngettext
from flask_babel.speaklater import LazyString
from markupsafe import Markup

from app.access import pages as access
from app.access.people import Role
from app.base.clock import now
from app.base.db import Connection, statements
from app.base.ids import Kind, show
from app.doors.console import language, words
from app.doors.console.page import console, render, runtime
from app.doors.console.rules import needs
from app.doors.console.words import State
from app.intake import pages as intake
from app.ledger import pages as ledger
from app.safeguards import pages as safeguards

COUNTED_TO = 1000
ACKNOWLEDGED = "event.acknowledge"


@dataclass(frozen=True, slots=True)
class Need:
    """One kind of thing that a person must look at."""

    state: State
    number: int
    what: str
    since: datetime | None
    address: str

    @property
    def written(self) -> str:
        """The count, which stops at a thousand."""
        return f"{COUNTED_TO - 1}+" if self.number >= COUNTED_TO else str(self.number)


_WHAT: dict[str, LazyString] = {
    "failed": _l("an error of ours; re-deliver once it is mended"),
    "review": _l("the amount or the payment differs; accept or dismiss"),
    "unmatched": _l("paid, but nobody registered the payment"),
    "waiting": _l("came before what they depend on"),
    "unreadable": _l("authentic, but not understood"),
}


@console.get("/")
@needs(Role.VIEWER)
def overview() -> str:
    """The first page."""
    midnight = now().astimezone(runtime().settings.timezone).replace(hour=0, minute=0, second=0, microsecond=0)
    with statements() as conn:
        endpoints = intake.endpoints(conn)
        needed = _needs(conn)
        queued, queued_since = intake.queue(conn)
        recorded = ledger.recorded_since(conn, midnight)
        ignored = intake.ignored_since(conn, midnight)
        deliveries, events = intake.received_since(conn, midnight)
    seen = [one.last_received_at for one in endpoints if one.last_received_at]
    return render(
        "overview.html",
        needs=needed,
        sentence=_sentence(needed, max(seen, default=None), has_endpoints=bool(endpoints)),
        endpoints=endpoints,
        queued=queued,
        queued_since=queued_since,
        confirmed=[(currency, number, amount) for kind, currency, number, amount in recorded if kind == "sale"],
        refunded=[(currency, number, amount) for kind, currency, number, amount in recorded if kind == "refund"],
        ignored=ignored,
        deliveries=deliveries,
        events=events,
        today=midnight,
    )


def _needs(conn: Connection) -> list[Need]:
    found = [
        Need(words.EVENTS[status], number, str(_WHAT[status]), since, url_for("console.events", status=status))
        for status, number, since in intake.needs(conn)
    ]
    contradictions = unacknowledged(conn)
    if contradictions:
        oldest = min(at for _event, at in contradictions)
        state = State(_l("Contradiction"), "triangle", "bad", _l("the same event now says something else"))
        what = _("the same event arrived again with another meaning")
        address = url_for("console.events", contradicted="1")
        found.insert(0, Need(state, len(contradictions), what, oldest, address))
    for report in safeguards.last_reports(conn).values():
        if not report.holds:
            what = _("the last doctor was red") if report.kind == "doctor" else _("the last verify was red")
            found.insert(0, Need(words.PROOFS["broken"], 1, what, report.at, url_for("console.safeguards")))
    return found


def unacknowledged(conn: Connection) -> list[tuple[int, datetime]]:
    """(event, last contradiction) of those that nobody has looked at since."""
    contradicting = intake.contradicting(conn)
    seen = access.last_of(conn, ACKNOWLEDGED, [show(Kind.EVENT, event_id) for event_id, _at in contradicting])
    return [
        (event_id, at)
        for event_id, at in contradicting
        if (looked := seen.get(show(Kind.EVENT, event_id))) is None or looked < at
    ]


def _sentence(needed: list[Need], last: datetime | None, *, has_endpoints: bool) -> Markup:
    """The state in one sentence."""
    number = sum(need.number for need in needed)
    if number == 0:
        first = _("Nothing needs you.")
    elif number >= COUNTED_TO:
        first = _("More than %(number)s things need a person.", number=COUNTED_TO - 1)
    else:
        first = ngettext("One thing needs a person.", "%(num)d things need a person.", number)
    if last:
        return Markup("{} {}").format(first, language.phrase(_("Last event %(ago)s."), ago=language.ago(last)))
    if has_endpoints:
        return Markup("{} {}").format(first, _("No event has arrived yet."))
    return Markup("{} {}").format(first, _("There is no endpoint yet: add one with razao endpoint add."))
