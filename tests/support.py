"""What many tests say: an endpoint, a payment, a delivery, the worker's turn, and the gate that forces an overlap."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
from flask import Flask
from flask.testing import FlaskClient

from app.base.db import transaction
from app.base.runtime import Runtime
from app.doors.worker.loop import work_once
from app.intake import endpoints
from app.payments.registering import Registration, register
from app.providers.contract import Secret

ASAAS_TOKEN = "asaas-token-for-tests"


def add_asaas(runtime: Runtime, slug: str = "loja", *, unmatched: str = "hold", **options: str) -> int:
    """An Asaas endpoint with ASAAS_TOKEN; returns its id."""
    with transaction() as conn:
        return endpoints.add(
            conn, runtime.vault, slug=slug, provider="asaas", secrets=[Secret("default", ASAAS_TOKEN)],
            url_token=None, unmatched=unmatched, options=options,
        )  # fmt: skip


def expect(endpoint_id: int, reference: str, amount: int = 4990, **more: Any) -> int:
    """Registers a payment in BRL; returns its id."""
    with transaction() as conn:
        return register(conn, Registration(reference, endpoint_id, amount, more.pop("currency", "BRL"), **more))[0]


def asaas_event(key: str, kind: str, payment: str, value: str = "49.90", **fields: Any) -> bytes:
    """An Asaas body; `value` in reais, as the JSON number that Asaas sends."""
    body = {"id": key, "event": kind, "payment": {"id": payment, "value": "VALUE", **fields}}
    return json.dumps(body).replace('"VALUE"', str(Decimal(value))).encode()


def deliver(client: FlaskClient, body: bytes, slug: str = "loja", token: str = ASAAS_TOKEN) -> Any:
    """Posts a body as Asaas does; returns the response."""
    return client.post(f"/webhooks/{slug}", data=body, headers={"asaas-access-token": token})


def drain(runtime: Runtime) -> int:
    """Lets the worker decide all that is due; returns how many events it took."""
    total = 0
    while done := work_once(runtime):
        total += done
    return total


def standings(conn: psycopg.Connection) -> dict[str, tuple[str, str]]:
    """Event key -> (status, reason)."""
    rows = conn.execute(
        "SELECT e.event_key, s.status, s.reason FROM intake.standing s JOIN intake.event e ON e.id = s.event_id"
    ).fetchall()
    return {key: (status, reason) for key, status, reason in rows}


def balances(conn: psycopg.Connection) -> dict[str, int]:
    """Account code -> sum of its postings, positive for debit; computed from the postings alone."""
    rows = conn.execute(
        "SELECT a.code, sum(p.amount)::bigint FROM ledger.posting p JOIN ledger.account a ON a.id = p.account_id GROUP BY 1"
    ).fetchall()
    return dict(rows)


def superuser(url: str) -> str:
    """The same database, as the embedded server's superuser."""
    return re.sub(r"//[^@]*@", "//postgres@", url)


@contextmanager
def gate(url: str, statement: str, parameters: Any = ()) -> Iterator[psycopg.Connection]:
    """Another connection holds what `statement` locks; leaving the block opens the gate."""
    with psycopg.connect(url) as holder:
        holder.execute(statement, parameters)
        yield holder
        holder.rollback()


def wait_until_blocked(url: str, count: int, seconds: float = 20) -> None:
    """Returns once `count` other connections of this database are seen waiting for a lock; fails if they never are."""
    deadline = time.monotonic() + seconds
    with psycopg.connect(superuser(url), autocommit=True) as watcher:  # others' waits are hidden from the owner
        while True:
            row = watcher.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone()
            assert row
            if row[0] >= count:
                return
            assert time.monotonic() < deadline, f"only {row[0]} of {count} contenders ever waited"
            threading.Event().wait(0.01)


def in_threads(app: Flask, *works: Callable[[], Any]) -> list[Callable[[], Any]]:
    """Starts each work in a thread with an app context; returns for each a function that joins it and gives its result."""

    def started(work: Callable[[], Any]) -> Callable[[], Any]:
        outcome: list[tuple[bool, Any]] = []

        def run() -> None:
            with app.app_context():
                try:
                    outcome.append((True, work()))
                except BaseException as error:
                    outcome.append((False, error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def join() -> Any:
            thread.join(20)
            assert outcome, "a contender never came back"
            good, value = outcome[0]
            if not good:
                raise value
            return value

        return join

    return [started(work) for work in works]
