"""The API as a whole: who may call, every no a problem, lists without loss, a fixed number of statements, no 500 for anything."""

import json
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from app.access import keys
from app.base.db import DatabaseUnavailable, transaction
from app.base.runtime import Runtime
from app.doors.api import caller
from app.doors.api.told import EntryTold, EventTold, PaymentTold, list_of
from tests.doors.calling import API, Caller, counted, problem, shaped
from tests.support import add_asaas, asaas_event, deliver, drain

READS = [
    "/payments", "/payments/pmt_1", "/payments/pmt_1/refunds", "/events", "/events/evn_1", "/ledger/entries", "/ledger/accounts",
    "/ledger/accounts/sales", "/ledger/periods", "/wallets/joana", "/wallets/joana/statement", "/grants",
]  # fmt: skip
POSTS = [
    "/payments", "/payments/pmt_1/refunds", "/payments/pmt_1/confirm", "/events/evn_1/redeliver", "/wallets/joana/debits",
]  # fmt: skip
LISTS = ["/payments", "/events", "/ledger/entries", "/ledger/accounts", "/ledger/periods", "/grants"]


@pytest.fixture(autouse=True)
def loja(app: object, runtime: Runtime) -> int:
    return add_asaas(runtime)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer rz_unknown", "Basic YTpi", "rz_x", "Bearer \xff"]
)
def test_nobody_without_an_active_key(shop: Caller, header: str | None) -> None:
    for path in READS:
        response = shop.client.get(API + path, headers={"Authorization": header} if header is not None else {})
        problem(response, 401, "unauthorized")
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="razao"'
    problem(shop.client.post(f"{API}/payments", data=b"{"), 401, "unauthorized")


def test_a_revoked_key_ends_at_once(shop: Caller) -> None:
    assert shop.get("/payments").status_code == 200
    with transaction() as conn:
        keys.revoke(conn, "shop")
    problem(shop.get("/payments"), 401, "unauthorized")


def test_a_reader_may_read_and_nothing_else(reader: Caller) -> None:
    for path in LISTS:
        assert reader.get(path).status_code == 200
    for path in POSTS:
        problem(reader.post(path, {}), 403, "scope_too_small")
    problem(reader.patch("/payments/pmt_1", {}), 403, "scope_too_small")


def test_what_http_refuses_is_a_problem_too(shop: Caller) -> None:
    for path in ["/nowhere", "/payments/", "", "/", "/payments/pmt_1/nothing", "/wallets/"]:
        problem(shop.get(path), 404, "not_found")
    problem(shop.client.get("/api/v2/payments"), 404, "not_found")
    for method, path, allowed in [
        ("DELETE", "/payments", {"GET", "POST"}),
        ("PUT", "/payments/pmt_1", {"GET", "PATCH"}),
    ]:
        response = shop.client.open(API + path, method=method, headers=shop.headers)
        problem(response, 405, "method_not_allowed")
        assert allowed <= {one.strip() for one in response.headers["Allow"].split(",")}


def test_other_doors_keep_their_own_answers(shop: Caller) -> None:
    assert shop.client.post("/webhooks/nowhere", data=b"{}").json == {"error": "no such endpoint"}
    assert shop.client.get("/webhooks/loja").content_type != "application/problem+json"


def test_a_database_that_is_away_is_503(shop: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(caller, "statements", away)
    response = shop.get("/payments")
    problem(response, 503, "unavailable")
    assert response.headers["Retry-After"] == "5"


def test_no_cache_keeps_an_answer(shop: Caller) -> None:
    for response in [shop.get("/payments"), shop.get("/payments/pmt_9")]:
        assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("surprise=1", 422, "invalid"), ("limit=0", 422, "invalid"), ("limit=201", 422, "invalid"), ("limit=1e2", 422, "invalid"),
        ("limit=-1", 422, "invalid"), ("limit=%D9%A1", 422, "invalid"), ("limit=1&limit=2", 422, "invalid"),
        ("limit=" + "9" * 5000, 422, "invalid"), ("cursor=x", 400, "bad_cursor"), ("cursor=", 400, "bad_cursor"),
        ("cursor=%00", 400, "bad_cursor"), ("cursor=WyJvdGhlciIsMV0", 400, "bad_cursor"), ("cursor=W10", 400, "bad_cursor"),
        ("cursor=eyJhIjoxfQ", 400, "bad_cursor"), ("cursor=" + "W" * 4000, 400, "bad_cursor"),
    ],
)  # fmt: skip
def test_a_list_refuses_what_it_does_not_know(shop: Caller, path: str, query: str, status: int, code: str) -> None:
    problem(shop.get(f"{path}?{query}"), status, code)


