"""Refunds: the list, one refund, and the three steps that book one: amount and reason, preview, book.

The form carries the request's own key, so that a double click, a reload or a second tab is one refund.
"""

import re
import uuid
from dataclasses import dataclass
from datetime import date
from typing import Final

from flask import abort, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as Answer

from app.access.people import Role
from app.base.db import statements, transaction
from app.base.errors import Refusal
from app.base.ids import Kind, show
from app.base.money import MoneyError, to_minor_units
from app.doors.console import words
from app.doors.console.page import (
    PAGE_ROWS,
    act,
    before,
    console,
    given,
    listing,
    number,
    reason_given,
    rehearsal,
    render,
    runtime,
)
from app.doors.console.payments import existing, why_no_refund
from app.doors.console.rules import needs
from app.intake import pages as intake
from app.ledger import pages as ledger
from app.ledger.books import Entry as Planned
from app.payments import pages
from app.payments.pages import Payment
from app.refunds import issuing

_KEY: Final = re.compile(r"console:[0-9a-f]{32}\Z")


@dataclass(frozen=True, slots=True)
class Preview:
    """What a refund would do, in the terms that a person checks."""

    amount: int
    entries: list[Planned]
    month: date
    left: int
    status_after: str
    wallet: int  # taken from the wallet
    receivable: int  # what the wallet could not give, so its owner owes it
    commissions: int  # taken back from partners


@console.get("/refunds")
@needs(Role.VIEWER)
def refunds() -> str:
    """Every refund, newest first."""
    status = given("status")
    with statements() as conn:
        rows = pages.refunds(conn, status=status, before=before(Kind.REFUND), limit=PAGE_ROWS)
    return render(
        "refunds/list.html",
        "refunds/rows.html",
        list=listing(rows, lambda row: show(Kind.REFUND, row.id)),
        status=status,
    )


@console.get("/refunds/<refund_id>")
@needs(Role.VIEWER)
def refund(refund_id: str) -> str:
    """One refund: who, why, which entries, and whether the provider told of it."""
    found = number(Kind.REFUND, refund_id)
    with statements() as conn:
        shown = pages.refund(conn, found)
        if shown is None:
            abort(404)
        payment = existing(conn, shown.payment_id)
        entries = [one for one in ledger.of_payment(conn, shown.payment_id) if one.refund_id == found]
        claims = pages.claims(conn, shown.payment_id, found)
        told = intake.types(conn, [shown.event_id])
    return render(
        "refunds/refund.html",
        refund=shown,
        payment=payment,
        entries=entries,
        claims=claims,
        event_type=told[shown.event_id][0] if shown.event_id in told else None,
        booked=request.args.get("done") == "booked",
    )


@console.get("/payments/<payment_id>/refund")
@needs(Role.FINANCE)
def refund_form(payment_id: str) -> str:
    """Step 1: how much, and why."""
    with statements() as conn:
        payment = existing(conn, number(Kind.PAYMENT, payment_id))
    return _form(payment, {})


@console.post("/payments/<payment_id>/refund/preview")
@needs(Role.FINANCE)
def refund_preview(payment_id: str) -> str | tuple[str, int]:
    """Step 2: what exactly would happen. Nothing is booked by it."""
    found = number(Kind.PAYMENT, payment_id)
    with statements() as conn:
        payment = existing(conn, found)
    problems: dict[str, str] = {}
    reason = reason_given()
    if reason is None:
        problems["reason"] = _("Give a reason: it is kept with the refund.")
    amount = _amount_given(payment, problems)
    if problems or amount is None:
        return _form(payment, problems), 422
    try:
        preview = _previewed(found, amount, reason)
    except Refusal as refused:
        return _form(payment, {"amount": words.refusal(refused)}), 422
    key = f"console:{uuid.uuid4().hex}"
    return render("refunds/preview.html", payment=payment, preview=preview, reason=reason, key=key)


@console.post("/payments/<payment_id>/refunds")
@needs(Role.FINANCE)
def refund_issue(payment_id: str) -> Answer:
    """Step 3: books it, once for each key; then the refund's own page."""
    found = number(Kind.PAYMENT, payment_id)
    key, amount = request.form.get("key", ""), request.form.get("amount", "")
    reason = reason_given()
    if not _KEY.match(key) or not (amount.isascii() and amount.isdigit() and len(amount) < 19) or reason is None:
        abort(400)
    with statements() as conn:
        booked = pages.refund_by_key(conn, key)
    if booked is None:
        try:
            with transaction() as conn:
                issued = issuing.issue(
                    conn, found, amount=int(amount), key=key, source="operator", act=act(reason),
                    zone=runtime().settings.timezone,
                )  # fmt: skip
            refund_id = issued.refund_id
        except Refusal:
            # The same form pressed twice at once: the other press may have booked it while this one waited.
            with statements() as conn:
                booked = pages.refund_by_key(conn, key)
            if booked is None:
                raise
    if booked:
        refund_id, payment_of_key, _amount = booked
        if payment_of_key != found:
            abort(400)
    return redirect(url_for("console.refund", refund_id=show(Kind.REFUND, refund_id), done="booked"))


def _form(payment: Payment, problems: dict[str, str]) -> str:
    return render(
        "refunds/form.html",
        payment=payment,
        problems=problems,
        why_not=why_no_refund(payment),
        amount=request.form.get("amount"),
        reason=request.form.get("reason", ""),
    )


def _amount_given(payment: Payment, problems: dict[str, str]) -> int | None:
    """The amount as a person writes it: `40,00`, `40.00`, `R$ 40`."""
    text = re.sub(r"^[^\d]+", "", request.form.get("amount", "").strip())
    try:
        amount = to_minor_units(text, payment.currency)
    except MoneyError:
        problems["amount"] = _("Write the amount with digits and at most one separator, like 40,00.")
        return None
    if amount == 0:
        problems["amount"] = _("An amount above zero, please.")
    return amount


def _previewed(payment_id: int, amount: int, reason: str | None) -> Preview:
    with rehearsal() as conn:
        issued = issuing.preview(
            conn, payment_id, amount=amount, key=None, source="operator", act=act(reason),
            zone=runtime().settings.timezone,
        )  # fmt: skip
        entries = issued.plan.entries
        month = ledger.open_month(conn, entries[0].period)
    lines = [line for entry in entries for line in entry.lines]
    return Preview(
        amount=issued.amount,
        entries=entries,
        month=month,
        left=issued.payment.remaining,
        status_after=issued.payment.status,
        wallet=sum(line.amount for line in lines if line.account.startswith("wallet:")),
        receivable=sum(line.amount for line in lines if line.account.startswith("receivable:")),
        commissions=sum(line.amount for line in lines if line.account.startswith("partner:")),
    )
