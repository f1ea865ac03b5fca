"""What people do at the console: re-deliver, accept, dismiss, confirm, refund. Each says what it may do, does it once, is audited."""

import re
from datetime import date

from flask import Flask
from flask.testing import FlaskClient
from psycopg import Connection

from app.access.people import Role
from app.base.runtime import Runtime
from app.payments.state import Commission
from tests.console_data import add_people
from tests.doors.console_client import Person
from tests.support import add_asaas, asaas_event, balances, deliver, drain, expect, in_threads, standings

PREVIEW = "/payments/pmt_1/refund/preview"
FORM = "/payments/pmt_1/refund"


def paid(client: FlaskClient, runtime: Runtime, **more: object) -> None:
    """pmt_1: R$ 49.90, confirmed by evn_1, told again by evn_2."""
    add_people()
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1", **more)
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    deliver(client, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1"))
    drain(runtime)


def audited(conn: Connection, act: str) -> list[tuple[str, str, str | None]]:
    return conn.execute("SELECT actor, object, reason FROM access.audit WHERE act = %s ORDER BY id", [act]).fetchall()


def test_redelivering_an_applied_event_says_that_there_is_nothing_to_repair(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    paid(client, runtime)
    person = Person(app, "support")
    before = person.get("/events/evn_1").text
    assert "This event was applied. Re-delivering can only restore missing access; no money is posted twice." in before
    page = person.follow(person.post("/events/evn_1/redelivery", reason="the customer asked")).text
    assert "Nothing to repair: this same event confirmed the payment; its sale is entry" in page
    assert "operator:support" in page
    assert "Re-delivered once so far." in page
    assert "Applied" in page
    assert audited(conn, "event.redeliver") == [("operator:support", "evn_1", "the customer asked")]
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}


def test_redelivering_restores_missing_access(
    app: Flask, client: FlaskClient, runtime: Runtime, owner: Connection
) -> None:
    paid(client, runtime, grant=("ana", "course"))
    owner.execute("DELETE FROM payments.access_grant")
    person = Person(app, "support")
    page = person.follow(person.post("/events/evn_2/redelivery", page="/events/evn_2")).text
    assert "Access that was missing was restored." in page
    assert owner.execute("SELECT subject, resource FROM payments.access_grant").fetchall() == [("ana", "course")]
    assert balances(owner) == {"psp:loja": 4990, "sales": -4990}


def test_redelivering_an_unmatched_event_after_registering(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    add_people()
    endpoint = add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)
    person = Person(app, "support")
    assert "If its payment is registered by now" in person.get("/events/evn_1").text
    page = person.follow(person.post("/events/evn_1/redelivery")).text
    assert "Unmatched" in page
    expect(endpoint, "order-1", provider_ref="pay_1")
    page = person.follow(person.post("/events/evn_1/redelivery")).text
    assert "this event confirmed the payment" in page
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}
    drain(runtime)
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}


def test_accepting_what_was_really_paid(app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    add_people()
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1", commissions=(Commission("carla", None, 1000),))
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "40.00"))
    drain(runtime)
    support = Person(app, "support")
    assert "Accepting the amount needs the role finance." in support.get("/events/evn_1").text
    assert support.get("/events/evn_1/acceptance").status_code == 403
    person = Person(app, "finance")
    page = person.get("/events/evn_1/acceptance").text
    assert "Payment order-1 expects R$49.90. The provider says that R$40.00 was paid." in page
    assert "partner:carla" in page
    assert "R$4.00" in page
    assert balances(conn) == {}  # the page only rehearsed it
    assert person.post("/events/evn_1/acceptance", reason="  ").status_code == 422
    assert balances(conn) == {}
    page = person.follow(person.post("/events/evn_1/acceptance", reason="a discount at the till")).text
    assert "a person accepted the amount that was really paid" in page
    assert balances(conn) == {"psp:loja": 4000, "sales": -4000, "commissions": 400, "partner:carla": -400}
    assert audited(conn, "event.accept") == [("operator:finance", "evn_1", "a discount at the till")]
    again = person.post("/events/evn_1/acceptance", page="/events/evn_1", reason="again")
    assert again.status_code == 409
    assert "This event waits for nobody any more" in again.text
    assert "A person accepted what was really paid; R$49.90 was expected." in person.get("/payments/pmt_1").text


