"""Events: the list with its filters, one event with everything about it, its bytes, and its re-delivery."""

from datetime import datetime, timedelta

from flask import Response, abort, make_response, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as Answer

from app.access import audit
from app.access import pages as access
from app.access.people import Role
from app.base.db import Connection, statements, transaction
from app.base.ids import Kind, show
from app.confirmation import acting
from app.doors.console import bodies
from app.doors.console.overview import ACKNOWLEDGED
from app.doors.console.page import (
    PAGE_ROWS,
    act,
    before,
    console,
    given,
    listing,
    number,
    reason_given,
    render,
    runtime,
    wake_worker,
)
from app.doors.console.rules import needs
from app.doors.console.sentences import Said, beside_state, sentence
from app.intake import pages as intake
from app.intake import reads
from app.intake.pages import Event
from app.intake.reads import Filter
from app.payments import pages as payments


@console.get("/events")
@needs(Role.VIEWER)
def events() -> str:
    """Every event, newest first, narrowed by the address."""
    wanted, problem = filter_from_address()
    with statements() as conn:
        rows = reads.events(conn, wanted, before=before(Kind.EVENT), limit=PAGE_ROWS + 1)
        slugs, types = intake.choices(conn)
        told = intake.types(conn, (row.caused_by for row in rows))
        references = payments.references(conn, (row.payment_id for row in rows))
    return render(
        "events/list.html",
        "events/rows.html",
        list=listing(rows, lambda row: show(Kind.EVENT, row.id)),
        sentences={row.id: beside_state(said_of(row), _types(told)) for row in rows},
        references=references,
        wanted=wanted,
        problem=problem,
        slugs=slugs,
        types=types,
        any_filter=wanted != Filter(),
    )


@console.get("/events/<event_id>")
@needs(Role.VIEWER)
def event(event_id: str) -> str:
    """One event: what was decided and why, then all that is known of it."""
    return _event_page(number(Kind.EVENT, event_id), reveal=False)


@console.post("/events/<event_id>/reveal")
@needs(Role.SUPPORT)
def reveal(event_id: str) -> str:
    """The same page with personal data shown; that somebody looked is recorded first."""
    found = number(Kind.EVENT, event_id)
    with transaction() as conn:
        _existing(conn, found)
        audit.record(conn, act(reason_given()), "event.reveal", show(Kind.EVENT, found))
    return _event_page(found, reveal=True)


@console.post("/events/<event_id>/body")
@needs(Role.SUPPORT)
def download(event_id: str) -> Response:
    """The exact bytes, as a file; recorded as a reveal, since they hold what pages mask."""
    found = number(Kind.EVENT, event_id)
    with transaction() as conn:
        kept = intake.kept(conn, found, _delivery())
        if kept is None:
            abort(404)
        audit.record(conn, act(), "event.reveal", show(Kind.EVENT, found), {"download": True})
    response = make_response(kept[1])
    response.headers["Content-Type"] = "application/octet-stream"
    name = f"{show(Kind.EVENT, found)}-{show(Kind.DELIVERY, kept[0])}.body"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@console.post("/events/<event_id>/redelivery")
@needs(Role.SUPPORT)
def redelivery(event_id: str) -> Answer:
    """Has the event decided again; the page then says what that did."""
    found = number(Kind.EVENT, event_id)
    with transaction() as conn:
        _decision, woken = acting.redeliver(conn, found, act=act(reason_given()), zone=runtime().settings.timezone)
        made = intake.decisions(conn, found)[-1].id
    if woken:
        wake_worker()
    return redirect(url_for("console.event", event_id=event_id, done=made))


def filter_from_address() -> tuple[Filter, str | None]:
    """The filter that the address holds, and what is wrong with it, if anything."""
    since, problem = _moment("since")
    until, problem_until = _moment("until")
    if until and _is_day("until"):
        until += timedelta(days=1)
    wanted = Filter(
        status=given("status"), slug=given("endpoint"), type=given("type"), since=since, until=until,
        contradicted=given("contradicted") == "1",
    )  # fmt: skip
    return wanted, problem or problem_until


