"""Confirms a set of stored events in the caller's transaction: as many statements for one as for five hundred.

find and lock names and payments -> hold balances -> decide each event in order of arrival (pure) -> write the plan
-> write the decisions -> off the queue -> what waited has its turn.
"""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from app.base import crash
from app.base.db import Connection
from app.confirmation import found as finding
from app.confirmation.deciding import decide
from app.confirmation.found import Found
from app.intake import events as intake
from app.intake.events import Decision, StoredEvent
from app.payments import names
from app.payments.plan import Plan, open_plan, wake, write

_TEACHES = frozenset({"applied", "duplicate", "waiting"})


def confirm(
    conn: Connection, events: Sequence[StoredEvent], *, zone: ZoneInfo, actor: str, queued: bool
) -> tuple[list[Decision], bool]:
    """Decides those events; returns the decisions in their order, and whether other events were queued by it.

    `queued`: the events are held on the queue by this transaction and leave it with it.
    """
    found = finding.find(conn, events)
    crash.point("worker.locked")
    payments = {one.payment.id: one.payment for one in found.values() if one.payment}
    plan = open_plan(conn, list(payments.values()), decisions=len(events), zone=zone)
    decisions = [_decide_and_teach(plan, found[event.id], event) for event in events]
    write(conn, plan)
    crash.point("worker.posted")
    intake.record_decisions(conn, decisions, actor)
    names.wait_for(
        conn,
        (
            (name, event.id)
            for event, decision in zip(events, decisions, strict=True)
            if decision.status == "unmatched"
            for name in finding.names_of(event)
        ),
    )
    if queued:
        intake.dequeue(conn, [event.id for event in events])
    woken = wake(conn, plan)
    crash.point("worker.recorded")
    return decisions, woken


def _decide_and_teach(plan: Plan, found: Found, event: StoredEvent) -> Decision:
    if found.by_reference_alone:
        # An earlier event of this set may just have taught the provider's name.
        found.by_reference_alone = not any(
            name in plan.named for name in finding.names_of(event) if name.kind == "provider"
        )
    decision = decide(plan, found, event)
    if found.payment and found.new_names and event.moves_money and decision.status in _TEACHES:
        plan.named |= dict.fromkeys(found.new_names, found.payment.id)
        if event.refs:
            found.payment.provider_names.update(event.refs)
            if found.payment.provider_ref is None:
                found.payment.provider_ref = event.refs[0]
                plan.change(found.payment)
    return decision
