"""The one search box: any id that a person can hold.

One hit lands on its page; several are listed; none says where it looked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import redirect, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_babel.speaklater import LazyString
from werkzeug.wrappers import Response as Answer

from app.access.people import Role
from app.base.db import Connection, statements
from app.base.ids import Kind, parse, show
from app.doors.console.page import console, given, render
from app.doors.console.rules import needs
from app.doors.console.templating import address
from app.intake import pages as intake
from app.ledger import pages as ledger
from app.payments import pages as payments

LOOKED_IN: tuple[LazyString, ...] = (
    _l("our ids (pmt_, evn_, ent_, rfd_)"),
    _l("the providers' event keys"),
    _l("the merchant's references and the providers' payment ids"),
    _l("names that unmatched events wait for"),
    _l("the providers' refund ids"),
    _l("wallets, partners and accounts"),
)


_EXISTS: Final[dict[Kind, Callable[[Connection, int], bool]]] = {
    Kind.PAYMENT: lambda conn, number: bool(payments.references(conn, [number])),
    Kind.EVENT: intake.is_event,
    Kind.ENTRY: ledger.is_entry,
    Kind.REFUND: lambda conn, number: payments.refund(conn, number) is not None,
}


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found: what it is, its id, and where its page is."""

    what: str
    id: str
    address: str


@console.get("/search")
@needs(Role.VIEWER)
def search() -> str | Answer:
    """Looks everywhere that an id can be."""
    text = given("q")
    if text is None:
        return render("search.html", text="", hits=[], looked_in=LOOKED_IN)
    with statements() as conn:
        hits = _hits(conn, text)
    if len(hits) == 1:
        return redirect(hits[0].address)
    return render("search.html", text=text, hits=hits, looked_in=LOOKED_IN)


def _hits(conn: Connection, text: str) -> list[Hit]:
    own = _own(conn, text)
    if own:
        return [own]
    found: dict[str, Hit] = {}
    for event_id, kind, slug in intake.by_key(conn, text):
        _add(found, Kind.EVENT, event_id, _("event %(type)s at %(slug)s", type=kind, slug=slug))
    payment_ids = payments.by_name(conn, text)
    references = payments.references(conn, payment_ids)
    for payment_id in payment_ids:
        _add(found, Kind.PAYMENT, payment_id, _("payment %(reference)s", reference=references[payment_id]))
    for event_id in payments.awaiting(conn, text):
        _add(found, Kind.EVENT, event_id, _("event that waits for a payment of this name"))
    for refund_id in payments.by_provider_refund(conn, text):
        _add(found, Kind.REFUND, refund_id, _("refund that the provider calls so"))
    for code, currency in ledger.of_party(conn, text):
        where = url_for("console.account", code=code, currency=currency)
        found[where] = Hit(_("account in %(currency)s", currency=currency), code, where)
    return list(found.values())


def _own(conn: Connection, text: str) -> Hit | None:
    """The object of one of our own ids, if it exists."""
    for kind, exists in _EXISTS.items():
        number = parse(kind, text.lower())
        if number is not None and exists(conn, number):
            return Hit("", show(kind, number), address(kind, number))
    return None


def _add(found: dict[str, Hit], kind: Kind, number: int, what: str) -> None:
    where = address(kind, number)
    found.setdefault(where, Hit(what, show(kind, number), where))
