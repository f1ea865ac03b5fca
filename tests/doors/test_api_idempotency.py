"""Requests that are sent twice: one effect, one answer, whatever happens between."""

import threading
from typing import Any

import pytest
from flask import Flask
from psycopg import Connection

from app.base.runtime import Runtime
from app.doors.api import payments as views
from tests.doors.calling import Caller, problem
from tests.support import add_asaas, asaas_event, deliver, drain, gate, in_threads, wait_until_blocked

BODY = {"reference": "order-1", "endpoint": "loja", "amount": 4990, "currency": "BRL", "provider_ref": "pay_1"}
HOLD = "SELECT 1 FROM payments.payment WHERE reference = 'order-1' FOR UPDATE"


@pytest.fixture(autouse=True)
def loja(app: object, runtime: Runtime) -> int:
    return add_asaas(runtime)


def replayed(response: Any) -> bool:
    return bool(response.headers.get("Idempotent-Replayed") == "true")


def count(conn: Connection, table: str) -> int:
    row = conn.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row
    found: int = row[0]
    return found


def test_the_same_request_gets_the_first_answer_byte_for_byte(shop: Caller, runtime: Runtime, conn: Connection) -> None:
    first = shop.post("/payments", BODY, key="k1")
    deliver(shop.client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)  # the payment is paid by now; the answer stays what it was
    second = shop.post("/payments", BODY, key="k1")
    assert (first.status_code, replayed(first)) == (201, False)
    assert (second.status_code, replayed(second)) == (201, True)
    assert (second.data, second.content_type) == (first.data, first.content_type)
    assert count(conn, "payments.payment") == 1


def test_every_post_takes_a_key(shop: Caller, conn: Connection) -> None:
    shop.pay("top-up", 1000, wallet="joana")
    for path, body, status in [
        ("/payments/pmt_1/confirm", {"reason": "seen"}, 200),
        ("/wallets/joana/debits", {"amount": 100, "reference": "buy"}, 201),
        ("/payments/pmt_1/refunds", {"amount": 100, "reason": "back"}, 201),
    ]:
        first, second = shop.post(path, body, key=path), shop.post(path, body, key=path)
        assert (first.status_code, second.status_code, replayed(second)) == (status, status, True), first.text
        assert first.data == second.data
    assert [row[0] for row in conn.execute("SELECT kind FROM ledger.entry ORDER BY id")] == ["sale", "debit", "refund"]


def test_another_body_or_address_under_the_key_is_refused(shop: Caller, conn: Connection) -> None:
    shop.post("/payments", BODY, key="k1")
    problem(shop.post("/payments", {**BODY, "reference": "order-2"}, key="k1"), 422, "idempotency_key_reused")
    problem(shop.post("/payments/pmt_1/confirm", {"reason": "x"}, key="k1"), 422, "idempotency_key_reused")
    assert count(conn, "payments.payment") == 1
    assert count(conn, "ledger.entry") == 0


def test_keys_belong_to_their_caller(shop: Caller, client: Any) -> None:
    from app.access import keys
    from app.base.db import transaction

    with transaction() as conn:
        other = Caller(client, keys.create(conn, "other", "write"))
    assert shop.post("/payments", BODY, key="k1").status_code == 201
    assert other.post("/payments", {**BODY, "reference": "order-2", "provider_ref": None}, key="k1").status_code == 201


def test_a_refusal_is_an_answer_and_is_kept(shop: Caller, conn: Connection) -> None:
    shop.pay("order-1")
    first = shop.post("/payments/pmt_1/refunds", {"reason": "x"}, key="k1")
    problem(first, 409, "payment_not_paid")
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})
    second = shop.post("/payments/pmt_1/refunds", {"reason": "x"}, key="k1")
    problem(second, 409, "payment_not_paid")
    assert (replayed(second), second.data) == (True, first.data)
    assert count(conn, "payments.refund") == 0


