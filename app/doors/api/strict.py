"""Reads requests strictly: a JSON object without doubts, query parameters that are known and given once.

Refuses, each with a stable code: what is not JSON in UTF-8, repeated keys, NaN, numbers beyond a double, deep nesting,
more than MOST_BYTES, other media types. What does not fit its schema is `invalid`, field by field.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from flask import Request
from marshmallow import RAISE, ValidationError
from webargs.flaskparser import FlaskParser

from app.base.errors import Refusal

MOST_BYTES: Final = 64 * 1024
MOST_DEPTH: Final = 32


class Parser(FlaskParser):
    """Parses arguments for the views; unknown fields are refused wherever they are."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {"json": RAISE, "query": RAISE}  # noqa: RUF012  as the library has it

    def load_json(self, req: Request, schema: object) -> Any:  # noqa: ARG002  the library's signature
        """The body as an object; no body is an empty one, so that its missing fields are named."""
        req.max_content_length = MOST_BYTES
        body = req.get_data(cache=True, parse_form_data=False)
        if not body:
            return {}
        if req.mimetype != "application/json":
            raise Refusal("media_type", "Send the body as Content-Type: application/json.", status=415)
        return read_object(body)

    def load_querystring(self, req: Request, schema: object) -> Any:  # noqa: ARG002  the library's signature
        """The query parameters, each at most once."""
        repeated = {name: ["Give it once."] for name, values in req.args.lists() if len(values) > 1}
        if repeated:
            raise invalid(repeated)
        return req.args.to_dict()

    def handle_error(
        self, error: ValidationError, req: object, schema: object, *, error_status_code: Any, error_headers: Any
    ) -> NoReturn:
        """What does not fit, field by field."""
        del req, schema, error_status_code, error_headers
        messages = error.normalized_messages()  # type: ignore[no-untyped-call]  # the library leaves it untyped
        raise invalid(_flat(next(iter(messages.values())) if len(messages) == 1 else messages)) from error


def read_object(body: bytes) -> dict[str, Any]:
    """The one JSON object that those bytes are. Refusals (400): not_json, not_an_object."""
    try:
        found = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, _DoubtError) else "it cannot be parsed as JSON in UTF-8"
        raise Refusal("not_json", f"The body is refused: {said}.", status=400) from error
    if not isinstance(found, dict):
        raise Refusal("not_an_object", "The body must be a JSON object.", status=400)
    if _deeper_than(found, MOST_DEPTH):
        raise Refusal("not_json", f"The body is refused: it nests deeper than {MOST_DEPTH} levels.", status=400)
    return found


def invalid(errors: dict[str, list[str]]) -> Refusal:
    """The refusal that names each field and what is wrong with it."""
    fields = ", ".join(sorted(errors))
    return Refusal("invalid", f"These fields are not right: {fields}.", status=422, errors=errors)


class _DoubtError(ValueError):
    """JSON that two parsers may read differently."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DoubtError("a key is repeated in an object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _DoubtError(f"{name} is no JSON")


def _finite(text: str) -> float:
    """A fraction, which only metadata may hold: every amount is an integer, and its field refuses a float."""
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise _DoubtError("a number is too large")
    return number


def _deeper_than(found: object, limit: int) -> bool:
    level: list[object] = [found]
    for _ in range(limit):
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
        if not level:
            return False
    return True


def _flat(messages: object, prefix: str = "") -> dict[str, list[str]]:
    """`{"commissions": {0: {"partner": […]}}}` -> `{"commissions.0.partner": […]}`."""
    if isinstance(messages, Mapping):
        found: dict[str, list[str]] = {}
        for name, inner in messages.items():
            own = "" if name == "_schema" else str(name)
            found |= _flat(inner, ".".join(part for part in (prefix, own) if part))
        return found
    said = messages if isinstance(messages, list) else [messages]
    return {prefix or "body": [str(one) for one in said]}
