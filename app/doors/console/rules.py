"""Who may open which page: every view of the console says so, and one guard holds them to it.

A view without a rule answers nobody. Not signed in: to the sign-in page. Too small a role: 403, written for a person.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Response, abort, current_app, redirect, request, url_for

from app.access.people import Role
from app.doors.console import session

PUBLIC: Final = 0
_RULE: Final = "console_rule"

View = TypeVar("View", bound=Callable[..., Any])


def needs(role: Role) -> Callable[[View], View]:
    """Marks a view as open to that role and those above it."""
    return _mark(role)


def public(view: View) -> View:
    """Marks a view as open to everybody."""
    return _mark(PUBLIC)(view)


def rule_of(endpoint: str | None) -> int | None:
    """The rule of an endpoint's view; None if it has none."""
    view = current_app.view_functions.get(endpoint or "")
    rule = getattr(view, _RULE, None)
    return int(rule) if rule is not None else None


def guard() -> Response | None:
    """Before each request to the console: lets pass, sends to sign in, or refuses."""
    rule = rule_of(request.endpoint)
    if rule is None:
        abort(403)
    if rule == PUBLIC:
        return None
    operator = session.current()
    if operator is None:
        return _to_sign_in()
    if operator.role < rule:
        abort(403)
    return None


def _to_sign_in() -> Response:
    here = request.full_path.rstrip("?") if request.method == "GET" else None
    address = url_for("console.sign_in", next=here if here != "/" else None)
    if is_partial():
        # A fragment cannot hold the sign-in page: the whole page goes there.
        return Response(status=401, headers={"HX-Redirect": address})
    response = redirect(address)
    assert isinstance(response, Response)
    return response


def is_partial() -> bool:
    """Whether htmx asks for a fragment of the page."""
    return request.headers.get("HX-Request-Type") == "partial"


def _mark(rule: int) -> Callable[[View], View]:
    def mark(view: View) -> View:
        setattr(view, _RULE, int(rule))
        return view

    return mark
