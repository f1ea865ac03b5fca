"""Asaas: which of its events are money, and its look-alikes (providers.md section 1; peers B19, D32)."""

import json
from datetime import UTC, datetime

import pytest

from app.providers import asaas
from app.providers.contract import Call, Config, Fact, Rejected, Secret

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
PAYMENT = {"object": "payment", "id": "pay_1", "value": 49.9, "netValue": 48.91, "externalReference": "order-1", "billingType": "PIX", "status": "RECEIVED", "refunds": None, "chargeback": None}  # fmt: skip


def read(kind, payment=PAYMENT, **envelope):
    event = {"id": "evt_05b7&368", "event": kind, "dateCreated": "2026-08-31 23:30:00", "payment": payment}
    return read_event(event | envelope)


def read_event(event):
    call = Call(body=json.dumps(event).encode(), headers=(), query=(), received_at=NOW)
    return asaas.read(call, Config(secrets=()))[0]


@pytest.mark.parametrize("value", ["token", "t&=+/ %41", "ção", "x" * 255])
def test_the_token_is_compared_as_sent(value):
    config = Config(secrets=(Secret("a", "other"), Secret("b", value)))
    for sent in (value, value.encode().decode("latin-1")):  # as text, and as WSGI hands over UTF-8 bytes
        call = Call(body=b"{}", headers=(("asaas-access-token", sent),), query=(), received_at=NOW)
        assert asaas.verify(call, config) == "b"


@pytest.mark.parametrize("sent", ["toke", "tokenn", "TOKEN", "tok?n", "t€ken"])
def test_another_token_is_refused(sent):
    call = Call(body=b"{}", headers=(("asaas-access-token", sent),), query=(), received_at=NOW)
    with pytest.raises(Rejected, match="token_wrong"):
        asaas.verify(call, Config(secrets=(Secret("a", "token"), Secret("b", "t?ken"))))


def test_an_endpoint_without_a_token_lets_nobody_in():
    call = Call(body=b"{}", headers=(("asaas-access-token", "x"),), query=(), received_at=NOW)
    with pytest.raises(Rejected, match="endpoint_without_secret"):
        asaas.verify(call, Config(secrets=()))


@pytest.mark.parametrize(
    ("kind", "fact", "amount"),
    [
        ("PAYMENT_CONFIRMED", Fact.PAID, 4990),
        ("PAYMENT_RECEIVED", Fact.PAID, 4990),
        ("PAYMENT_DUNNING_RECEIVED", Fact.PAID, 4990),
        ("PAYMENT_REFUNDED", Fact.REFUNDED, None),
        ("PAYMENT_CHARGEBACK_REQUESTED", Fact.CHARGEBACK_OPENED, None),
        ("PAYMENT_OVERDUE", Fact.EXPIRED, None),
        ("PAYMENT_DELETED", Fact.EXPIRED, None),
        ("PAYMENT_BANK_SLIP_CANCELLED", Fact.EXPIRED, None),
        *[
            (f"PAYMENT_{name}", Fact.INFORMATIONAL, None)
            for name in [
                "CREATED",
                "UPDATED",
                "RESTORED",
                "AUTHORIZED",
                "AWAITING_RISK_ANALYSIS",
                "APPROVED_BY_RISK_ANALYSIS",
                "ANTICIPATED",
                "REPROVED_BY_RISK_ANALYSIS",
                "CREDIT_CARD_CAPTURE_REFUSED",
                "REFUND_IN_PROGRESS",
                "REFUND_DENIED",
                "CHARGEBACK_DISPUTE",
                "AWAITING_CHARGEBACK_REVERSAL",
                "DUNNING_REQUESTED",
                "BANK_SLIP_VIEWED",
                "SPLIT_CANCELLED",
            ]
        ],
        ("CHECKOUT_PAID", Fact.INFORMATIONAL, None),
        ("TRANSFER_DONE", Fact.INFORMATIONAL, None),
    ],
)
def test_what_each_event_says_about_money(kind, fact, amount):
    reading = read(kind)
    assert (reading.fact, reading.amount, reading.unreadable, reading.review) == (fact, amount, None, None)
    assert (reading.key, reading.references) == ("evt_05b7&368", ("pay_1",))
    assert (reading.merchant_reference, reading.currency) == ("order-1", "BRL")
    assert reading.cumulative is (fact is Fact.REFUNDED)
    assert reading.reverses_chargeback is (kind in {"PAYMENT_CONFIRMED", "PAYMENT_RECEIVED"})
    assert not reading.test


def test_a_cash_receipt_undone_goes_to_a_person():
    reading = read("PAYMENT_RECEIVED_IN_CASH_UNDONE")
    assert (reading.fact, reading.review) == (Fact.INFORMATIONAL, "cash_receipt_undone")


