"""What is decided of each event, and what a person may do about it."""

from datetime import date

import pytest
from flask import Flask
from flask.testing import FlaskClient
from psycopg import Connection

from app.access.audit import Act
from app.base.db import transaction
from app.base.errors import Refusal
from app.base.runtime import Runtime
from app.confirmation import acting
from app.doors.worker.loop import work_once
from app.intake.events import ATTEMPTS_BEFORE_FAILED
from app.payments.registering import set_provider_ref
from app.payments.state import Commission
from app.refunds.issuing import issue
from app.refunds.settling import commission_to_take_back
from tests.support import add_asaas, asaas_event, balances, deliver, drain, expect, standings

ACT = Act("operator:ana", "looked at the statement")


def told(client: FlaskClient, runtime: Runtime, *bodies: bytes) -> None:
    for body in bodies:
        assert deliver(client, body).status_code == 200
    drain(runtime)


def event_id(conn: Connection, key: str) -> int:
    row = conn.execute("SELECT id FROM intake.event WHERE event_key = %s", [key]).fetchone()
    assert row
    return int(row[0])


def status(conn: Connection, reference: str = "order-1") -> tuple[str, int, int]:
    row = conn.execute(
        "SELECT status, amount, refunded_amount FROM payments.payment WHERE reference = %s", [reference]
    ).fetchone()
    assert row
    return row[0], row[1], row[2]


PAID = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")


