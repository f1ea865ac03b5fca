"""What providers hear: exactly 200 for what is stored, a bare 401 for what proves nothing, 503 while we cannot store."""

import gzip
import hashlib
import json
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient
from psycopg import Connection

from app.base.db import transaction
from app.base.runtime import Runtime
from app.intake import endpoints
from app.providers.contract import Secret
from app.providers.signing import sign
from tests.support import (
    ASAAS_TOKEN,
    add_asaas,
    asaas_event,
    balances,
    deliver,
    drain,
    expect,
    standings,
    superuser,
)  # fmt: skip


def stored(conn: Connection) -> int:
    row = conn.execute("SELECT count(*) FROM intake.event").fetchone()
    assert row
    return int(row[0])


def rejections(conn: Connection) -> list[str]:
    return [row[0] for row in conn.execute("SELECT reason FROM intake.rejection ORDER BY id").fetchall()]


def test_the_answer_names_each_event(client: FlaskClient, runtime: Runtime) -> None:
    add_asaas(runtime)
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    first, second = deliver(client, body), deliver(client, body)
    assert first.status_code == second.status_code == 200
    [event] = first.json["events"]
    assert first.json == {"received": True, "events": [{"id": event["id"], "new": True}]}
    assert second.json == {"received": True, "events": [{"id": event["id"], "new": False}]}


