"""Events: what the providers told, where each stands and why; and having one decided again."""

from typing import Any, Final

from flask import Response

from app.base.db import Connection, statements
from app.base.errors import Refusal
from app.base.ids import Kind, parse
from app.confirmation.acting import redeliver
from app.doors.api import asked, caller, cursors, told
from app.doors.api.answering import act, answer, page
from app.doors.api.naming import payment_named
from app.doors.api.rendering import decision_json, events_json, runtime
from app.doors.api.room import Room
from app.intake import reads
from app.intake.events import announce_work
from app.intake.reads import Filter

room = Room("events", "What the providers told, each event once, with the reason for what was done with it.")
_ID: Final = {"event_id": "An event's id, such as `evn_42`."}


@room.get("/events", query=asked.EventFilter, answers=told.list_of(told.EventTold))
def list_events(query: dict[str, Any]) -> Response:
    """List events, newest first"""
    limit, before = query["limit"], cursors.read("events", query.get("cursor"))
    with statements() as conn:
        payment_id = payment_named(conn, query.get("payment"))
        wanted = Filter(
            payment_id=payment_id,
            status=query.get("status"),
            slug=query.get("endpoint"),
            type=query.get("type"),
            key=query.get("key"),
            since=query.get("since"),
            until=query.get("until"),
        )
        found = reads.events(conn, wanted, before=before, limit=limit + 1)
        return page(
            found,
            limit,
            items=lambda shown: events_json(conn, shown),
            after=lambda last: cursors.write("events", last.id),
        )


@room.get("/events/<event_id>", answers=told.EventTold, says=_ID)
def get_event(event_id: str) -> Response:
    """Look up an event"""
    with statements() as conn:
        found = reads.event(conn, _number(event_id))
        if found is None:
            raise _not_found()
        return answer(events_json(conn, [found])[0])


@room.post("/events/<event_id>/redeliver", takes=asked.OptionalReason, answers=told.DecisionTold, says=_ID)
def redeliver_event(body: dict[str, Any], event_id: str) -> Response:
    """Have an event decided again, as if it had just arrived

    Safe: an effect that exists is not repeated, missing access is restored. The answer is the decision.
    """
    number = _number(event_id)

    def work(conn: Connection) -> dict[str, Any]:
        _, woken = redeliver(conn, number, act=caller.act(body.get("reason")), zone=runtime().settings.timezone)
        if woken:
            announce_work(conn)
        return decision_json(conn, reads.last_decision(conn, number))

    return act(work)


def _number(event_id: str) -> int:
    number = parse(Kind.EVENT, event_id)
    if number is None:
        raise _not_found()
    return number


def _not_found() -> Refusal:
    return Refusal("event_not_found", "There is no event with this id; ids look like evn_42.", status=404)
