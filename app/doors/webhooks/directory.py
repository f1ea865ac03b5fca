"""The endpoints as this process knows them: one snapshot in memory, read again when a change is announced.

A request then costs no look-up. A thread listens for announcements; a snapshot that nobody refreshed for
OLDEST_SECONDS is read again by the next request, so that a dead thread cannot keep a retired secret alive.
"""

import logging
import threading
import time
from typing import Final

import psycopg
from flask import Flask

from app.base.db import Connection, DatabaseUnavailable, statements
from app.base.runtime import Runtime
from app.intake import endpoints
from app.intake.endpoints import ENDPOINTS_CHANNEL, Endpoint

OLDEST_SECONDS: Final = 10.0
_REFRESH_SECONDS: Final = 3.0

_log = logging.getLogger(__name__)


class Directory:
    """Endpoints by slug, for one process."""

    def __init__(self, app: Flask, runtime: Runtime) -> None:
        self._app = app
        self._runtime = runtime
        self._known: dict[str, Endpoint] = {}
        self._read_at = float("-inf")
        self._guard = threading.Lock()
        self._listener: threading.Thread | None = None
        self._closed = threading.Event()

    def find(self, slug: str) -> Endpoint | None:
        """The enabled endpoint of that slug. While the database is away the last snapshot serves; storing will tell."""
        self._listen()
        endpoint = self._known.get(slug)
        if endpoint is None or time.monotonic() - self._read_at > OLDEST_SECONDS:
            try:
                with self._app.app_context(), statements() as conn:
                    self._read(conn)
            except DatabaseUnavailable:
                if endpoint is None:
                    raise
            endpoint = self._known.get(slug)
        return None if endpoint is None or endpoint.disabled else endpoint

    def close(self) -> None:
        """Lets the listening thread end, at its next turn or when its connection does."""
        self._closed.set()

    def _read(self, conn: Connection) -> None:
        with self._guard:
            self._known = endpoints.load(conn, self._runtime.vault)
            self._read_at = time.monotonic()

    def _listen(self) -> None:
        if self._listener is None:
            with self._guard:
                if self._listener is None:
                    self._listener = threading.Thread(target=self._follow, name="endpoints", daemon=True)
                    self._listener.start()

    def _follow(self) -> None:
        """Reads again at each announcement, and every few seconds in case one was lost."""
        while not self._closed.is_set():
            try:
                options = "-c role=razao_app"
                with psycopg.connect(self._runtime.app_url, autocommit=True, options=options) as conn:
                    conn.execute(f"LISTEN {ENDPOINTS_CHANNEL}")
                    while not self._closed.is_set():
                        self._read(conn)
                        for _ in conn.notifies(timeout=_REFRESH_SECONDS, stop_after=1):
                            pass
            except psycopg.Error as error:
                if not self._closed.wait(1):
                    _log.warning("cannot follow the endpoints: %s", error)
