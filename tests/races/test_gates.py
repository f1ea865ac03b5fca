"""Overlap, forced: another connection holds the row, both contenders are seen waiting, then the gate opens.

Each rule holds by a lock or a constraint; each test says which one it fails without (tried once by hand).
"""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask
from psycopg import Connection

from app.access.audit import Act
from app.base.clock import now
from app.base.db import db, transaction
from app.base.errors import Refusal
from app.base.runtime import Runtime
from app.confirmation.acting import confirm_by_person, redeliver
from app.doors.worker.loop import work_once
from app.factory import create_app
from app.ledger import wallets
from app.payments.state import Commission
from app.refunds.issuing import issue
from tests.support import (
    add_asaas,
    asaas_event,
    balances,
    deliver,
    drain,
    expect,
    gate,
    in_threads,
    standings,
    superuser,
    wait_until_blocked,
)  # fmt: skip

PAYMENT = "SELECT 1 FROM payments.payment WHERE reference = 'order-1' FOR UPDATE"
ACT = Act("operator:test", "a test")


@pytest.fixture
def payment(app: Flask, runtime: Runtime) -> int:
    """A product sale with a commission of 10 % and a grant, known to the provider as pay_1."""
    endpoint = add_asaas(runtime)
    return expect(
        endpoint,
        "order-1",
        provider_ref="pay_1",
        commissions=(Commission("ana", None, 1000),),
        grant=("joana", "curso"),
    )


def received(app: Flask, *bodies: bytes) -> None:
    for body in bodies:
        assert deliver(app.test_client(), body).status_code == 200


def kinds(conn: Connection) -> list[tuple[str, int]]:
    return conn.execute("SELECT kind, count(*) FROM ledger.entry GROUP BY 1 ORDER BY 1").fetchall()


def messages(conn: Connection) -> list[tuple[str, int]]:
    return conn.execute("SELECT type, count(*) FROM outbox.message GROUP BY 1 ORDER BY 1").fetchall()


ONE_OF_EACH = {"psp:loja": 4990, "sales": -4990, "commissions": 499, "partner:ana": -499}


def assert_confirmed_once(conn: Connection) -> None:
    assert kinds(conn) == [("commission", 1), ("sale", 1)]
    assert balances(conn) == ONE_OF_EACH
    assert conn.execute("SELECT count(*) FROM payments.access_grant").fetchone() == (1,)
    assert messages(conn) == [("grant.created", 1), ("payment.paid", 1)]


@pytest.fixture
def other(runtime: Runtime) -> Iterator[Flask]:
    """What another web process would have."""
    made = create_app(runtime)
    yield made
    with made.app_context():
        made.extensions["razao.directory"].close()
        made.extensions["razao.bell"].close()
        db.engine.dispose()


def test_the_same_event_twice_at_once_is_stored_once(
    app: Flask, other: Flask, runtime: Runtime, conn: Connection, payment: int
) -> None:
    """Rule 1: both deliveries wait for a third that holds the key uncommitted; fails without event_once.

    Each comes to a process of its own: in one process they would share a statement (tests/doors/test_scribe.py).
    """
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    held = (
        "INSERT INTO intake.event (endpoint_id, event_key, type, fact, refs, cumulative, reverses_chargeback, test) "
        "SELECT id, 'evt_1', 't', 'informational', '{}', false, false, false FROM intake.endpoint"
    )
    with gate(runtime.owner_url, held):
        joins = in_threads(app, *[lambda one=one: deliver(one.test_client(), body) for one in (app, other)])
        wait_until_blocked(runtime.owner_url, 2)
    answers = [join() for join in joins]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert sorted(answer.json["events"][0]["new"] for answer in answers) == [False, True]
    assert len({answer.json["events"][0]["id"] for answer in answers}) == 1
    assert conn.execute("SELECT count(*) FROM intake.event").fetchone() == (1,)
    assert conn.execute("SELECT count(*) FROM intake.delivery").fetchone() == (2,)
    drain(runtime)
    assert_confirmed_once(conn)


