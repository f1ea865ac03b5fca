"""What every provider's adapter must do, whatever its protocol (DESIGN section 3, providers.md section 9)."""

import gzip
import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.providers import registry, signing
from app.providers.body import same_text
from app.providers.contract import Call, Config, Fact, Reading, Rejected, Secret
from app.providers.samples import SAMPLES, Case

NOW = datetime(2026, 9, 1, 2, 30, tzinfo=UTC)
SECRET = "whsec_s3cret-with-ção"
URL_TOKEN = "url-töken"
CONFIG = Config(secrets=(Secret("main", SECRET),), url_token=URL_TOKEN)
SIGNATURES = {"asaas": "asaas-access-token", "stripe": "stripe-signature", "abacatepay": "x-webhook-signature"}
SIGN_THE_BODY = ("stripe", "abacatepay")

each = pytest.mark.parametrize("name", sorted(registry.PROVIDERS))


def case_of(name, **given):
    values = {"amount": 4990, "occurred_at": NOW, "seed": "s", "merchant_reference": "pedido-ç", "fee": 99}
    return Case(payment_id=SAMPLES[name].payment_id("p"), **(values | given))


def body_of(name, **given):
    return SAMPLES[name].paid(case_of(name, **given))[0]


def signed(name, body, *, secret=SECRET, url_token=URL_TOKEN, at=NOW, received_at=NOW):
    sent = signing.sign(name, body, at=at, secret=secret, url_token=url_token)
    return Call(body=body, headers=sent.headers, query=sent.query, received_at=received_at)


def with_header(call, name, *values):
    kept = tuple(pair for pair in call.headers if pair[0] != name)
    return replace(call, headers=kept + tuple((name, value) for value in values))


def authenticate(name, call, config=CONFIG):
    return registry.authenticate(registry.get(name), call, config)


def refused(name, call, config=CONFIG):
    with pytest.raises(Rejected) as caught:
        authenticate(name, call, config)
    return caught.value.reason


def read(name, body, headers=(), **options):
    config = Config(secrets=(), options=options)
    call = Call(body=body, headers=tuple(headers), query=(), received_at=NOW)
    readings = registry.get(name).read(call, config)
    assert len(readings) == 1
    return readings[0]


# ---- proof of origin ----


@each
def test_a_genuine_call_is_known_by_its_label(name):
    assert authenticate(name, signed(name, body_of(name))) == "main"


@each
def test_every_flipped_character_of_the_proof_is_refused(name):
    call = signed(name, body_of(name))
    header = SIGNATURES[name]
    value = call.header(header)
    for i, letter in enumerate(value):
        for other in {chr(ord(letter) ^ 1), chr(ord(letter) ^ 0x10)} - {letter, " ", "\t"}:
            if (name, letter, other) == ("stripe", ",", "-"):
                continue
            assert refused(name, with_header(call, header, value[:i] + other + value[i + 1 :]))
        assert refused(name, with_header(call, header, value[:i] + value[i + 1 :]))


@pytest.mark.parametrize("name", SIGN_THE_BODY)
def test_every_flipped_byte_of_the_body_is_refused(name):
    call = signed(name, body_of(name))
    for i in range(len(call.body)):
        changed = call.body[:i] + bytes([call.body[i] ^ 1]) + call.body[i + 1 :]
        assert refused(name, replace(call, body=changed)) == "signature_wrong"


@pytest.mark.parametrize("name", SIGN_THE_BODY)
def test_a_body_that_was_parsed_and_written_again_is_refused(name):
    body = b'{ "id":"evt_1",  "note":"\\u00e7", "n": 1.0, "event":"x", "type":"x" }'
    call = signed(name, body)
    assert authenticate(name, call)
    assert refused(name, replace(call, body=json.dumps(json.loads(body)).encode()))


@each
def test_header_missing_empty_or_sent_twice(name):
    call = signed(name, body_of(name))
    header = SIGNATURES[name]
    value = call.header(header)
    assert refused(name, with_header(call, header)).endswith("_missing")
    assert refused(name, with_header(call, header, "")).endswith("_missing")
    assert refused(name, with_header(call, header, "  ")).endswith("_missing")
    assert refused(name, with_header(call, header, value, value)).endswith("_duplicated")


@each
def test_a_rotation_accepts_both_secrets_and_tells_which(name):
    config = replace(CONFIG, secrets=(Secret("old", "a"), Secret("new", "b")))
    body = body_of(name)
    assert authenticate(name, signed(name, body, secret="a"), config) == "old"
    assert authenticate(name, signed(name, body, secret="b"), config) == "new"
    assert refused(name, signed(name, body, secret="c"), config)
    assert refused(name, signed(name, body, secret="a"), replace(config, secrets=config.secrets[1:]))


