"""Ignored duplicates: each with the event that came first, how far apart they were, and the amount not credited twice."""

from dataclasses import replace

from app.access.people import Role
from app.base.db import statements
from app.base.ids import Kind, show
from app.doors.console.events import filter_from_address, said_of
from app.doors.console.page import PAGE_ROWS, before, console, listing, render
from app.doors.console.rules import needs
from app.doors.console.sentences import sentence
from app.intake import pages as intake
from app.payments import pages as payments


@console.get("/duplicates")
@needs(Role.VIEWER)
def duplicates() -> str:
    """What would have been booked twice."""
    wanted, problem = filter_from_address()
    with statements() as conn:
        rows = intake.duplicates(
            conn, replace(wanted, status="duplicate", contradicted=False), before=before(Kind.EVENT), limit=PAGE_ROWS
        )
        slugs, _types = intake.choices(conn)
        references = payments.references(conn, (row.payment_id for row in rows))
    types = {row.caused_by: row.cause_type for row in rows if row.caused_by and row.cause_type}
    return render(
        "events/duplicates.html",
        "events/duplicate_rows.html",
        list=listing(rows, lambda row: show(Kind.EVENT, row.id)),
        sentences={row.id: sentence(said_of(row), types) for row in rows},
        references=references,
        wanted=wanted,
        problem=problem,
        slugs=slugs,
        any_filter=bool(wanted.slug or wanted.since or wanted.until),
    )
