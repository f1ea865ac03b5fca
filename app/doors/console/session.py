"""Who is at the console: Flask-Login in one place, and nothing else of it anywhere.

A session ends after SESSION_HOURS, when the person's epoch is raised, or when they are disabled. Refuses what
Flask-Login would also take: remember-me cookies, identities in headers, LOGIN_DISABLED (rules.py never asks it).
"""

import time
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import flask_login
from flask import Flask, g, session

from app.access import people
from app.access.people import Operator, Role
from app.base.db import statements

SESSION_HOURS: Final = 12
_SIGNED_IN_AT: Final = "signed_in_at"


class Person(flask_login.UserMixin):  # type: ignore[misc]  # the library is untyped
    """An operator as Flask-Login wants one. The epoch is part of the id, so raising it ends every session."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def get_id(self) -> str:
        return f"{self.operator.id}.{self.operator.session_epoch}"


class _SessionsOnly(flask_login.LoginManager):  # type: ignore[misc]  # the library is untyped
    """Takes an identity from the session alone."""

    def _load_user(self) -> None:
        self._update_request_context_with_user(_load(session.get("_user_id")))


def init(app: Flask, *, secure_cookies: bool) -> None:
    """Prepares sessions on the application."""
    app.config.update(
        SESSION_COOKIE_NAME="razao_session",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=secure_cookies,
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=SESSION_HOURS),
    )
    manager = _SessionsOnly(app, add_context_processor=False)
    manager.session_protection = None  # it would trust X-Forwarded-For
    manager.user_loader(_load)


def begin(operator: Operator) -> None:
    """Starts a new session for a person who proved themselves: nothing of an earlier one survives."""
    session.clear()
    session.permanent = True
    session[_SIGNED_IN_AT] = int(time.time())
    flask_login.login_user(Person(operator))


def end() -> None:
    """Ends this session."""
    flask_login.logout_user()
    session.clear()


def current() -> Operator | None:
    """Who is signed in; None for nobody."""
    # Asked as itself: the proxy would take some errors of ours for "nobody is signed in".
    user = flask_login.current_user._get_current_object()  # noqa: SLF001
    return user.operator if isinstance(user, Person) else None


def signed_in() -> Operator:
    """Who is signed in, where the guard has seen to it that somebody is."""
    operator = current()
    assert operator is not None
    return operator


def settle() -> None:
    """Where the person could not be looked up, this request is nobody's from here on: an error page must show."""
    g.setdefault("_login_user", flask_login.AnonymousUserMixin())


def may(role: Role) -> bool:
    """Whether the person has at least that role."""
    operator = current()
    return operator is not None and operator.role >= role


def safe_next(target: str | None) -> str | None:
    """The address to go on to after signing in, if it is a path of this console: never another site."""
    if not target or not target.startswith("/") or target.startswith("//") or "\\" in target:
        return None
    if any(ord(char) < 0x20 for char in target):
        return None
    parts = urlsplit(target)
    return None if parts.scheme or parts.netloc else target


def _load(user_id: Any) -> Person | None:
    number, _, epoch = str(user_id or "").partition(".")
    started = session.get(_SIGNED_IN_AT)
    if not (number.isdigit() and epoch.isdigit() and isinstance(started, int)):
        return None
    if not 0 <= time.time() - started <= SESSION_HOURS * 3600:
        return None
    with statements() as conn:
        operator = people.find(conn, int(number))
    return Person(operator) if operator and operator.session_epoch == int(epoch) else None
