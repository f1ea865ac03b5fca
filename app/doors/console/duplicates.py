"""Ignored duplicates: each with the event that came first, how far apart they were, and what was not credited twice."""

from dataclasses import replace

from app.access.people import Role
from app.base.db import statements
from app.base.ids import Kind, show
from app.doors.console.events import filter_from_address
from app.doors.console.page import PAGE_ROWS, before, console, listing, render
from app.doors.console.rules import needs
from app.intake import pages as intake
from app.intake import reads
from app.payments import pages as payments


@console.get("/duplicates")
@needs(Role.VIEWER)
def duplicates() -> str:
    """What would have been booked twice."""
    wanted, problem = filter_from_address()
    with statements() as conn:
        duplicate = replace(wanted, status="duplicate", contradicted=False)
        rows = reads.events(conn, duplicate, before=before(Kind.EVENT), limit=PAGE_ROWS + 1)
        causes = intake.types(conn, (row.caused_by for row in rows))
        slugs, _types = intake.choices(conn)
        references = payments.references(conn, (row.payment_id for row in rows))
    return render(
        "events/duplicates.html",
        "events/duplicate_rows.html",
        list=listing(rows, lambda row: show(Kind.EVENT, row.id)),
        references=references,
        causes=causes,
        wanted=wanted,
        problem=problem,
        slugs=slugs,
        any_filter=bool(wanted.slug or wanted.since or wanted.until),
    )
