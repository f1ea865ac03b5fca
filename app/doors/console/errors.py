"""The pages for what cannot be shown: unknown, forbidden, expired, too many, refused, broken. Written for a person."""

import logging

from flask import Response, make_response, render_template
from flask_babel import gettext as _
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter

from app.base.db import DatabaseUnavailable
from app.base.errors import Refusal
from app.doors.console import session, words
from app.doors.console.page import console
from app.doors.console.rules import is_partial, public

_log = logging.getLogger(__name__)


class Elsewhere(BaseConverter):
    """Any path that belongs to no other door."""

    part_isolating = False
    regex = r"(?!api(?:/|$)|webhooks(?:/|$)|static/|healthz|readyz|metrics).+?"


@console.get("/<elsewhere:path>")
@public
def nowhere(path: str) -> Response:  # noqa: ARG001  the address is known from the request
    """An address that no page has."""
    return _page(404, _("There is no such page"), _not_found())


@console.errorhandler(CSRFError)
def expired_form(_error: CSRFError) -> Response:
    """A form that was open too long, or came from elsewhere: nothing was done."""
    return _page(
        400,
        _("This form has expired"),
        _("Nothing was done. Go back, reload the page, and try again; you may have to sign in first."),
    )


@console.errorhandler(Refusal)
def refused(error: Refusal) -> Response:
    """What the house refuses, in its words."""
    return _page(error.status, _("Not done"), words.refusal(error))


@console.errorhandler(DatabaseUnavailable)
def unavailable(error: DatabaseUnavailable) -> Response:
    """The database is away."""
    session.settle()
    _log.error("a page could not be shown: %s", error)
    said = _("The database cannot be reached just now. Nothing is lost; try again in a moment.")
    response = _page(503, _("Not available"), said)
    response.headers["Retry-After"] = "5"
    return response


@console.errorhandler(HTTPException)
def failed(error: HTTPException) -> Response:
    """Everything that HTTP has a number for."""
    code = error.code or 500
    if code == 500:
        session.settle()
    said = {
        400: (_("Not understood"), _("The request is not as the console's own pages send it. Nothing was done.")),
        403: (_("Not for your role"), _("Your role does not reach this. Ask an admin if you need it.")),
        404: (_("There is no such page"), _not_found()),
        405: (_("Not that way"), _("This address takes another kind of request. Nothing was done.")),
        413: (_("Too large"), _("The form is larger than this page takes.")),
        429: (_("Too many requests"), _("Wait a moment and try again.")),
        500: (
            _("An error of ours"),
            _("It is logged. What was being done was undone as a whole; try again, or look at the audit list first."),
        ),
    }.get(code, (_("Not done"), error.description or error.name))
    response = _page(code, *said)
    for name, value in error.get_headers():
        if name.lower() in {"allow", "retry-after"}:
            response.headers[name] = value
    return response


def _not_found() -> str:
    return str(_("Perhaps an id was cut off when it was copied. The search box above takes any id."))


def _page(code: int, title: str, said: str) -> Response:
    template = "parts/failed.html" if is_partial() else "error.html"
    return make_response(render_template(template, code=code, title=title, said=said), code)
