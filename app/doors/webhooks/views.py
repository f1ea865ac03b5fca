"""POST /webhooks/<slug>: raw bytes -> endpoint -> verify -> read -> store and commit -> exactly 200 (DESIGN section 3).

Refuses what is not proven with a bare 401, and says 503 while the database is away: never a 2xx for what is not stored.
"""

import json
import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl

import psycopg
from flask import Flask
from prometheus_client import Counter as Metric
from prometheus_client import Histogram
from werkzeug.datastructures import EnvironHeaders
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import get_input_stream

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


class Answer(NamedTuple):
    """What the caller is told."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Webhooks:
    """Takes what is for /webhooks/ before Flask does: its routing, session and hooks would cost as much again."""

    def __init__(self, app: Flask, runtime: Runtime) -> None:
        self.directory = Directory(app, runtime)
        self.bell = Bell(runtime)
        self._scribe = Scribe(app)
        self._app = app
        self._others: WSGIApplication = app.wsgi_app

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """One request, as WSGI has it."""
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PREFIX):
            return self._others(environ, start_response)
        status, body, headers = self._respond(environ, path.removeprefix(PREFIX))
        length = ("Content-Length", str(len(body)))
        start_response(
            f"{status} {HTTPStatus(status).phrase}", [("Content-Type", "application/json"), length, *headers]
        )
        return [body]

    def _respond(self, environ: "WSGIEnvironment", slug: str) -> Answer:
        if environ["REQUEST_METHOD"] != "POST":
            return _answer({"error": "only POST is answered here"}, 405, ("Allow", "POST"))
        try:
            return self._receive(environ, slug)
        except HTTPException as refused:  # too large, or cut off
            return _answer({"error": refused.name}, refused.code or 400)

    def _receive(self, environ: "WSGIEnvironment", slug: str) -> Answer:
        """One delivery. 200, 401, 404, 413, 429 (unproven floods alone) or 503; see DESIGN section 7."""
        started = now()
        body = get_input_stream(environ, max_content_length=MOST_BYTES).read()
        crash.point("webhook.read")
        try:
            endpoint = self.directory.find(slug)
        except DatabaseUnavailable:
            return _unavailable(slug)
        if endpoint is None:
            return _answer({"error": "no such endpoint"}, 404)
        call = Call(
            body=body,
            headers=tuple((name.lower(), value) for name, value in EnvironHeaders(environ)),
            query=tuple(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)),
            received_at=started,
        )
        address = environ.get("REMOTE_ADDR")
        provider = registry.get(endpoint.provider)
        try:
            label = registry.authenticate(provider, call, endpoint.config)
        except Rejected as rejected:
            return self._reject(endpoint, rejected.reason, address or "unknown")
        crash.point("webhook.verified")
        readings = provider.read(call, endpoint.config)
        try:
            receipts = self._scribe.store(Arrival(endpoint.id, call, readings, label, address, provider.SECRET_HEADERS))
        except NotStored:
            return _unavailable(slug)
        crash.point("webhook.stored")
        if any(receipt.new for receipt in receipts):
            self.bell.ring()
        ACKNOWLEDGED.labels(endpoint.slug).inc()
        SECONDS.labels(endpoint.slug).observe((now() - started).total_seconds())
        events = [{"id": show(Kind.EVENT, receipt.event_id), "new": receipt.new} for receipt in receipts]
        return _answer({"received": True, "events": events}, 200)

    def _reject(self, endpoint: Endpoint, reason: str, address: str) -> Answer:
        """Notes the rejection, as far as the bounds allow, and tells the caller nothing."""
        REJECTED.labels(endpoint.slug, reason).inc()
        if _rejected_by_endpoint.count(endpoint.slug) <= WRITTEN_PER_WINDOW:
            try:
                with self._app.app_context(), statements() as conn:
                    intake.reject(conn, endpoint.id, reason, address)
            except (DatabaseUnavailable, psycopg.Error) as error:
                _log.warning("endpoint %s: a rejection could not be noted: %s", endpoint.slug, error)
        if _rejected_by_address.count(f"{endpoint.slug} {address}") > ANSWERED_PER_WINDOW:
            return _answer({"error": "too many unproven calls"}, 429, ("Retry-After", str(int(WINDOW_SECONDS))))
        return _answer({"error": "unauthorized"}, 401)


def _unavailable(slug: str) -> Answer:
    UNAVAILABLE.labels(slug).inc()
    retry_after = ("Retry-After", str(RETRY_AFTER_SECONDS))
    return _answer({"error": "the event could not be stored; send it again"}, 503, retry_after)


def _answer(body: dict[str, object], status: int, *headers: tuple[str, str]) -> Answer:
    return Answer(status, json.dumps(body).encode(), headers)
