"""Payments: the list, one payment with its timeline and entries, and confirming by hand."""

from flask import abort, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from markupsafe import Markup
from werkzeug.wrappers import Response as Answer

from app.access import pages as access
from app.access.people import Role
from app.base.db import Connection, statements, transaction
from app.base.ids import Kind, show
from app.confirmation import acting
from app.doors.console import bodies, language, words
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
    wake_worker,
)
from app.doors.console.rules import needs
from app.doors.console.templating import link
from app.doors.console.timeline import Sources, merged
from app.intake import pages as intake
from app.intake.pages import Told
from app.ledger import pages as ledger
from app.notifications import pages as notifications
from app.payments import pages, reads
from app.payments.pages import Payment


@console.get("/payments")
@needs(Role.VIEWER)
def payments() -> str:
    """Every payment, newest first."""
    status, wallet = given("status"), given("wallet")
    with statements() as conn:
        rows = reads.payments(conn, status=status, wallet=wallet, before=before(Kind.PAYMENT), limit=PAGE_ROWS + 1)
    return render(
        "payments/list.html",
        "payments/rows.html",
        list=listing(rows, lambda row: show(Kind.PAYMENT, row.id)),
        status=status,
        wallet=wallet,
    )


@console.get("/payments/<payment_id>")
@needs(Role.VIEWER)
def payment(payment_id: str) -> str:
    """What happened to this money."""
    found = number(Kind.PAYMENT, payment_id)
    with statements() as conn:
        shown = existing(conn, found)
        told = intake.of_payment(conn, found)
        refunds = pages.refunds_of(conn, found)
        grants = reads.grants_of(conn, [found])
        entries = ledger.of_payment(conn, found)
        acts = access.of_objects(conn, [show(Kind.PAYMENT, found), *(show(Kind.EVENT, one.id) for one in told)])
        sources = Sources(
            payment=shown,
            deliveries=intake.deliveries_of_payment(conn, found),
            decisions=intake.decisions_of_payment(conn, found),
            entries=entries,
            grants=grants,
            messages=notifications.of_payment(conn, found),
            acts=acts,
            types={one.id: one.type for one in told},
        )
        names = reads.provider_names(conn, [found])
        commissions = pages.commissions(conn, found)
        chargebacks = pages.chargebacks_of(conn, found)
    return render(
        "payments/payment.html",
        payment=shown,
        sentences=_sentences(shown, told, len(sources.deliveries)),
        events=told,
        entries=entries,
        refunds=refunds,
        grants=grants,
        chargebacks=chargebacks,
        commissions=commissions,
        names=[name for _payment, name in names],
        timeline=merged(sources),
        metadata=bodies.json_pieces(shown.metadata, reveal=False) if shown.metadata else None,
        why_no_refund=why_no_refund(shown),
        confirmed=request.args.get("done") == "confirmed",
    )


@console.route("/payments/<payment_id>/confirmation", methods=["GET", "POST"])
@needs(Role.FINANCE)
def confirmation(payment_id: str) -> str | tuple[str, int] | Answer:
    """A person saw the money: the page says what will be posted, the form posts it."""
    found = number(Kind.PAYMENT, payment_id)
    zone = runtime().settings.timezone
    if request.method == "POST" and (reason := reason_given()):
        with transaction() as conn:
            acting.confirm_by_person(conn, found, act=act(reason), zone=zone)
        wake_worker()
        return redirect(url_for("console.payment", payment_id=payment_id, done="confirmed"))
    with rehearsal() as conn:
        shown = existing(conn, found)
        acting.confirm_by_person(conn, found, act=act(), zone=zone)
        entries = ledger.of_payment(conn, found)
    if request.method == "POST":
        problem = _("Give a reason: it is kept with what you do.")
        return render("payments/confirmation.html", payment=shown, entries=entries, problem=problem), 422
    return render("payments/confirmation.html", payment=shown, entries=entries, problem=None)


def existing(conn: Connection, payment_id: int) -> Payment:
    """The payment of that id, or 404."""
    found = pages.payment(conn, payment_id)
    if found is None:
        abort(404)
    return found


def why_no_refund(payment: Payment) -> str | None:
    """Why this payment cannot be refunded now; None when it can."""
    why: str | None = None
    if payment.status in {"pending", "expired"}:
        why = _("It is not paid; there is nothing to refund.")
    elif payment.status == "charged_back":
        why = _("A chargeback holds the money; a refund would return it twice.")
    elif payment.remaining == 0:
        why = _("It was refunded in full.")
    return why


def _sentences(payment: Payment, told: list[Told], deliveries: int) -> list[Markup]:
    """What happened to this money, for somebody who asks: paid once? ignored what? went back?"""
    said: list[Markup] = []
    if payment.paid_at is None:
        means = words.PAYMENTS[payment.status].means
        said.append(language.phrase(_("Not confirmed: %(means)s."), means=str(means)))
    else:
        said.append(_confirmed_by(payment, told))
    duplicates = [one for one in told if one.status == "duplicate"]
    repeated = deliveries - len(told)
    if duplicates:
        text = ngettext(
            "One more event told the same and was ignored.", "%(num)d more events told the same and were ignored.",
            len(duplicates),
        )  # fmt: skip
        said.append(Markup("{}").format(text))
    if repeated > 0:
        text = ngettext(
            "One repeated delivery changed nothing.", "%(num)d repeated deliveries changed nothing.", repeated
        )
        said.append(Markup("{}").format(text))
    if payment.refunded_amount:
        back = language.money(payment.refunded_amount, payment.currency)
        left = language.money(payment.remaining, payment.currency)
        said.append(language.phrase(_("%(back)s went back; %(left)s remains."), back=back, left=left))
    if payment.charged_back_amount:
        held = language.money(payment.charged_back_amount, payment.currency)
        said.append(language.phrase(_("A chargeback holds %(amount)s."), amount=held))
    if payment.registered_amount != payment.amount:
        expected = language.money(payment.registered_amount, payment.currency)
        text = _("A person accepted what was really paid; %(amount)s was expected.")
        said.append(language.phrase(text, amount=expected))
    return said


def _confirmed_by(payment: Payment, told: list[Told]) -> Markup:
    cause = next((one for one in told if one.id == payment.paid_by_event), None)
    amount = Markup("<strong>{}</strong>").format(language.money(payment.amount, payment.currency))
    ago = language.ago(payment.paid_at)
    if cause is None:
        return language.phrase(_("Confirmed once: %(amount)s, by a person, %(ago)s."), amount=amount, ago=ago)
    event = Markup('<span class="type">{}</span> {}').format(cause.type, link(Kind.EVENT, cause.id))
    return language.phrase(_("Confirmed once: %(amount)s, by %(event)s, %(ago)s."), amount=amount, event=event, ago=ago)
