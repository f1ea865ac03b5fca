"""What a person decides about an event: accept what was really paid, dismiss it, or note a contradiction.

Each has a page that says what will happen, shown by doing it and undoing it. A reason is required.
"""

from typing import Any

from flask import redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as Answer

from app.access import audit
from app.access.people import Role
from app.base.db import statements, transaction
from app.base.errors import Refusal
from app.base.ids import Kind, show
from app.confirmation import acting
from app.doors.console import words
from app.doors.console.events import said_of
from app.doors.console.overview import ACKNOWLEDGED
from app.doors.console.page import act, console, number, reason_given, rehearsal, render, runtime, wake_worker
from app.doors.console.rules import needs
from app.doors.console.sentences import sentence
from app.intake import pages as intake
from app.ledger import pages as ledger
from app.payments import pages as payments


@console.route("/events/<event_id>/acceptance", methods=["GET", "POST"])
@needs(Role.FINANCE)
def acceptance(event_id: str) -> str | tuple[str, int] | Answer:
    """Accepts the amount that was really paid."""
    found = number(Kind.EVENT, event_id)
    zone = runtime().settings.timezone
    if request.method == "POST" and (reason := reason_given()):
        with transaction() as conn:
            acting.accept(conn, found, act=act(reason), zone=zone)
            made = intake.decisions(conn, found)[-1].id
        wake_worker()
        return redirect(url_for("console.event", event_id=event_id, done=made))
    with rehearsal() as conn:
        before = intake.event(conn, found)
        payment = payments.payment(conn, before.payment_id) if before and before.payment_id else None
        decision = acting.accept(conn, found, act=act(), zone=zone)
        entries = ledger.of_payment(conn, decision.payment_id or 0)
    return _asked("events/acceptance.html", event=before, payment=payment, entries=entries)


@console.route("/events/<event_id>/dismissal", methods=["GET", "POST"])
@needs(Role.SUPPORT)
def dismissal(event_id: str) -> str | tuple[str, int] | Answer:
    """Lets an event be that nothing was posted from."""
    found = number(Kind.EVENT, event_id)
    if request.method == "POST" and (reason := reason_given()):
        with transaction() as conn:
            acting.dismiss(conn, found, act=act(reason))
            made = intake.decisions(conn, found)[-1].id
        return redirect(url_for("console.event", event_id=event_id, done=made))
    with rehearsal() as conn:
        before = intake.event(conn, found)
        acting.dismiss(conn, found, act=act())
        told = intake.types(conn, [before.caused_by if before else None])
    assert before is not None
    said = sentence(said_of(before), {key: kind for key, (kind, _at) in told.items()})
    return _asked("events/dismissal.html", event=before, sentence=said)


@console.route("/events/<event_id>/acknowledgement", methods=["GET", "POST"])
@needs(Role.SUPPORT)
def acknowledgement(event_id: str) -> str | tuple[str, int] | Answer:
    """Notes that a person looked at an event that arrived again with another meaning."""
    found = number(Kind.EVENT, event_id)
    with statements() as conn:
        event = intake.event(conn, found)
        contradicting = [one for one in intake.deliveries(conn, found) if one.contradicts] if event else []
    if event is None:
        raise Refusal("event_not_found", str(words.refusal(Refusal("event_not_found", ""))), status=404)
    if not contradicting:
        raise Refusal("nothing_contradicts", _("No delivery of this event contradicts the first."))
    if request.method == "POST" and (reason := reason_given()):
        with transaction() as conn:
            audit.record(conn, act(reason), ACKNOWLEDGED, show(Kind.EVENT, found))
        return redirect(url_for("console.event", event_id=event_id))
    return _asked("events/acknowledgement.html", event=event, deliveries=contradicting)


def _asked(template: str, **context: Any) -> str | tuple[str, int]:
    """The page that asks; after a POST without a reason it says so."""
    if request.method == "POST":
        return render(template, problem=_("Give a reason: it is kept with what you do."), **context), 422
    return render(template, problem=None, **context)