def test_half_past_eleven_in_sao_paulo_is_still_august():
    assert read("PAYMENT_RECEIVED").occurred_at == datetime(2026, 9, 1, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize("value", [None, 5, "", "31/08/2026", "2026-08-31", "2026-13-01 00:00:00", "2026-08-31 23:30", "9999-12-31 23:59:59"])  # fmt: skip
def test_a_date_that_cannot_be_read_is_no_date(value):
    reading = read("PAYMENT_RECEIVED", dateCreated=value)
    assert (reading.occurred_at, reading.unreadable, reading.amount) == (None, None, 4990)


@pytest.mark.parametrize(
    ("net", "fee"), [(48.91, 99), (49.9, None), (0, 4990), (50, None), (-0.99, None), (-1, None), (None, None)]
)
def test_the_fee_is_value_less_net_value(net, fee):
    reading = read("PAYMENT_RECEIVED", PAYMENT | {"netValue": net})
    assert (reading.fee, reading.amount, reading.unreadable) == (fee, 4990, None)


@pytest.mark.parametrize("net", ["48.91", 48.911, True, [], 1e30])
def test_a_net_value_that_is_no_amount(net):
    assert read("PAYMENT_RECEIVED", PAYMENT | {"netValue": net}).unreadable == "amount_unreadable"


def refund(value, status="DONE"):
    return {"dateCreated": "2026-08-31 23:30:00", "status": status, "value": value, "description": None}


@pytest.mark.parametrize(
    ("kind", "refunds", "fact", "amount", "code"),
    [
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(2)], Fact.REFUNDED, 200, None),
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(2), refund(3.01)], Fact.REFUNDED, 501, None),
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(2), refund(3, "PENDING")], Fact.REFUNDED, 200, None),
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(2, "CANCELLED")], Fact.INFORMATIONAL, None, None),
        ("PAYMENT_PARTIALLY_REFUNDED", None, Fact.REFUNDED, None, "refunds_missing"),
        ("PAYMENT_PARTIALLY_REFUNDED", [], Fact.REFUNDED, None, "refunds_missing"),
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(2), refund(None)], Fact.REFUNDED, None, "amount_unreadable"),
        ("PAYMENT_PARTIALLY_REFUNDED", [refund(-2), refund(5)], Fact.REFUNDED, None, "amount_unreadable"),
        ("PAYMENT_PARTIALLY_REFUNDED", ["x"], Fact.REFUNDED, None, "refunds_unreadable"),
        ("PAYMENT_PARTIALLY_REFUNDED", [{"value": 1}], Fact.REFUNDED, None, "refunds_unreadable"),
        ("PAYMENT_REFUNDED", {"status": "DONE"}, Fact.REFUNDED, None, "refunds_unreadable"),
        ("PAYMENT_REFUNDED", [refund(49.9)], Fact.REFUNDED, 4990, None),
        ("PAYMENT_REFUNDED", [refund(49.9, "AWAITING_CRITICAL_ACTION_AUTHORIZATION")], Fact.INFORMATIONAL, None, None),
        ("PAYMENT_REFUNDED", None, Fact.REFUNDED, None, None),
        ("PAYMENT_REFUNDED", [], Fact.REFUNDED, None, None),
    ],
)
def test_refunds_are_the_total_of_what_is_done(kind, refunds, fact, amount, code):
    reading = read(kind, PAYMENT | {"refunds": refunds})
    assert (reading.fact, reading.amount, reading.unreadable) == (fact, amount, code)
    assert reading.cumulative is (fact is Fact.REFUNDED)
    assert reading.refund_id is None


def test_a_chargeback_tells_its_value_where_it_has_one():
    told = PAYMENT | {"chargeback": {"id": "cbk_1", "status": "REQUESTED", "value": 20}}
    reading = read("PAYMENT_CHARGEBACK_REQUESTED", told)
    assert (reading.amount, reading.dispute_id) == (2000, "cbk_1")


@pytest.mark.parametrize(
    ("status", "reverses"), [(None, True), ("REVERSED", True), ("DONE", True), ("IN_DISPUTE", False), ("DISPUTE_LOST", False), ([], True)]
)  # fmt: skip
def test_a_receipt_while_the_dispute_runs_is_no_end_of_it(status, reverses):
    reading = read("PAYMENT_RECEIVED", PAYMENT | {"chargeback": {"status": status}})
    assert reading.reverses_chargeback is reverses


def test_the_account_that_produced_the_event():
    assert read("PAYMENT_RECEIVED", account={"id": "acc-1", "ownerId": None}).account == "acc-1"


@pytest.mark.parametrize(
    ("payment", "code"),
    [
        (None, "payment_id_missing"),
        ([], "payment_id_missing"),
        (PAYMENT | {"id": ""}, "payment_id_missing"),
        (PAYMENT | {"id": 7}, "payment_id_unreadable"),
        (PAYMENT | {"externalReference": "x" * 256}, "merchant_reference_unreadable"),
    ],
)
def test_a_sale_without_its_payment(payment, code):
    reading = read("PAYMENT_RECEIVED", payment)
    assert (reading.fact, reading.amount, reading.unreadable) == (Fact.PAID, None, code)
    assert read("PAYMENT_CREATED", payment).unreadable is None


# ---- the key without an id ----


def keyless(kind="PAYMENT_CONFIRMED", date="2026-08-01 10:00:00", **payment):
    return read_event({"event": kind, "dateCreated": date, "payment": PAYMENT | payment}).key


def test_without_an_id_a_repetition_is_the_same_event():
    assert keyless() == keyless() == keyless(description="Asaas adds attributes without notice")
    assert keyless().startswith("PAYMENT_CONFIRMED:pay_1:RECEIVED:49.9:")


def test_without_an_id_what_differs_is_another_event():
    keys = [
        keyless(),
        keyless("PAYMENT_RECEIVED"),
        keyless(date="2026-09-01 10:00:00"),
        keyless(chargeback={"status": "REVERSED"}),
        keyless(value=50),
        keyless(status="CONFIRMED"),
        keyless(id="pay_2"),
        keyless(refunds=[refund(2)]),
        keyless(refunds=[refund(2), refund(3)]),
    ]
    assert len(set(keys)) == len(keys)


def test_without_an_id_and_without_a_payment_the_bytes_are_the_key():
    assert read_event({"event": "PAYMENT_RECEIVED"}).key.startswith("sha256:")
    assert keyless(id="x" * 250).startswith("sha256:")
    assert read("PAYMENT_RECEIVED", id="").unreadable == "event_id_missing"
    assert read("PAYMENT_RECEIVED", id={"a": 1}).unreadable == "event_id_unreadable"
