"""The door for people: what they see and do. Reads through the capabilities, acts through the same paths as events."""

from typing import Final

from flask import Flask, Response, abort, request
from flask_wtf.csrf import CSRFProtect

from app.base.runtime import Runtime
from app.doors.console import (
    decisions,
    duplicates,
    errors,
    events,
    language,
    ledger,
    menu,
    overview,
    payments,
    records,
    refunds,
    search,
    session,
    sign_in,
    templating,
)
from app.doors.console.page import clean_address, console
from app.doors.console.rules import guard, is_partial

__all__ = ["VIEWS", "register"]

# Each of these adds its views to the blueprint.
VIEWS: Final = (decisions, duplicates, errors, events, ledger, overview, payments, records, refunds, search, sign_in)

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_csrf: Final = CSRFProtect()


def register(app: Flask, runtime: Runtime) -> None:
    """Adds the console's pages at the root of the application."""
    app.config.update(WTF_CSRF_CHECK_DEFAULT=False, WTF_CSRF_TIME_LIMIT=None)
    session.init(app, secure_cookies=runtime.settings.secure_cookies)
    language.init(app, runtime.settings)
    templating.init(app)
    _csrf.init_app(app)
    app.url_map.converters["elsewhere"] = errors.Elsewhere
    app.register_blueprint(console)


@console.before_request
def _check() -> Response | None:
    """A forged form is refused before anything else is asked, and what no text column can hold; then the guard."""
    if request.method not in {"GET", "HEAD", "OPTIONS"}:
        _csrf.protect()
    if any("\x00" in text for values in [[request.path], *request.values.listvalues()] for text in values):
        abort(400)
    return guard()


@console.after_request
def _harden(response: Response) -> Response:
    response.headers.update(_HEADERS)
    if is_partial() and response.status_code == 200:
        response.headers["HX-Push-Url"] = clean_address()
    response.vary.update(("Cookie", "Accept-Language", "HX-Request-Type"))
    return language.remember(response)


@console.context_processor
def _everywhere() -> dict[str, object]:
    return {
        "operator": session.current(),
        "menu": menu.shown,
        "language_code": language.code,
        "language_switch": language.switch,
    }