def test_the_exact_bytes_are_kept(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Spaces, escapes, 1.0, the order of keys: what is verified is what is stored. Peers, 26."""
    add_asaas(runtime)
    body = b'{ "event":"PAYMENT_RECEIVED",  "id":"evt_1", "payment": {"id":"pay_1","value": 49.90, "description":"\\u00e7\xc3\xa7"} }\n'
    assert deliver(client, body).status_code == 200
    row = conn.execute("SELECT body, body_sha256, headers FROM intake.delivery").fetchone()
    assert row
    assert (bytes(row[0]), bytes(row[1])) == (body, hashlib.sha256(body).digest())
    assert ["asaas-access-token", ASAAS_TOKEN] not in row[2], "a secret must not be kept with the headers"


@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded", "text/plain", ""])
def test_the_body_type_is_the_providers_business(
    client: FlaskClient, runtime: Runtime, conn: Connection, content_type: str
) -> None:
    """Peers, 25: form bodies are no reason to lose the bytes; 415 never."""
    add_asaas(runtime)
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    headers = {"asaas-access-token": ASAAS_TOKEN, "content-type": content_type}
    assert client.post("/webhooks/loja", data=body, headers=headers).status_code == 200
    assert conn.execute("SELECT body FROM intake.delivery").fetchone() == (body,)


def test_a_compressed_body_is_stored_as_it_came_and_read(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    endpoint = add_asaas(runtime)
    expect(endpoint, "order-1", provider_ref="pay_1")
    body = gzip.compress(asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    headers = {"asaas-access-token": ASAAS_TOKEN, "content-encoding": "gzip"}
    assert client.post("/webhooks/loja", data=body, headers=headers).status_code == 200
    assert conn.execute("SELECT body FROM intake.delivery").fetchone() == (body,)
    drain(runtime)
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}


@pytest.mark.parametrize("token", ["", "wrong", ASAAS_TOKEN[:-1], ASAAS_TOKEN + "x", "ç"])
def test_a_call_that_proves_nothing_leaves_no_event(
    client: FlaskClient, runtime: Runtime, conn: Connection, token: str
) -> None:
    add_asaas(runtime)
    answer = client.post(
        "/webhooks/loja", data=asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"),
        headers={"asaas-access-token": token.encode().decode("latin-1")},
    )  # fmt: skip
    assert (answer.status_code, answer.json) == (401, {"error": "unauthorized"})
    assert stored(conn) == 0
    assert len(rejections(conn)) == 1


def test_the_refusal_holds_no_digest_and_no_body(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Peers, 30 and 31: nothing to learn from the answer; a missing header has its own reason in the log."""
    add_asaas(runtime)
    client.post("/webhooks/loja", data=b"{}")
    client.post("/webhooks/loja", data=b"{}", headers={"asaas-access-token": "wrong"})
    missing, wrong = rejections(conn)
    assert missing != wrong
    columns = conn.execute("SELECT * FROM intake.rejection").fetchone()
    assert columns
    assert not any(isinstance(value, bytes) for value in columns)


def stripe_endpoint(runtime: Runtime, **secrets: str) -> None:
    with transaction() as conn:
        endpoints.add(
            conn, runtime.vault, slug="stripe", provider="stripe", url_token=None, unmatched="hold", options={},
            secrets=[Secret(label, value) for label, value in secrets.items()],
        )  # fmt: skip


def stripe_call(client: FlaskClient, secret: str, *, age: timedelta = timedelta(), **fields: object) -> int:
    intent = {"id": "pi_1", "object": "payment_intent", "amount_received": 4990, "currency": "brl"}
    event = {
        "id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "livemode": True, "created": 1785542400,
        "data": {"object": intent}, **fields,
    }  # fmt: skip
    body = json.dumps(event).encode()
    signed = sign("stripe", body, at=datetime.now(UTC) - age, secret=secret)
    return client.post("/webhooks/stripe", data=body, headers=dict(signed.headers)).status_code


def test_stale_and_future_signatures_are_refused(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Peers, 27: both sides of the window."""
    stripe_endpoint(runtime, platform="whsec_a")
    assert stripe_call(client, "whsec_a", age=timedelta(seconds=310)) == 401
    assert stripe_call(client, "whsec_a", age=timedelta(seconds=-310)) == 401
    assert stored(conn) == 0
    assert stripe_call(client, "whsec_a", age=timedelta(seconds=290)) == 200


def test_the_event_says_which_secret_matched(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Peers, 5: one event, two secrets: both accepted, one event. A Connect event keeps its account."""
    stripe_endpoint(runtime, platform="whsec_a", connect="whsec_b")
    assert stripe_call(client, "whsec_b", account="acct_1") == 200
    assert stripe_call(client, "whsec_a", account="acct_1") == 401  # the platform's secret signs no account's events
    assert conn.execute("SELECT secret_label FROM intake.delivery").fetchall() == [("connect",)]
    assert conn.execute("SELECT account FROM intake.event").fetchall() == [("acct_1",)]


def test_a_rotated_secret_is_valid_beside_the_new_one_until_it_is_retired(
    app: Flask, client: FlaskClient, runtime: Runtime
) -> None:
    stripe_endpoint(runtime, default="whsec_old")
    with transaction() as conn:
        endpoints.rotate(conn, runtime.vault, slug="stripe", secrets=[Secret("default", "whsec_new")])
    directory = app.extensions["razao.directory"]
    with transaction() as conn:
        directory._read(conn)
    assert stripe_call(client, "whsec_old") == stripe_call(client, "whsec_new") == 200
    with transaction() as conn:
        assert endpoints.retire_old(conn, slug="stripe") == ["default"]
    with transaction() as conn:
        directory._read(conn)
    assert stripe_call(client, "whsec_old") == 401
    assert stripe_call(client, "whsec_new") == 200


def test_abacatepay_needs_signature_and_token(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """The signature's key is public: half-authenticated is not authenticated."""
    with transaction() as own:
        endpoints.add(
            own, runtime.vault, slug="abacate", provider="abacatepay", secrets=[], url_token="our-own-token",
            unmatched="hold", options={},
        )  # fmt: skip
    body = b'{"id":"log_1","event":"checkout.completed","devMode":false,"data":{"checkout":{"id":"bill_1","paidAmount":4990}}}'
    signed = sign("abacatepay", body, at=datetime.now(UTC), url_token="our-own-token")
    signature = {name: value for name, value in signed.headers if name != "x-webhook-secret"}

    def call(query: str, headers: dict[str, str]) -> int:
        return client.post(f"/webhooks/abacate{query}", data=body, headers=headers).status_code

    assert call("", signature) == 401
    assert call("?webhookSecret=wrong", signature) == 401
    assert call("?webhookSecret=our-own-token", {}) == 401
    assert call("?webhookSecret=our-own-token", {"X-Webhook-Signature": "AAAA"}) == 401
    assert call("?webhookSecret=our-own-token", signature) == 200


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[]", b"\xff\xfe", b"{" * 100_000, b'{"id": "a", "id": "b"}', b"null"]
)
def test_authentic_garbage_is_kept_and_answered(
    client: FlaskClient, runtime: Runtime, conn: Connection, body: bytes
) -> None:
    add_asaas(runtime)
    assert deliver(client, body).status_code == 200
    drain(runtime)
    [(status, _)] = standings(conn).values()
    assert status == "unreadable"
    assert conn.execute("SELECT body FROM intake.delivery").fetchone() == (body,)


@pytest.mark.parametrize("value", ["1e2", "NaN", "-1", "49.999", '"abc"', "0", "true", "[]", "99999999999999999999"])
def test_money_that_is_not_exact_never_reaches_the_ledger(
    client: FlaskClient, runtime: Runtime, conn: Connection, value: str
) -> None:
    endpoint = add_asaas(runtime, unmatched="register")
    expect(endpoint, "order-1", 100, provider_ref="pay_1")
    body = b'{"id":"evt_1","event":"PAYMENT_RECEIVED","payment":{"id":"pay_1","value":%s}}' % value.encode()
    assert deliver(client, body).status_code == 200
    drain(runtime)
    [(status, _)] = standings(conn).values()
    assert status in {"unreadable", "review"}
    assert balances(conn) == {}


def test_test_traffic_is_kept_but_never_booked(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Peers, 24."""
    stripe_endpoint(runtime, platform="whsec_a")
    assert stripe_call(client, "whsec_a", livemode=False) == 200
    drain(runtime)
    assert standings(conn) == {"evt_1": ("test", "test_traffic")}


def test_what_the_address_answers(client: FlaskClient, runtime: Runtime) -> None:
    add_asaas(runtime)
    assert client.post("/webhooks/nobody", data=b"{}").status_code == 404
    assert client.get("/webhooks/loja").status_code == 405
    assert deliver(client, b"x" * (1024 * 1024 + 1)).status_code == 413
    assert deliver(client, b" " * (1024 * 1024 - 2) + b"{}").status_code == 200


def test_a_disabled_endpoint_is_not_there(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_asaas(runtime)
    with transaction() as conn:
        endpoints.disable(conn, slug="loja")
    assert deliver(client, b"{}").status_code == 404


def test_the_same_event_with_another_meaning_is_kept_as_a_contradiction(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    endpoint = add_asaas(runtime)
    expect(endpoint, "order-1", provider_ref="pay_1")
    for value in ("49.90", "49.90", "59.90"):
        assert deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", value)).status_code == 200
    drain(runtime)
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}
    rows = conn.execute("SELECT contradicts, body IS NOT NULL FROM intake.delivery ORDER BY id").fetchall()
    assert rows == [(False, True), (False, False), (True, True)]


def test_503_while_the_database_is_away_and_nothing_is_lost(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    """Never a 2xx for what is not stored; afterwards the provider's next try is stored."""
    add_asaas(runtime)
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    assert deliver(client, asaas_event("evt_0", "PAYMENT_CREATED", "pay_1")).status_code == 200
    name = conn.info.dbname
    with psycopg.connect(superuser(runtime.owner_url).replace(name, "postgres"), autocommit=True) as master:
        master.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        master.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        answer = deliver(client, body)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        master.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert deliver(client, body).status_code == 200
    with psycopg.connect(runtime.app_url) as again:
        assert again.execute("SELECT count(*) FROM intake.event").fetchone() == (2,)


def test_a_flood_of_unproven_calls_is_bounded(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """429 for them alone: a call that proves itself is answered all the while."""
    add_asaas(runtime)
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    answers = {deliver(client, body, token="wrong").status_code for _ in range(320)}
    assert answers == {401, 429}
    assert len(rejections(conn)) <= 60
    assert deliver(client, body).status_code == 200
