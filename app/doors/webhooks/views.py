"""POST /webhooks/<slug>: raw bytes -> endpoint -> verify -> read -> store and commit -> exactly 200 (DESIGN section 3).

Refuses what is not proven with a bare 401, and says 503 while the database is away: never a 2xx for what is not stored.
"""

import json
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import psycopg
from flask import Flask
from prometheus_client import Counter as Metric
from prometheus_client import Histogram
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from app.base import crash
from app.base.clock import now
from app.base.db import DatabaseUnavailable, statements
from app.base.ids import Kind, show
from app.base.runtime import Runtime
from app.doors.webhooks.bell import Bell
from app.doors.webhooks.directory import Directory
from app.doors.webhooks.flood import ANSWERED_PER_WINDOW, WINDOW_SECONDS, WRITTEN_PER_WINDOW, Counter
from app.doors.webhooks.scribe import NotStored, Scribe
from app.intake import events as intake
from app.intake.endpoints import Endpoint
from app.intake.events import Arrival
from app.providers import registry
from app.providers.contract import Call, Rejected

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PREFIX: Final = "/webhooks/"
MOST_BYTES: Final = 1024 * 1024
RETRY_AFTER_SECONDS: Final = 5

_log = logging.getLogger(__name__)
_rejected_by_endpoint, _rejected_by_address = Counter(), Counter()

ACKNOWLEDGED: Final = Metric("razao_webhooks_acknowledged_total", "Webhooks stored and answered 200", ["endpoint"])
REJECTED: Final = Metric("razao_webhooks_rejected_total", "Webhooks that proved nothing", ["endpoint", "reason"])
UNAVAILABLE: Final = Metric("razao_webhooks_unavailable_total", "Webhooks answered 503", ["endpoint"])
SECONDS: Final = Histogram(
    "razao_webhook_seconds", "From the first byte read to the answer, stored webhooks", ["endpoint"]
)


class Webhooks:
    """Takes what is for /webhooks/ before Flask does: its routing, session and hooks would cost as much as storing."""

    def __init__(self, app: Flask, runtime: Runtime) -> None:
        self.directory = Directory(runtime)
        self.bell = Bell(runtime)
        self._scribe = Scribe()
        self._app = app
        self._others: WSGIApplication = app.wsgi_app

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """One request, as WSGI has it."""
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PREFIX):
            return self._others(environ, start_response)
        with self._app.app_context():
            response = self._respond(Request(environ), path.removeprefix(PREFIX))
        return response(environ, start_response)

    def _respond(self, request: Request, slug: str) -> Response:
        if request.method != "POST":
            response = _answer({"error": "only POST is answered here"}, 405)
            response.headers["Allow"] = "POST"
            return response
        try:
            return self._receive(request, slug)
        except HTTPException as refused:  # too large, or cut off
            return _answer({"error": refused.name}, refused.code or 400)

    def _receive(self, request: Request, slug: str) -> Response:
        """One delivery. 200, 401, 404, 413, 429 (unproven floods alone) or 503; see DESIGN section 7."""
        started = now()
        request.max_content_length = MOST_BYTES
        body = request.get_data(cache=False, parse_form_data=False)
        crash.point("webhook.read")
        try:
            endpoint = self.directory.find(slug)
        except DatabaseUnavailable:
            return _unavailable(slug)
        if endpoint is None:
            return _answer({"error": "no such endpoint"}, 404)
        call = Call(
            body=body,
            headers=tuple((name.lower(), value) for name, value in request.headers.items()),
            query=tuple(request.args.items(multi=True)),
            received_at=started,
        )
        provider = registry.get(endpoint.provider)
        try:
            label = registry.authenticate(provider, call, endpoint.config)
        except Rejected as rejected:
            return _reject(endpoint, rejected.reason, request.remote_addr or "unknown")
        crash.point("webhook.verified")
        readings = provider.read(call, endpoint.config)
        try:
            receipts = self._scribe.store(
                Arrival(endpoint.id, call, readings, label, request.remote_addr, provider.SECRET_HEADERS)
            )
        except NotStored:
            return _unavailable(slug)
        crash.point("webhook.stored")
        if any(receipt.new for receipt in receipts):
            self.bell.ring()
        ACKNOWLEDGED.labels(endpoint.slug).inc()
        SECONDS.labels(endpoint.slug).observe((now() - started).total_seconds())
        events = [{"id": show(Kind.EVENT, receipt.event_id), "new": receipt.new} for receipt in receipts]
        return _answer({"received": True, "events": events}, 200)


def _reject(endpoint: Endpoint, reason: str, address: str) -> Response:
    """Notes the rejection, as far as the bounds allow, and tells the caller nothing."""
    REJECTED.labels(endpoint.slug, reason).inc()
    if _rejected_by_endpoint.count(endpoint.slug) <= WRITTEN_PER_WINDOW:
        try:
            with statements() as conn:
                intake.reject(conn, endpoint.id, reason, address)
        except (DatabaseUnavailable, psycopg.Error) as error:
            _log.warning("endpoint %s: a rejection could not be noted: %s", endpoint.slug, error)
    if _rejected_by_address.count(f"{endpoint.slug} {address}") > ANSWERED_PER_WINDOW:
        response = _answer({"error": "too many unproven calls"}, 429)
        response.headers["Retry-After"] = str(int(WINDOW_SECONDS))
        return response
    return _answer({"error": "unauthorized"}, 401)


def _unavailable(slug: str) -> Response:
    UNAVAILABLE.labels(slug).inc()
    response = _answer({"error": "the event could not be stored; send it again"}, 503)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _answer(body: dict[str, object], status: int) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")
