"""AbacatePay: a public key proves nothing by itself; v1 and v2 bodies (providers.md sections 3, 10, 12)."""

import json
from datetime import UTC, datetime

import pytest

from app.providers import abacatepay, registry, signing
from app.providers.contract import Call, Config, Fact, Rejected, Secret

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
PAID_AT = "2026-08-31T23:30:00.381Z"
CHARGE = {"id": "char_1", "externalId": "order-1", "amount": 5000, "paidAmount": 4990, "platformFee": 80, "status": "PAID", "frequency": "ONE_TIME", "devMode": True, "updatedAt": PAID_AT}  # fmt: skip
BILL = CHARGE | {"id": "bill_1", "externalId": None}


def read(kind, data, options=None, **envelope):
    event = {"id": "log_1", "event": kind, "apiVersion": 2, "devMode": False, "data": data} | envelope
    call = Call(body=json.dumps(event).encode(), headers=(), query=(), received_at=NOW)
    return abacatepay.read(call, Config(secrets=(), options=options or {}))[0]


# ---- proof ----


def test_the_published_key_and_the_vector_of_the_fact_sheet():
    assert len(abacatepay.PUBLISHED_KEY) == 256
    signature = "JQSDkI6NfzMtqqw93HLxa6jO4PxjsEgKJbWFzCDN14k="
    sent = signing.sign("abacatepay", b'{"event":"ping"}', at=NOW)
    assert ("x-webhook-signature", signature) in sent.headers
    call = Call(body=b'{"event":"ping"}', headers=sent.headers, query=(), received_at=NOW)
    assert abacatepay.verify(call, Config(secrets=())) == "published"


def test_the_published_signature_alone_lets_nobody_in():
    sent = signing.sign("abacatepay", b"{}", at=NOW)
    call = Call(body=b"{}", headers=sent.headers, query=(), received_at=NOW)
    for config, code in ((Config(()), "endpoint_without_url_token"), (Config((), "t" * 32), "url_token_missing")):
        with pytest.raises(Rejected, match=code):
            registry.authenticate(registry.get("abacatepay"), call, config)


@pytest.mark.parametrize(
    ("headers", "query", "code"),
    [
        ((("x-webhook-secret", "tok"),), (("webhookSecret", "tok"),), None),
        ((("x-webhook-secret", "tok"),), (), None),
        ((), (("webhookSecret", "tok"),), None),
        ((), (("token", "tok"),), None),
        ((("x-webhook-secret", "tok"),), (("webhookSecret", "other"),), "url_token_wrong"),
        ((("x-webhook-secret", "other"),), (("webhookSecret", "tok"),), "url_token_wrong"),
        ((("x-webhook-secret", ""),), (("webhookSecret", "tok"),), "url_token_wrong"),
        ((("x-webhook-secret", "tok"), ("x-webhook-secret", "tok")), (), "url_token_duplicated"),
        ((), (("webhookSecret", "tok"), ("webhookSecret", "tok")), "url_token_duplicated"),
        ((), (("webhooksecret", "tok"),), "url_token_missing"),
    ],
)
def test_the_token_arrives_in_the_query_in_a_header_or_in_both(headers, query, code):
    signature = signing.sign("abacatepay", b"{}", at=NOW).headers
    call = Call(body=b"{}", headers=signature + headers, query=query, received_at=NOW)
    if code is None:
        assert registry.authenticate(registry.get("abacatepay"), call, Config((), "tok")) == "published"
    else:
        with pytest.raises(Rejected, match=code):
            registry.authenticate(registry.get("abacatepay"), call, Config((), "tok"))


def test_a_private_key_is_known_by_its_label():
    config = Config((Secret("mine", "private"),), "t")
    for secret, label in (("private", "mine"), (None, "published")):
        sent = signing.sign("abacatepay", b"{}", at=NOW, secret=secret, url_token="t")
        call = Call(b"{}", sent.headers, sent.query, NOW)
        assert registry.authenticate(registry.get("abacatepay"), call, config) == label


@pytest.mark.parametrize("change", ["JQSDkI6NfzMtqqw93HLxa6jO4PxjsEgKJbWFzCDN14l=", "JQSDkI6NfzMtqqw93HLxa6jO4PxjsEgKJbWFzCDN14k", "JQSDkI6NfzMtqqw93HLxa6jO4PxjsEgKJbWFzCDN14k=="])  # fmt: skip
def test_other_spellings_of_the_same_bytes_are_refused(change):
    call = Call(b'{"event":"ping"}', (("x-webhook-signature", change),), (), NOW)
    with pytest.raises(Rejected, match="signature_wrong"):
        abacatepay.verify(call, Config(()))


# ---- facts ----


