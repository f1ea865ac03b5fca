"""Signing in: one wording, throttling, forged forms, safe addresses, sessions that end; and the rule of every page."""

import time

import pytest
from flask import Flask
from flask.testing import FlaskClient
from psycopg import Connection
from werkzeug.http import parse_cookie

from app.access.people import FAILURES_OF_A_LOGIN, Role
from app.base.db import DatabaseUnavailable
from app.base.runtime import Runtime
from app.doors.console import rules, session
from tests.console_data import PASSWORD, add_people, shop
from tests.doors.console_client import Person

# What each view takes at least. A new view is a line here, or the test fails.
RULES = {
    "sign_in": 0, "sign_in_post": 0, "sign_out": 0, "nowhere": 0,
    "overview": 1, "events": 1, "event": 1, "duplicates": 1, "payments": 1, "payment": 1, "refunds": 1, "refund": 1,
    "entries": 1, "entry": 1, "accounts": 1, "account": 1, "notifications": 1, "audit": 1, "safeguards": 1, "search": 1,
    "reveal": 2, "download": 2, "redelivery": 2, "dismissal": 2, "acknowledgement": 2,
    "acceptance": 3, "confirmation": 3, "refund_form": 3, "refund_preview": 3, "refund_issue": 3,
    "endpoints": 4,
}  # fmt: skip


def _console_views(app: Flask) -> set[str]:
    return {
        rule.endpoint.removeprefix("console.")
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("console.")
    }


def test_every_view_has_its_rule(app: Flask) -> None:
    assert {view: rules.rule_of(f"console.{view}") for view in _console_views(app)} == RULES


def test_a_view_without_a_rule_answers_nobody(app: Flask) -> None:
    add_people()
    del app.view_functions["console.overview"].console_rule
    try:
        assert Person(app, "admin").get("/").status_code == 403
    finally:
        rules.needs(Role.VIEWER)(app.view_functions["console.overview"])


@pytest.mark.parametrize("role", ["viewer", "support", "finance", "admin"])
def test_each_role_reaches_what_it_may_and_nothing_more(
    app: Flask, client: FlaskClient, runtime: Runtime, role: str
) -> None:
    add_people()
    shop(client, runtime)
    person = Person(app, role)
    ids = {
        "event_id": "evn_1",
        "payment_id": "pmt_1",
        "refund_id": "rfd_1",
        "entry_id": "ent_1",
        "code": "sales",
        "path": "nowhere",
    }
    adapter = app.url_map.bind("localhost")
    seen = 0
    for rule in app.url_map.iter_rules():
        view = rule.endpoint.removeprefix("console.")
        if not rule.endpoint.startswith("console.") or RULES[view] == 0:
            continue
        address = adapter.build(rule.endpoint, {name: ids[name] for name in rule.arguments})
        for method in sorted((rule.methods or set()) & {"GET", "POST"}):
            answer = person.get(address) if method == "GET" else person.post(address, page="/")
            allowed = RULES[view] <= Role[role.upper()]
            assert (answer.status_code != 403) == allowed, (method, address, answer.status_code)
            assert answer.status_code < 500
            seen += 1
    assert seen > 30


def test_nobody_signed_in_reaches_nothing(app: Flask) -> None:
    stranger = Person(app)
    for path in ("/", "/events", "/events/evn_1", "/payments/pmt_1/refund", "/endpoints"):
        answer = stranger.get(path)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/sign-in")
    assert stranger.post("/events/evn_1/redelivery", page="/sign-in").headers["Location"] == "/sign-in"


def test_login_disabled_is_ignored(app: Flask) -> None:
    app.config["LOGIN_DISABLED"] = True
    assert Person(app).get("/events").status_code == 302


