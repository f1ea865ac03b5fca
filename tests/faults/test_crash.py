"""Killed with -9 at each step between the first byte and the last commit, and started again: the end state is the same."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask
from psycopg import Connection

from app.base.runtime import Runtime
from app.payments.state import Commission
from tests.support import add_asaas, asaas_event, balances, drain, expect, standings

ROOT = Path(__file__).parent.parent.parent
POINTS = sorted({
    point
    for path in (ROOT / "app").rglob("*.py")
    for point in re.findall(r'crash\.point\("([a-z.]+)"\)', path.read_text())
})  # fmt: skip
BODIES = [
    asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1").decode(),
    asaas_event("evt_2", "PAYMENT_CONFIRMED", "pay_1").decode(),
    asaas_event("evt_3", "PAYMENT_REFUNDED", "pay_1", refunds=[{"status": "DONE", "value": 49.9}]).decode(),
]


def shift(runtime: Runtime, crash_at: str | None) -> int:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RAZAO_")}
    if crash_at:
        environment["RAZAO_CRASH_AT"] = crash_at
    command = [sys.executable, "-m", "tests.faults.shift", runtime.app_url, runtime.owner_url, *BODIES]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=60).returncode


def test_the_steps_are_all_there() -> None:
    """Before reading, verified, stored; claimed, locked, posted, recorded, committed."""
    assert POINTS == [
        "webhook.read", "webhook.stored", "webhook.verified",
        "worker.claimed", "worker.committed", "worker.locked", "worker.posted", "worker.recorded",
    ]  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_at_each_step_changes_nothing_in_the_end(
    app: Flask, runtime: Runtime, conn: Connection, point: str
) -> None:
    endpoint = add_asaas(runtime)
    expect(
        endpoint,
        "order-1",
        provider_ref="pay_1",
        commissions=(Commission("ana", None, 1000),),
        grant=("joana", "curso"),
    )
    assert shift(runtime, point) == -signal.SIGKILL
    assert shift(runtime, None) == 0  # the provider sends what it got no answer for again, and more than that
    drain(runtime)
    assert [status for status, _ in sorted(standings(conn).values())] == ["applied", "applied", "duplicate"]
    assert set(balances(conn).values()) == {0}
    counts = "SELECT kind, count(*) FROM ledger.entry GROUP BY 1 ORDER BY 1"
    assert conn.execute(counts).fetchall() == [
        ("commission", 1), ("commission_reversal", 1), ("refund", 1), ("sale", 1),
    ]  # fmt: skip
    assert conn.execute("SELECT count(*) FROM intake.event").fetchone() == (3,)
    assert conn.execute("SELECT count(*) FROM payments.access_grant").fetchone() == (1,)
    told = "SELECT type, count(*) FROM outbox.message GROUP BY 1 ORDER BY 1"
    assert conn.execute(told).fetchall() == [("grant.created", 1), ("payment.paid", 1), ("payment.refunded", 1)]