@each
def test_an_empty_secret_never_matches(name):
    config = replace(CONFIG, secrets=(Secret("empty", ""),))
    call = signed(name, body_of(name), secret="")
    assert refused(name, call, config)


def test_nothing_equals_an_unset_secret():
    assert not same_text("", "")
    assert same_text("ç", "ç")
    assert same_text("ç", "\xc3\xa7")
    assert not same_text("?", "€")


@each
def test_a_refusal_holds_nothing_of_the_proof(name):
    call = with_header(signed(name, body_of(name)), SIGNATURES[name], "t=1788229800,v1=00")
    with pytest.raises(Rejected) as caught:
        authenticate(name, call)
    assert SECRET not in repr(caught.value)
    assert caught.value.reason.replace("_", "").isalnum()


def test_secrets_do_not_show_in_a_repr():
    assert SECRET not in repr(CONFIG)
    assert URL_TOKEN not in repr(CONFIG)


# ---- the URL token ----


@each
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ((), "url_token_missing"),
        ((("token", ""),), "url_token_missing"),
        ((("token", "wrong"),), "url_token_wrong"),
        ((("token", URL_TOKEN), ("token", URL_TOKEN)), "url_token_duplicated"),
        ((("token", URL_TOKEN), ("token", "")), "url_token_duplicated"),
        ((("TOKEN", URL_TOKEN),), "url_token_missing"),
    ],
)
def test_a_url_token_that_is_not_right_is_refused(name, query, reason):
    call = with_header(signed(name, body_of(name)), "x-webhook-secret")
    assert refused(name, replace(call, query=query)) == reason


@each
def test_a_url_token_under_the_common_name_is_accepted(name):
    call = with_header(signed(name, body_of(name)), "x-webhook-secret")
    assert authenticate(name, replace(call, query=(("other", "1"), ("token", URL_TOKEN)))) == "main"


@each
def test_an_empty_configured_url_token_lets_nobody_in(name):
    call = replace(signed(name, body_of(name), url_token=""), query=(("token", ""),))
    assert refused(name, call, replace(CONFIG, url_token="")) == "url_token_missing"


@each
def test_an_endpoint_without_url_token(name):
    call, config = signed(name, body_of(name), url_token=None), replace(CONFIG, url_token=None)
    if registry.get(name).NEEDS_URL_TOKEN:
        assert refused(name, call, config) == "endpoint_without_url_token"
    else:
        assert authenticate(name, call, config) == "main"


@each
def test_the_providers_own_proof_is_judged_before_the_url_token(name):
    call = with_header(signed(name, body_of(name), url_token="wrong"), SIGNATURES[name])
    assert refused(name, call).endswith("_missing")


# ---- reading ----


@each
def test_two_events_tell_the_same_payment(name):
    first, second = (read(name, body) for body in SAMPLES[name].paid(case_of(name)))
    for reading in (first, second):
        assert (reading.fact, reading.amount, reading.currency) == (Fact.PAID, 4990, "BRL")
        assert reading.merchant_reference == "pedido-ç"
        assert reading.occurred_at == NOW
        assert reading.unreadable is None
        assert reading.review is None
        assert not reading.test
    assert first.key != second.key
    assert set(first.references) & set(second.references) or first.merchant_reference


@each
def test_every_amount_from_one_cent_to_a_hundred_reais_is_exact(name):
    for cents in range(1, 10_001):
        assert read(name, body_of(name, amount=cents, fee=0)).amount == cents


@each
def test_the_same_case_gives_the_same_bytes_and_another_seed_another_event(name):
    assert body_of(name) == body_of(name)
    assert read(name, body_of(name)).key != read(name, body_of(name, seed="t")).key


@each
def test_refunds_chargebacks_and_what_books_nothing(name):
    samples, case = SAMPLES[name], case_of(name)
    full = read(name, samples.refunded(case, amount=4990, total=4990))
    assert full.fact is Fact.REFUNDED
    assert full.amount in {4990, None}
    partial = samples.refunded(case, amount=1000, total=1000)
    if partial is not None:
        assert (read(name, partial).fact, read(name, partial).amount) == (Fact.REFUNDED, 1000)
    assert read(name, samples.chargeback_opened(case)).fact is Fact.CHARGEBACK_OPENED
    won = samples.chargeback_won(case)
    if won is not None:
        reading = read(name, won)
        assert reading.fact is Fact.CHARGEBACK_REVERSED or reading.reverses_chargeback
    expired = samples.expired(case)
    assert expired is None or read(name, expired).fact is Fact.EXPIRED
    for body in (samples.informational(case), samples.unknown(case)):
        reading = read(name, body)
        assert (reading.fact, reading.unreadable, reading.amount) == (Fact.INFORMATIONAL, None, None)


