"""Wakes the worker after events were stored: one NOTIFY for many.

NOTIFY inside the storing transaction would make every commit wait for a lock of the whole server. So a thread
rings after the commit, at once and then with pauses; if it dies first, the worker's poll finds the events.
"""

import logging
import threading
import time
from typing import Final

import psycopg

from app.base.runtime import Runtime

WORK_CHANNEL: Final = "razao_work"
PAUSE_SECONDS: Final = 0.01  # a ring costs about a third of storing an event; nobody hears a later one sooner

_log = logging.getLogger(__name__)


class Bell:
    """Rings for the worker, for one process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._wanted = threading.Event()
        self._guard = threading.Lock()
        self._ringer: threading.Thread | None = None
        self._closed = False

    def ring(self) -> None:
        """Returns at once; the worker hears it a moment later."""
        self._wanted.set()
        if self._ringer is None:
            with self._guard:
                if self._ringer is None:
                    self._ringer = threading.Thread(target=self._keep_ringing, name="bell", daemon=True)
                    self._ringer.start()

    def close(self) -> None:
        """Lets the ringing thread end."""
        self._closed = True
        self._wanted.set()

    def _keep_ringing(self) -> None:
        while not self._closed:
            try:
                with psycopg.connect(self._runtime.app_url, autocommit=True) as conn:
                    while not self._closed:
                        self._wanted.wait()
                        self._wanted.clear()
                        conn.execute(f"NOTIFY {WORK_CHANNEL}")
                        time.sleep(PAUSE_SECONDS)
            except psycopg.Error as error:
                _log.warning("cannot wake the worker: %s", error)
                time.sleep(1)