def test_dismissing_takes_it_off_the_list(app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    add_people()
    add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)
    person = Person(app, "support")
    page = person.get("/events/evn_1/dismissal").text
    assert "Nothing is posted, no payment changes" in page
    assert standings(conn)["evt_1"][0] == "unmatched"
    assert person.post("/events/evn_1/dismissal", reason="").status_code == 422
    page = person.follow(person.post("/events/evn_1/dismissal", reason="a test of theirs")).text
    assert "A person looked at it and dismissed it." in page or "a person looked at it and dismissed it." in page
    assert "Nothing needs you." in person.get("/").text
    assert audited(conn, "event.dismiss") == [("operator:support", "evn_1", "a test of theirs")]
    assert person.get("/events/evn_1/dismissal").status_code == 409


def test_confirming_by_hand(app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    add_people()
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    person = Person(app, "finance")
    assert "Confirm by hand" in person.get("/payments/pmt_1").text
    page = person.get("/payments/pmt_1/confirmation").text
    assert "You say that you saw R$49.90 arrive for order-1." in page
    assert balances(conn) == {}
    page = person.follow(person.post("/payments/pmt_1/confirmation", reason="saw it on the statement")).text
    assert "You confirmed this payment" in page
    assert "Confirmed once: <strong>R$49.90</strong>, by a person" in page
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)
    assert "already confirmed by a person" in person.get("/events/evn_1").text
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}
    assert person.post("/payments/pmt_1/confirmation", page="/payments/pmt_1", reason="again").status_code == 409


def preview(person: Person, amount: str, reason: str = "half was missing") -> dict[str, str]:
    """Steps 1 and 2; returns the form of step 3."""
    answer = person.post(PREVIEW, page=FORM, amount=amount, reason=reason)
    assert answer.status_code == 200, answer.text
    return dict(re.findall(r'<input type="hidden" name="(key|amount|reason)" value="([^"]*)">', answer.text))


