"""Stores calls that arrive together in one statement and one commit: apart, each would wait for the disk alone.

No thread of its own: a call that finds nobody writing writes everything that waits, its own arrival among it; calls
that come meanwhile wait, and the first of them writes next. A call alone waits for nobody; one that follows upon a
fuller statement gives its like a moment to arrive. A call that cannot be stored holds none of the others back.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from flask import Flask

from app.base.db import DatabaseUnavailable, statements
from app.intake import events as intake
from app.intake.events import Arrival, Receipt

MOST_AT_ONCE: Final = 64
GATHER_SECONDS: Final = 0.001  # buys back more than it costs: docs/performance.md

_log = logging.getLogger(__name__)


class NotStored(Exception):
    """The call is not stored; its provider has to send it again."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """One call until it is stored. `receipts` stays None when it could not be."""

    arrival: Arrival
    writes: bool = False  # its turn to write
    woken: threading.Event = field(default_factory=threading.Event)
    receipts: list[Receipt] | None = None


class Scribe:
    """Stores calls, for one process."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._guard = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._writing = False
        self._company = 1  # how many calls the last statement stored

    def store(self, arrival: Arrival) -> list[Receipt]:
        """Returns once the call's events are committed; raises NotStored when they are not."""
        own = _Waiting(arrival)
        with self._guard:
            self._waiting.append(own)
            if not self._writing:
                self._writing = own.writes = True
        if not own.writes:
            own.woken.wait()
        if own.writes:
            self._write_waiting()
        if own.receipts is None:
            raise NotStored
        return own.receipts

    def _write_waiting(self) -> None:
        if len(self._waiting) < self._company:
            time.sleep(GATHER_SECONDS)
        with self._guard:
            batch = self._waiting[:MOST_AT_ONCE]
            del self._waiting[:MOST_AT_ONCE]
            self._company = len(batch)
        try:
            with self._app.app_context():
                _write(batch)
        finally:
            with self._guard:
                self._writing = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].writes = True
                    self._waiting[0].woken.set()
            for one in batch:
                one.woken.set()


def _write(batch: Sequence[_Waiting]) -> None:
    try:
        answers = _receive([one.arrival for one in batch])
    except DatabaseUnavailable as error:
        _log.error("%d calls could not be stored: %s", len(batch), error)
    except Exception:  # noqa: BLE001  logged, and the provider sends it again
        if len(batch) == 1:
            _log.exception("a call to endpoint %d could not be stored", batch[0].arrival.endpoint_id)
        else:
            # One of them is at fault: each has a statement of its own now.
            for one in batch:
                _write([one])
    else:
        for one, receipts in zip(batch, answers, strict=True):
            one.receipts = receipts


def _receive(arrivals: Sequence[Arrival]) -> list[list[Receipt]]:
    """Storing twice is storing once, so a connection that had died is tried again."""

    def once() -> list[list[Receipt]]:
        with statements() as conn:
            return intake.receive(conn, arrivals)

    try:
        return once()
    except DatabaseUnavailable:
        return once()
