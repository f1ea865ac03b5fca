"""POST /webhooks/<slug>: raw bytes -> endpoint -> verify -> read -> store and commit -> exactly 200 (DESIGN section 3).

Refuses what is not proven with a bare 401, and says 503 while the database is away: never a 2xx for what is not stored.
"""

import logging
from typing import Final

import psycopg
from flask import Blueprint, Response, current_app, jsonify, request
from prometheus_client import Counter as Metric
from prometheus_client import Histogram

from app.base import crash
from app.base.clock import now
from app.base.db import DatabaseUnavailable, statements
from app.base.ids import Kind, show
from app.doors.webhooks.bell import Bell
from app.doors.webhooks.directory import Directory
from app.doors.webhooks.flood import ANSWERED_PER_WINDOW, WINDOW_SECONDS, WRITTEN_PER_WINDOW, Counter
from app.intake import events as intake
from app.intake.endpoints import Endpoint
from app.intake.events import Receipt
from app.providers import registry
from app.providers.contract import Call, Rejected

MOST_BYTES: Final = 1024 * 1024
RETRY_AFTER_SECONDS: Final = 5

blueprint = Blueprint("webhooks", __name__)
_log = logging.getLogger(__name__)
_rejected_by_endpoint, _rejected_by_address = Counter(), Counter()

ACKNOWLEDGED: Final = Metric("razao_webhooks_acknowledged_total", "Webhooks stored and answered 200", ["endpoint"])
REJECTED: Final = Metric("razao_webhooks_rejected_total", "Webhooks that proved nothing", ["endpoint", "reason"])
UNAVAILABLE: Final = Metric("razao_webhooks_unavailable_total", "Webhooks answered 503", ["endpoint"])
SECONDS: Final = Histogram(
    "razao_webhook_seconds", "From the first byte read to the answer, stored webhooks", ["endpoint"]
)


@blueprint.post("/webhooks/<slug>")
def receive(slug: str) -> Response:
    """One delivery. 200, 401, 404, 413, 429 (unproven floods alone) or 503; see DESIGN section 7."""
    started = now()
    request.max_content_length = MOST_BYTES
    body = request.get_data(cache=False, parse_form_data=False)
    crash.point("webhook.read")
    try:
        endpoint = _directory().find(slug)
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
        return _reject(endpoint, rejected.reason)
    crash.point("webhook.verified")
    try:
        receipts = _store(endpoint, call, label)
    except (DatabaseUnavailable, psycopg.Error) as error:
        _log.error("endpoint %s: an event could not be stored: %s", slug, error)
        return _unavailable(slug)
    crash.point("webhook.stored")
    if any(receipt.new for receipt in receipts):
        _bell().ring()
    ACKNOWLEDGED.labels(endpoint.slug).inc()
    SECONDS.labels(endpoint.slug).observe((now() - started).total_seconds())
    events = [{"id": show(Kind.EVENT, receipt.event_id), "new": receipt.new} for receipt in receipts]
    return _answer({"received": True, "events": events}, 200)


def _store(endpoint: Endpoint, call: Call, label: str) -> list[Receipt]:
    """Stores the call's events. Storing twice is storing once, so a connection that had died is tried again."""
    provider = registry.get(endpoint.provider)
    readings = provider.read(call, endpoint.config)

    def once() -> list[Receipt]:
        with statements() as conn:
            return intake.receive(
                conn,
                endpoint.id,
                call,
                readings,
                secret_label=label,
                remote_address=request.remote_addr,
                secret_headers=provider.SECRET_HEADERS,
            )

    try:
        return once()
    except DatabaseUnavailable:
        return once()


def _reject(endpoint: Endpoint, reason: str) -> Response:
    """Notes the rejection, as far as the bounds allow, and tells the caller nothing."""
    REJECTED.labels(endpoint.slug, reason).inc()
    address = request.remote_addr or "unknown"
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
    response = jsonify(body)
    response.status_code = status
    return response


def _directory() -> Directory:
    directory = current_app.extensions["razao.directory"]
    assert isinstance(directory, Directory)
    return directory


def _bell() -> Bell:
    bell = current_app.extensions["razao.bell"]
    assert isinstance(bell, Bell)
    return bell
