"""The books: entries by month, kind and account; one entry; accounts with their balance; one account."""

from datetime import date

from flask import abort, request
from flask_babel import gettext as _

from app.access.people import Role
from app.base.db import statements
from app.base.ids import Kind, show
from app.doors.console.page import PAGE_ROWS, before, console, given, listing, number, render
from app.doors.console.rules import needs
from app.intake import pages as intake
from app.ledger import pages, reads
from app.ledger.reads import Filter
from app.payments import pages as payments


@console.get("/ledger/entries")
@needs(Role.VIEWER)
def entries() -> str:
    """Every entry, newest first, narrowed by the address."""
    kind, code = given("kind"), given("account")
    period, problem = _period()
    with statements() as conn:
        accounts = pages.account(conn, code) if code else []
        if code and not accounts:
            problem = _("There is no account “%(code)s”.", code=code)
        wanted = Filter(kind=kind, period=period, account_ids=[one.id for one in accounts] if code else None)
        rows = reads.entries(conn, wanted, before=before(Kind.ENTRY), limit=PAGE_ROWS + 1)
        references = payments.references(conn, (row.payment_id for row in rows))
        periods = pages.periods(conn)
    return render(
        "ledger/entries.html",
        "ledger/entry_rows.html",
        list=listing([] if problem else rows, lambda row: show(Kind.ENTRY, row.id)),
        references=references,
        periods=periods,
        period=period,
        kind=kind,
        account=code,
        problem=problem,
    )


@console.get("/ledger/entries/<entry_id>")
@needs(Role.VIEWER)
def entry(entry_id: str) -> str:
    """One entry: its postings, and what it came from."""
    with statements() as conn:
        found = pages.entry(conn, number(Kind.ENTRY, entry_id))
        if found is None:
            abort(404)
        references = payments.references(conn, [found.payment_id])
        told = intake.types(conn, [found.event_id])
    return render(
        "ledger/entry.html",
        entry=found,
        reference=references.get(found.payment_id or 0),
        event_type=told[found.event_id][0] if found.event_id in told else None,
    )


@console.get("/ledger/accounts")
@needs(Role.VIEWER)
def accounts() -> str:
    """Every account and what it holds."""
    code, _sep, currency = (given("before") or "").rpartition(" ")
    with statements() as conn:
        rows = pages.accounts(conn, after=(code, currency) if code else None, limit=PAGE_ROWS)
    return render(
        "ledger/accounts.html",
        "ledger/account_rows.html",
        list=listing(rows, lambda row: f"{row.code} {row.currency}"),
    )


@console.get("/ledger/accounts/<path:code>")
@needs(Role.VIEWER)
def account(code: str) -> str:
    """One account: its balance, and what moved it."""
    with statements() as conn:
        found = pages.account(conn, code)
        if not found:
            abort(404)
        chosen = next((one for one in found if one.currency == request.args.get("currency")), found[0])
        rows = pages.account_page(conn, chosen.id, before=before(Kind.ENTRY), limit=PAGE_ROWS)
        references = payments.references(conn, (row.payment_id for row in rows))
    return render(
        "ledger/account.html",
        "ledger/account_lines.html",
        account=chosen,
        others=[one for one in found if one is not chosen],
        list=listing(rows, lambda row: show(Kind.ENTRY, row.entry_id)),
        references=references,
    )


def _period() -> tuple[date | None, str | None]:
    text = given("period")
    if text is None:
        return None, None
    try:
        return date.fromisoformat(f"{text}-01"), None
    except ValueError:
        return None, _("“%(text)s” is no month; write it like 2026-12.", text=text)
