"""Stripe: signature, origins, and which events are money (providers.md section 2; peers C, D, E)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import stripe as sdk

from app.providers import signing, stripe
from app.providers.contract import Call, Config, Fact, Rejected, Secret
from app.providers.samples import SAMPLES, Case

NOW = datetime(2026, 9, 1, 2, 30, tzinfo=UTC)
T = int(NOW.timestamp())
SECRET = "whsec_test_secret"
CONFIG = Config(secrets=(Secret("main", SECRET),))
BODY = b'{"id":"evt_1","object":"event","type":"x"}'


def digest(body=BODY, secret=SECRET, t=T):
    at = datetime.fromtimestamp(t, UTC)
    return signing.sign("stripe", body, at=at, secret=secret).headers[1][1].partition("v1=")[2]


def call(header, body=BODY, received_at=NOW):
    return Call(body=body, headers=(("stripe-signature", header),), query=(), received_at=received_at)


def reason(*args, config=CONFIG, **kwargs):
    with pytest.raises(Rejected) as caught:
        stripe.verify(call(*args, **kwargs), config)
    return caught.value.reason


def event(kind, obj, **envelope):
    return {
        "id": "evt_1",
        "object": "event",
        "type": kind,
        "created": T,
        "livemode": True,
        "data": {"object": obj},
    } | envelope


def read(kind, obj, options=None, **envelope):
    body = json.dumps(event(kind, obj, **envelope)).encode()
    return stripe.read(call("", body), Config(secrets=(), options=options or {}))[0]


INTENT = {"id": "pi_1", "object": "payment_intent", "amount": 9999, "amount_received": 4990, "currency": "brl", "latest_charge": "ch_1"}  # fmt: skip
CHARGE = {"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "amount": 4990, "amount_captured": 4990, "amount_refunded": 0, "captured": True, "paid": True, "currency": "brl"}  # fmt: skip
SESSION = {"id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_intent": "pi_1", "payment_status": "paid", "amount_total": 4990, "currency": "brl", "client_reference_id": "order-1"}  # fmt: skip
REFUND = {"id": "re_1", "object": "refund", "payment_intent": "pi_1", "charge": "ch_1", "amount": 300, "currency": "brl", "status": "succeeded"}  # fmt: skip
DISPUTE = {"id": "du_1", "object": "dispute", "payment_intent": "pi_1", "charge": "ch_1", "amount": 4990, "currency": "brl"}  # fmt: skip


# ---- signature ----


def test_the_vector_of_the_fact_sheet():
    header = "t=1700000000,v1=13941114bb88ac44a76abcfddea5b92aa6182a4b63d8be3aae908a616083bd7e"
    at = datetime.fromtimestamp(1700000000, UTC)
    assert stripe.verify(call(header, b'{"id":"evt_test"}', at), CONFIG) == "main"
    assert signing.sign("stripe", b'{"id":"evt_test"}', at=at, secret=SECRET).headers[1] == ("stripe-signature", header)


@pytest.mark.parametrize("body", [BODY, b"", b"{ }", '{"a":"ç"}'.encode()])
@pytest.mark.parametrize("secret", [SECRET, "no-prefix", "whsec_ção"])
def test_the_official_sdk_and_this_house_agree_both_ways(body, secret):
    text = body.decode()
    theirs = sdk.WebhookSignature._compute_signature(f"{T}.{text}", secret)
    config = Config(secrets=(Secret("main", secret),))
    assert stripe.verify(call(f"t={T},v1={theirs}", body), config) == "main"
    now = int(datetime.now(UTC).timestamp())
    ours = signing.sign("stripe", body, at=datetime.fromtimestamp(now, UTC), secret=secret).headers[1][1]
    assert sdk.WebhookSignature.verify_header(text, ours, secret, tolerance=300)
    with pytest.raises(sdk.SignatureVerificationError):
        sdk.WebhookSignature.verify_header(text + " ", ours, secret, tolerance=300)


@pytest.mark.parametrize(("offset", "expected"), [(-299, None), (-300, None), (-301, "signature_too_old"), (299, None), (300, None), (301, "signature_in_the_future")])  # fmt: skip
def test_the_age_is_judged_both_ways(offset, expected):
    header = f"t={T + offset},v1={digest(t=T + offset)}"
    if expected is None:
        assert stripe.verify(call(header), CONFIG) == "main"
    else:
        assert reason(header) == expected


def test_a_wrong_signature_is_told_before_its_age():
    assert reason(f"t={T - 9999},v1={'0' * 64}") == "signature_wrong"


@pytest.mark.parametrize(
    "header",
    ["t={t}, v1={v}", " t={t} , v1={v} ", "v1={v},t={t}", "t={t},v1={bad},v1={v}", "t={t},v1={v},v1={bad}", "t={t},v0={bad},v1={v},", "t={t},x,v1=,v1={v},future=1"],
)  # fmt: skip
def test_the_header_is_read_tolerantly(header):
    assert stripe.verify(call(header.format(t=T, v=digest(), bad="0" * 64)), CONFIG) == "main"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("v1={v}", "signature_malformed"),
        ("t={t},t={t},v1={v}", "signature_malformed"),
        ("t=,v1={v}", "signature_malformed"),
        ("t=1_0,v1={v}", "signature_malformed"),
        ("t=١٢,v1={v}", "signature_malformed"),
        ("t=9999999999999,v1={v}", "signature_malformed"),
        ("t=-1,v1={v}", "signature_malformed"),
        ("t={t}", "signature_without_v1"),
        ("t={t},v0={v}", "signature_without_v1"),
        ("t={t},V1={v}", "signature_without_v1"),
        ("t={t},v1={v}0", "signature_wrong"),
        ("t={t},v1=é", "signature_wrong"),
        ("t={t},v1=\ud800", "signature_wrong"),
        ("t=0{t},v1={v}", "signature_wrong"),
        ("rubbish", "signature_malformed"),
    ],
)
def test_a_header_that_proves_nothing(header, expected):
    assert reason(header.format(t=T, v=digest())) == expected


def test_hexadecimal_is_lower_case():
    assert reason(f"t={T},v1={digest().upper()}") == "signature_wrong"


# ---- platform and connected accounts ----

BOTH = Config(secrets=(Secret("platform", "p"), Secret("connect", "c")))
OF_ACCOUNT = json.dumps({"id": "e", "object": "event", "type": "x", "account": "acct_1"}).encode()


@pytest.mark.parametrize(
    ("body", "secret", "label"),
    [
        (OF_ACCOUNT, "c", "connect"),
        (OF_ACCOUNT, "p", None),
        (BODY, "p", "platform"),
        (BODY, "c", None),
        (b'{"account":null}', "p", "platform"),
        (b"no json", "p", "platform"),
        (b"no json", "c", "connect"),
        (b'{"object":"v2.core.event","context":"acct_1"}', "c", "connect"),
    ],
)
def test_the_secret_must_be_that_of_the_events_origin(body, secret, label):
    header = f"t={T},v1={digest(body, secret)}"
    if label is None:
        assert reason(header, body, config=BOTH) == "secret_of_other_origin"
    else:
        assert stripe.verify(call(header, body), BOTH) == label


@pytest.mark.parametrize("label", ["platform", "connect", "main"])
def test_a_single_secret_takes_events_of_either_origin(label):
    config = Config(secrets=(Secret(label, "s"), Secret("old", "o")))
    for body in (OF_ACCOUNT, BODY):
        assert stripe.verify(call(f"t={T},v1={digest(body, 's')}", body), config) == label


def test_an_account_is_kept():
    assert read("payment_intent.succeeded", INTENT, account="acct_1").account == "acct_1"


# ---- facts ----


@pytest.mark.parametrize(
    ("kind", "obj", "fact", "amount", "references"),
    [
        ("payment_intent.succeeded", INTENT, Fact.PAID, 4990, ("pi_1", "ch_1")),
        ("payment_intent.succeeded", INTENT | {"latest_charge": None}, Fact.PAID, 4990, ("pi_1",)),
        ("payment_intent.canceled", INTENT, Fact.EXPIRED, None, ("pi_1", "ch_1")),
        ("payment_intent.payment_failed", INTENT, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.succeeded", CHARGE, Fact.PAID, 4990, ("pi_1", "ch_1")),
        ("charge.succeeded", CHARGE | {"payment_intent": None}, Fact.PAID, 4990, ("ch_1",)),
        ("charge.succeeded", CHARGE | {"payment_intent": {"id": "pi_2"}}, Fact.PAID, 4990, ("pi_2", "ch_1")),
        ("charge.succeeded", CHARGE | {"captured": False}, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.succeeded", CHARGE | {"paid": False}, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.captured", CHARGE | {"amount_captured": 2000}, Fact.PAID, 2000, ("pi_1", "ch_1")),
        ("charge.failed", CHARGE, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.refunded", CHARGE | {"amount_refunded": 500}, Fact.REFUNDED, 500, ("pi_1", "ch_1")),
        ("checkout.session.completed", SESSION, Fact.PAID, 4990, ("pi_1", "cs_1")),
        ("checkout.session.completed", SESSION | {"payment_status": "unpaid"}, Fact.INFORMATIONAL, None, ("pi_1", "cs_1")),
        ("checkout.session.completed", SESSION | {"payment_status": "no_payment_required"}, Fact.INFORMATIONAL, None, ("pi_1", "cs_1")),
        ("checkout.session.async_payment_succeeded", SESSION, Fact.PAID, 4990, ("pi_1", "cs_1")),
        ("checkout.session.async_payment_failed", SESSION, Fact.INFORMATIONAL, None, ("pi_1", "cs_1")),
        ("checkout.session.expired", SESSION | {"payment_intent": None}, Fact.EXPIRED, None, ("cs_1",)),
        ("refund.created", REFUND, Fact.REFUNDED, 300, ("pi_1", "ch_1")),
        ("refund.updated", REFUND, Fact.REFUNDED, 300, ("pi_1", "ch_1")),
        ("charge.refund.updated", REFUND, Fact.REFUNDED, 300, ("pi_1", "ch_1")),
        ("refund.created", REFUND | {"status": "pending"}, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("refund.updated", REFUND | {"status": "canceled"}, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.dispute.created", DISPUTE, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.dispute.closed", DISPUTE, Fact.INFORMATIONAL, None, ("pi_1", "ch_1")),
        ("charge.dispute.funds_withdrawn", DISPUTE, Fact.CHARGEBACK_OPENED, 4990, ("pi_1", "ch_1")),
        ("charge.dispute.funds_reinstated", DISPUTE, Fact.CHARGEBACK_REVERSED, 4990, ("pi_1", "ch_1")),
        ("invoice.paid", {"id": "in_1"}, Fact.INFORMATIONAL, None, ()),
    ],
)  # fmt: skip
def test_what_each_event_says_about_money(kind, obj, fact, amount, references):
    reading = read(kind, obj)
    assert (reading.key, reading.type, reading.unreadable, reading.review) == ("evt_1", kind, None, None)
    assert (reading.fact, reading.amount, reading.references) == (fact, amount, references)
    assert reading.currency == ("BRL" if amount else None)
    assert reading.cumulative is (kind == "charge.refunded")
    assert reading.refund_id == ("re_1" if "refund" in kind and kind != "charge.refunded" else None)
    assert reading.dispute_id == ("du_1" if "dispute" in kind else None)
    assert reading.occurred_at == NOW


@pytest.mark.parametrize("kind", ["refund.failed", "refund.updated", "charge.refund.updated"])
def test_a_refund_that_fails_after_all_goes_to_a_person(kind):
    reading = read(kind, REFUND | {"status": "failed"})
    assert (reading.fact, reading.review) == (Fact.INFORMATIONAL, "refund_failed_at_provider")
    assert (reading.refund_id, reading.amount, reading.unreadable) == ("re_1", 300, None)


def test_a_subscriptions_session_books_nothing_since_its_intent_tells_the_same_money():
    reading = read("checkout.session.completed", SESSION | {"mode": "subscription", "payment_intent": None})
    assert (reading.fact, reading.unreadable) == (Fact.INFORMATIONAL, None)
    assert (reading.references, reading.merchant_reference) == (("cs_1",), "order-1")


def test_a_charge_of_an_old_api_version_has_no_amount_captured():
    old = {name: value for name, value in CHARGE.items() if name != "amount_captured"}
    assert read("charge.succeeded", old).amount == 4990
    assert read("charge.captured", old).unreadable == "amount_unreadable"


@pytest.mark.parametrize(
    ("obj", "code"),
    [
        (INTENT | {"id": None}, "payment_id_missing"),
        (INTENT | {"id": 5}, "payment_id_unreadable"),
        (INTENT | {"id": "pi\x00"}, "payment_id_unreadable"),
        (INTENT | {"latest_charge": "\ud800"}, "payment_id_unreadable"),
        (INTENT | {"currency": None}, "currency_unreadable"),
        (INTENT | {"currency": "reais"}, "currency_unreadable"),
        (INTENT | {"amount_received": 49.9}, "amount_unreadable"),
        (INTENT | {"amount_received": "4990"}, "amount_unreadable"),
        (INTENT | {"amount_received": -4990}, "amount_unreadable"),
        (INTENT | {"amount_received": True}, "amount_unreadable"),
        (INTENT | {"metadata": {"reference": "x\x00"}}, "merchant_reference_unreadable"),
        ("no object", "payment_id_missing"),
    ],
)
def test_a_sale_that_cannot_be_read_is_kept_as_a_fact(obj, code):
    reading = read("payment_intent.succeeded", obj)
    assert (reading.unreadable, reading.amount) == (code, None)
    assert reading.type == "payment_intent.succeeded"


def test_missing_names_have_precise_codes():
    assert read("charge.succeeded", {name: value for name, value in CHARGE.items() if name != "captured"}).unreadable == "capture_unreadable"  # fmt: skip
    assert read("charge.succeeded", CHARGE | {"captured": "yes"}).unreadable == "captured_unreadable"
    assert read("refund.created", REFUND | {"id": None}).unreadable == "refund_id_missing"
    assert read("refund.created", REFUND | {"status": None}).unreadable == "refund_status_unreadable"
    assert read("checkout.session.completed", SESSION | {"payment_status": 1}).unreadable == "payment_status_unreadable"
    assert read("charge.dispute.funds_withdrawn", DISPUTE | {"id": None}).unreadable == "dispute_id_missing"
    reading = read("payment_intent.succeeded", INTENT, id=None)
    assert reading.unreadable == "event_id_missing"
    assert reading.key.startswith("sha256:")
    assert read(None, INTENT).unreadable == "event_type_missing"
    assert read("payment_intent.succeeded", INTENT, livemode="false").unreadable == "livemode_unreadable"
    assert read("payment_intent.succeeded", INTENT, id="e" * 256).unreadable == "event_id_unreadable"


@pytest.mark.parametrize(("livemode", "mode", "test"), [(True, "", False), (False, "", True), (False, "live", True), (False, "test", False), (True, "test", False), (None, "", False)])  # fmt: skip
def test_test_traffic_is_marked_unless_the_endpoint_is_for_tests(livemode, mode, test):
    assert read("payment_intent.succeeded", INTENT, {"mode": mode}, livemode=livemode).test is test


@pytest.mark.parametrize(
    ("currency", "sent", "amount"),
    [
        ("jpy", 500, 500),
        ("brl", 1998, 1998),
        ("kwd", 5120, 5120),
        ("isk", 500, 5),
        ("ugx", 500, 5),
        ("mga", 500, 50000),
    ],
)
def test_currencies_with_other_decimals(currency, sent, amount):
    reading = read("payment_intent.succeeded", INTENT | {"currency": currency, "amount_received": sent})
    assert (reading.amount, reading.currency, reading.unreadable) == (amount, currency.upper(), None)


def test_a_fraction_of_a_krona_is_not_rounded():
    assert read("payment_intent.succeeded", INTENT | {"currency": "isk", "amount_received": 501}).unreadable == "amount_unreadable"  # fmt: skip


@pytest.mark.parametrize(("fee", "expected"), [(99, 99), (0, None), (4990, 4990), (4991, None), (None, None)])
def test_the_fee_is_told_only_where_the_balance_transaction_is_expanded(fee, expected):
    expanded = {"id": "txn_1", "fee": fee}
    charge = CHARGE | {"balance_transaction": expanded}
    assert read("charge.succeeded", charge).fee == expected
    assert read("payment_intent.succeeded", INTENT | {"latest_charge": charge}).fee == expected
    assert read("payment_intent.succeeded", INTENT | {"latest_charge": charge}).references == ("pi_1", "ch_1")
    assert read("charge.succeeded", CHARGE | {"balance_transaction": "txn_1", "application_fee_amount": 5}).fee is None


def test_the_merchants_reference():
    assert read("checkout.session.completed", SESSION).merchant_reference == "order-1"
    metadata = {"order_id": "second", "reference": "first"}
    assert read("payment_intent.succeeded", INTENT | {"metadata": metadata}).merchant_reference == "first"
    assert read("charge.succeeded", CHARGE | {"metadata": {"order_id": "o"}}).merchant_reference == "o"
    assert read("charge.succeeded", CHARGE | {"metadata": {"order_id": 7}}).merchant_reference is None
    assert read("refund.created", REFUND | {"metadata": {"order_id": "o"}}).merchant_reference is None


def test_a_thin_event_books_nothing():
    reading = read("payment_intent.succeeded", INTENT, object="v2.core.event", created="2026-09-01T02:30:00.123Z")
    assert (reading.fact, reading.amount, reading.unreadable, reading.key) == (Fact.INFORMATIONAL, None, None, "evt_1")
    assert reading.occurred_at == NOW + timedelta(milliseconds=123)


def test_increments_and_totals_of_the_same_refunds():
    samples = SAMPLES["stripe"]
    case = Case(payment_id="pi_1", amount=500, occurred_at=NOW, seed="s")
    told = [samples.refunded(case, amount=200, total=200), samples.refunded(case, amount=300, total=500)]
    readings = [stripe.read(call("", body), CONFIG)[0] for body in told]
    assert [reading.amount for reading in readings] == [200, 300]
    assert len({reading.refund_id for reading in readings}) == 2
    total = stripe.read(call("", samples.refunded_in_total(case, total=500)), CONFIG)[0]
    assert (total.amount, total.cumulative) == (500, True)
    failed = stripe.read(call("", samples.refund_failed(case, amount=300, total=500)), CONFIG)[0]
    assert failed.refund_id == readings[1].refund_id
    assert failed.review == "refund_failed_at_provider"
