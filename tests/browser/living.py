"""A console that really answers: the application on a port of its own, over a fresh database, with a shop's day in it."""

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from playwright.sync_api import Browser, Page, Playwright
from werkzeug.serving import make_server

from app.base.runtime import Runtime
from tests.console_data import PASSWORD, add_people, shop

# Chromium as a tool: no sandbox (root in CI), no calls home.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip

# Every page of the console, by a name for pictures and tests; the ids are those of the shop's day.
PAGES = {
    "overview": "/",
    "events": "/events",
    "event": "/events/evn_2",
    "event-review": "/events/evn_21",
    "event-contradiction": "/events/evn_25",
    "acceptance": "/events/evn_21/acceptance",
    "dismissal": "/events/evn_22/dismissal",
    "acknowledgement": "/events/evn_25/acknowledgement",
    "duplicates": "/duplicates",
    "payments": "/payments",
    "payment": "/payments/pmt_2",
    "payment-refunded": "/payments/pmt_4",
    "payment-disputed": "/payments/pmt_6",
    "confirmation": "/payments/pmt_8/confirmation",
    "refund-form": "/payments/pmt_2/refund",
    "refunds": "/refunds",
    "refund": "/refunds/rfd_1",
    "entries": "/ledger/entries",
    "entry": "/ledger/entries/ent_1",
    "accounts": "/ledger/accounts",
    "account": "/ledger/accounts/psp:loja",
    "notifications": "/notifications",
    "audit": "/audit",
    "safeguards": "/safeguards",
    "endpoints": "/endpoints",
    "search": "/search?q=nope",
    "missing": "/nowhere",
}


def launch(playwright: Playwright) -> Browser:
    """Debian's Chromium, or Playwright's own where there is none (find_chromium.sh)."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    return playwright.chromium.launch(executable_path=found, args=ARGUMENTS)


@contextmanager
def served(app: Flask, runtime: Runtime, *, filled: bool = True) -> Iterator[str]:
    """The address of the running console; `filled` with the shop's day."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
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


def sign_in(page: Page, address: str, login: str = "admin") -> None:
    """Through the form, as people do."""
    page.goto(f"{address}/sign-in")
    page.fill("#login", login)
    page.fill("#password", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{address}/")
