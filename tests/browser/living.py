"""A console that really answers: the application on a port of its own, over a fresh database, with a shop's day in it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from werkzeug.serving import make_server

from app.base.runtime import Runtime
from tests.console_data import add_people, shop

CHROMIUM = "/usr/bin/chromium"
# Chromium as a tool: no sandbox (root in CI), no calls home.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip


@contextmanager
def served(app: Flask, runtime: Runtime, *, filled: bool = True) -> Iterator[str]:
    """The address of the running console; `filled` with the shop's day."""
    add_people()
    if filled:
        shop(app.test_client(), runtime)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
