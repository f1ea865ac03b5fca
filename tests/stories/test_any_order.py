"""Any sequence of deliveries, in any order, with any repetition and any interleaving of refunds, ends in the same ledger.

What one payment's provider says is fixed; hypothesis chooses the order, the repeats and when the worker has its turn.
The expected end is computed here from the facts alone, without looking at the code under test.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from app.base.db import statements
from app.base.runtime import Runtime
from app.doors.worker.loop import work_once
from app.intake import events as intake
from app.intake.events import Arrival
from app.payments.state import Commission
from app.providers.contract import Call, Fact, Reading
from tests.support import add_asaas, drain, expect

AMOUNT, SHARE = 10_007, 999  # a prime amount and an odd share, so that roundings show
START = datetime(2026, 8, 15, 12, tzinfo=UTC)
_numbers: Iterator[int] = itertools.count(1)


@dataclass(frozen=True)
class Tale:
    """What a provider says of one payment, and where the money is in the end."""

    refunds: tuple[int, ...]  # each told by its own event with an id
    totals: bool  # and also by cumulative totals
    dispute: bool
    won: bool


@st.composite
def tales(draw: st.DrawFn) -> Tale:
    parts = draw(st.lists(st.integers(1, AMOUNT), max_size=3))
    refunds = tuple(part for index, part in enumerate(parts) if sum(parts[: index + 1]) <= AMOUNT)
    dispute = not refunds and draw(st.booleans())
    return Tale(refunds, draw(st.booleans()), dispute, dispute and draw(st.booleans()))


def readings(tale: Tale, number: int) -> list[Reading]:
    """Every event of the tale; the pair of the sale first."""
    ref = f"pi_{number}"

    def reading(key: str, fact: Fact, hours: int, **more: object) -> Reading:
        return Reading(
            f"{key}-{number}", key, fact, references=(ref,), currency="BRL",
            occurred_at=START + timedelta(hours=hours), **more,  # type: ignore[arg-type]
        )  # fmt: skip

    told = [reading("intent", Fact.PAID, 0, amount=AMOUNT), reading("charge", Fact.PAID, 0, amount=AMOUNT)]
    for index, part in enumerate(tale.refunds):
        for said in ("created", "updated"):  # one refund, two event types
            name = f"re_{number}_{index}"
            told.append(reading(f"refund{index}.{said}", Fact.REFUNDED, 1 + index, amount=part, refund_id=name))
        if tale.totals:
            total = sum(tale.refunds[: index + 1])
            told.append(reading(f"total{index}", Fact.REFUNDED, 1 + index, amount=total, cumulative=True))
    if tale.dispute:
        told.append(reading("withdrawn", Fact.CHARGEBACK_OPENED, 5, amount=AMOUNT, dispute_id=f"dp_{number}"))
    if tale.won:
        told.append(reading("reinstated", Fact.CHARGEBACK_REVERSED, 9, amount=AMOUNT, dispute_id=f"dp_{number}"))
    return told


def expected(tale: Tale) -> dict[str, int]:
    refunded, lost = sum(tale.refunds), AMOUNT if tale.dispute and not tale.won else 0
    commission = AMOUNT * SHARE // 10_000
    kept = commission - commission * refunded // AMOUNT
    positions = {
        "psp:loja": AMOUNT - refunded - lost,
        "sales": refunded - AMOUNT,
        "chargebacks": lost,
        "commissions": kept,
        "partner:ana": -kept,
    }
    return {account: position for account, position in positions.items() if position}


def positions(conn: Connection, payment_id: int) -> dict[str, int]:
    rows = conn.execute(
        "SELECT a.code, sum(p.amount)::bigint FROM ledger.entry e JOIN ledger.posting p ON p.entry_id = e.id "
        "JOIN ledger.account a ON a.id = p.account_id WHERE e.payment_id = %s GROUP BY 1 HAVING sum(p.amount) <> 0",
        [payment_id],
    ).fetchall()
    return dict(rows)


@pytest.fixture
def endpoint(app: Flask, runtime: Runtime) -> int:
    return add_asaas(runtime)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tale=tales(), data=st.data())
def test_any_order_ends_in_the_same_ledger(
    app: Flask, runtime: Runtime, conn: Connection, endpoint: int, tale: Tale, data: st.DataObject
) -> None:
    number = next(_numbers)
    told = readings(tale, number)
    repeats = data.draw(st.lists(st.sampled_from(told), max_size=4))
    order = data.draw(st.permutations(told + repeats))
    turns = data.draw(st.sets(st.integers(0, len(order))))
    registered_at = data.draw(st.integers(0, len(order)))
    payment_id = 0
    for position, reading in enumerate([*order, None]):
        if position == registered_at:
            payment_id = expect(
                endpoint, f"order-{number}", AMOUNT, provider_ref=f"pi_{number}",
                commissions=(Commission("ana", None, SHARE),),
            )  # fmt: skip
        if position in turns:
            work_once(runtime, limit=data.draw(st.integers(1, 3)))
        if reading is not None:
            call = Call(b"{}", (), (), datetime.now(UTC))
            with statements() as own:
                intake.receive(own, [Arrival(endpoint, call, [reading], "test", None)])
    drain(runtime)
    assert positions(conn, payment_id) == expected(tale)
    undecided = "SELECT count(*) FROM intake.standing WHERE status NOT IN ('applied', 'duplicate') AND payment_id = %s"
    assert conn.execute(undecided, [payment_id]).fetchone() == (0,)