def test_the_fee_is_posted_when_the_event_tells_the_net_value(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", netValue=48.91))
    assert balances(conn) == {"psp:loja": 4891, "sales": -4990, "psp-fees": 99}


def test_an_amount_that_differs_waits_for_a_person(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Peers, 44. Accepted with the real amount: the payment takes it, and a repeat is a duplicate."""
    expect(add_asaas(runtime), "order-1", 10_000, provider_ref="pay_1")
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "99.90"))
    assert standings(conn) == {"evt_1": ("review", "amount_differs")}
    assert balances(conn) == {}
    with transaction() as own:
        acting.accept(own, event_id(conn, "evt_1"), act=ACT, zone=runtime.settings.timezone)
    assert standings(conn) == {"evt_1": ("applied", "accepted_by_person")}
    assert status(conn) == ("paid", 9990, 0)
    told(client, runtime, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1", "99.90"))
    assert standings(conn)["evt_2"] == ("duplicate", "payment_already_confirmed")
    assert conn.execute("SELECT actor, act, reason FROM access.audit").fetchall() == [
        ("operator:ana", "event.accept", "looked at the statement")
    ]
    with pytest.raises(Refusal, match="waits for nobody"), transaction() as own:
        acting.accept(own, event_id(conn, "evt_1"), act=ACT, zone=runtime.settings.timezone)


def test_an_accepted_event_teaches_the_providers_name(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Found by the merchant's reference alone: the next event, which has only the provider's name, finds it too."""
    expect(add_asaas(runtime), "order-1", 10_000)
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "99.90", externalReference="order-1"))
    with transaction() as own:
        acting.accept(own, event_id(conn, "evt_1"), act=ACT, zone=runtime.settings.timezone)
    told(client, runtime, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1", "99.90"))
    assert standings(conn)["evt_2"] == ("duplicate", "payment_already_confirmed")


def test_a_review_may_be_dismissed(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    expect(add_asaas(runtime), "order-1", 10_000, provider_ref="pay_1")
    told(client, runtime, PAID)
    with transaction() as own:
        acting.dismiss(own, event_id(conn, "evt_1"), act=ACT)
    assert standings(conn) == {"evt_1": ("ignored", "dismissed_by_person")}
    assert status(conn) == ("pending", 10_000, 0)


def test_another_currency_is_never_accepted(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1", currency="USD")
    told(client, runtime, PAID)
    assert standings(conn) == {"evt_1": ("review", "currency_differs")}
    with pytest.raises(Refusal, match="currency"), transaction() as own:
        acting.accept(own, event_id(conn, "evt_1"), act=ACT, zone=runtime.settings.timezone)


def test_an_unknown_paid_payment_is_registered_where_the_endpoint_says_so(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    add_asaas(runtime, unmatched="register")
    told(client, runtime, PAID, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1"))
    assert {code for code, _ in standings(conn).values()} == {"applied", "duplicate"}
    assert status(conn, "pay_1") == ("paid", 4990, 0)
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}


def test_a_payment_is_found_by_the_merchants_reference_and_learns_the_providers(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    expect(add_asaas(runtime), "order-1")
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", externalReference="order-1"))
    told(client, runtime, asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1"))
    assert standings(conn)["evt_2"] == ("duplicate", "payment_already_confirmed")
    assert conn.execute("SELECT provider_ref FROM payments.payment").fetchone() == ("pay_1",)


def test_another_charge_with_the_same_reference_is_for_a_person(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    """The customer may really have paid twice: neither dropped as a duplicate nor booked silently."""
    expect(add_asaas(runtime), "order-1")
    told(
        client, runtime,
        asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", externalReference="order-1"),
        asaas_event("evt_2", "PAYMENT_RECEIVED", "pay_2", externalReference="order-1"),
    )  # fmt: skip
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed"), "evt_2": ("review", "second_charge")}
    assert balances(conn)["psp:loja"] == 4990


def test_a_provider_ref_set_later_wakes_its_event(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    payment = expect(add_asaas(runtime), "order-1")
    told(client, runtime, PAID)
    assert standings(conn) == {"evt_1": ("unmatched", "payment_unknown")}
    with transaction() as own:
        assert set_provider_ref(own, payment, "pay_1")
    drain(runtime)
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}
    with pytest.raises(Refusal, match="may be set once"), transaction() as own:
        set_provider_ref(own, payment, "pay_2")


def test_a_redelivery_restores_access_and_moves_no_money(
    client: FlaskClient, runtime: Runtime, conn: Connection, owner: Connection
) -> None:
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1", grant=("joana", "curso"))
    told(client, runtime, PAID)
    owner.execute("DELETE FROM payments.access_grant")
    before = balances(conn)
    with transaction() as own:
        decision, _ = acting.redeliver(own, event_id(conn, "evt_1"), act=ACT, zone=runtime.settings.timezone)
    assert (decision.status, decision.reason, decision.detail) == (
        "duplicate",
        "repeats_itself",
        {"grant_restored": True},
    )
    assert conn.execute("SELECT subject, resource FROM payments.access_grant").fetchall() == [("joana", "curso")]
    assert balances(conn) == before
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}
    assert conn.execute("SELECT redeliveries FROM intake.standing").fetchone() == (1,)


def test_every_applied_event_may_be_redelivered_without_effect(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    told(
        client, runtime, PAID,
        asaas_event("evt_2", "PAYMENT_PARTIALLY_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": 10}]),
        asaas_event("evt_3", "PAYMENT_CONFIRMED", "pay_1"),
    )  # fmt: skip
    before = (balances(conn), status(conn), standings(conn))
    for (found,) in conn.execute("SELECT id FROM intake.event ORDER BY id DESC").fetchall():
        with transaction() as own:
            decision, _ = acting.redeliver(own, found, act=ACT, zone=runtime.settings.timezone)
        assert decision.status == "duplicate"
    assert (balances(conn), status(conn), standings(conn)) == before


def test_confirmed_by_hand_then_by_the_event(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    payment = expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    with transaction() as own:
        acting.confirm_by_person(own, payment, act=ACT, zone=runtime.settings.timezone)
    told(client, runtime, PAID)
    assert standings(conn) == {"evt_1": ("duplicate", "payment_already_confirmed")}
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}
    with pytest.raises(Refusal, match="paid already"), transaction() as own:
        acting.confirm_by_person(own, payment, act=ACT, zone=runtime.settings.timezone)


def test_a_chargeback_won_is_no_second_sale(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """Asaas says CONFIRMED again: the chargeback is reversed. A late repeat of the sale is not that."""
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")

    def at(key: str, kind: str, when: str) -> bytes:
        return asaas_event(key, kind, "pay_1").replace(b"{", b'{"dateCreated": "%s", ' % when.encode(), 1)

    told(client, runtime, at("evt_1", "PAYMENT_CONFIRMED", "2026-08-01 10:00:00"))
    told(client, runtime, at("evt_2", "PAYMENT_CHARGEBACK_REQUESTED", "2026-09-01 10:00:00"))
    assert status(conn)[0] == "charged_back"
    told(client, runtime, at("evt_3", "PAYMENT_RECEIVED", "2026-08-02 10:00:00"))
    assert standings(conn)["evt_3"] == ("duplicate", "payment_already_confirmed")
    told(client, runtime, at("evt_4", "PAYMENT_RECEIVED", "2026-10-01 10:00:00"))
    assert standings(conn)["evt_4"] == ("applied", "chargeback_reversed")
    assert status(conn)[0] == "paid"
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990, "chargebacks": 0}
    periods = conn.execute("SELECT kind, period FROM ledger.entry ORDER BY id").fetchall()
    assert periods == [
        ("sale", date(2026, 8, 1)), ("chargeback", date(2026, 9, 1)), ("chargeback_reversal", date(2026, 10, 1)),
    ]  # fmt: skip


def test_refund_and_chargeback_never_return_the_money_twice(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    """Peers, 36."""
    endpoint = add_asaas(runtime)
    first = expect(endpoint, "order-1", provider_ref="pay_1")
    second = expect(endpoint, "order-2", provider_ref="pay_2")
    told(client, runtime, PAID, asaas_event("evt_2", "PAYMENT_RECEIVED", "pay_2"))
    told(client, runtime, asaas_event("evt_3", "PAYMENT_CHARGEBACK_REQUESTED", "pay_1"))
    with pytest.raises(Refusal, match="twice"), transaction() as own:
        issue(own, first, amount=None, key=None, source="operator", act=ACT, zone=runtime.settings.timezone)
    with transaction() as own:
        issue(own, second, amount=None, key=None, source="operator", act=ACT, zone=runtime.settings.timezone)
    told(client, runtime, asaas_event("evt_4", "PAYMENT_CHARGEBACK_REQUESTED", "pay_2"))
    assert standings(conn)["evt_4"][0] == "review"
    assert balances(conn)["psp:loja"] == 0


def test_a_refund_recorded_here_is_confirmed_by_the_providers_event(
    client: FlaskClient, runtime: Runtime, conn: Connection
) -> None:
    payment = expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    told(client, runtime, PAID)
    with transaction() as own:
        issue(own, payment, amount=1990, key="form-1", source="operator", act=ACT, zone=runtime.settings.timezone)
    told(
        client, runtime,
        asaas_event("evt_2", "PAYMENT_PARTIALLY_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": 19.9}]),
    )  # fmt: skip
    assert standings(conn)["evt_2"] == ("duplicate", "refund_already_recorded")
    assert conn.execute("SELECT status, amount FROM payments.refund").fetchall() == [("confirmed", 1990)]
    assert balances(conn)["psp:loja"] == 3000
    with pytest.raises(Refusal) as refused, transaction() as own:
        issue(own, payment, amount=100, key="form-1", source="operator", act=ACT, zone=runtime.settings.timezone)
    assert refused.value.code == "refund_exists"


def test_a_top_up_refund_takes_what_the_wallet_holds(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    """The rest is receivable; a chargeback that is won gives each account back what it gave."""
    expect(add_asaas(runtime), "topup-1", 5000, provider_ref="pay_1", wallet="bob")
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "50.00"))
    from app.base.clock import now
    from app.ledger.wallets import debit

    with transaction() as own:
        debit(own, owner="bob", amount=3500, reference="buy-1", memo=None, at=now(), zone=runtime.settings.timezone)
    told(client, runtime, asaas_event("evt_2", "PAYMENT_REFUNDED", "pay_1", "50.00"))
    assert balances(conn) == {"psp:loja": 0, "sales": -3500, "wallet:bob": 0, "receivable:bob": 3500}
    with pytest.raises(Refusal, match="does not reach"), transaction() as own:
        debit(own, owner="bob", amount=1, reference="buy-2", memo=None, at=now(), zone=runtime.settings.timezone)


def test_a_commission_comes_back_to_the_cent(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    expect(
        add_asaas(runtime), "order-1", 1000, provider_ref="pay_1",
        commissions=(Commission("ana", None, 3333), Commission("bia", 101, None)),
    )  # fmt: skip
    told(client, runtime, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "10.00"))
    assert balances(conn)["partner:ana"] == -333
    for number, total in enumerate(["3.33", "6.66", "9.99", "10.00"]):
        told(
            client, runtime,
            asaas_event(f"r{number}", "PAYMENT_PARTIALLY_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": float(total)}]),
        )  # fmt: skip
    assert set(balances(conn).values()) == {0}


def test_parts_of_a_commission_add_up_in_any_number_of_refunds() -> None:
    for commission, paid in [(333, 1000), (1, 7), (999, 10_007), (5, 3)]:
        parts = [commission_to_take_back(commission, paid, before, before + 1) for before in range(paid)]
        assert sum(parts) == commission
        assert min(parts) >= 0


@pytest.mark.parametrize(
    ("when", "month"),
    [
        ("2026-08-31 23:30:00", date(2026, 8, 1)),
        ("2026-09-01 00:10:00", date(2026, 9, 1)),
        ("2026-01-31 23:59:59", date(2026, 1, 1)),
    ],
)
def test_the_month_is_the_merchants(
    client: FlaskClient, runtime: Runtime, conn: Connection, when: str, month: date
) -> None:
    """Peers, 45: 23:30 in São Paulo on the 31st is not next month, whatever UTC says."""
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    told(client, runtime, PAID.replace(b"{", b'{"dateCreated": "%s", ' % when.encode(), 1))
    assert conn.execute("SELECT period FROM ledger.entry").fetchall() == [(month,)]


def test_a_late_fact_of_a_closed_month_is_posted_in_the_open_one(
    client: FlaskClient, runtime: Runtime, conn: Connection, owner: Connection
) -> None:
    """Peers, 46: both dates stay visible."""
    expect(add_asaas(runtime), "order-1", provider_ref="pay_1")
    owner.execute("INSERT INTO ledger.closed_period (period, closed_by) VALUES ('2026-08-01', 'test')")
    told(client, runtime, PAID.replace(b"{", b'{"dateCreated": "2026-08-15 10:00:00", ', 1))
    assert conn.execute("SELECT period, occurred_at::date FROM ledger.entry").fetchall() == [
        (date(2026, 9, 1), date(2026, 8, 15))
    ]


def break_posting(owner: Connection, reference: str) -> None:
    """An error of ours, for one payment alone: its entries are refused by a trigger that no code expects."""
    owner.execute(
        f"""CREATE FUNCTION public.break_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT FROM payments.payment WHERE id = new.payment_id AND reference = '{reference}')
            THEN RAISE EXCEPTION 'broken for a test'; END IF; RETURN new; END $$;
            CREATE TRIGGER break_it BEFORE INSERT ON ledger.entry FOR EACH ROW EXECUTE FUNCTION public.break_it()"""
    )


def test_one_bad_event_holds_no_other_back(
    app: Flask, client: FlaskClient, runtime: Runtime, conn: Connection, owner: Connection
) -> None:
    """Retried with backoff and jitter, then left for a person; once mended, a re-delivery applies it."""
    endpoint = add_asaas(runtime)
    for number in (1, 2, 3):
        expect(endpoint, f"order-{number}", provider_ref=f"pay_{number}")
        deliver(client, asaas_event(f"evt_{number}", "PAYMENT_RECEIVED", f"pay_{number}"))
    break_posting(owner, "order-2")
    assert work_once(runtime) == 3
    assert set(standings(conn)) == {"evt_1", "evt_3"}
    attempts, later = conn.execute("SELECT attempts, due_at > now() FROM intake.queue").fetchone() or (0, False)
    assert (attempts, later) == (1, True)
    for _ in range(ATTEMPTS_BEFORE_FAILED):
        owner.execute("UPDATE intake.queue SET due_at = now()")
        work_once(runtime)
    assert standings(conn)["evt_2"] == ("failed", "error_of_ours")
    assert conn.execute("SELECT count(*) FROM intake.queue").fetchone() == (0,)
    owner.execute("DROP TRIGGER break_it ON ledger.entry")
    with transaction() as own:
        acting.redeliver(own, event_id(conn, "evt_2"), act=ACT, zone=runtime.settings.timezone)
    assert standings(conn)["evt_2"] == ("applied", "payment_confirmed")


def test_the_same_number_of_statements_for_one_or_two_hundred(
    client: FlaskClient, runtime: Runtime, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    endpoint = add_asaas(runtime)
    seen: list[str] = []
    execute = psycopg.Connection.execute

    def counting(self: psycopg.Connection, query: object, *args: object, **kwargs: object) -> object:
        seen.append(str(query)[:40])
        return execute(self, query, *args, **kwargs)  # type: ignore[arg-type]

    def confirm(count: int, tag: str) -> int:
        for number in range(count):
            expect(endpoint, f"{tag}-{number}", provider_ref=f"pay_{tag}{number}")
            deliver(client, asaas_event(f"{tag}{number}", "PAYMENT_RECEIVED", f"pay_{tag}{number}"))
        seen.clear()
        monkeypatch.setattr(psycopg.Connection, "execute", counting)
        assert work_once(runtime) == count
        monkeypatch.setattr(psycopg.Connection, "execute", execute)
        return len(seen)

    confirm(1, "warm")
    assert confirm(1, "one") == confirm(200, "many")