def test_two_events_of_one_payment_confirm_it_once(
    app: Flask, runtime: Runtime, conn: Connection, payment: int
) -> None:
    """Rule 2: two workers, one event each, meet at the payment's lock; fails without FOR NO KEY UPDATE."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"), asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1"))
    with gate(runtime.owner_url, PAYMENT):
        joins = in_threads(app, *[lambda: work_once(runtime, limit=1)] * 2)
        wait_until_blocked(runtime.owner_url, 2)
    assert [join() for join in joins] == [1, 1]
    assert sorted(standings(conn).values()) == [
        ("applied", "payment_confirmed"),
        ("duplicate", "payment_already_confirmed"),
    ]
    assert_confirmed_once(conn)


def test_two_workers_never_take_the_same_event(app: Flask, runtime: Runtime, conn: Connection, payment: int) -> None:
    """The claim skips what another holds; fails without SKIP LOCKED (the second would wait for the first's batch)."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    with gate(runtime.owner_url, PAYMENT):
        [first] = in_threads(app, lambda: work_once(runtime))
        wait_until_blocked(runtime.owner_url, 1)
        [second] = in_threads(app, lambda: work_once(runtime))
        assert second() == 0  # comes back while the gate is closed: nothing is left to take
    assert first() == 1
    assert conn.execute("SELECT count(*) FROM intake.decision").fetchone() == (1,)
    assert_confirmed_once(conn)


def test_a_redelivery_against_the_live_delivery(app: Flask, runtime: Runtime, conn: Connection, payment: int) -> None:
    """A person presses re-deliver while the worker confirms the same event: one effect."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    [(event_id,)] = conn.execute("SELECT id FROM intake.event").fetchall()

    def press() -> Any:
        with transaction() as own:
            return redeliver(own, event_id, act=ACT, zone=runtime.settings.timezone)[0].status

    with gate(runtime.owner_url, PAYMENT):
        joins = in_threads(app, lambda: work_once(runtime), press)
        wait_until_blocked(runtime.owner_url, 2)
    joins[0]()
    assert joins[1]() in {"applied", "duplicate"}
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}
    assert_confirmed_once(conn)


def test_a_person_and_an_event_confirm_once(app: Flask, runtime: Runtime, conn: Connection, payment: int) -> None:
    """Same path, same guard."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))

    def by_hand() -> str:
        try:
            with transaction() as own:
                confirm_by_person(own, payment, act=ACT, zone=runtime.settings.timezone)
        except Refusal as refusal:
            return refusal.code
        return "confirmed"

    with gate(runtime.owner_url, PAYMENT):
        joins = in_threads(app, by_hand, lambda: work_once(runtime))
        wait_until_blocked(runtime.owner_url, 2)
    outcome = joins[0](), joins[1](), standings(conn)["evt_1"][0]
    assert outcome in {("confirmed", 1, "duplicate"), ("already_confirmed", 1, "applied")}
    assert_confirmed_once(conn)


def test_confirmation_against_refund(app: Flask, runtime: Runtime, conn: Connection, payment: int) -> None:
    """Whichever comes first, the money goes in once and out once."""
    received(
        app,
        asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"),
        asaas_event("evt_2", "PAYMENT_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": 49.9}]),
    )
    with gate(runtime.owner_url, PAYMENT):
        joins = in_threads(app, *[lambda: work_once(runtime, limit=1)] * 2)
        wait_until_blocked(runtime.owner_url, 2)
    for join in joins:
        join()
    drain(runtime)
    assert set(standings(conn).values()) == {("applied", "payment_confirmed"), ("applied", "refund_recorded")}
    assert {account: total for account, total in balances(conn).items() if total} == {}
    assert kinds(conn) == [("commission", 1), ("commission_reversal", 1), ("refund", 1), ("sale", 1)]


def test_two_refunds_that_together_exceed_the_payment(
    app: Flask, runtime: Runtime, conn: Connection, payment: int
) -> None:
    """Rule 4: fails without the lock (then refunds_within_payment still refuses the second)."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)

    def refund() -> str:
        try:
            with transaction() as own:
                issue(own, payment, amount=3000, key=None, source="operator", act=ACT, zone=runtime.settings.timezone)
        except Refusal as refusal:
            return refusal.code
        return "refunded"

    with gate(runtime.owner_url, PAYMENT):
        joins = in_threads(app, refund, refund)
        wait_until_blocked(runtime.owner_url, 2)
    assert sorted(join() for join in joins) == ["refund_exceeds_payment", "refunded"]
    assert balances(conn)["psp:loja"] == 1990


@pytest.fixture
def wallet(app: Flask, runtime: Runtime) -> int:
    """Bob's wallet holds R$ 50.00; another top-up of R$ 50.00 is expected as pay_2."""
    endpoint = add_asaas(runtime)
    expect(endpoint, "topup-1", 5000, provider_ref="pay_1", wallet="bob")
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1", "50.00"))
    drain(runtime)
    return expect(endpoint, "topup-2", 5000, provider_ref="pay_2", wallet="bob")


WALLET = "SELECT 1 FROM ledger.balance b JOIN ledger.account a ON a.id = b.account_id WHERE a.code = 'wallet:bob' FOR UPDATE OF b"


def debit(runtime: Runtime, reference: str, amount: int) -> str:
    try:
        with transaction() as own:
            wallets.debit(
                own,
                owner="bob",
                amount=amount,
                reference=reference,
                memo=None,
                at=now(),
                zone=runtime.settings.timezone,
            )
    except Refusal as refusal:
        return refusal.code
    return "debited"


def owed(conn: Connection) -> int:
    row = conn.execute(
        "SELECT owed FROM ledger.balance b JOIN ledger.account a ON a.id = b.account_id WHERE code = 'wallet:bob'"
    ).fetchone()
    assert row
    return int(row[0])