@pytest.mark.parametrize(
    "query",
    [
        "/payments?status=lost", "/payments?reference=%00", "/payments?reference=", "/payments?wallet=a", "/events?status=new",
        "/events?since=yesterday", "/events?since=2026-08-01", "/events?since=2026-13-01T00:00:00Z", "/events?key=%00",
        "/events?until=0001-01-01T00:00:00%2B14:00", "/events?since=9999-12-31T23:59:59Z", "/events?type=a%00b",
        "/ledger/entries?period=2026-13", "/ledger/entries?period=2026", "/ledger/entries?period=0000-01",
        "/ledger/entries?kind=gift", "/ledger/entries?account=%00", "/grants?subject=", "/ledger/accounts/sales?limit=1",
    ],
)  # fmt: skip
def test_a_filter_refuses_a_value_that_it_cannot_have(shop: Caller, query: str) -> None:
    problem(shop.get(query), 422, "invalid")


def test_a_walk_through_pages_loses_and_repeats_nothing_while_rows_are_added(shop: Caller, runtime: Runtime) -> None:
    for number in range(7):
        shop.pay(f"order-{number}")
        deliver(shop.client, asaas_event(f"evt_{number}", "PAYMENT_RECEIVED", f"pay_order-{number}"))
    drain(runtime)
    for path, shape, name in [
        ("/payments?limit=2", PaymentTold, "reference"), ("/events?limit=2", EventTold, "key"),
        ("/events?status=applied&limit=2", EventTold, "key"), ("/ledger/entries?limit=2", EntryTold, "payment_id"),
        ("/ledger/entries?account=sales&limit=2", EntryTold, "payment_id"),
    ]:  # fmt: skip
        before = [one[name] for one in shop.get(path.replace("limit=2", "limit=200")).json["items"]]
        seen, cursor = [], ""
        while cursor is not None:
            page = shaped(shop.get(path + cursor), list_of(shape))
            seen += [one[name] for one in page["items"]]
            cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else None
            late = f"{name}-late-{len(seen)}-{path[1:4]}{len(path)}"
            shop.pay(late)
            deliver(shop.client, asaas_event(f"evt_{late}", "PAYMENT_RECEIVED", f"pay_{late}"))
            drain(runtime)
        assert seen == before
        assert len(seen) == len(set(seen)) >= 7