@each
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "body_not_json"),
        (b"not json", "body_not_json"),
        (b"{} {}", "body_not_json"),
        (b'{"a": NaN}', "body_not_json"),
        (b'{"a": -Infinity}', "body_not_json"),
        (b"event=PAYMENT_RECEIVED", "body_not_json"),
        (b"null", "body_not_an_object"),
        (b"[]", "body_not_an_object"),
        (b'"text"', "body_not_an_object"),
        (b'{"id":"a","id":"b"}', "duplicate_json_keys"),
        (b'{"x":{"id":"a","id":"a"}}', "duplicate_json_keys"),
        (b"[" * 100_000, "body_too_deep"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "body_too_deep"),
        (b'{"a":"' + b"[" * 500 + b'"}', "event_type_missing"),
        (b"\xff\xfe\xfd", "body_not_text"),
    ],
)
def test_authentic_bytes_that_mean_nothing_are_one_unreadable_reading(name, body, code):
    reading = read(name, body)
    assert reading.unreadable == code
    assert reading.key.startswith("sha256:")
    assert len(reading.key) == 71
    assert (reading.type, reading.fact, reading.amount) == ("", Fact.INFORMATIONAL, None)
    assert reading.key == read(name, body).key != read(name, body + b" ").key


@each
@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "raw deflate", "identity"])
def test_an_inflated_body_is_read_and_its_raw_bytes_verified(name, coding):
    plain = body_of(name)
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(plain, mtime=0),
        "x-gzip": gzip.compress(plain, mtime=0),
        "deflate": zlib.compress(plain),
        "raw deflate": raw.compress(plain) + raw.flush(),
        "identity": plain,
    }[coding]
    call = signed(name, packed)
    call = replace(call, headers=(*call.headers, ("content-encoding", coding.removeprefix("raw "))))
    assert authenticate(name, call) == "main"
    assert registry.get(name).read(call, CONFIG)[0] == read(name, plain)


@each
@pytest.mark.parametrize(
    ("body", "coding", "code"),
    [
        (gzip.compress(b" " * (4 * 1024 * 1024 + 1), mtime=0), "gzip", "body_too_large_inflated"),
        (zlib.compress(b"0" * (50 * 1024 * 1024)), "deflate", "body_too_large_inflated"),
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip", "body_not_inflatable"),
        (gzip.compress(b"{}", mtime=0) + b"tail", "gzip", "body_not_inflatable"),
        (b"{}", "gzip", "body_not_inflatable"),
        (b"{}", "deflate", "body_not_inflatable"),
        (b"{}", "br", "content_encoding_unknown"),
        (b"{}", "gzip, gzip", "content_encoding_unknown"),
    ],
)
def test_a_body_that_does_not_inflate(name, body, coding, code):
    assert read(name, body, [("content-encoding", coding)]).unreadable == code


@each
@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("utf-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("iso-8859-1", "latin-1"),
        ('"latin1"', "latin-1"),
        ("windows-1252", "cp1252"),
        ("utf-16", "utf-16"),
    ],
)
def test_the_declared_charset_counts(name, charset, codec):
    plain = json.loads(body_of(name))
    body = json.dumps(plain, ensure_ascii=False).encode(codec)
    reading = read(name, body, [("content-type", f"application/json; charset={charset}")])
    assert reading.merchant_reference == "pedido-ç"
    assert reading.amount == 4990


@each
@pytest.mark.parametrize("charset", ["idna", "zlib", "unicode_escape", "utf-7", "x-nobody", "rot13"])
def test_a_charset_that_is_no_plain_text_is_not_let_in(name, charset):
    headers = [("content-type", f"application/json; charset={charset}")]
    assert read(name, body_of(name), headers).unreadable == "charset_unknown"


@each
def test_utf8_is_the_default_and_a_byte_order_mark_is_no_fault(name):
    assert read(name, b"\xef\xbb\xbf" + body_of(name)).unreadable is None


