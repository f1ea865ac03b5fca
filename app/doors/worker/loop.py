"""The worker's loop: claim a batch, confirm it in one transaction; a batch that fails is tried event by event.

Several workers run at once, on one machine or many: a claim skips what another holds. A worker that dies lets go of its
claim with its connection. Woken by NOTIFY; a poll finds what no one rang for.
"""

import logging
import threading
import time
from typing import Final

import psycopg
from flask import Flask
from prometheus_client import Counter as Metric

from app.base import crash
from app.base.db import DatabaseUnavailable, transaction
from app.base.runtime import Runtime
from app.confirmation.confirming import confirm
from app.intake import events as intake
from app.intake.events import ATTEMPTS_BEFORE_FAILED, Decision
from app.ledger.books import fold_movements

BATCH: Final = 250
POLL_SECONDS: Final = 1.0
REST_SECONDS: Final = 0.01  # after a batch that was not full: one event costs a batch nearly as much as twenty do
FOLD_SECONDS: Final = 30.0
ACTOR: Final = "worker"

_log = logging.getLogger(__name__)
DECIDED: Final = Metric("razao_events_decided_total", "Events decided by the worker", ["status"])


class Worker:
    """One worker. `stop` lets the batch in hand finish."""

    def __init__(self, app: Flask, runtime: Runtime) -> None:
        self._app = app
        self._runtime = runtime
        self._stopping = threading.Event()
        self._folded_at = time.monotonic()

    def stop(self) -> None:
        """Ends the loop after the batch in hand."""
        self._stopping.set()

    def run(self) -> None:
        """Works until stopped; a database that is away is waited for."""
        with self._app.app_context():
            while not self._stopping.is_set():
                try:
                    self._listen_and_work()
                except (DatabaseUnavailable, psycopg.OperationalError) as error:
                    _log.warning("the database is away: %s", error)
                    self._stopping.wait(1)

    def _listen_and_work(self) -> None:
        with psycopg.connect(self._runtime.app_url, autocommit=True) as ears:
            ears.execute("LISTEN razao_work")
            while not self._stopping.is_set():
                decided = work_once(self._runtime)
                if 0 < decided < BATCH:
                    self._stopping.wait(REST_SECONDS)
                if decided == 0:
                    self._keep_house()
                    for _ in ears.notifies(timeout=POLL_SECONDS, stop_after=1):
                        pass

    def _keep_house(self) -> None:
        if time.monotonic() - self._folded_at > FOLD_SECONDS:
            self._folded_at = time.monotonic()
            with transaction() as conn:
                fold_movements(conn)


def work_once(runtime: Runtime, limit: int = BATCH) -> int:
    """Decides up to `limit` due events; returns how many there were."""
    claimed: list[int] = []
    try:
        with transaction() as conn:
            events = intake.claim(conn, limit)
            claimed = [event.id for event in events]
            crash.point("worker.claimed")
            if not events:
                return 0
            decisions, _ = confirm(conn, events, zone=runtime.settings.timezone, actor=ACTOR, queued=True)
        crash.point("worker.committed")
        _count(decisions)
    except DatabaseUnavailable:
        raise
    except Exception:  # noqa: BLE001  logged, and each event is tried again
        # Whatever it was, one bad event must not hold the others back: each has a transaction of its own now.
        _log.exception("a batch of %d events failed; each is tried alone", len(claimed))
        for event_id in claimed:
            work_alone(runtime, event_id)
    return len(claimed)


def work_alone(runtime: Runtime, event_id: int) -> None:
    """Decides one queued event; if that fails, puts it off, and after enough tries leaves it for a person."""
    try:
        with transaction() as conn:
            event = intake.claim_one(conn, event_id)
            if event is None:
                return
            decisions, _ = confirm(conn, [event], zone=runtime.settings.timezone, actor=ACTOR, queued=True)
        _count(decisions)
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001  logged, counted and tried again
        _log.exception("event %d failed", event_id)
        _put_off(event_id, error)


def _put_off(event_id: int, error: Exception) -> None:
    with transaction() as conn:
        attempts = intake.put_off(conn, event_id)
        if attempts >= ATTEMPTS_BEFORE_FAILED:
            detail = {"error": type(error).__name__, "attempts": attempts}
            failed = Decision(event_id, "failed", "error_of_ours", detail=detail)
            intake.record_decisions(conn, [failed], ACTOR)
            intake.dequeue(conn, [event_id])
            _count([failed])


def _count(decisions: list[Decision]) -> None:
    for decision in decisions:
        DECIDED.labels(decision.status).inc()