def test_a_refusal_by_a_constraint_leaves_no_effect_but_its_answer(shop: Caller, conn: Connection) -> None:
    shop.pay("top-up", 1000, wallet="joana")
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})
    shop.post("/wallets/joana/debits", {"amount": 1, "reference": "buy"})
    for again in (False, True):
        response = shop.post("/wallets/joana/debits", {"amount": 2, "reference": "buy"}, key="k1")
        problem(response, 409, "entry_exists")
        assert replayed(response) is again
    assert conn.execute("SELECT owed FROM ledger.balance").fetchone() == (999,)


def test_what_does_not_fit_leaves_the_key_free(shop: Caller) -> None:
    problem(shop.post("/payments", {**BODY, "amount": 1.5}, key="k1"), 422, "invalid")
    assert shop.post("/payments", BODY, key="k1").status_code == 201


def test_a_fault_leaves_no_answer_and_no_effect(
    shop: Caller, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(views, "payments_json", lambda *_: 1 / 0)
        problem(shop.post("/payments", BODY, key="k1"), 500, "fault")
    assert (count(conn, "payments.payment"), count(conn, "access.idempotency")) == (0, 0)
    second = shop.post("/payments", BODY, key="k1")
    assert (second.status_code, replayed(second)) == (201, False)


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "ação", "a\tb"])
def test_a_key_that_is_none(shop: Caller, key: str) -> None:
    problem(shop.post("/payments", BODY, key=key), 400, "bad_idempotency_key")


def test_keys_end_after_a_day_and_old_ones_are_swept(shop: Caller, owner: Connection) -> None:
    shop.post("/payments", BODY, key="k1")
    owner.execute(
        "INSERT INTO access.idempotency (caller, key, request, body_sha256, created_at)"
        " SELECT 'api:gone', n::text, '', '', now() - interval '25 hours' FROM generate_series(1, 30) n"
    )
    owner.execute("UPDATE access.idempotency SET created_at = now() - interval '24 hours 1 minute' WHERE key = 'k1'")
    problem(shop.post("/payments", BODY, key="k1"), 409, "provider_ref_taken")
    assert count(owner, "access.idempotency") == 1 + 30 - 20


def test_a_refund_is_not_repeated_even_after_its_key_ended(shop: Caller, owner: Connection) -> None:
    shop.pay("order-1")
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})
    assert shop.post("/payments/pmt_1/refunds", {"amount": 1, "reason": "x"}, key="k1").status_code == 201
    owner.execute("DELETE FROM access.idempotency")
    problem(shop.post("/payments/pmt_1/refunds", {"amount": 1, "reason": "x"}, key="k1"), 409, "refund_exists")
    assert count(owner, "payments.refund") == 1


def test_two_at_once_under_one_key_are_one_effect(app: Flask, runtime: Runtime, shop: Caller, conn: Connection) -> None:
    """One waits for the payment, which a gate holds; the other for the first, on the key's row. Both get one answer."""
    shop.pay("order-1")
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})

    def refund() -> Any:
        return Caller(app.test_client(), shop.headers["Authorization"].removeprefix("Bearer ")).post(
            "/payments/pmt_1/refunds", {"amount": 1000, "reason": "x"}, key="k1"
        )

    with gate(runtime.owner_url, HOLD):
        joins = in_threads(app, refund, refund)
        wait_until_blocked(runtime.owner_url, 2)
        assert count(conn, "access.idempotency") == 0  # nothing is kept before its effect is
    answers = [join() for join in joins]
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].data == answers[1].data
    assert sorted(map(replayed, answers)) == [False, True]
    assert (count(conn, "payments.refund"), count(conn, "access.idempotency")) == (1, 1)


def test_two_keys_at_once_are_two_requests(app: Flask, runtime: Runtime, shop: Caller, conn: Connection) -> None:
    shop.pay("order-1")
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})
    barrier = threading.Barrier(2)

    def refund(key: str) -> Any:
        barrier.wait(20)
        return Caller(app.test_client(), shop.headers["Authorization"].removeprefix("Bearer ")).post(
            "/payments/pmt_1/refunds", {"amount": 3000, "reason": "x"}, key=key
        )

    answers = [join() for join in in_threads(app, lambda: refund("k1"), lambda: refund("k2"))]
    assert sorted(one.status_code for one in answers) == [201, 409]
    assert count(conn, "payments.refund") == 1