def paths(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from paths(inner, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    head, *rest = path
    return {**value, head: changed(value[head], tuple(rest), new)}


def without(value, path):
    *front, last = path
    if front:
        return {**value, front[0]: without(value[front[0]], path[1:])}
    return {key: inner for key, inner in value.items() if key != last}


WRONG = [None, True, "", "x" * 300, "\x00", "\ud800", 7, -1, 1.5, 10**80, [], [1], {}, {"id": []}, [[{}]]]


def bodies(name):
    samples, case = SAMPLES[name], case_of(name)
    built = [
        *samples.paid(case),
        samples.refunded(case, amount=4990, total=4990),
        samples.refunded(case, amount=10, total=10),
        samples.chargeback_opened(case),
        samples.chargeback_won(case),
        samples.expired(case),
        samples.informational(case),
    ]
    return [json.loads(body) for body in built if body is not None]


def assert_storable(reading):
    texts = [reading.key, reading.type, *reading.references]
    texts += [reading.merchant_reference, reading.account, reading.refund_id, reading.dispute_id]
    for text in texts:
        if text is not None:
            assert isinstance(text, str)
            assert len(text) <= 255
            assert "\x00" not in text
            text.encode("utf-8")
    for amount in (reading.amount, reading.fee):
        assert amount is None or (type(amount) is int and amount > 0)
    assert reading.occurred_at is None or reading.occurred_at.utcoffset() == timedelta(0)
    assert isinstance(reading.test, bool)
    if reading.unreadable:
        assert reading.amount is None
        assert reading.fee is None
    elif reading.fact is not Fact.INFORMATIONAL:
        assert reading.references
        assert reading.key
        if reading.fact is Fact.PAID:
            assert reading.amount
            assert reading.currency


@each
def test_a_wrong_or_missing_value_in_any_field_never_raises_and_is_never_guessed(name):
    for event in bodies(name):
        before = read(name, json.dumps(event).encode())
        assert_storable(before)
        for path in paths(event):
            for wrong in WRONG:
                after = read(name, json.dumps(changed(event, path, wrong)).encode())
                assert isinstance(after, Reading)
                assert_storable(after)
                assert after.amount in {before.amount, None, 7, 700, 150}
            if path:
                assert_storable(read(name, json.dumps(without(event, path)).encode()))


AMOUNT_TEXTS = [
    "1e2", "1E2", "49.900", "0.001", "-49.90", "-0.01", "-1", "1e400", "1e99999999999999999999", "9" * 60,
    "9" * 5000, "0." + "1" * 5000, '"49.90"', '"4990"', '"NaN"', "true", "null", "[]", "{}",
]  # fmt: skip


@each
@pytest.mark.parametrize("text", AMOUNT_TEXTS)
def test_what_is_no_plain_amount_is_kept_as_a_fact_and_never_guessed(name, text):
    field = {"asaas": "value", "stripe": "amount_received", "abacatepay": "paidAmount"}[name]
    event = changed(json.loads(body_of(name)), (), json.loads(body_of(name)))
    marked = json.dumps(event).encode()
    value = {"asaas": b"49.9", "stripe": b"4990", "abacatepay": b"4990"}[name]
    assert f'"{field}": '.encode() + value in marked
    reading = read(name, marked.replace(f'"{field}": '.encode() + value, f'"{field}": {text}'.encode()))
    if (name, text) == ("abacatepay", "null"):
        return  # there `amount` stands in
    assert (reading.fact, reading.amount) == (Fact.PAID, None)
    assert reading.unreadable == "amount_unreadable"
    assert reading.references


@each
def test_nothing_is_booked_for_zero(name):
    samples = SAMPLES[name]
    body = samples.paid(case_of(name, amount=0, fee=0))[0]
    assert read(name, body).unreadable == "amount_zero"


@each
def test_a_time_far_ahead_of_the_reception_is_not_believed(name):
    assert read(name, body_of(name, occurred_at=NOW + timedelta(hours=23))).occurred_at is not None
    assert read(name, body_of(name, occurred_at=NOW + timedelta(days=40))).occurred_at is None


def test_an_unknown_provider_is_a_clear_error():
    with pytest.raises(registry.UnknownProviderError, match=r"'paypal'.*abacatepay, asaas, stripe"):
        registry.get("paypal")
    with pytest.raises(registry.UnknownProviderError):
        signing.sign("paypal", b"", at=NOW)


@each
def test_every_provider_has_samples_a_signer_and_its_own_name(name):
    assert name == registry.get(name).NAME
    assert set(SAMPLES) == set(registry.PROVIDERS)
    assert signing.sign(name, b"{}", at=NOW).headers
