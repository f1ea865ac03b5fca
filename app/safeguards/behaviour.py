"""Rules that are kept by how we write, not by a constraint alone: tried with the statements that the service runs.

Rule 7: balances move with their postings. Rule 8: a debit is one conditional update.
Rule 10: a message waits for the commit.
"""

from datetime import UTC, date, datetime

from app.base.db import Connection
from app.ledger import books
from app.ledger.books import Entry, Line, post_many
from app.safeguards.report import Finding
from app.safeguards.trying import SQL

_WALLET_HOLDS = 4990  # scene.sql
_MONTH = date(1, 1, 1)


def try_behaviour(conn: Connection, other: Connection) -> list[Finding]:
    """Inside `trying.stage`, as the owner; `other` is a second connection, outside of that transaction."""
    found = []
    for tried in (_balances_follow, _debit_is_conditional):
        with conn.transaction(force_rollback=True):
            found.append(tried(conn))
    return [*found, _message_waits(conn, other)]


def _balances_follow(conn: Connection) -> Finding:
    """Posts an effect twice, as the confirmation does."""
    name, failed = "balances_follow_postings", []
    before = _balances(conn)
    for entry_id, expected in ((-10, {-10}), (-11, set())):
        entry = Entry(
            id=entry_id, kind="adjustment", amount=100, currency="BRL", period=_MONTH,
            occurred_at=datetime(2026, 1, 1, tzinfo=UTC), payment_id=-1, party="razao-doctor",
            lines=(Line("psp:razao-doctor", 100), Line("wallet:razao-doctor", -100)),
        )  # fmt: skip
        posted = post_many(conn, [entry])
        if posted != expected:
            failed.append(f"posting the effect as entry {entry_id} wrote {sorted(posted)}, not {sorted(expected)}")
    after = _balances(conn)
    moved = tuple(now - then for now, then in zip(after, before, strict=True))
    if moved != (100, 100):
        failed.append(
            f"an effect of 100, posted twice, moved the wallet by {moved[0]} and the provider's account by {moved[1]}"
        )
    if failed:
        sentence = (
            "An entry and the balances it moves can come apart: what a wallet shows would not be what is in the books."
        )
        return Finding(name, 7, False, sentence, tuple(failed))
    return Finding(name, 7, True, "Balances move in the statement that posts, once for each effect.")


def _debit_is_conditional(conn: Connection) -> Finding:
    """Takes one cent more than the wallet holds, then all of it."""
    name = "debit_is_conditional"
    withdraw = books.SQL["withdraw"]
    beyond = conn.execute(withdraw, {"account_id": -2, "amount": _WALLET_HOLDS + 1}).fetchone()
    everything = conn.execute(withdraw, {"account_id": -2, "amount": _WALLET_HOLDS}).fetchone()
    if beyond is not None or everything != (0,):
        detail = f"one cent too much gave {beyond}, all of it gave {everything}"
        return Finding(
            name, 8, False, "A purchase can take more from a wallet than it holds, or not all of it.", (detail,)
        )
    return Finding(name, 8, True, "A debit takes what the wallet holds and not a cent more, in one statement.")


def _message_waits(conn: Connection, other: Connection) -> Finding:
    """The scene owes a message for its payment, in a transaction that never commits: others look for it."""
    name, about = "message_waits_for_commit", {"payment_id": -1}
    inside, outside = (one.execute(SQL["messages_about"], about).fetchall()[0][0] for one in (conn, other))
    if (inside, outside) != (1, 0):
        detail = f"the transaction sees {inside} message(s), others see {outside}"
        return Finding(name, 10, False, "The shop could be told of a payment that is then not booked.", (detail,))
    return Finding(name, 10, True, "A message is seen by nobody before the commit of what it tells.")


def _balances(conn: Connection) -> tuple[int, int]:
    wallet, psp = conn.execute(SQL["balance_of_scene"]).fetchall()[0]
    return wallet, psp
