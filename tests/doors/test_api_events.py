"""Events through the API: the reason in words, filters, re-delivery."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from psycopg import Connection

from app.base.runtime import Runtime
from app.doors.api.told import DecisionTold, EventTold
from tests.doors.calling import Caller, items, problem, shaped
from tests.support import add_asaas, asaas_event, deliver, drain


@pytest.fixture(autouse=True)
def confirmed(app: object, runtime: Runtime, shop: Caller) -> None:
    """evn_1 confirmed pmt_1; evn_2, delivered twice, is its duplicate; evt_3 has no payment."""
    add_asaas(runtime)
    shop.pay("order-1", grant={"subject": "joana", "resource": "curso"})
    for key, kind, payment in [
        ("evt_1", "PAYMENT_RECEIVED", "pay_order-1"),
        ("evt_2", "PAYMENT_CONFIRMED", "pay_order-1"),
        ("evt_2", "PAYMENT_CONFIRMED", "pay_order-1"),
        ("evt_3", "PAYMENT_RECEIVED", "pay_unknown"),
    ]:
        deliver(shop.client, asaas_event(key, kind, payment))
    drain(runtime)


def called(shop: Caller, key: str) -> str:
    """The id of the event with that key: a repeated delivery uses a number up."""
    found: str = items(shop.get(f"/events?key={key}"), EventTold)[0]["id"]
    return found


def test_an_event_says_where_it_stands_and_why(shop: Caller) -> None:
    found = shaped(shop.get("/events/evn_2"), EventTold)
    assert found | {"received_at": "", "processed_at": ""} == {
        "id": "evn_2", "endpoint": "loja", "provider": "asaas", "key": "evt_2", "type": "PAYMENT_CONFIRMED", "fact": "paid",
        "status": "duplicate", "reason": "payment_already_confirmed",
        "explanation": "Ignored: this payment was already confirmed by evn_1; its sale is entry ent_1.",
        "payment_id": "pmt_1", "caused_by": "evn_1", "deliveries": 2, "redeliveries": 0, "received_at": "",
        "processed_at": "",
    }  # fmt: skip
    portuguese = shop.get("/events/evn_2", headers={"Accept-Language": "pt-BR,en;q=0.5"}).json["explanation"]
    assert portuguese == "Ignorado: este pagamento já tinha sido confirmado por evn_1; a venda é o lançamento ent_1."


def test_an_undecided_event_is_received(shop: Caller) -> None:
    deliver(shop.client, asaas_event("evt_4", "PAYMENT_RECEIVED", "pay_later"))
    found = shaped(shop.get(f"/events/{called(shop, 'evt_4')}"), EventTold)
    assert (found["status"], found["reason"], found["processed_at"]) == ("received", "received", None)
    assert found["explanation"].startswith("Received")
    assert items(shop.get("/events?status=received"), EventTold) == [found]


def test_amounts_in_a_sentence_are_written_for_people(shop: Caller, runtime: Runtime) -> None:
    shop.pay("order-2")
    deliver(shop.client, asaas_event("evt_4", "PAYMENT_RECEIVED", "pay_order-2", "1234.5"))
    drain(runtime)
    event = called(shop, "evt_4")
    assert "says BRL 1,234.50, but BRL 49.90 was" in shop.get(f"/events/{event}").json["explanation"]
    portuguese = shop.get(f"/events/{event}", headers={"Accept-Language": "pt"}).json["explanation"]
    assert "diz R$ 1.234,50, mas o esperado era R$ 49,90" in portuguese


def test_filters(shop: Caller) -> None:
    def keys(query: str) -> list[str]:
        return [one["key"] for one in items(shop.get(f"/events?{query}"), EventTold)]

    assert keys("") == ["evt_3", "evt_2", "evt_1"]
    assert keys("payment=pmt_1") == keys("payment=order-1") == ["evt_2", "evt_1"]
    assert keys("payment=nobody") == keys("payment=pmt_77") == []
    assert keys("status=unmatched") == ["evt_3"]
    assert keys("payment=pmt_1&status=applied") == ["evt_1"]
    assert keys("type=PAYMENT_RECEIVED") == ["evt_3", "evt_1"]
    assert keys("key=evt_2") == ["evt_2"]
    assert keys("endpoint=loja&key=evt_1") == ["evt_1"]
    assert keys("endpoint=nowhere") == []


def test_times(shop: Caller) -> None:
    received = datetime.fromisoformat(shop.get("/events/evn_2").json["received_at"])

    def keys(query: str) -> list[str]:
        return [one["key"] for one in items(shop.get(f"/events?{query}"), EventTold)]

    def said(moment: datetime) -> str:
        return quote(moment.isoformat())

    assert keys(f"since={said(received)}") == ["evt_3", "evt_2"]
    assert keys(f"until={said(received)}") == ["evt_1"]
    far = timedelta(days=1)
    assert keys(f"since={said(received - far)}&until={said(received + far)}") == ["evt_3", "evt_2", "evt_1"]
    assert keys(f"since={said(received + far)}") == keys(f"until={said(received - far)}") == []
    assert keys("since=1970-01-01T00:00:00Z&until=9998-12-31T23:59:59Z") == ["evt_3", "evt_2", "evt_1"]
    unescaped = received.astimezone(UTC).isoformat()  # its + arrives as a space
    assert keys(f"until={unescaped}") == ["evt_1"]


def test_the_bounds_on_ids_lose_nothing_of_long_ago(shop: Caller, conn: Connection) -> None:
    """Events of some days ago, stored out of the order of their times."""
    ids = conn.execute(
        "INSERT INTO intake.event (endpoint_id, event_key, type, fact, refs, cumulative, reverses_chargeback, test, received_at)"
        " SELECT 1, 'old_' || n, 'T', 'informational', '{}', false, false, false, '2026-01-01'::timestamptz + d * interval '1 minute'"
        " FROM (VALUES (1, 0), (2, 52), (3, 62), (4, 45), (5, 55), (6, 120)) AS v (n, d) RETURNING id"
    ).fetchall()
    assert len(ids) == 6
    window = "since=2026-01-01T00:50:00Z&until=2026-01-01T01:00:00Z"
    assert [one["key"] for one in items(shop.get(f"/events?{window}"), EventTold)] == ["old_5", "old_2"]


def test_redelivery_answers_with_the_decision_and_is_counted(shop: Caller, conn: Connection) -> None:
    found = shaped(shop.post("/events/evn_1/redeliver", {"reason": "customer asked"}), DecisionTold)
    assert found | {"decided_at": ""} == {
        "event_id": "evn_1", "status": "duplicate", "reason": "repeats_itself",
        "explanation": "Nothing to repair: this same event confirmed the payment; its sale is entry ent_1.",
        "payment_id": "pmt_1", "caused_by": "evn_1", "entry_id": "ent_1", "actor": "api:shop", "decided_at": "",
    }  # fmt: skip
    event = shop.get("/events/evn_1").json
    assert (event["status"], event["redeliveries"]) == ("applied", 1)
    audit = conn.execute("SELECT actor, act, object, reason FROM access.audit").fetchall()
    assert audit == [("api:shop", "event.redeliver", "evn_1", "customer asked")]


def test_redelivery_restores_access_and_says_so(shop: Caller, owner: Connection) -> None:
    owner.execute("DELETE FROM payments.access_grant")
    found = shaped(shop.post("/events/evn_1/redeliver"), DecisionTold)
    assert found["explanation"].endswith("Access that was missing was restored.")
    assert len(shop.get("/grants?subject=joana").json["items"]) == 1


def test_redelivery_needs_no_body(shop: Caller) -> None:
    response = shop.client.post(f"/api/v1/events/{called(shop, 'evt_3')}/redeliver", headers=shop.headers)
    assert shaped(response, DecisionTold)["status"] == "unmatched"


def test_what_is_no_event(shop: Caller) -> None:
    for name in ["evn_99", "pmt_1", "evn_x"]:
        problem(shop.get(f"/events/{name}"), 404, "event_not_found")
        problem(shop.post(f"/events/{name}/redeliver"), 404, "event_not_found")
    problem(shop.post("/events/evn_1/redeliver", {"reason": ""}), 422, "invalid")
