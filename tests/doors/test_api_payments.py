"""Payments through the API: every answer in the contract's shape, every no with its code."""

from typing import Any

import pytest
from psycopg import Connection

from app.base.runtime import Runtime
from app.doors.api.told import PaymentTold, RefundTold
from app.intake import endpoints
from tests.doors.calling import Caller, items, problem, shaped
from tests.support import add_asaas, asaas_event, balances, deliver, drain, standings

FULL = {
    "reference": "order-1",
    "endpoint": "loja",
    "provider_ref": "pay_order-1",
    "amount": 4990,
    "currency": "BRL",
    "grant": {"subject": "joana", "resource": "curso"},
    "commissions": [{"partner": "ana", "basis_points": 1000}, {"partner": "rui", "amount": 100}],
    "metadata": {"cart": [1, 2.5, "três", None, True]},
}


@pytest.fixture(autouse=True)
def loja(app: object, runtime: Runtime) -> int:
    return add_asaas(runtime)


def paid(
    shop: Caller, runtime: Runtime, reference: str = "order-1", value: str = "49.90", **more: Any
) -> dict[str, Any]:
    """A payment that its provider has confirmed."""
    made = shop.pay(reference, **more)
    deliver(shop.client, asaas_event(f"evt_{reference}", "PAYMENT_RECEIVED", f"pay_{reference}", value))
    drain(runtime)
    return made


def test_registers_and_shows_a_payment_with_all_that_belongs_to_it(shop: Caller, runtime: Runtime) -> None:
    made = shaped(shop.post("/payments", FULL), PaymentTold, 201)
    assert made | {"created_at": ""} == {
        "id": "pmt_1", "reference": "order-1", "endpoint": "loja", "provider_ref": "pay_order-1",
        "provider_refs": ["pay_order-1"], "status": "pending", "amount": 4990, "currency": "BRL", "refunded_amount": 0,
        "wallet": None, "paid_at": None, "created_at": "", "metadata": FULL["metadata"], "grants": [], "events": [],
        "entries": [],
    }  # fmt: skip
    for key, kind in [("evt_1", "PAYMENT_RECEIVED"), ("evt_2", "PAYMENT_CONFIRMED")]:
        deliver(shop.client, asaas_event(key, kind, "pay_order-1"))
    drain(runtime)
    found = shaped(shop.get("/payments/pmt_1"), PaymentTold)
    assert (found["status"], found["paid_at"] is not None) == ("paid", True)
    assert [(one["id"], one["key"], one["status"], one["reason"]) for one in found["events"]] == [
        ("evn_1", "evt_1", "applied", "payment_confirmed"),
        ("evn_2", "evt_2", "duplicate", "payment_already_confirmed"),
    ]
    assert [(one["subject"], one["resource"], one["payment_id"]) for one in found["grants"]] == [
        ("joana", "curso", "pmt_1")
    ]
    assert [(one["kind"], one["amount"], one["postings"]) for one in found["entries"]] == [
        ("sale", 4990, [{"account": "psp:loja", "amount": 4990}, {"account": "sales", "amount": -4990}]),
        ("commission", 499, [{"account": "commissions", "amount": 499}, {"account": "partner:ana", "amount": -499}]),
        ("commission", 100, [{"account": "commissions", "amount": 100}, {"account": "partner:rui", "amount": -100}]),
    ]
    assert items(shop.get("/payments"), PaymentTold) == [found]