def said_of(found: reads.Event | Event | intake.Told | intake.Decided, currency: str | None = None) -> Said:
    """What a sentence needs, of anything that has a decision."""
    own = getattr(found, "currency", None)
    return Said(found.status, found.reason, found.caused_by, found.entry_id, found.detail, own or currency)


def _event_page(event_id: int, *, reveal: bool) -> str:
    with statements() as conn:
        found = _existing(conn, event_id)
        deliveries = intake.deliveries(conn, event_id)
        decisions = intake.decisions(conn, event_id)
        kept = intake.kept(conn, event_id, _delivery())
        told = intake.types(conn, [found.caused_by, *(one.caused_by for one in decisions)])
        references = payments.references(conn, [found.payment_id])
        acts = access.of_objects(conn, [show(Kind.EVENT, event_id)])
    types = _types(told)
    body = bodies.shown(kept[1], kept[2], reveal=reveal) if kept else None
    contradicted = max((one.received_at for one in deliveries if one.contradicts), default=None)
    looked = max((one.at for one in acts if one.act == ACKNOWLEDGED), default=None)
    return render(
        "events/event.html",
        event=found,
        sentence=sentence(said_of(found), types),
        cause=told.get(found.caused_by or 0),
        reference=references.get(found.payment_id or 0),
        deliveries=deliveries,
        decisions=[(one, beside_state(said_of(one, found.currency), types)) for one in decisions],
        done=next((one for one in decisions if str(one.id) == request.args.get("done")), None),
        acts=acts,
        body=body,
        raw=bodies.raw(kept[1]) if kept and reveal else None,
        kept_delivery=kept[0] if kept else None,
        headers=bodies.headers_shown(kept[2], reveal=reveal) if kept else [],
        reveal=reveal,
        contradicted=contradicted,
        looked=looked if contradicted and looked and looked > contradicted else None,
        may_do=before_redelivery(found.status),
    )


def before_redelivery(status: str) -> str:
    """What re-delivering an event in that state may do."""
    may_do: dict[str, str] = {
        "applied": _(
            "This event was applied. Re-delivering can only restore missing access; no money is posted twice."
        ),
        "duplicate": _("Its effect exists already. Re-delivering can only restore missing access; no money is posted."),
        "ignored": _("It moves no money. Re-delivering will find the same, and change nothing."),
        "unmatched": _("If its payment is registered by now, re-delivering confirms it and posts its sale, once."),
        "waiting": _("If what it depends on has come by now, re-delivering applies it, once."),
        "review": _("It is judged again by the same rules. While the difference stands, it stays in review."),
        "unreadable": _("It is kept as it was understood at reception. Re-delivering changes nothing."),
        "test": _("It is test traffic, never booked. Re-delivering changes nothing."),
        "failed": _("It is tried again now. If the cause is mended it has its effect, once."),
        "received": _(
            "It is about to be decided. Re-delivering decides it now, and it still has its effect only once."
        ),
    }
    return may_do[status]


def _existing(conn: Connection, event_id: int) -> Event:
    found = intake.event(conn, event_id)
    if found is None:
        abort(404)
    return found


def _types(told: dict[int, tuple[str, datetime]]) -> dict[int, str]:
    return {event_id: kind for event_id, (kind, _at) in told.items()}


def _delivery() -> int | None:
    text = request.values.get("delivery")
    return number(Kind.DELIVERY, text) if text else None


def _is_day(name: str) -> bool:
    return len(given(name) or "") == len("2026-12-01")


def _moment(name: str) -> tuple[datetime | None, str | None]:
    """A day or a moment in the merchant's zone, from the address."""
    text = given(name)
    if text is None:
        return None, None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None, _("“%(text)s” is no date; write it like 2026-12-01.", text=text)
    return found.replace(tzinfo=runtime().settings.timezone) if found.tzinfo is None else found, None
