"""Calls that arrive together share one commit, and nothing else: none is lost, doubled or held back by another."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import psycopg
import pytest
from flask import Flask
from psycopg import Connection

from app.base.runtime import Runtime
from app.doors.webhooks.scribe import NotStored, Scribe
from app.intake.events import Arrival, Receipt
from app.providers.contract import Call, Fact, Reading
from tests.support import add_asaas, superuser


def arrival(endpoint: int, key: str, kind: str = "PAYMENT_CREATED") -> Arrival:
    call = Call(f"body of {key}".encode(), (("host", "shop"),), (), datetime.now(UTC))
    return Arrival(endpoint, call, [Reading(key=key, type=kind, fact=Fact.INFORMATIONAL)], "default", "127.0.0.1")


@pytest.fixture
def store_together(app: Flask, owner: Connection) -> Callable[[list[Arrival]], list[list[Receipt] | None]]:
    """Stores the first while nobody may write the table, and lets the others arrive meanwhile, in that order."""

    def run(arrivals: list[Arrival]) -> list[list[Receipt] | None]:
        scribe = Scribe(app)
        heard: list[list[Receipt] | None] = [None] * len(arrivals)

        def store(position: int) -> None:
            with suppress(NotStored):
                heard[position] = scribe.store(arrivals[position])

        threads = [threading.Thread(target=store, args=[position]) for position in range(len(arrivals))]
        with owner.transaction():
            owner.execute("LOCK TABLE intake.event IN SHARE MODE")
            for position, thread in enumerate(threads):
                thread.start()
                deadline = time.monotonic() + 10
                while not scribe._writing or len(scribe._waiting) != position:
                    assert time.monotonic() < deadline
                    time.sleep(0.001)
        for thread in threads:
            thread.join(10)
        return heard

    return run


def test_what_comes_while_one_is_written_shares_a_commit(
    runtime: Runtime, conn: Connection, store_together: Callable[[list[Arrival]], list[list[Receipt] | None]]
) -> None:
    endpoint = add_asaas(runtime)
    heard = store_together([arrival(endpoint, f"evt_{number}") for number in range(6)])
    rows = conn.execute("SELECT id, event_key, xmin::text FROM intake.event ORDER BY event_key").fetchall()
    assert heard == [[Receipt(row[0], new=True)] for row in rows]
    assert len({row[2] for row in rows[1:]}) == 1
    assert rows[0][2] != rows[1][2]
    bodies = conn.execute("SELECT body FROM intake.delivery JOIN intake.event e ON e.id = event_id ORDER BY event_key")
    assert bodies.fetchall() == [(f"body of evt_{number}".encode(),) for number in range(6)]


def test_one_event_twice_in_a_commit_is_one_event(
    runtime: Runtime, conn: Connection, store_together: Callable[[list[Arrival]], list[list[Receipt] | None]]
) -> None:
    endpoint = add_asaas(runtime)
    heard = store_together([arrival(endpoint, key) for key in ("evt_0", "evt_1", "evt_1", "evt_0", "evt_1")])
    assert [receipts[0].new for receipts in heard if receipts] == [True, True, False, False, False]
    assert conn.execute("SELECT count(*) FROM intake.event").fetchone() == (2,)
    assert conn.execute("SELECT count(*), count(body) FROM intake.delivery").fetchone() == (5, 2)


def test_what_cannot_be_stored_holds_nothing_else_back(
    runtime: Runtime, conn: Connection, store_together: Callable[[list[Arrival]], list[list[Receipt] | None]]
) -> None:
    endpoint = add_asaas(runtime)
    no_text = "a NUL is \0 no text"
    heard = store_together([arrival(endpoint, f"evt_{number}", no_text if number == 2 else "x") for number in range(5)])
    assert [receipts is None for receipts in heard] == [False, False, True, False, False]
    assert conn.execute("SELECT count(*) FROM intake.event").fetchone() == (4,)


def test_while_the_database_is_away_every_call_hears_it_and_the_next_is_stored(
    app: Flask, runtime: Runtime, owner: Connection
) -> None:
    endpoint = add_asaas(runtime)
    scribe = Scribe(app)
    name = owner.info.dbname
    with psycopg.connect(superuser(runtime.owner_url).replace(name, "postgres"), autocommit=True) as master:
        master.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        master.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        with pytest.raises(NotStored):
            scribe.store(arrival(endpoint, "evt_1"))
        master.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert scribe.store(arrival(endpoint, "evt_1"))[0].new