def test_two_debits_that_together_exceed_the_wallet(
    app: Flask, runtime: Runtime, conn: Connection, wallet: int
) -> None:
    """Rule 8: the condition is evaluated again under the row's lock; without it wallet_not_overdrawn still refuses."""
    with gate(runtime.owner_url, WALLET):
        joins = in_threads(app, lambda: debit(runtime, "a", 3000), lambda: debit(runtime, "b", 3000))
        wait_until_blocked(runtime.owner_url, 2)
    assert sorted(join() for join in joins) == ["debited", "insufficient_balance"]
    assert owed(conn) == 2000
    assert -balances(conn)["wallet:bob"] == 2000


@pytest.mark.parametrize("debit_first", [True, False])
def test_a_credit_against_a_debit_loses_neither(
    app: Flask, runtime: Runtime, conn: Connection, wallet: int, debit_first: bool
) -> None:
    """Rule 7: balances move by increment, under the row's lock; fails without both, when the debit comes first."""
    received(app, asaas_event("evt_2", "PAYMENT_RECEIVED", "pay_2", "50.00"))
    contenders = [lambda: debit(runtime, "a", 3000), lambda: str(work_once(runtime))]
    if not debit_first:
        contenders.reverse()
    with gate(runtime.owner_url, WALLET):
        joins = []
        for waiting, contender in enumerate(contenders, start=1):  # who waits first goes first
            joins += in_threads(app, contender)
            wait_until_blocked(runtime.owner_url, waiting)
    assert sorted(join() for join in joins) == ["1", "debited"]
    assert owed(conn) == 5000 + 5000 - 3000 == -balances(conn)["wallet:bob"]


def test_the_same_debit_twice_at_once_is_one(app: Flask, runtime: Runtime, conn: Connection, wallet: int) -> None:
    """Rule 3: the debit's reference; fails without entry_once (nulls not distinct)."""
    with gate(runtime.owner_url, WALLET):
        joins = in_threads(app, *[lambda: debit(runtime, "a", 1000)] * 2)
        wait_until_blocked(runtime.owner_url, 2)
    assert sorted(join() for join in joins) == ["debited", "entry_exists"]
    assert owed(conn) == 4000


def test_registration_against_its_event(app: Flask, runtime: Runtime, conn: Connection) -> None:
    """They meet on the payment's name: whoever comes second sees the first. Fails without keep_names before lock_names."""
    endpoint = add_asaas(runtime)
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    held = "INSERT INTO payments.name (value, endpoint_id, kind) SELECT 'pay_1', id, 'provider' FROM intake.endpoint"
    with gate(runtime.owner_url, held):
        joins = in_threads(app, lambda: work_once(runtime), lambda: expect(endpoint, "order-1", provider_ref="pay_1"))
        wait_until_blocked(runtime.owner_url, 2)
    for join in joins:
        join()
    drain(runtime)
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}
    assert kinds(conn) == [("sale", 1)]


def test_a_worker_that_dies_in_its_batch_blocks_nobody(
    app: Flask, runtime: Runtime, conn: Connection, payment: int
) -> None:
    """The hold ends with the connection: here the server ends it while the worker waits."""
    received(app, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    with gate(runtime.owner_url, PAYMENT):
        [doomed] = in_threads(app, lambda: work_once(runtime))
        wait_until_blocked(runtime.owner_url, 1)
        with psycopg.connect(superuser(runtime.owner_url), autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        with pytest.raises(Exception, match="connection"):
            doomed()
    assert drain(runtime) == 1
    assert_confirmed_once(conn)


def test_fifty_deliveries_at_once_are_one_event_and_one_sale(
    app: Flask, runtime: Runtime, conn: Connection, payment: int
) -> None:
    """Peers, 1: the same event 2 times in sequence, then 50 in parallel: one effect, 52 receptions, every answer 200."""
    body = asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1")
    received(app, body, body)
    answers = [join() for join in in_threads(app, *[lambda: deliver(app.test_client(), body).status_code] * 50)]
    assert answers == [200] * 50
    drain(runtime)
    assert conn.execute("SELECT count(*) FROM intake.delivery").fetchone() == (52,)
    assert_confirmed_once(conn)


def test_two_hundred_crossing_batches_never_deadlock(app: Flask, runtime: Runtime, conn: Connection) -> None:
    """Peers, 48: payments of the same wallets and partners in opposite orders; one order of locks over each batch."""
    endpoint = add_asaas(runtime)
    owners = ["ana", "bob"]
    for number in range(60):
        expect(
            endpoint, f"order-{number}", 1000, provider_ref=f"pay_{number}", wallet=owners[number % 2],
            commissions=(Commission(owners[(number + 1) % 2], None, 500),),
        )  # fmt: skip
        received(app, asaas_event(f"evt_{number}", "PAYMENT_RECEIVED", f"pay_{number}", "10.00"))

    def work() -> int:
        return sum(iter(lambda: work_once(runtime, limit=7), 0))

    taken = [join() for join in in_threads(app, *[work] * 4)]
    assert sum(taken) == 60
    drain(runtime)
    assert set(standings(conn).values()) == {("applied", "payment_confirmed")}
    assert balances(conn)["wallet:ana"] == balances(conn)["wallet:bob"] == -30_000