def test_a_fragment_sends_the_whole_page_to_sign_in(app: Flask) -> None:
    answer = Person(app).get("/events", **{"HX-Request-Type": "partial"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (401, "/sign-in?next=/events")


def test_one_wording_for_every_failure_and_then_the_wait(app: Flask) -> None:
    add_people()
    person = Person(app)
    said = "This login and password do not belong together."
    for login, password in [("admin", "wrong"), ("nobody", PASSWORD), ("", "")]:
        answer = person.post("/sign-in", page="/sign-in", login=login, password=password)
        assert answer.status_code == 422
        assert said in answer.text
    for _ in range(FAILURES_OF_A_LOGIN - 1):
        person.post("/sign-in", page="/sign-in", login="admin", password="wrong")
    answer = person.post("/sign-in", page="/sign-in", login="admin", password=PASSWORD)
    assert answer.status_code == 429
    assert "Wait 15 minutes" in answer.text


def test_every_post_needs_the_token_even_signing_in_and_out(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    add_people()
    shop(client, runtime)
    answer = Person(app).bare_post("/sign-in", login="admin", password=PASSWORD)
    assert answer.status_code == 400
    assert "Set-Cookie" not in answer.headers
    person = Person(app, "admin")
    posts = [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("console.") and "POST" in (rule.methods or ())
    ]
    ids = {"event_id": "evn_1", "payment_id": "pmt_1"}
    for rule in posts:
        address = app.url_map.bind("localhost").build(
            rule.endpoint, {name: ids[name] for name in rule.arguments}, method="POST"
        )
        assert person.bare_post(address).status_code == 400, address
        assert person.bare_post(address, csrf_token="forged").status_code == 400, address
    assert person.get("/").status_code == 200  # still signed in
    assert conn.execute("SELECT count(*) FROM access.audit WHERE act <> 'session.begin'").fetchone() == (0,)


def test_the_webhooks_and_the_api_need_no_token(client: FlaskClient) -> None:
    assert client.post("/webhooks/none", data=b"{}").status_code == 404
    assert client.post("/api/v1/payments", json={}).status_code == 401


@pytest.mark.parametrize(
    ("target", "lands"),
    [
        ("/payments", "/payments"), ("/events?status=review", "/events?status=review"), ("//evil.example", "/"),
        ("https://evil.example/", "/"), ("/\\evil.example", "/"), ("/\t/evil.example", "/"), ("javascript:alert(1)", "/"),
        ("events", "/"), ("", "/"),
    ],
)  # fmt: skip
def test_signing_in_goes_on_to_our_pages_only(app: Flask, target: str, lands: str) -> None:
    add_people()
    person = Person(app)
    person.get("/sign-in")
    answer = person.post("/sign-in", login="viewer", password=PASSWORD, next=target)
    assert answer.headers["Location"] == lands


def test_the_session_is_new_at_signing_in_and_its_cookie_is_closed_to_scripts(app: Flask) -> None:
    add_people()
    person = Person(app)
    person.get("/sign-in")
    with person.client.session_transaction() as before:
        before["planted"] = "by somebody else"
        token = before["csrf_token"]
    person.get("/sign-in")
    answer = person.post("/sign-in", login="viewer", password=PASSWORD)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    with person.client.session_transaction() as after:
        assert "planted" not in after
        assert after.get("csrf_token") != token


def test_secure_cookies_when_set(runtime: Runtime) -> None:
    app = Flask("x")
    session.init(app, secure_cookies=True)
    assert app.config["SESSION_COOKIE_SECURE"] is True


def test_signing_out_ends_the_session(app: Flask) -> None:
    add_people()
    person = Person(app, "viewer")
    assert person.post("/sign-out", page="/").status_code == 302
    assert person.get("/").status_code == 302


def test_a_session_ends_by_epoch_by_disabling_and_by_age(
    app: Flask, owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_people()
    raised, disabled, old = Person(app, "viewer"), Person(app, "support"), Person(app, "finance")
    owner.execute("UPDATE access.operator SET session_epoch = session_epoch + 1 WHERE login = 'viewer'")
    owner.execute("UPDATE access.operator SET disabled_at = now() WHERE login = 'support'")
    assert raised.get("/").status_code == 302
    assert disabled.get("/").status_code == 302
    assert old.get("/").status_code == 200
    later = time.time() + session.SESSION_HOURS * 3600 + 1
    monkeypatch.setattr("app.doors.console.session.time.time", lambda: later)
    assert old.get("/").status_code == 302


def test_a_role_changes_at_once(app: Flask, owner: Connection) -> None:
    add_people()
    person = Person(app, "admin")
    assert person.get("/endpoints").status_code == 200
    owner.execute("UPDATE access.operator SET role = 'viewer' WHERE login = 'admin'")
    assert person.get("/endpoints").status_code == 403


def test_a_remember_cookie_is_nobody(app: Flask) -> None:
    from flask_login.utils import encode_cookie

    add_people()
    person = Person(app)
    person.client.set_cookie("remember_token", encode_cookie("1.0"))
    assert person.get("/").status_code == 302


def test_every_answer_carries_the_strict_headers(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    shop(client, runtime)
    person = Person(app, "support")
    answers = [person.get(path) for path in ("/sign-in", "/", "/events", "/events/evn_1", "/nowhere", "/endpoints")]
    answers += [
        person.bare_post("/sign-out"),
        person.post("/events/evn_1/body", page="/events/evn_1"),
        Person(app).get("/"),
    ]
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert policy == "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"


def test_the_language_is_the_browsers_then_the_persons(app: Flask) -> None:
    assert "Entrar" in Person(app, language="pt-PT,pt;q=0.9").get("/sign-in").text
    person = Person(app, language="en")
    assert "Sign in" in person.get("/sign-in").text
    chosen = person.get("/sign-in?lang=pt-BR")
    assert 'lang="pt-BR"' in chosen.text
    assert parse_cookie(chosen.headers["Set-Cookie"])["razao_lang"] == "pt-BR"
    assert "Entrar" in person.get("/sign-in").text
    assert "Sign in" in person.get("/sign-in?lang=en").text
    assert person.get("/sign-in?lang=xx").status_code == 200


def test_without_a_database_the_page_says_so(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    add_people()
    person = Person(app, "viewer")

    def away(*_: object) -> None:
        raise DatabaseUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr("app.doors.console.session.people.find", away)
        answer = person.get("/events")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "Nothing is lost; try again in a moment." in answer.text
    assert person.get("/events").status_code == 200


def test_an_error_of_ours_is_told_without_its_insides(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    add_people()
    person = Person(app, "viewer")
    app.testing = False

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the insides")

    with monkeypatch.context() as patch:
        patch.setattr("app.doors.console.session.people.find", broken)
        early = person.get("/events")
    monkeypatch.setattr("app.doors.console.events.reads.events", broken)
    late = person.get("/events")
    part = person.get("/events", **{"HX-Request-Type": "partial"})
    for answer in (early, late, part):
        assert answer.status_code == 500
        assert "An error of ours" in answer.text
        assert "the insides" not in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
    assert "<html" not in part.text
