"""The console in a real Chromium: its stories by mouse, by keyboard alone and without JavaScript, in both languages; axe on every page."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, Page, expect, sync_playwright
from psycopg import Connection

from app.base.runtime import Runtime
from tests.browser.living import PAGES, launch, served, sign_in
from tests.support import balances


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


@pytest.fixture
def console(app: Flask, runtime: Runtime) -> Iterator[str]:
    """The address of a console with the shop's day in it."""
    with served(app, runtime) as address:
        yield address


class Pages:
    """Opens pages and fails on anything that the browser complained about: scripts, styles, policy."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.complaints: list[str] = []

    def new(self, **options: Any) -> Page:
        context = self._browser.new_context(**{"locale": "en", "viewport": {"width": 1280, "height": 900}, **options})
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._complain(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def _complain(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and "status of 4" not in text:  # a page that answers 404 or 422 on purpose
            self.complaints.append(text)

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        assert self.complaints == []


@pytest.fixture
def pages(browser: Browser) -> Iterator[Pages]:
    found = Pages(browser)
    yield found
    found.close()


def test_from_the_order_to_the_answer_in_one_search(console: str, pages: Pages) -> None:
    """“He says that pedido-1001 was credited twice”: by keyboard alone, one interaction after signing in."""
    page = pages.new()
    page.goto(f"{console}/sign-in")
    page.keyboard.press("Tab")  # the skip link
    for _ in range(20):
        if page.evaluate("document.activeElement.id") == "login":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("support")
    page.keyboard.press("Tab")
    page.keyboard.type("a password for tests")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{console}/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("pedido-1001")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{console}/payments/pmt_1")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("Confirmed once: R$49.90")
    expect(verdict).to_contain_text("One more event told the same and was ignored.")
    page.locator(".timeline a", has_text="evn_2").first.click()
    expect(page.locator(".verdict")).to_contain_text("Ignored: this payment was already confirmed by")
    page.locator("#reason").focus()
    page.keyboard.type("a/b")  # a slash inside a field is a slash
    expect(page.locator("#reason")).to_have_value("a/b")


def test_filters_change_the_list_and_the_address_without_a_reload(console: str, pages: Pages) -> None:
    page = pages.new()
    sign_in(page, console, "viewer")
    page.click("nav >> text=Events")
    page.evaluate("window.stayed = true")
    page.select_option("#f-status", "duplicate")
    page.wait_for_url(f"{console}/events?status=duplicate")  # what one would share: no empty filters
    expect(page.locator("#list tbody tr")).to_have_count(6)
    assert page.evaluate("window.stayed") is True
    page.go_back()
    page.wait_for_url(f"{console}/events")
    expect(page.locator("#list tbody tr")).not_to_have_count(6)
    assert page.locator("#list tbody tr").count() > 6
    assert page.locator("nav.menu").count() == 1  # Back brought the whole page once, not a page within the list
    page.go_forward()
    expect(page.locator("#list tbody tr")).to_have_count(6)
    page.reload()
    expect(page.locator("#f-status")).to_have_value("duplicate")


def test_an_ended_session_leads_a_fragment_to_signing_in(console: str, pages: Pages, owner: Connection) -> None:
    page = pages.new()
    sign_in(page, console, "viewer")
    page.goto(f"{console}/events")
    owner.execute("UPDATE access.operator SET session_epoch = session_epoch + 1")
    page.select_option("#f-status", "duplicate")
    page.wait_for_url(re.compile("/sign-in"))
    expect(page.locator("h1")).to_have_text("Sign in")


def test_redelivering_says_before_and_after(console: str, pages: Pages) -> None:
    page = pages.new()
    sign_in(page, console, "support")
    page.goto(f"{console}/events/evn_1")
    expect(page.locator("#redeliver-says")).to_contain_text("can only restore missing access")
    page.fill("#reason", "the customer asked")
    page.get_by_role("button", name="Re-deliver").click()
    expect(page.locator("[role=status]")).to_contain_text("Nothing to repair: this same event confirmed the payment")
    expect(page.locator("[role=status]")).to_contain_text("operator:support")


def _refund(page: Page, console: str) -> None:
    page.goto(f"{console}/payments/pmt_2")
    page.click("text=Refund …")
    page.fill("#amount", "nothing")
    page.fill("#reason", "half was missing")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[role=alert]")).to_contain_text("There is a problem")
    page.fill("#amount", "40,00")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("h1")).to_have_text("Refund R$40.00?")
    expect(page.locator(".postings")).to_contain_text("partner:carla")
    page.click("button:has-text('Refund R$40.00')")
    expect(page.locator("[role=status]")).to_contain_text("Booked, once.")
    expect(page.locator("h1")).to_contain_text("Refund of R$40.00")


def test_a_refund_in_three_steps(console: str, pages: Pages, conn: Connection) -> None:
    page = pages.new()
    sign_in(page, console, "finance")
    before = balances(conn)
    _refund(page, console)
    after = balances(conn)
    assert {code: after[code] - before[code] for code in after if after[code] != before.get(code)} == {
        "sales": 4000, "psp:loja": -4000, "partner:carla": 400, "commissions": -400,
    }  # fmt: skip
    page.goto(f"{console}/payments/pmt_2/refund")
    page.fill("#amount", "1")
    page.fill("#reason", "twice")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Refund R$1.00").dblclick()
    expect(page.locator("[role=status]")).to_contain_text("Booked, once.")
    assert balances(conn)["sales"] - after["sales"] == 100


def test_a_refund_by_keyboard_alone(console: str, pages: Pages) -> None:
    page = pages.new()
    sign_in(page, console, "finance")
    page.goto(f"{console}/payments/pmt_1/refund")

    def reach(selector: str) -> None:
        for _ in range(60):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"the keyboard never reached {selector}")

    reach("#amount")
    page.keyboard.press("Control+a")
    page.keyboard.type("10")
    reach("#reason")
    page.keyboard.type("by hand")
    reach("main button[type=submit]")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Refund R$10.00?")
    reach("main form button[type=submit]")
    page.keyboard.press("Enter")
    expect(page.locator("[role=status]")).to_contain_text("Booked, once.")


def test_everything_works_without_javascript(console: str, pages: Pages) -> None:
    page = pages.new(java_script_enabled=False)
    sign_in(page, console, "finance")
    page.goto(f"{console}/events")
    page.select_option("#f-status", "review")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url(re.compile("status=review"))
    expect(page.locator("#list tbody tr")).to_have_count(1)
    page.click("#list .main-link")
    page.get_by_role("link", name="Accept R$89.00").click()
    expect(page.locator(".verdict")).to_contain_text("expects R$99.00. The provider says that R$89.00 was paid.")
    page.fill("#reason", "a discount")
    page.click("button:has-text('Accept R$89.00')")
    expect(page.locator("[role=status]")).to_contain_text("person accepted the amount that was really paid")
    _refund(page, console)
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("h1")).to_have_text("Sign in")


def test_the_language_is_the_browsers_and_can_be_switched(console: str, pages: Pages) -> None:
    page = pages.new(locale="pt-BR")
    page.goto(console)
    expect(page.locator("h1")).to_have_text("Entrar")
    sign_in(page, console, "viewer")
    page.goto(f"{console}/payments/pmt_1")
    expect(page.locator(".verdict")).to_contain_text("Confirmado uma vez: R$\xa049,90")
    page.click("footer >> text=English")
    expect(page.locator(".verdict")).to_contain_text("Confirmed once: R$49.90")
    page.click("nav >> text=Payments")
    expect(page.locator("h1")).to_have_text("Payments")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_on_any_page(console: str, pages: Pages, scheme: str, width: int) -> None:
    page = pages.new(color_scheme=scheme, viewport={"width": width, "height": 844})
    found: list[str] = []

    def look(name: str) -> None:
        results = Axe().run(
            page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        )
        found.extend(
            f"{name}: {violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
            for violation in results.response["violations"]
            for node in violation["nodes"]
        )

    page.goto(f"{console}/sign-in")
    look("sign-in")
    sign_in(page, console)
    for name, path in PAGES.items():
        page.goto(console + path)
        look(name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} scrolls sideways"

    def press(selector: str) -> None:
        with page.expect_navigation(wait_until="load"):  # axe must not look before the style sheets are there
            page.click(selector)

    page.goto(f"{console}/payments/pmt_2/refund")
    press("main button[type=submit]")
    look("refund-form with a problem")
    page.fill("#reason", "x")
    press("main button[type=submit]")
    look("refund-preview")
    page.goto(f"{console}/events/evn_1")
    press("text=Reveal personal data")
    look("event revealed")
    assert found == []


def test_axe_finds_nothing_on_empty_pages(app: Flask, runtime: Runtime, pages: Pages) -> None:
    with served(app, runtime, filled=False) as address:
        page = pages.new()
        sign_in(page, address)
        for name, path in PAGES.items():
            if re.search(r"(evn|pmt|rfd|ent)_|psp:", path):
                continue
            page.goto(address + path)
            assert Axe().run(page).violations_count == 0, name