def test_an_event_that_came_first_is_applied_once_its_payment_is_registered(
    shop: Caller, runtime: Runtime, conn: Connection
) -> None:
    deliver(shop.client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_order-1"))
    drain(runtime)
    assert standings(conn) == {"evt_1": ("unmatched", "payment_unknown")}
    conn.execute("LISTEN razao_work")
    shop.pay("order-1")
    assert len(list(conn.notifies(timeout=5, stop_after=1))) == 1, "the worker was not woken"
    drain(runtime)
    assert shop.get("/payments/pmt_1").json["status"] == "paid"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"amount": 49.9}, "amount"), ({"amount": 4990.0}, "amount"), ({"amount": "4990"}, "amount"),
        ({"amount": True}, "amount"), ({"amount": -1}, "amount"), ({"amount": 0}, "amount"), ({"amount": None}, "amount"),
        ({"amount": 10**14 + 1}, "amount"), ({"amount": 10**40}, "amount"), ({"amount": [4990]}, "amount"),
        ({"currency": "brl"}, "currency"), ({"currency": "REAL"}, "currency"), ({"currency": 986}, "currency"),
        ({"currency": "BRL\n"}, "currency"), ({"reference": ""}, "reference"), ({"reference": "x" * 256}, "reference"),
        ({"reference": "a\0b"}, "reference"), ({"reference": "\ud800"}, "reference"), ({"reference": 1}, "reference"),
        ({"reference": "a\nb"}, "reference"), ({"provider_ref": ""}, "provider_ref"), ({"wallet": "\0"}, "wallet"),
        ({"surprise": 1}, "surprise"), ({"grant": {"subject": "a"}}, "grant.resource"),
        ({"grant": {"subject": "a", "resource": "b", "x": 1}}, "grant.x"), ({"grant": "a"}, "grant"),
        ({"commissions": [{"partner": "a"}]}, "commissions.0.amount"),
        ({"commissions": [{"partner": "a", "amount": 1, "basis_points": 1}]}, "commissions.0.amount"),
        ({"commissions": [{"partner": "a", "amount": 1.5}]}, "commissions.0.amount"),
        ({"commissions": [{"partner": "a", "basis_points": 10_001}]}, "commissions.0.basis_points"),
        ({"commissions": [{"partner": "a", "amount": 1}, {"partner": "a", "amount": 2}]}, "commissions"),
        ({"commissions": [{"amount": 1}]}, "commissions.0.partner"), ({"commissions": {}}, "commissions"),
        ({"metadata": []}, "metadata"), ({"metadata": {"x": "a" * 17_000}}, "metadata"),
        ({"metadata": {"a\0": 1}}, "metadata"), ({"metadata": {"a": ["\udfff"]}}, "metadata"),
    ],
)  # fmt: skip
def test_a_body_that_is_not_right_is_refused_and_names_the_field(
    shop: Caller, change: dict[str, Any], field: str
) -> None:
    found = problem(shop.post("/payments", {**FULL, **change}), 422, "invalid")
    assert list(found["errors"]) == [field], found
    assert field in found["detail"]
    assert items(shop.get("/payments"), PaymentTold) == []