@pytest.mark.parametrize(
    ("kind", "data", "fact", "amount", "fee", "references"),
    [
        ("transparent.completed", {"transparent": CHARGE}, Fact.PAID, 4990, 80, ("char_1",)),
        ("checkout.completed", {"checkout": BILL}, Fact.PAID, 4990, 80, ("bill_1",)),
        ("transparent.completed", {"transparent": CHARGE, "checkout": BILL}, Fact.PAID, 4990, 80, ("char_1", "bill_1")),
        ("subscription.completed", {"subscription": {"id": "subs_1", "amount": 1}, "payment": CHARGE, "checkout": BILL}, Fact.PAID, 4990, 80, ("char_1", "bill_1")),
        ("subscription.renewed", {"subscription": {"id": "subs_1"}, "payment": CHARGE, "checkout": BILL}, Fact.PAID, 4990, 80, ("char_1", "bill_1")),
        ("billing.paid", {"payment": {"amount": 1000, "fee": 80, "method": "PIX"}, "pixQrCode": {"id": "pix_char_1", "amount": 900, "status": "PAID"}}, Fact.PAID, 1000, 80, ("pix_char_1",)),
        ("billing.paid", {"payment": {"amount": 1000, "fee": 80}, "billing": {"id": "bill_1", "amount": 1000, "paidAmount": 0}}, Fact.PAID, 1000, 80, ("bill_1",)),
        ("billing.paid", {"id": "bill_1", "externalId": "order-1", "amount": 1000, "paidAmount": 0}, Fact.PAID, 1000, None, ("bill_1",)),
        ("checkout.refunded", {"checkout": BILL, "reason": "x"}, Fact.REFUNDED, None, None, ("bill_1",)),
        ("transparent.refunded", {"transparent": CHARGE}, Fact.REFUNDED, None, None, ("char_1",)),
        ("billing.refunded", {"id": "bill_1", "amount": 1}, Fact.REFUNDED, None, None, ("bill_1",)),
        ("checkout.disputed", {"checkout": BILL}, Fact.CHARGEBACK_OPENED, None, None, ("bill_1",)),
        ("transparent.lost", {"transparent": CHARGE}, Fact.CHARGEBACK_OPENED, None, None, ("char_1",)),
        ("subscription.cancelled", {"subscription": {"id": "subs_1"}, "payment": CHARGE}, Fact.INFORMATIONAL, None, None, ("char_1",)),
        ("subscription.payment_failed", {"subscription": {"id": "subs_1"}}, Fact.INFORMATIONAL, None, None, ()),
        ("payout.completed", {"withdraw": {"id": "tran_1", "amount": 5}}, Fact.INFORMATIONAL, None, None, ()),
        ("transfer.completed", {"id": "tran_1", "amount": 5}, Fact.INFORMATIONAL, None, None, ()),
    ],
)  # fmt: skip
def test_what_each_event_says_about_money(kind, data, fact, amount, fee, references):
    reading = read(kind, data)
    assert (reading.key, reading.type, reading.unreadable, reading.review) == ("log_1", kind, None, None)
    assert (reading.fact, reading.amount, reading.fee) == (fact, amount, fee)
    assert (reading.references, reading.currency) == (references, "BRL")


def test_a_sale_is_dated_by_its_update_and_a_refund_by_its_arrival():
    assert read("transparent.completed", {"transparent": CHARGE}).occurred_at == datetime(2026, 8, 31, 23, 30, 0, 381000, UTC)  # fmt: skip
    assert read("transparent.refunded", {"transparent": CHARGE}).occurred_at is None


def test_the_merchants_reference_is_the_first_that_is_told():
    data = {"payment": CHARGE | {"externalId": None}, "checkout": BILL | {"externalId": "order-2"}}
    assert read("subscription.completed", data).merchant_reference == "order-2"


@pytest.mark.parametrize(("dev", "mode", "test"), [(False, "", False), (True, "", True), (True, "test", False), (False, "test", False), (None, "", False)])  # fmt: skip
def test_only_the_top_level_flag_marks_a_test(dev, mode, test):
    assert read("transparent.completed", {"transparent": CHARGE}, {"mode": mode}, devMode=dev).test is test


@pytest.mark.parametrize(
    ("data", "envelope", "code"),
    [
        ({}, {}, "payment_id_missing"),
        ("text", {}, "payment_id_missing"),
        ({"transparent": CHARGE | {"id": ["x"]}}, {}, "payment_id_unreadable"),
        ({"transparent": CHARGE | {"paidAmount": 49.9}}, {}, "amount_unreadable"),
        ({"transparent": CHARGE | {"paidAmount": 0}}, {}, "amount_zero"),
        ({"transparent": CHARGE | {"platformFee": "80"}}, {}, "amount_unreadable"),
        ({"transparent": CHARGE}, {"devMode": "false"}, "dev_mode_unreadable"),
        ({"transparent": CHARGE}, {"id": 5}, "event_id_unreadable"),
    ],
)
def test_a_sale_that_cannot_be_read_is_kept_as_a_fact(data, envelope, code):
    reading = read("transparent.completed", data, **envelope)
    assert (reading.fact, reading.amount, reading.unreadable) == (Fact.PAID, None, code)


@pytest.mark.parametrize(("fee", "told"), [(0, None), (4990, 4990), (4991, None), (-1, None), (None, None)])
def test_a_fee_outside_the_amount_is_not_told(fee, told):
    assert read("transparent.completed", {"transparent": CHARGE | {"platformFee": fee}}).fee == told


def test_without_an_id_event_and_payment_make_the_key():
    assert read("transparent.completed", {"transparent": CHARGE}, id=None).key == "transparent.completed:char_1"
    assert read("transparent.refunded", {"transparent": CHARGE}, id=None).key == "transparent.refunded:char_1"
    assert read("subscription.renewed", {"payment": CHARGE, "checkout": BILL}, id=None).key.endswith(":char_1")
    assert read("payout.completed", {}, id=None).key.startswith("sha256:")


def test_a_link_that_many_people_pay_is_not_one_payment():
    link = BILL | {"frequency": "MULTIPLE_PAYMENTS", "externalId": "the-link"}
    alone = read("checkout.completed", {"checkout": link})
    assert (alone.review, alone.references, alone.merchant_reference) == (
        "payment_of_a_reusable_link",
        ("bill_1",),
        None,
    )
    named = read("checkout.completed", {"checkout": link, "payment": CHARGE})
    assert (named.review, named.references, named.merchant_reference) == (None, ("char_1",), None)
    keys = {read("checkout.completed", {"checkout": link | {"updatedAt": t}}, id=None).key for t in ("a", "b")}
    assert len(keys) == 2
