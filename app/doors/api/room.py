"""One part of the API: its routes, with what each takes and answers written once, for parsing and for the OpenAPI page.

Every route of a room is behind its guard (caller.py), and every no of it is a problem (problems.py).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from flask import Response
from flask_smorest import Blueprint
from marshmallow import Schema
from werkzeug.exceptions import HTTPException

from app.base.db import DatabaseUnavailable
from app.base.errors import Refusal
from app.doors.api import caller, problems
from app.doors.api.strict import Parser

PREFIX: Final = "/api/v1"
View = TypeVar("View", bound=Callable[..., Response])

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Makes the request safe to repeat: for 24 hours the same key with the same body gets the first "
    "answer again (`Idempotent-Replayed: true`); with another body it is refused (422).",
}


class Room:
    """Routes under /api/v1 that belong together."""

    def __init__(self, name: str, description: str) -> None:
        self.blueprint = Blueprint(name, __name__, url_prefix=PREFIX, description=description)
        self.blueprint.ARGUMENTS_PARSER = Parser()
        self.blueprint.before_request(caller.guard)
        self.blueprint.after_request(_headers)
        self.blueprint.register_error_handler(Refusal, problems.refused)
        self.blueprint.register_error_handler(DatabaseUnavailable, problems.unavailable)
        self.blueprint.register_error_handler(HTTPException, problems.failed)
        self.blueprint.register_error_handler(Exception, problems.fault)

    def get(
        self,
        rule: str,
        *,
        answers: type[Schema],
        query: type[Schema] | None = None,
        says: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        """A question. `says` describes the parts of the path."""
        return self._route("GET", rule, answers=answers, query=query, says=says)

    def post(
        self,
        rule: str,
        *,
        takes: type[Schema],
        answers: type[Schema],
        status: int = 200,
        says: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        """An act, safe to repeat under an Idempotency-Key."""
        return self._route("POST", rule, takes=takes, answers=answers, status=status, says=says)

    def patch(
        self, rule: str, *, takes: type[Schema], answers: type[Schema], says: Mapping[str, str] | None = None
    ) -> Callable[[View], View]:
        """A change to what exists."""
        return self._route("PATCH", rule, takes=takes, answers=answers, says=says)

    def _route(
        self,
        method: str,
        rule: str,
        *,
        answers: type[Schema],
        takes: type[Schema] | None = None,
        query: type[Schema] | None = None,
        status: int = 200,
        says: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        def add(view: View) -> View:
            shown: Any = self.blueprint.response(status, answers)(view)
            if takes:
                required = any(field.required for field in takes().fields.values())
                shown = self.blueprint.arguments(takes, location="json", required=required)(shown)
            if query:
                shown = self.blueprint.arguments(query, location="query")(shown)
            if method == "POST":
                shown = self.blueprint.doc(parameters=[_KEY])(shown)
            path = [{"name": name, "in": "path", "description": text} for name, text in (says or {}).items()]
            self.blueprint.add_url_rule(
                rule, view.__name__, shown, methods=[method], parameters=path, merge_slashes=False
            )
            return view

        return add


def _headers(response: Response) -> Response:
    """Answers are about money and for one caller: no cache keeps them."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.vary.update(("Authorization", "Accept-Language"))
    return response
