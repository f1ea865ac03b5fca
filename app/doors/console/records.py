"""What the house keeps: notifications, the audit list, safeguards, endpoints."""

from typing import Any

from flask import request, url_for

from app.access import pages as access
from app.access.people import Role
from app.base.db import statements
from app.base.ids import Kind, show
from app.doors.console import bodies
from app.doors.console.page import PAGE_ROWS, before, console, given, listing, render
from app.doors.console.rules import needs
from app.intake import pages as intake
from app.notifications import pages as outbox
from app.payments import pages as payments
from app.safeguards import pages as proofs

_REJECTIONS_SHOWN = 50


@console.get("/notifications")
@needs(Role.VIEWER)
def notifications() -> str:
    """What the shop's application is told."""
    with statements() as conn:
        rows = outbox.messages(conn, before=before(Kind.MESSAGE), limit=PAGE_ROWS)
        references = payments.references(conn, (row.payment_id for row in rows))
    return render(
        "records/notifications.html",
        "records/notification_rows.html",
        list=listing(rows, lambda row: show(Kind.MESSAGE, row.id)),
        references=references,
        bodies={row.id: bodies.json_pieces(row.body, reveal=False) for row in rows},
    )


@console.get("/audit")
@needs(Role.VIEWER)
def audit() -> str:
    """Who did what."""
    actor, on = given("actor"), given("object")
    below = given("before") or ""
    last = int(below) if below.isascii() and below.isdigit() and len(below) < 19 else None
    with statements() as conn:
        rows = access.audit(conn, actor=actor, on=on, before=last, limit=PAGE_ROWS)
    return render(
        "records/audit.html",
        "records/audit_rows.html",
        list=listing(rows, lambda row: str(row.id)),
        actor=actor,
        object=on,
    )


@console.get("/safeguards")
@needs(Role.VIEWER)
def safeguards() -> str:
    """The last proofs."""
    with statements() as conn:
        reports = proofs.last_reports(conn)
    shown = [(kind, reports.get(kind), _findings(reports[kind]) if kind in reports else []) for kind in proofs.KINDS]
    return render("records/safeguards.html", reports=shown)


@console.get("/endpoints")
@needs(Role.ADMIN)
def endpoints() -> str:
    """Where providers call, and who was refused."""
    with statements() as conn:
        found = intake.endpoints(conn)
        rejections = intake.rejections(conn, _REJECTIONS_SHOWN)
    return render(
        "records/endpoints.html",
        endpoints=[(one, f"{request.host_url.rstrip('/')}/webhooks/{one.slug}") for one in found],
        rejections=rejections,
        example=url_for("console.endpoints"),
    )


def _findings(report: proofs.Report) -> list[dict[str, Any]]:
    """What a report found, each with its state; what does not hold comes first."""
    found = [finding | {"state": _state(finding)} for finding in report.result.get("findings", [])]
    return sorted(found, key=lambda finding: ("broken", "advice", "holds").index(finding["state"]))


def _state(finding: dict[str, Any]) -> str:
    if finding["holds"]:
        return "holds"
    return "advice" if finding["level"] == "advice" else "broken"
