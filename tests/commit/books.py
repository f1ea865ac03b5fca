"""A database for a whole test module, and books in which everything has happened once."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg

from app.access.audit import Act
from app.base import embedded, settings
from app.base.db import db, transaction
from app.base.runtime import Runtime
from app.base.vault import Vault
from app.confirmation import acting
from app.factory import create_app
from app.ledger.wallets import debit
from app.payments.state import Commission
from app.refunds.issuing import issue
from tests.conftest import MASTER_KEY, TEMPLATE
from tests.support import add_asaas, asaas_event, deliver, drain, expect

ACT = Act("operator:ana", "the customer asked for it")


@contextmanager
def clone(cluster: embedded.Cluster) -> Iterator[Runtime]:
    """A fresh, migrated database, for longer than one test."""
    name = f"m_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(1)")  # a template takes one copier at a time
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER razao_owner STRATEGY file_copy")
    yield Runtime(
        settings=settings.read({}), app_url=cluster.url(name, "razao_service"),
        owner_url=cluster.url(name, "razao_owner"), vault=Vault(MASTER_KEY),
    )  # fmt: skip
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def fill(runtime: Runtime) -> None:
    """Everything that may happen, at least once: sales, top-ups, duplicates, partial refunds, disputes, waiting, garbage."""
    app = create_app(runtime)
    with app.app_context():
        client = app.test_client()

        def told(key: str, kind: str, payment: str, value: str = "49.90", **fields: Any) -> None:
            assert deliver(client, asaas_event(key, kind, payment, value, **fields)).status_code == 200
            drain(runtime)

        endpoint = add_asaas(runtime)
        shares = (Commission("ana", None, 1000), Commission("rui/loja", 333, None))
        sale = expect(endpoint, "sale", provider_ref="pay_1", commissions=shares, grant=("ana", "course"))
        told("evt_1", "PAYMENT_RECEIVED", "pay_1", netValue=48.91)
        told("evt_2", "PAYMENT_CONFIRMED", "pay_1")
        told("evt_2", "PAYMENT_CONFIRMED", "pay_1")
        give_back(runtime, sale, 1001)
        told("evt_3", "PAYMENT_PARTIALLY_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": 10.01}])
        told("evt_4", "PAYMENT_PARTIALLY_REFUNDED", "pay_1",
             refunds=[{"status": "DONE", "value": 10.01}, {"status": "DONE", "value": 5.07}])  # fmt: skip

        expect(endpoint, "top-up", 10_000, provider_ref="pay_2", wallet="bia")
        told("evt_5", "PAYMENT_RECEIVED", "pay_2", "100.00")
        with transaction() as conn:
            debit(conn, owner="bia", amount=6000, reference="lunch", memo=None, at=datetime.now(UTC),
                  zone=runtime.settings.timezone)  # fmt: skip
        told("evt_6", "PAYMENT_REFUNDED", "pay_2", "100.00")

        expect(endpoint, "disputed", provider_ref="pay_3")
        told("evt_7", "PAYMENT_RECEIVED", "pay_3")
        told("evt_8", "PAYMENT_CHARGEBACK_REQUESTED", "pay_3")
        expect(endpoint, "won", provider_ref="pay_4", commissions=shares)
        told("evt_9", "PAYMENT_RECEIVED", "pay_4", dateCreated="2026-08-01")
        told("evt_10", "PAYMENT_CHARGEBACK_REQUESTED", "pay_4")
        told("evt_11", "PAYMENT_RECEIVED", "pay_4")

        expect(endpoint, "expired", provider_ref="pay_5")
        told("evt_12", "PAYMENT_OVERDUE", "pay_5")
        told("evt_13", "PAYMENT_RECEIVED", "pay_unknown")
        told("evt_14", "PAYMENT_RECEIVED", "pay_5", "1.00")
        by_hand = expect(endpoint, "by-hand", provider_ref="pay_6")
        with transaction() as conn:
            acting.confirm_by_person(conn, by_hand, act=ACT, zone=runtime.settings.timezone)
        assert deliver(client, b"no json at all").status_code == 200
        drain(runtime)
        assert (
            deliver(client, asaas_event("evt_15", "PAYMENT_RECEIVED", "pay_7")).status_code == 200
        )  # left in the queue
        close(app)


def give_back(runtime: Runtime, payment: int, amount: int) -> None:
    """A person's refund."""
    with transaction() as conn:
        issue(conn, payment, amount=amount, key=None, source="operator", act=ACT, zone=runtime.settings.timezone)


def close(app: Any) -> None:
    app.extensions["razao.directory"].close()
    app.extensions["razao.bell"].close()
    db.engine.dispose()


def counts(url: str) -> dict[str, Any]:
    """How many rows each table has, and where each sequence stands."""
    with psycopg.connect(url, autocommit=True) as conn:
        tables = conn.execute(
            "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        sequences = conn.execute("SELECT schemaname || '.' || sequencename, last_value FROM pg_sequences").fetchall()
        rows = {table: conn.execute(f"SELECT count(*) FROM {table}").fetchone() for (table,) in tables}
    return {**rows, **dict(sequences)}
