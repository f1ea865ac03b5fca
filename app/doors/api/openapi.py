"""The OpenAPI description, by flask-smorest, and a page that shows it without any script."""

from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Flask, Response, render_template
from flask_smorest import Api

from app.doors.api import problems
from app.doors.api.room import PREFIX, Room
from app.doors.api.told import Problem

_STYLES: Final = ("tokens.css", "base.css", "parts.css", "pages.css")
_SECURITY: Final = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
_DESCRIPTION: Final = (
    "Amounts are integers in the currency's minor unit. Ids are opaque. Lists go on at `next_cursor`. "
    "Every no is `application/problem+json` with a stable `code`."
)


class _Described(Api):  # type: ignore[misc]  # the library is untyped
    """The description, with problems for every no; handlers are the rooms' own."""

    def _register_error_handlers(self) -> None:
        """None for the whole application: its other doors have their own."""

    def _register_responses(self) -> None:
        for name, said in [(status.name, status.phrase) for status in HTTPStatus] + [("DEFAULT_ERROR", "A problem")]:
            content = {problems.MEDIA_TYPE: {"schema": Problem}}
            self.spec.components.response(name, {"description": said, "content": content}, lazy=True)


def describe(app: Flask, rooms: tuple[Room, ...]) -> None:
    """Adds the rooms to the application, and their description at openapi.json and docs."""
    app.config.update(
        API_TITLE="Razão",
        API_VERSION=version("razao"),
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX=PREFIX,
        API_SPEC_OPTIONS={
            "info": {"description": _DESCRIPTION},
            "security": [{"key": []}],
            "servers": [{"url": "/"}],
        },
    )
    api = _Described(app)
    api.spec.components.security_scheme("key", {"type": "http", "scheme": "bearer"})
    for room in rooms:
        api.register_blueprint(room.blueprint)
    styles = [name for name in _STYLES if app.static_folder and Path(app.static_folder, name).is_file()]
    page = Blueprint("api-page", __name__, url_prefix=PREFIX)

    @page.get("/docs")
    def docs() -> Response:
        spec: dict[str, Any] = api.spec.to_dict()
        response = Response(render_template("api/docs.html", spec=spec, styles=styles, shape=_shape))
        response.headers["Content-Security-Policy"] = _SECURITY
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    app.register_blueprint(page)


def _shape(schema: dict[str, Any]) -> str:
    """A schema in few words: `string or null`, `list of Entry`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_shape(one) for one in schema["anyOf"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_shape(schema['items'])}"
    said = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if "enum" in schema:
        return "one of " + ", ".join(str(one) for one in schema["enum"])
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = f" from {least} to {most}" if least is not None and most is not None else ""
    return f"{said}{bounds}" + (f" ({schema['format']})" if "format" in schema else "")