def test_a_list_takes_as_many_statements_for_fifty_as_for_one(
    shop: Caller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        shop.pay(f"order-{number}", grant={"subject": "a", "resource": f"r{number}"})
        value = "49.90" if number % 2 else "1.00"  # every other one is for review, with amounts in its sentence
        deliver(shop.client, asaas_event(f"evt_{number}", "PAYMENT_RECEIVED", f"pay_order-{number}", value))
    drain(runtime)
    for path in LISTS:
        with counted(monkeypatch) as one:
            assert len(shop.get(f"{path}?limit=1").json["items"]) == 1
        with counted(monkeypatch) as many:
            shop.get(f"{path}?limit=50")
        assert len(one) == len(many) <= 8, (path, one, many)


def test_the_description_is_openapi_and_needs_no_key(shop: Caller) -> None:
    spec = shop.client.get(f"{API}/openapi.json").json
    assert spec["openapi"] == "3.1.0"
    routes = {(method.upper(), path) for path, methods in spec["paths"].items() for method in methods}
    assert {(method, path) for method, path in routes if method in {"GET", "POST", "PATCH"}} == {
        ("POST", f"{API}/payments"), ("GET", f"{API}/payments"), ("GET", f"{API}/payments/{{payment_id}}"),
        ("PATCH", f"{API}/payments/{{payment_id}}"), ("POST", f"{API}/payments/{{payment_id}}/confirm"),
        ("POST", f"{API}/payments/{{payment_id}}/refunds"), ("GET", f"{API}/payments/{{payment_id}}/refunds"),
        ("GET", f"{API}/events"), ("GET", f"{API}/events/{{event_id}}"), ("POST", f"{API}/events/{{event_id}}/redeliver"),
        ("GET", f"{API}/ledger/entries"), ("GET", f"{API}/ledger/accounts"), ("GET", f"{API}/ledger/accounts/{{code}}"),
        ("GET", f"{API}/ledger/periods"), ("GET", f"{API}/wallets/{{owner}}"), ("GET", f"{API}/wallets/{{owner}}/statement"),
        ("POST", f"{API}/wallets/{{owner}}/debits"), ("GET", f"{API}/grants"),
    }  # fmt: skip
    for path, method in ((path, method) for method, path in routes if method == "POST"):
        operation = spec["paths"][path][method.lower()]
        assert "Idempotency-Key" in [one["name"] for one in operation["parameters"]]
        assert "application/problem+json" in spec["components"]["responses"]["DEFAULT_ERROR"]["content"]
    text = json.dumps(spec)
    for reference in {part.split('"')[0] for part in text.split('"$ref": "#/')[1:]}:
        found: Any = spec
        for step in reference.split("/"):
            found = found[step]
    assert spec["components"]["securitySchemes"] == {"key": {"type": "http", "scheme": "bearer"}}
    assert (
        "positive on the account's own side" in spec["paths"][f"{API}/ledger/accounts/{{code}}"]["get"]["description"]
    )


def test_the_page_shows_the_description_without_script(shop: Caller) -> None:
    response = shop.client.get(f"{API}/docs")
    assert (response.status_code, response.mimetype) == (200, "text/html")
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    for said in ["POST /api/v1/payments", "Idempotency-Key", "basis_points", "NewPayment", "next_cursor"]:
        assert said in response.text
    assert "<script" not in response.text
    assert "http://" not in response.text.replace("http://127", "")


Anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "reference", "endpoint", "provider_ref", "amount", "currency", "wallet", "grant", "commissions", "metadata", "reason", "memo",
]  # fmt: skip
GOOD = {"reference": "r", "endpoint": "loja", "amount": 100, "currency": "BRL", "reason": "x"}
ByPost = {
    "/payments": {"reference", "endpoint", "amount", "currency"},
    "/payments/pmt_1/refunds": {"amount", "reason"},
    "/payments/pmt_1/confirm": {"reason"},
    "/events/evn_1/redeliver": {"reason"},
    "/wallets/joana/debits": {"amount", "reference"},
}


def test_no_body_whatever_makes_an_error_of_ours(app: Flask, shop: Caller, runtime: Runtime, conn: Connection) -> None:
    shop.pay("order-1")
    shop.pay("top-up", 10**6, wallet="joana")
    deliver(shop.client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_order-1"))
    drain(runtime)
    seen: set[int] = set()

    @settings(max_examples=120, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        path=st.sampled_from(POSTS),
        changes=st.dictionaries(st.sampled_from(FIELDS), Anything, max_size=2),
        raw=st.none() | st.binary(max_size=30),
    )
    def fuzz(path: str, changes: dict[str, Any], raw: bytes | None) -> None:
        good = {name: value for name, value in GOOD.items() if name in ByPost[path]}
        body = raw if raw is not None else json.dumps({**good, **changes}).encode()
        response = shop.post(path, body)
        seen.add(response.status_code)
        assert response.status_code < 500, (path, body, response.text)
        if response.status_code >= 400:
            assert response.content_type == "application/problem+json"

    fuzz()
    assert seen >= {200, 400, 422}
    assert conn.execute("SELECT count(*) FROM ledger.balance WHERE owed < 0").fetchone() == (0,)