def test_an_exponent_is_no_integer(shop: Caller) -> None:
    text = b'{"reference": "a", "endpoint": "loja", "amount": 1e3, "currency": "BRL"}'
    assert "amount" in problem(shop.post("/payments", text), 422, "invalid")["errors"]


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        (b"{", 400, "not_json"), (b"[]", 400, "not_an_object"), (b"1", 400, "not_an_object"), (b'"x"', 400, "not_an_object"),
        (b"null", 400, "not_an_object"), (b'{"amount": NaN}', 400, "not_json"), (b'{"amount": Infinity}', 400, "not_json"),
        (b'{"amount": 1, "amount": 2}', 400, "not_json"), (b'{"metadata": {"a": 1, "a": 2}}', 400, "not_json"),
        (b'{"amount": 1e999}', 400, "not_json"), (b'{"amount": ' + b"9" * 5000 + b"}", 400, "not_json"),
        (b"\xff\xfe{}", 400, "not_json"), (b'{"metadata": ' + b"[" * 40 + b"]" * 40 + b"}", 400, "not_json"),
        (b'{"metadata": ' + b"[" * 30_000 + b"]" * 30_000 + b"}", 400, "not_json"),
        (b'{"metadata": "' + b"x" * 70_000 + b'"}', 413, "body_too_large"), (b"", 422, "invalid"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_sound_object_are_refused(shop: Caller, text: bytes, status: int, code: str) -> None:
    problem(shop.post("/payments", text), status, code)


def test_other_media_types_are_refused(shop: Caller) -> None:
    problem(shop.post("/payments", b"reference=a", content_type="application/x-www-form-urlencoded"), 415, "media_type")


def test_what_a_registration_may_not_do(shop: Caller) -> None:
    with_wallet = {**FULL, "reference": "top-up", "provider_ref": None, "wallet": "joana", "commissions": []}
    shaped(shop.post("/payments", with_wallet), PaymentTold, 201)
    shaped(shop.post("/payments", FULL), PaymentTold, 201)
    for change, status, code in [
        ({}, 409, "provider_ref_taken"),
        ({"provider_ref": "pay_other"}, 409, "reference_taken"),
        ({"reference": "order-2"}, 409, "provider_ref_taken"),
        ({"reference": "order-3", "endpoint": "nowhere"}, 422, "endpoint_unknown"),
        ({"reference": "order-3", "provider_ref": "p", "amount": 100}, 422, "commissions_exceed_payment"),
        (
            {"reference": "order-3", "provider_ref": "p", "wallet": "joana", "currency": "USD"},
            422,
            "wallet_currency_differs",
        ),
    ]:
        problem(shop.post("/payments", {**FULL, **change}), status, code)


def test_a_disabled_endpoint_takes_no_payments(shop: Caller) -> None:
    from app.base.db import transaction

    with transaction() as conn:
        endpoints.disable(conn, slug="loja")
    problem(shop.post("/payments", FULL), 422, "endpoint_disabled")


def test_the_provider_ref_may_be_set_once_and_wakes_what_waited(shop: Caller, runtime: Runtime) -> None:
    shop.pay("order-1", provider_ref=None)
    shop.pay("order-2")
    deliver(shop.client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_late"))
    drain(runtime)
    found = shaped(shop.patch("/payments/pmt_1", {"provider_ref": "pay_late"}), PaymentTold)
    assert (found["provider_ref"], found["provider_refs"]) == ("pay_late", ["pay_late"])
    drain(runtime)
    assert shop.get("/payments/pmt_1").json["status"] == "paid"
    shaped(shop.patch("/payments/pmt_1", {"provider_ref": "pay_late"}), PaymentTold)
    problem(shop.patch("/payments/pmt_1", {"provider_ref": "pay_again"}), 409, "provider_ref_set")
    problem(shop.patch("/payments/pmt_1", {"provider_ref": "pay_order-2"}), 409, "provider_ref_taken")
    problem(shop.patch("/payments/pmt_1", {"amount": 1}), 422, "invalid")
    problem(shop.patch("/payments/pmt_9", {"provider_ref": "x"}), 404, "payment_not_found")


def test_a_person_may_confirm_once(shop: Caller, conn: Connection) -> None:
    shop.pay("order-1")
    problem(shop.post("/payments/pmt_1/confirm", {}), 422, "invalid")
    found = shaped(shop.post("/payments/pmt_1/confirm", {"reason": "seen in the bank"}), PaymentTold)
    assert (found["status"], [one["memo"] for one in found["entries"]]) == ("paid", ["seen in the bank"])
    problem(shop.post("/payments/pmt_1/confirm", {"reason": "again"}), 409, "already_confirmed")
    problem(shop.post("/payments/pmt_9/confirm", {"reason": "x"}), 404, "payment_not_found")
    audit = conn.execute("SELECT actor, act, object, reason FROM access.audit").fetchall()
    assert audit == [("api:shop", "payment.confirm", "pmt_1", "seen in the bank")]


def test_refunds_in_parts_and_never_more(shop: Caller, runtime: Runtime, conn: Connection) -> None:
    paid(shop, runtime)
    first = shaped(shop.post("/payments/pmt_1/refunds", {"amount": 1000, "reason": "damaged"}), RefundTold, 201)
    assert first | {"created_at": ""} == {
        "id": "rfd_1", "payment_id": "pmt_1", "amount": 1000, "currency": "BRL", "status": "recorded",
        "reason": "damaged", "entry_id": first["entry_id"], "period": first["period"], "created_at": "",
    }  # fmt: skip
    entries = shop.get("/payments/pmt_1").json["entries"]
    assert [
        (one["id"], one["amount"], one["refund_id"], one["period"]) for one in entries if one["kind"] == "refund"
    ] == [(first["entry_id"], -1000, "rfd_1", first["period"])]
    more = problem(shop.post("/payments/pmt_1/refunds", {"amount": 3991, "reason": "x"}), 409, "refund_exceeds_payment")
    assert (more["remaining"], more["currency"]) == (3990, "BRL")
    rest = shaped(shop.post("/payments/pmt_1/refunds", {"reason": "the rest"}), RefundTold, 201)
    assert rest["amount"] == 3990
    problem(shop.post("/payments/pmt_1/refunds", {"reason": "x"}), 409, "nothing_to_refund")
    assert items(shop.get("/payments/pmt_1/refunds"), RefundTold) == [rest, first]
    assert (shop.get("/payments/pmt_1").json["status"], balances(conn)) == ("refunded", {"psp:loja": 0, "sales": 0})


def test_what_a_refund_may_not_be(shop: Caller) -> None:
    shop.pay("order-1")
    problem(shop.post("/payments/pmt_1/refunds", {"reason": "x"}), 409, "payment_not_paid")
    problem(shop.post("/payments/pmt_1/refunds", {"amount": 1}), 422, "invalid")
    problem(shop.post("/payments/pmt_1/refunds", {"amount": 1.0, "reason": "x"}), 422, "invalid")
    problem(shop.post("/payments/pmt_9/refunds", {"reason": "x"}), 404, "payment_not_found")
    problem(shop.get("/payments/pmt_9/refunds"), 404, "payment_not_found")


@pytest.mark.parametrize(
    "name", ["pmt_9", "pmt_", "evn_1", "1", "pmt_-1", "pmt_1e1", "pmt_" + "9" * 40, "pmt_%00", "%F0%9F"]
)
def test_an_id_that_names_no_payment(shop: Caller, name: str) -> None:
    assert shop.get(f"/payments/{name}").json["code"] in {"payment_not_found", "not_found"}
    assert shop.get(f"/payments/{name}").status_code == 404


def test_filters(shop: Caller, runtime: Runtime) -> None:
    paid(shop, runtime, "order-1")
    shop.pay("order-2")

    def references(query: str) -> list[str]:
        return [one["reference"] for one in items(shop.get(f"/payments?{query}"), PaymentTold)]

    assert references("") == ["order-2", "order-1"]
    assert references("reference=order-1") == ["order-1"]
    assert references("provider_ref=pay_order-2") == ["order-2"]
    assert references("status=paid") == ["order-1"]
    assert references("status=pending&reference=order-1") == []
    assert references("provider_ref=nobody") == []
