"""Pictures of every page, light and dark, wide and narrow, in both languages: `make screenshots` writes them to screenshots/."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
from flask import Flask
from playwright.sync_api import Browser, sync_playwright

from app.base import embedded, migrating, settings
from app.base.db import transaction
from app.base.runtime import Runtime
from app.base.vault import Vault
from app.factory import create_app
from app.safeguards import doctor, reports, verify
from tests.browser.living import PAGES, launch, served, sign_in

SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


@contextlib.contextmanager
def fresh() -> Iterator[tuple[Flask, Runtime]]:
    """A database for the pictures alone, removed afterwards."""
    place = Path(tempfile.mkdtemp(prefix="razao-pictures-"))
    found = embedded.start(place)
    with psycopg.connect(found.superuser_url(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE pictures OWNER razao_owner")
    runtime = Runtime(
        settings.read({}), found.url("pictures", "razao_service"), found.url("pictures", "razao_owner"),
        Vault("a master key for pictures"),
    )  # fmt: skip
    app = create_app(runtime)
    with app.app_context():
        migrating.upgrade(runtime.owner_url, runtime.app_url)
        yield app, runtime
    embedded.stop_if_last()
    shutil.rmtree(place, ignore_errors=True)


def take(browser: Browser, address: str, into: Path, only: list[str]) -> None:
    """One folder of pictures."""
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            language = "pt-BR" if scheme == "dark" else "en"
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, locale=language
            )
            page = context.new_page()
            page.goto(f"{address}/sign-in")
            page.screenshot(path=into / f"sign-in-{scheme}-{size}.png")
            sign_in(page, address)
            for name, path in PAGES.items():
                if only and name not in only:
                    continue
                page.goto(address + path)
                page.screenshot(path=into / f"{name}-{scheme}-{size}.png", full_page=True)
            if not only or "refund-preview" in only:
                page.goto(f"{address}/payments/pmt_2/refund")
                page.fill("#amount", "40")
                page.fill("#reason", "A parte que não foi entregue")
                page.click("main button[type=submit]")
                page.screenshot(path=into / f"refund-preview-{scheme}-{size}.png", full_page=True)
            context.close()


def main(into: Path, only: list[str]) -> None:
    """All of them, or those named."""
    into.mkdir(parents=True, exist_ok=True)
    with fresh() as (app, runtime):
        with transaction() as conn:
            reports.save(conn, "doctor", doctor.examine(runtime))
            reports.save(conn, "verify", verify.verify(runtime))
        with served(app, runtime) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            take(browser, address, into, only)
            browser.close()


if __name__ == "__main__":
    chosen = sys.argv[1:]
    folder = Path(chosen.pop(0)) if chosen and "/" in chosen[0] else Path("screenshots")
    main(folder, chosen)
