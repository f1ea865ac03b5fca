"""Signing in and out. One wording for any failure; guessing is slowed down by access.people, across processes."""

from flask import Response, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as Answer

from app.access import audit, people
from app.access.audit import Act
from app.base.db import transaction
from app.base.errors import Refusal
from app.doors.console import session
from app.doors.console.page import console, render
from app.doors.console.rules import public


@console.get("/sign-in")
@public
def sign_in() -> str | Answer:
    """The form."""
    if session.current():
        return redirect(session.safe_next(request.args.get("next")) or url_for("console.overview"))
    return _form()


@console.post("/sign-in")
@public
def sign_in_post() -> tuple[str, int] | Answer:
    """Tries a login and a password."""
    login, password = request.form.get("login", ""), request.form.get("password", "")
    address = request.remote_addr or "unknown"
    try:
        with transaction() as conn:
            operator = people.sign_in(conn, login, password, address)
            if operator:
                act = Act(f"operator:{operator.login}", None, address)
                audit.record(conn, act, "session.begin", f"operator:{operator.login}")
    except Refusal as refused:
        if refused.code != "too_many_attempts":
            raise
        minutes = people.WINDOW_MINUTES
        said = _("Too many attempts. Wait %(minutes)s minutes, then try again.", minutes=minutes)
        return _form(said, login), 429
    if operator is None:
        return _form(_("This login and password do not belong together."), login), 422
    session.begin(operator)
    return redirect(session.safe_next(request.form.get("next")) or url_for("console.overview"))


@console.post("/sign-out")
@public
def sign_out() -> Answer:
    """Ends the session."""
    session.end()
    response = redirect(url_for("console.sign_in"))
    assert isinstance(response, Response)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def _form(problem: str | None = None, login: str = "") -> str:
    target = session.safe_next(request.values.get("next"))
    return render("sign_in.html", said=problem, login=login, next=target)
