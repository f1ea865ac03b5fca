"""Every no as RFC 9457 `application/problem+json`: title, status, detail, a stable `code`, and what else helps.

Refusals keep their own code; what HTTP itself refuses gets one by its status; a fault is logged and tells nothing.
"""

import json
import logging
from http import HTTPStatus
from typing import Any, Final

from flask import Response, request
from werkzeug.exceptions import HTTPException

from app.base.db import DatabaseUnavailable
from app.base.errors import Refusal

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 5
_SAID: Final = {404: "There is nothing at this address; see /api/v1/docs."}
_CODES: Final = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large", 415: "media_type"}
_log = logging.getLogger(__name__)


def body_of(refusal: Refusal) -> bytes:
    """A refusal as the body of its answer."""
    return _body(refusal.status, refusal.code, refusal.message, refusal.extra)


def refused(refusal: Refusal) -> Response:
    """The answer to what the house refuses."""
    response = Response(body_of(refusal), refusal.status, content_type=MEDIA_TYPE)
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Bearer realm="razao"'
    return response


def failed(error: HTTPException) -> Response:
    """The answer to what HTTP refuses: an unknown address, another method, too large a body."""
    status = error.code or 500
    detail = _SAID.get(status, error.description or error.name) if status < 500 else _FAULT
    response = Response(_body(status, _CODES.get(status, "http_error"), detail, {}), status, content_type=MEDIA_TYPE)
    for name, value in error.get_headers():
        if name.lower() in {"allow", "location", "retry-after"}:
            response.headers[name] = value
    return response


def unavailable(error: DatabaseUnavailable) -> Response:
    """The database is away: nothing was done."""
    _log.error("%s %s could not be answered: %s", request.method, request.path, error)
    detail = "The database cannot be reached; nothing was done. Try again in a moment."
    response = Response(_body(503, "unavailable", detail, {}), 503, content_type=MEDIA_TYPE)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def fault(error: Exception) -> Response:
    """An error of ours: its cause goes to the log, the transaction was rolled back."""
    _log.error("%s %s failed", request.method, request.path, exc_info=error)
    return Response(_body(500, "fault", _FAULT, {}), 500, content_type=MEDIA_TYPE)


_FAULT: Final = "An error of ours; it is logged. Nothing was changed by this request."


def _body(status: int, code: str, detail: str, extra: dict[str, Any]) -> bytes:
    own = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, "code": code}
    return json.dumps({**extra, **own}, ensure_ascii=False, default=str).encode("utf-8", "replace")
