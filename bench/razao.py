"""Razão under test, started as a user starts it: `razao web` and `razao worker` on a fresh database."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg import sql

from app.base import migrating, settings
from app.base.db import db, statements, transaction
from app.base.embedded import Cluster
from app.base.embedded.bootstrap import SERVICE
from app.base.runtime import prepare
from app.factory import create_app
from app.intake import endpoints
from app.intake import events as intake
from app.intake.events import Arrival
from app.ledger import books
from app.payments import names
from app.payments.names import Name
from app.payments.registering import Registration, register_many
from app.providers import asaas
from app.providers.contract import Call, Config, Secret
from bench.tools import TOKEN, Sample, answers, free_port, process, wait_until, wrk

CONNECTIONS = (1, 16, 64)
WALLETS = 10_000
END_TO_END_CONNECTIONS = 16
_SLUG = "asaas"
_ROOT = Path(__file__).parent.parent
_AT_ONCE = 1_000


class Razao:
    """One fresh, migrated database with an endpoint and payments that wait to be paid."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.url = cluster.superuser_url(database)
        self._given = 1  # the first payment that no event names yet
        with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
            conn.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            conn.execute(f"CREATE DATABASE {database} OWNER razao_owner")
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAZAO_")},
            "RAZAO_DATABASE_URL": cluster.url(database, SERVICE),
            "RAZAO_MIGRATION_DATABASE_URL": cluster.url(database, "razao_owner"),
            "RAZAO_MASTER_KEY": "a master key for the bench alone",
        }
        self.runtime = prepare(settings.read(self.environ))
        self.app = create_app(self.runtime)
        with self.app.app_context():
            migrating.upgrade(self.runtime.owner_url, self.runtime.app_url)
            with transaction() as conn:
                self.endpoint_id = endpoints.add(
                    conn, self.runtime.vault, slug=_SLUG, provider="asaas", secrets=[Secret("default", TOKEN)],
                    url_token=None, unmatched="hold", options={},
                )  # fmt: skip

    def register(self, count: int) -> None:
        """Registers so many payments, each into one of WALLETS wallets."""
        with self.app.app_context():
            with transaction() as conn:
                books.accounts(conn, [(books.wallet(str(number)), "BRL") for number in range(WALLETS)])
            for numbers in _in_parts(range(1, count + 1)):
                with transaction() as conn:
                    self._register(conn, numbers)
        self._analyze()

    def _register(self, conn: psycopg.Connection, numbers: range) -> None:
        own = {
            number: [
                Name(f"order-{number}", self.endpoint_id, "merchant"),
                Name(f"pay_{number}", self.endpoint_id, "provider"),
            ]
            for number in numbers
        }
        names.hold(conn, (name for both in own.values() for name in both))
        registered = register_many(
            conn,
            [
                Registration(
                    reference=f"order-{number}", endpoint_id=self.endpoint_id, amount=4990, currency="BRL",
                    provider_ref=f"pay_{number}", wallet=str(number % WALLETS),
                )
                for number in numbers
            ],
        )  # fmt: skip
        names.give(conn, {name: registered[f"order-{number}"] for number, both in own.items() for name in both})

    def take(self, count: int) -> int:
        """The first of so many payments that no other measurement uses."""
        first = self._given
        self._given += count
        return first

    def store_backlog(self, events: int) -> None:
        """Stores events as the intake does, in pairs; no worker runs meanwhile."""
        numbers = range(self.take(events // 2) * 2, self._given * 2)
        with self.app.app_context(), statements() as conn:
            for some in _in_parts(numbers):
                calls = [Call(_body(number), _HEADERS, (), datetime.now(UTC)) for number in some]
                intake.receive(
                    conn,
                    [
                        Arrival(self.endpoint_id, call, asaas.read(call, Config(())), "default", "127.0.0.1")
                        for call in calls
                    ],
                )
        self._analyze()

    def _analyze(self) -> None:
        # What autovacuum does to filled tables in time. Empty ones it leaves alone, and so do we: once ANALYZE has
        # called a table empty, plans made from that are wrong as soon as it fills.
        with psycopg.connect(self.url, autocommit=True) as conn:
            for schema, table in conn.execute(
                "SELECT schemaname, relname FROM pg_stat_user_tables WHERE n_live_tup > 0"
            ):
                conn.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(schema, table)))
            conn.execute("CHECKPOINT")

    @contextmanager
    def web(self) -> Iterator[str]:
        """`razao web`; gives the address of the endpoint."""
        port = free_port()
        with process([sys.executable, "-m", "app", "web", "--port", str(port)], self.environ, cwd=_ROOT):
            wait_until(lambda: answers(port), "razao web is up")
            yield f"http://127.0.0.1:{port}/webhooks/{_SLUG}"

    @contextmanager
    def workers(self, count: int) -> Iterator[None]:
        """So many `razao worker`."""
        with ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(process([sys.executable, "-m", "app", "worker"], self.environ, cwd=_ROOT))
            yield

    def wait_for_empty_queue(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as conn:
            wait_until(
                lambda: conn.execute("SELECT NOT EXISTS (SELECT FROM intake.queue)").fetchone() == (True,),
                "every event is confirmed", seconds=900, every=0.05,
            )  # fmt: skip

    def check(self) -> None:
        """Each event is applied or a duplicate, half of each: a fast wrong answer is no figure."""
        with psycopg.connect(self.url) as conn:
            wrong = conn.execute(
                "SELECT count(*) FROM intake.event e LEFT JOIN intake.standing s ON s.event_id = e.id"
                " WHERE s.status IS NULL OR s.status NOT IN ('applied', 'duplicate')"
            ).fetchone()
            sums = conn.execute(
                "SELECT (SELECT count(*) FROM payments.payment WHERE status = 'paid'),"
                " (SELECT count(*) FROM ledger.entry WHERE kind = 'sale'),"
                " (SELECT sum(owed)::bigint / 4990 FROM ledger.balance)"
            ).fetchone()
        if wrong != (0,) or sums is None or len(set(sums)) != 1:
            raise RuntimeError(
                f"not every event was confirmed: {wrong} undecided or refused; paid, sales, credits: {sums}"
            )

    def close(self) -> None:
        with self.app.app_context():
            db.engine.dispose()


def measure(cluster: Cluster, *, seconds: int, backlog: int) -> dict[str, Sample]:
    """One round: acknowledging alone, draining with one worker and with two, and both halves together."""
    found: dict[str, Sample] = {}
    razao = Razao(cluster, "bench_razao")
    per_second = 8_000  # more events than any machine will acknowledge; payments are registered for the rest
    razao.register(backlog + per_second * (seconds + 1) // 2)
    for workers in (1, 2):
        razao.store_backlog(backlog)
        found[f"drain {workers}"] = _drain(razao, workers, backlog)
    razao.check()
    found[f"end to end {END_TO_END_CONNECTIONS}"] = _end_to_end(razao, seconds, per_second)
    razao.check()
    with razao.web() as url:
        wrk(url, connections=16, seconds=1, first_payment=razao.take(10**6))
        for connections in CONNECTIONS:
            first = razao.take(10**6)  # nobody registered these: only the intake is measured
            found[f"intake {connections}"] = wrk(url, connections=connections, seconds=seconds, first_payment=first)
    razao.close()
    return found


def _drain(razao: Razao, workers: int, backlog: int) -> Sample:
    """From the first decision (the workers' start-up is not counted) until the queue is empty."""
    with psycopg.connect(razao.url, autocommit=True) as conn:
        before = conn.execute("SELECT coalesce(max(id), 0) FROM intake.decision").fetchone()
        with razao.workers(workers):
            razao.wait_for_empty_queue()
            row = conn.execute(
                "SELECT extract(epoch FROM clock_timestamp() - min(decided_at)) FROM intake.decision WHERE id > %s",
                before,
            ).fetchone()
    assert row is not None
    return {"rate": backlog / float(row[0])}


def _end_to_end(razao: Razao, seconds: int, per_second: int) -> Sample:
    """From the first webhook sent until every payment they name is confirmed; web and worker run together."""
    with razao.workers(1):
        with razao.web() as url:
            wrk(url, connections=1, seconds=1, first_payment=razao.take(per_second // 2))
            razao.wait_for_empty_queue()
            first = razao.take(per_second * seconds // 2)
            started = time.monotonic()
            sample = wrk(url, connections=END_TO_END_CONNECTIONS, seconds=seconds, first_payment=first)
            razao.wait_for_empty_queue()
            elapsed = time.monotonic() - started
        razao.wait_for_empty_queue()  # what wrk no longer heard the answer of
    return {**sample, "rate": sample["requests"] / elapsed}


def _in_parts(numbers: range) -> Iterator[range]:
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]


def _body(number: int) -> bytes:
    """What load.lua sends."""
    kind, status = ("PAYMENT_RECEIVED", "RECEIVED") if number % 2 else ("PAYMENT_CONFIRMED", "CONFIRMED")
    payment = number // 2
    return (
        f'{{"id":"evt_{number}","event":"{kind}","dateCreated":"2026-12-01 10:00:00","payment":{{"object":"payment",'
        f'"id":"pay_{payment}","dateCreated":"2026-12-01","customer":"cus_000005219613","value":49.90,"billingType":"PIX",'
        f'"status":"{status}","externalReference":"order-{payment}","description":"{"x" * 500}"}}}}'
    ).encode()


_HEADERS = (("host", "127.0.0.1"), ("content-type", "application/json"), ("asaas-access-token", TOKEN))