def test_a_refund_is_previewed_then_booked_and_names_itself(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    paid(client, runtime, commissions=(Commission("carla", None, 1000),))
    person = Person(app, "finance")
    step_one = person.get(FORM).text
    assert "R$49.90 was paid; R$49.90 can still go back." in step_one
    assert 'value="49.90"' in step_one
    before = balances(conn)
    answer = person.post(PREVIEW, amount="20,00", reason="half was missing")
    for said in ("Of the R$49.90 of order-1, R$20.00 goes back. Then R$29.90 remains.", "partner:carla", "Partly refunded",
                 "Commissions taken back", "R$2.00", f"{date.today():%B %Y}"):  # fmt: skip
        assert said in answer.text, said
    assert balances(conn) == before
    assert conn.execute("SELECT count(*) FROM payments.refund").fetchone() == (0,)
    form = preview(person, "20,00")
    result = person.post("/payments/pmt_1/refunds", **form)
    page = person.follow(result).text
    assert re.search(r"/refunds/rfd_\d+\?done=booked", result.headers["Location"])
    assert "Booked, once." in page
    assert re.search(r"Refund rfd_\d+ of R\$20.00 is in the ledger.", page)
    assert "order it at the provider too" in page
    assert balances(conn) == {"psp:loja": 2990, "sales": -2990, "commissions": 299, "partner:carla": -299}
    assert audited(conn, "payment.refund") == [("operator:finance", "pmt_1", "half was missing")]


def test_a_double_click_is_one_refund(app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    paid(client, runtime)
    person = Person(app, "finance")
    for amount in ("10.00", "39.90"):  # the second takes all that remains
        form = preview(person, amount)
        first = person.post("/payments/pmt_1/refunds", **form)
        again = person.post("/payments/pmt_1/refunds", **form)
        assert first.headers["Location"] == again.headers["Location"]
    assert conn.execute("SELECT count(*), sum(amount)::bigint FROM payments.refund").fetchone() == (2, 4990)


def test_two_clicks_at_once_are_one_refund(app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    paid(client, runtime)
    person = Person(app, "finance")
    form = preview(person, "49.90")
    token = person._token

    def press() -> str:
        own = Person(app)
        own.client = app.test_client()
        own.client._cookies.update(person.client._cookies)
        return own.bare_post("/payments/pmt_1/refunds", csrf_token=token, **form).headers["Location"]

    landed = {join() for join in in_threads(app, press, press, press)}
    assert len(landed) == 1
    assert conn.execute("SELECT count(*), sum(amount)::bigint FROM payments.refund").fetchone() == (1, 4990)


def test_a_key_of_another_payment_books_nothing(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    paid(client, runtime)
    person = Person(app, "finance")
    form = preview(person, "10.00")
    person.post("/payments/pmt_1/refunds", **form)
    with_other = person.post("/payments/pmt_2/refunds", page=FORM, **form)
    assert with_other.status_code == 400
    assert person.post("/payments/pmt_1/refunds", page=FORM, **(form | {"key": "mine"})).status_code == 400
    assert person.post("/payments/pmt_1/refunds", page=FORM, **(form | {"amount": "-5"})).status_code == 400
    assert conn.execute("SELECT count(*) FROM payments.refund").fetchone() == (1,)


def test_what_cannot_be_refunded_says_why(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    paid(client, runtime)
    person = Person(app, "finance")
    for amount, said in [
        ("50.00", "The refund exceeds what remains of the payment"), ("0", "An amount above zero"), ("ten", "Write the amount with digits"),
        ("1.000,00", "Write the amount with digits"), ("", "Write the amount with digits"), ("-1", "The refund exceeds") if False else ("1e2", "Write the amount"),
    ]:  # fmt: skip
        answer = person.post(PREVIEW, page=FORM, amount=amount, reason="x")
        assert answer.status_code == 422, amount
        assert said in answer.text, amount
        assert 'href="#amount"' in answer.text
    answer = person.post(PREVIEW, page=FORM, amount="1", reason=" ")
    assert (answer.status_code, 'href="#reason"' in answer.text) == (422, True)
    person.post("/payments/pmt_1/refunds", **preview(person, "49.90"))
    assert "It was refunded in full." in person.get(FORM).text
    assert "It was refunded in full." in person.get("/payments/pmt_1").text


def test_a_top_ups_refund_shows_what_the_wallet_cannot_give(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    paid(client, runtime, wallet="bruno")
    from app.base.clock import now
    from app.base.db import transaction
    from app.ledger.wallets import debit

    with transaction() as writing:
        debit(writing, owner="bruno", amount=3000, reference="b-1", memo=None, at=now(), zone=runtime.settings.timezone)
    person = Person(app, "finance")
    answer = person.post(PREVIEW, page=FORM, amount="49.90", reason="closed the account")
    assert "gives R$19.90" in answer.text
    assert "it holds no more, so its owner owes R$30.00" in answer.text
    person.post("/payments/pmt_1/refunds", **preview(person, "49.90"))
    assert balances(conn)["receivable:bruno"] == 3000
    assert "R$30.00" in person.get("/ledger/accounts/receivable:bruno").text


def test_a_preview_tells_the_month_in_which_it_counts(
    app: Flask, client: FlaskClient, runtime: Runtime, owner: Connection
) -> None:
    paid(client, runtime)
    owner.execute(
        "INSERT INTO ledger.closed_period (period, closed_by) VALUES (date_trunc('month', now() AT TIME ZONE 'America/Sao_Paulo')::date, 'x')"
    )
    answer = Person(app, "finance").post(PREVIEW, page=FORM, amount="1", reason="x")
    row = owner.execute(
        "SELECT to_char(max(period) + interval '1 month', 'FMMonth YYYY') FROM ledger.closed_period"
    ).fetchone()
    assert row
    assert f"<dd>{row[0]}</dd>" in answer.text


def test_roles_see_only_the_buttons_that_they_may_press(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    paid(client, runtime)
    for role in Role:
        person = Person(app, role.name.lower())
        assert ("Re-deliver</button>" in person.get("/events/evn_1").text) == (role >= Role.SUPPORT)
        assert (f'href="{FORM}"' in person.get("/payments/pmt_1").text) == (role >= Role.FINANCE)
        assert ('href="/endpoints"' in person.get("/").text) == (role >= Role.ADMIN)
