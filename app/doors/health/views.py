"""GET /healthz (the process), /readyz (database, migrations, worker), /metrics (behind a token of its own)."""

import hmac
import logging
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import psycopg
from flask import Blueprint, Response, current_app, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.base import migrating
from app.base.db import Connection, DatabaseUnavailable, statements
from app.intake import events as intake
from app.intake import reads

LONGEST_WAIT_SECONDS: Final = 60.0
_MULTIPROCESS: Final = "PROMETHEUS_MULTIPROC_DIR"

blueprint = Blueprint("health", __name__)
_log = logging.getLogger(__name__)
Check = dict[str, Any]


@blueprint.get("/healthz")
def healthz() -> Response:
    """200 while the process answers; asks nobody."""
    return _answer({"ok": True}, 200)


@blueprint.get("/readyz")
def readyz() -> Response:
    """200 when all checks hold, else 503; each is named."""
    try:
        with statements() as conn:
            checks = {name: check(conn) for name, check in _CHECKS.items()}
    except (DatabaseUnavailable, psycopg.Error) as error:
        _log.warning("not ready: %s", error)
        checks = {"database": {"ok": False, "error": type(error).__name__}}
    ready = all(check["ok"] for check in checks.values())
    return _answer({"ready": ready, "checks": checks}, 200 if ready else 503)


@blueprint.get("/metrics")
def metrics() -> Response:
    """The figures of every process of this machine, and of the database, for Prometheus."""
    token = current_app.config["RUNTIME"].settings.metrics_token
    if not token:
        return _answer({"error": "set RAZAO_METRICS_TOKEN to have metrics"}, 404)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    if scheme.lower() != "bearer" or not right:
        response = _answer({"error": "send the metrics token as Authorization: Bearer <token>"}, 401)
        response.headers["WWW-Authenticate"] = 'Bearer realm="razao-metrics"'
        return response
    processes = REGISTRY
    if os.environ.get(_MULTIPROCESS):
        processes = CollectorRegistry()
        MultiProcessCollector(processes)  # type: ignore[no-untyped-call]  # the library leaves it untyped
    database = CollectorRegistry()
    database.register(_Database())
    return Response(generate_latest(processes) + generate_latest(database), content_type=CONTENT_TYPE_LATEST)


class _Database(Collector):
    """Gauges that the database knows, asked at each scrape."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("razao_database_up", "Whether the database answers")
        try:
            with statements() as conn:
                (waiting, age), counts = intake.backlog(conn), reads.standing_counts(conn)
        except (DatabaseUnavailable, psycopg.Error) as error:
            _log.warning("the database's figures are missing: %s", error)
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        size = GaugeMetricFamily("razao_backlog_events", "Events due for the worker, counted up to 10,000")
        size.add_metric([], waiting)
        yield size
        oldest = GaugeMetricFamily("razao_backlog_age_seconds", "How long the oldest event due has waited")
        oldest.add_metric([], float(age))
        yield oldest
        standing = GaugeMetricFamily(
            "razao_events_unsettled",
            "Events that wait for another event or a person, up to 10,000 each",
            labels=["status"],
        )
        for status, count in counts:
            standing.add_metric([status], count)
        yield standing


def _database(conn: Connection) -> Check:
    conn.execute("SELECT 1")
    return {"ok": True}


def _migrations(conn: Connection) -> Check:
    found, wanted = migrating.current(conn), _head()
    return {"ok": found == wanted, "revision": found, "expected": wanted}


def _worker(conn: Connection) -> Check:
    waiting, age = intake.backlog(conn)
    return {"ok": age < LONGEST_WAIT_SECONDS, "backlog": waiting, "oldest_seconds": round(float(age), 3)}


_CHECKS: Final[dict[str, Callable[[Connection], Check]]] = {
    "database": _database,
    "migrations": _migrations,
    "worker": _worker,
}


@lru_cache(maxsize=1)
def _head() -> str:
    return migrating.head()


def _answer(body: dict[str, Any], status: int) -> Response:
    response = jsonify(body)
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    return response
