"""The console's pages: true when empty and when full, escaped, masked, and the same number of statements however much there is."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient
from psycopg import Connection

from app.base.db import transaction
from app.base.runtime import Runtime
from app.payments.registering import Registration, register
from app.safeguards import reports
from app.safeguards.report import Finding, Report
from tests.console_data import add_people, shop
from tests.doors.console_client import Person
from tests.support import add_asaas, asaas_event, deliver, drain, expect

LISTS = (
    "/", "/events", "/duplicates", "/payments", "/refunds", "/ledger/entries", "/ledger/accounts", "/notifications", "/audit",
    "/safeguards", "/endpoints", "/search",
)  # fmt: skip


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_list_says_something_when_there_is_nothing(app: Flask, language: str) -> None:
    add_people()
    person = Person(app, "admin", language)
    for path in LISTS:
        answer = person.get(path)
        assert answer.status_code == 200, path
        if path not in {"/audit", "/search"}:  # signing in was recorded
            assert 'class="empty"' in answer.text, path


def test_the_overview_says_in_one_sentence_whether_anything_needs_a_person(
    app: Flask, client: FlaskClient, runtime: Runtime, owner: Connection
) -> None:
    add_people()
    endpoint = add_asaas(runtime)
    person = Person(app, "viewer")
    assert "Nothing needs you. No event has arrived yet." in person.get("/").text
    expect(endpoint, "order-1", provider_ref="pay_1")
    for key, kind in [("evt_1", "PAYMENT_RECEIVED"), ("evt_2", "PAYMENT_CONFIRMED"), ("evt_1", "PAYMENT_RECEIVED")]:
        deliver(client, asaas_event(key, kind, "pay_1"))
    drain(runtime)
    page = person.get("/").text
    assert "Nothing needs you. Last event <time" in page
    assert page.count("R$49.90") == 2  # confirmed, and not credited twice
    assert "1 duplicate ignored" in page
    assert "one repeat stopped at the door" in page
    deliver(client, asaas_event("evt_3", "PAYMENT_RECEIVED", "pay_unknown"))
    drain(runtime)
    owner.execute("INSERT INTO safeguards.report (kind, holds, result) VALUES ('doctor', false, '{}')")
    page = person.get("/").text
    assert "2 things need a person." in page
    assert "the last doctor was red" in page
    assert 'href="/events?status=unmatched"' in page


def test_filters_narrow_and_pages_follow_the_key(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    add_asaas(runtime)
    add_asaas(runtime, "outra")
    for number in range(120):
        deliver(client, asaas_event(f"evt_{number:03}", "PAYMENT_CREATED", "pay_1"))
    deliver(client, asaas_event("evt_x", "PAYMENT_RECEIVED", "pay_2"), slug="outra")
    drain(runtime)
    person = Person(app, "viewer")
    first = person.get("/events?endpoint=loja")
    assert first.text.count('class="main-link"') == 50
    assert "/events?endpoint=loja&amp;before=evn_71" in first.text
    second = person.get("/events?endpoint=loja&before=evn_71")
    assert second.text.count('class="main-link"') == 50
    assert 'id="row-70"' in second.text
    assert 'id="row-71"' not in second.text
    third = person.get("/events?endpoint=loja&before=evn_21")
    assert third.text.count('class="main-link"') == 20
    assert 'id="older"' not in third.text
    assert person.get("/events?endpoint=outra").text.count('class="main-link"') == 1
    assert person.get("/events?type=PAYMENT_RECEIVED&status=unmatched").text.count('class="main-link"') == 1
    assert "No event matches this filter." in person.get("/events?until=2020-01-01").text
    assert person.get("/events?since=2020-01-01").text.count('class="main-link"') == 50
    assert "is no date" in person.get("/events?since=yesterday").text


def test_htmx_gets_the_list_alone(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    shop(client, runtime)
    person = Person(app, "viewer")
    for path in (
        "/events",
        "/duplicates",
        "/payments",
        "/refunds",
        "/ledger/entries",
        "/ledger/accounts",
        "/notifications",
        "/audit",
    ):
        part = person.get(path, **{"HX-Request-Type": "partial"})
        assert "<html" not in part.text, path
        assert "<table" in part.text, path
        assert "HX-Request-Type" in part.headers["Vary"]
        assert "<html" in person.get(path, **{"HX-Request-Type": "full"}).text  # Back asks for the whole page


def test_an_ignored_event_says_why_and_when(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    endpoint = add_asaas(runtime)
    expect(endpoint, "order-1", provider_ref="pay_1")
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    deliver(client, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1"))
    drain(runtime)
    page = Person(app, "viewer").get("/events/evn_2").text
    assert "Ignored: this payment was already confirmed by" in page
    assert '<a href="/events/evn_1"><span class="type">PAYMENT_RECEIVED</span>' in page
    assert '<a class="id" href="/ledger/entries/ent_1">ent_1</a>' in page
    assert "ms apart" in page
    assert "secret “default”" in page
    portuguese = Person(app, "viewer", "pt-BR").get("/events/evn_2").text
    assert "Ignorado: este pagamento já tinha sido confirmado por" in portuguese
    assert "R$\xa049,90" in portuguese
    listed = Person(app, "viewer").get("/duplicates").text
    assert "evn_1" in listed
    assert "R$49.90" in listed


def test_the_payments_page_tells_all_that_touched_it(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    shop(client, runtime)
    page = Person(app, "finance").get("/payments/pmt_2").text
    for said in (
        "Confirmed once:", "One more event told the same and was ignored.", "One repeated delivery changed nothing.",
        "Registered by the shop&#39;s system: R$199.00 expected.", "arrived again", "Message owed to the shop: payment paid.",
        "Commission", "partner:carla", "R$19.90", "Sum R$0.00",
    ):  # fmt: skip
        assert said in page, said
    assert page.index("expected.") < page.index("arrived") < page.index("Message owed")


def test_currencies_keep_their_decimals(app: Flask, runtime: Runtime) -> None:
    add_people()
    endpoint = add_asaas(runtime)
    with transaction() as conn:
        for reference, currency in (("yen", "JPY"), ("dinar", "KWD"), ("shilling", "UGX"), ("forint", "HUF")):
            register(conn, Registration(reference, endpoint, 123456, currency))
    page = Person(app, "viewer").get("/payments").text.replace("\xa0", " ")
    for written in ("¥123,456", "KWD 123.456", "UGX 123,456", "HUF 1,234.56"):
        assert written in page, written
    assert "R$" not in page


EVIL = "<script>alert('{}')</script>"


def test_nothing_that_was_stored_becomes_markup(
    app: Flask, client: FlaskClient, runtime: Runtime, owner: Connection
) -> None:
    """Every text column that strangers, shops or people fill holds a script; every page shows it as text."""
    add_people()
    endpoint = add_asaas(runtime)
    with transaction() as conn:
        register(
            conn,
            Registration(
                EVIL.format("reference"), endpoint, 4990, "BRL", provider_ref=EVIL.format("ref"), wallet=EVIL.format("wallet"),
                grant=(EVIL.format("subject"), EVIL.format("resource")), metadata={EVIL.format("key"): EVIL.format("value")},
            ),
        )  # fmt: skip
    body = json.dumps(
        {
            "id": EVIL.format("id"),
            "event": EVIL.format("event"),
            "payment": {"id": EVIL.format("ref"), EVIL.format("k"): "v"},
        }
    ).encode()
    client.post(
        "/webhooks/loja",
        data=body,
        headers={"asaas-access-token": "asaas-token-for-tests", "X-Evil": EVIL.format("header")},
    )
    received = asaas_event(
        EVIL.format("key2"), "PAYMENT_RECEIVED", EVIL.format("ref"), externalReference=EVIL.format("reference")
    )
    deliver(client, received)
    deliver(client, b"<html>" + EVIL.format("body").encode())
    drain(runtime)
    owner.execute("ALTER TABLE intake.event DISABLE TRIGGER USER")
    owner.execute(
        "UPDATE intake.event SET event_key = event_key || %(evil)s, type = type || %(evil)s, refs = ARRAY[%(evil)s], dispute_id = %(evil)s,"
        " merchant_reference = %(evil)s, provider_refund_id = %(evil)s, account = %(evil)s",
        {"evil": EVIL.format("column")},
    )
    owner.execute(
        "UPDATE intake.standing SET detail = jsonb_build_object('seen', %(evil)s::text, 'currency', %(evil)s::text)",
        {"evil": EVIL},
    )
    owner.execute("UPDATE intake.standing SET status = 'review', reason = 'currency_differs' WHERE event_id = 1")
    owner.execute(
        "INSERT INTO access.audit (actor, act, object, reason, detail) SELECT %(evil)s, %(evil)s, o, %(evil)s, '{}' "
        "FROM unnest(ARRAY['evn_1', 'pmt_1', %(evil)s]) o",
        {"evil": EVIL.format("audit")},
    )
    owner.execute("INSERT INTO safeguards.report (kind, holds, result) VALUES ('verify', false, %s)",
                  [json.dumps({"findings": [{"name": EVIL, "rule": 1, "holds": False, "level": "proof", "sentence": EVIL, "detail": [EVIL]}]})])  # fmt: skip
    person = Person(app, "admin")
    assert person.get("/payments/pmt_1/refund").status_code == 200
    pages = [person.get(path) for path in LISTS]
    pages += [person.get(f"/events/evn_{number}") for number in (1, 2, 3)]
    pages += [person.post(f"/events/evn_{number}/reveal", page=f"/events/evn_{number}") for number in (1, 2, 3)]
    pages += [
        person.get(path)
        for path in ("/payments/pmt_1", "/ledger/entries/ent_1", "/search?q=" + EVIL, "/events?type=" + EVIL)
    ]
    pages += [
        person.get("/payments?wallet=" + EVIL),
        person.get("/ledger/entries?account=" + EVIL),
        person.get("/audit?actor=" + EVIL),
    ]
    pages += [
        person.get("/events?since=" + EVIL),
        person.get("/" + EVIL),
        person.get("/ledger/accounts/wallet:" + EVIL.format("wallet")),
    ]
    pages += [person.get("/events/evn_1/dismissal")]
    pages += [person.post("/payments/pmt_1/refund/preview", page="/payments/pmt_1/refund", amount=EVIL, reason=EVIL)]
    pages += [person.post("/payments/pmt_1/refund/preview", page="/payments/pmt_1/refund", amount="1", reason=EVIL)]
    assert all(page.status_code in {200, 404, 422} for page in pages), [page.status_code for page in pages]
    seen = 0
    for page in pages:
        assert "<script>alert" not in page.text, page.request.path
        seen += page.text.count("&lt;script&gt;alert")
    assert seen > 60


PERSONAL = {
    "customer": {"name": "Ana Souza", "email": "ana.souza@example.com", "cpfCnpj": "12345678909", "phone": "+55 11 98765-4321"},
    "description": "para ana.souza@example.com, CPF 123.456.789-09, CNPJ 11.222.333/0001-81",
    "bare": "12345678909", "order": "12345678901", "value": 49.9,
}  # fmt: skip


def test_personal_data_is_masked_until_somebody_who_may_reveals_it(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    add_people()
    add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_CREATED", "pay_1", customerData=PERSONAL))
    drain(runtime)
    hidden = ("Ana Souza", "ana.souza", "12345678909", "98765", "123.456.789-09", "11.222.333/0001-81")
    for role in ("viewer", "support", "admin"):
        page = Person(app, role).get("/events/evn_1").text
        for text in (*hidden, "asaas-token-for-tests"):
            assert text not in page, (role, text)
        assert "12345678901" in page  # an order's number is no CPF
        assert "49.9" in page
    viewer = Person(app, "viewer")
    assert viewer.post("/events/evn_1/reveal", page="/events/evn_1").status_code == 403
    assert viewer.post("/events/evn_1/body", page="/events/evn_1").status_code == 403
    assert conn.execute("SELECT count(*) FROM access.audit WHERE act = 'event.reveal'").fetchone() == (0,)
    support = Person(app, "support")
    page = support.post("/events/evn_1/reveal", page="/events/evn_1").text
    assert all(text in page for text in hidden)
    assert "asaas-token-for-tests" not in page
    download = support.post("/events/evn_1/body", page="/events/evn_1")
    assert download.data == asaas_event("evt_1", "PAYMENT_CREATED", "pay_1", customerData=PERSONAL)
    assert download.headers["Content-Disposition"] == 'attachment; filename="evn_1-dlv_1.body"'
    rows = conn.execute(
        "SELECT actor, object, detail FROM access.audit WHERE act = 'event.reveal' ORDER BY id"
    ).fetchall()
    assert rows == [("operator:support", "evn_1", {}), ("operator:support", "evn_1", {"download": True})]


def test_a_contradiction_is_shown_until_somebody_notes_it(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    add_people()
    add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_CREATED", "pay_a"))
    deliver(client, asaas_event("evt_1", "PAYMENT_CREATED", "pay_b", "59.90"))
    drain(runtime)
    person = Person(app, "support")
    assert "Contradiction" in person.get("/").text
    assert "evn_1" in person.get("/events?contradicted=1").text
    page = person.get("/events/evn_1")
    assert "This event arrived again with another meaning." in page.text
    assert "pay_b" in person.get("/events/evn_1?delivery=dlv_2").text
    assert person.post("/events/evn_1/acknowledgement", page="/events/evn_1/acknowledgement").status_code == 422
    noted = person.post("/events/evn_1/acknowledgement", page="/events/evn_1/acknowledgement", reason="asked Asaas")
    assert "Somebody looked at it:" in person.follow(noted).text
    assert "Nothing needs you." in person.get("/").text
    deliver(client, asaas_event("evt_1", "PAYMENT_CREATED", "pay_c", "69.90"))
    assert "Contradiction" in person.get("/").text


@pytest.mark.parametrize(
    ("text", "lands"),
    [
        ("pmt_1", "/payments/pmt_1"), ("EVN_2", "/events/evn_2"), ("ent_1", "/ledger/entries/ent_1"), ("rfd_1", "/refunds/rfd_1"),
        ("  pedido-1001 ", "/payments/pmt_1"), ("evt_says_two_things", "/events/evn_25"), ("pay_stranger", "/events/evn_22"),
        ("bruno", "/ledger/accounts/wallet:bruno?currency=BRL"), ("carla", "/ledger/accounts/partner:carla?currency=BRL"),
        ("psp-fees", "/ledger/accounts/psp-fees?currency=BRL"),
    ],
)  # fmt: skip
def test_one_hit_lands_on_its_page(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection, text: str, lands: str
) -> None:
    add_people()
    shop(client, runtime)
    row = conn.execute("SELECT id FROM intake.event WHERE event_key = 'evt_says_two_things'").fetchone()
    unmatched = conn.execute("SELECT event_id FROM intake.standing WHERE status = 'unmatched'").fetchone()
    assert row and unmatched
    lands = lands.replace("evn_25", f"evn_{row[0]}").replace("evn_22", f"evn_{unmatched[0]}")
    answer = Person(app, "viewer").get(f"/search?q={text}")
    assert answer.headers.get("Location") == lands


def test_several_hits_are_listed_and_none_says_where_it_looked(
    app: Flask, client: FlaskClient, runtime: Runtime
) -> None:
    add_people()
    one, two = add_asaas(runtime), add_asaas(runtime, "outra")
    expect(one, "ana", provider_ref="pay_1", wallet="ana")
    expect(two, "order-2", provider_ref="pay_1")
    person = Person(app, "viewer")
    both = person.get("/search?q=pay_1").text
    assert "pmt_1" in both
    assert "pmt_2" in both
    assert "wallet:ana" in person.get("/search?q=ana").text
    none = person.get("/search?q=pmt_999").text
    assert "Nothing is called “pmt_999”." in none
    assert "the providers' event keys" in none
    for path in ("/search?q=%00", "/events?type=a%00", "/ledger/accounts/a%00b", "/%00"):
        assert person.get(path).status_code == 400, path
    assert person.post("/sign-in", login="a\x00", password="b").status_code == 400


def test_unknown_addresses_and_ids_are_answered_for_people(app: Flask) -> None:
    add_people()
    person = Person(app, "finance")
    for path in (
        "/nowhere", "/events/evn_999", "/events/12", "/events/evn_99999999999999999999", "/payments/pmt_9", "/refunds/rfd_9",
        "/ledger/entries/ent_9", "/ledger/accounts/nobody", "/payments/pmt_9/refund", "/events/evn_9/acceptance",
    ):  # fmt: skip
        answer = person.get(path)
        assert answer.status_code == 404, path
        assert "<h1>" in answer.text
    assert Person(app).get("/nowhere").status_code == 404
    assert person.get("/webhooks/none").status_code in {404, 405}
    assert person.get("/api/v1/none").mimetype != "text/html"


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that run meanwhile."""
    seen: list[str] = []
    original = psycopg.Connection.execute

    def execute(self: Any, query: Any, *arguments: Any, **named: Any) -> Any:
        seen.append(str(query))
        return original(self, query, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", execute)
        yield seen


def test_a_page_takes_as_many_statements_for_many_rows_as_for_few(
    app: Flask, client: FlaskClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_people()
    ids = shop(client, runtime)
    person = Person(app, "admin")
    paths = [
        *LISTS,
        "/events/evn_2",
        "/payments/pmt_2",
        "/ledger/accounts/psp:loja",
        "/ledger/entries/ent_1",
        "/refunds/rfd_1",
    ]

    def statements() -> dict[str, int]:
        found = {}
        for path in paths:
            with counted(monkeypatch) as seen:
                assert person.get(path).status_code == 200
            found[path] = len(seen)
        return found

    few = statements()
    with transaction() as conn:
        endpoint = conn.execute("SELECT id FROM intake.endpoint WHERE slug = 'loja'").fetchone()
    assert endpoint and ids
    for number in range(30):
        expect(endpoint[0], f"order-{number}", provider_ref=f"pay_{number}", wallet=f"w{number}")
        for kind in ("PAYMENT_RECEIVED", "PAYMENT_CONFIRMED", "PAYMENT_REFUNDED"):
            deliver(client, asaas_event(f"evt_{number}_{kind}", kind, f"pay_{number}"))
    drain(runtime)
    assert statements() == few
    assert max(few.values()) <= 16, few


def test_the_safeguards_page_shows_the_last_proofs(app: Flask, runtime: Runtime) -> None:
    add_people()
    person = Person(app, "viewer")
    assert "It has not run yet." in person.get("/safeguards").text
    findings = (
        Finding("first", 1, holds=True, sentence="It held."),
        Finding("second", None, holds=False, sentence="Better so.", detail=("why",), level="advice"),
        Finding("third", 5, holds=False, sentence="It was not refused.", detail=("the row", "the table")),
    )
    with transaction() as conn:
        reports.save(conn, "doctor", Report(findings))
    page = person.get("/safeguards").text
    assert page.index("third") < page.index("second") < page.index("first")
    for said in ("Broken", "Advice", "Holds", "It was not refused.", "the table", "rule 5", "1 thing holds."):
        assert said in page, said
    assert "the last doctor was red" in person.get("/").text


# The tables that grow; the others (endpoints, accounts' names, operators) are small.
GROWING = (
    "event",
    "delivery",
    "decision",
    "standing",
    "queue",
    "entry",
    "posting",
    "payment",
    "refund",
    "message",
    "audit",
    "name",
)


def test_every_list_is_answered_from_an_index(
    app: Flask, client: FlaskClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, owner: Connection
) -> None:
    """With sequential scans and sorts priced out, a plan has one only where no index serves."""
    add_people()
    shop(client, runtime)
    person = Person(app, "admin")
    paths = [
        *LISTS, "/events?status=review", "/events?status=received", "/events?endpoint=loja", "/events?type=PAYMENT_RECEIVED",
        "/events?since=2026-01-01&until=2030-01-01", "/events?status=duplicate&endpoint=loja&before=evn_9", "/events?contradicted=1",
        "/payments?status=paid", "/payments?wallet=bruno&before=pmt_9", "/refunds?status=recorded", "/ledger/entries?kind=sale",
        "/ledger/entries?period=2026-12", "/ledger/entries?account=sales&before=ent_9", "/ledger/accounts/sales", "/audit?actor=a",
        "/audit?object=evn_1", "/search?q=nothing", "/events/evn_1", "/payments/pmt_1", "/refunds/rfd_1",
    ]  # fmt: skip
    statements: dict[str, Any] = {}
    original = psycopg.Connection.execute

    def execute(self: Any, query: Any, parameters: Any = None, **named: Any) -> Any:
        if "SELECT" in str(query):
            statements[str(query)] = parameters
        return original(self, query, parameters, **named)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", execute)
        for path in paths:
            assert person.get(path).status_code == 200, path
    assert len(statements) > 40
    owner.execute("SET enable_seqscan = off")
    owner.execute("SET enable_sort = off")
    owner.execute("SET enable_bitmapscan = on")
    for query, parameters in statements.items():
        plan = "\n".join(row[0] for row in owner.execute("EXPLAIN " + query, parameters, prepare=False).fetchall())
        for table in GROWING:
            assert not re.search(rf"Seq Scan on {table}\b", plan), f"{query}\n{plan}"
