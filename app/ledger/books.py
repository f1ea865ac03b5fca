"""Accounts, entries and postings as sets: opens accounts, holds balances, posts if absent.

Owns the shape of an entry (DESIGN section 5). Refuses nothing by itself: the rules are the database's
(migrations/versions/0001_books.sql), and each set is one statement (`post` in queries.sql).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.ledger")

SALES: Final = "sales"
FEES: Final = "psp-fees"
COMMISSIONS: Final = "commissions"
CHARGEBACKS: Final = "chargebacks"

_TYPE_BY_PREFIX: Final = {
    "psp": "asset",
    "receivable": "asset",
    "wallet": "liability",
    "partner": "liability",
    SALES: "income",
    FEES: "expense",
    COMMISSIONS: "expense",
    CHARGEBACKS: "expense",
}

AccountKey = tuple[str, str]  # (code, currency)


@dataclass(frozen=True, slots=True)
class Line:
    """One posting: an account's code and minor units, positive for debit."""

    account: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal entry with its postings. `id` comes from `take_entry_ids`; `amount` is signed as people read it."""

    id: int
    kind: str
    amount: int
    currency: str
    period: date
    occurred_at: datetime
    lines: tuple[Line, ...]
    payment_id: int | None = None
    event_id: int | None = None
    refund_id: int | None = None
    party: str = ""
    memo: str | None = None


def psp(slug: str) -> str:
    """The account of the money that lies with an endpoint's provider."""
    return f"psp:{slug}"


def wallet(owner: str) -> str:
    """The account of what we owe a wallet's owner."""
    return f"wallet:{owner}"


def receivable(owner: str) -> str:
    """The account of what a wallet's owner owes us, once a refund took more than the wallet held."""
    return f"receivable:{owner}"


def partner(name: str) -> str:
    """The account of the commissions we owe a partner."""
    return f"partner:{name}"


def account_type(code: str) -> str:
    """asset, liability, income or expense, by the code's prefix; KeyError for a code that DESIGN doesn't know."""
    return _TYPE_BY_PREFIX[code.partition(":")[0]]


def accounts(conn: Connection, wanted: Iterable[AccountKey]) -> dict[AccountKey, int]:
    """The ids of those accounts; the missing ones are opened."""
    keys = sorted(set(wanted))
    found = _find(conn, keys)
    missing = [key for key in keys if key not in found]
    if missing:
        columns = {"codes": [code for code, _ in missing], "currencies": [currency for _, currency in missing]}
        types = [account_type(code) for code, _ in missing]
        conn.execute(SQL["open_accounts"], {**columns, "types": types})
        conn.execute(SQL["open_balances"], columns)
        found |= _find(conn, missing)
    return found


def lock_balances(conn: Connection, account_ids: Iterable[int]) -> dict[int, int]:
    """What we owe on each of those accounts (credit positive), held until the transaction ends."""
    rows = conn.execute(SQL["lock_balances"], {"account_ids": sorted(account_ids)}).fetchall()
    return dict(rows)


def take_entry_ids(conn: Connection, count: int) -> list[int]:
    """That many fresh entry ids, ascending."""
    return [row[0] for row in conn.execute(SQL["take_entry_ids"], {"count": count}).fetchall()]


def post_many(conn: Connection, entries: Sequence[Entry]) -> set[int]:
    """Posts the entries that do not exist yet; returns the ids of those. Balances move in the same statement.

    Callers that touch balances have locked them (lock_balances), in the one order.
    """
    if not entries:
        return set()
    account_ids = accounts(conn, ((line.account, entry.currency) for entry in entries for line in entry.lines))
    postings = [
        (entry.id, number, account_ids[line.account, entry.currency], line.amount)
        for entry in entries
        for number, line in enumerate(entry.lines, start=1)
    ]
    rows = conn.execute(
        SQL["post"],
        {
            "id": [entry.id for entry in entries],
            "kind": [entry.kind for entry in entries],
            "amount": [entry.amount for entry in entries],
            "currency": [entry.currency for entry in entries],
            "period": [entry.period for entry in entries],
            "occurred_at": [entry.occurred_at for entry in entries],
            "payment_id": [entry.payment_id for entry in entries],
            "event_id": [entry.event_id for entry in entries],
            "refund_id": [entry.refund_id for entry in entries],
            "party": [entry.party for entry in entries],
            "memo": [entry.memo for entry in entries],
            "posting_entry": [posting[0] for posting in postings],
            "posting_line": [posting[1] for posting in postings],
            "posting_account": [posting[2] for posting in postings],
            "posting_amount": [posting[3] for posting in postings],
        },
    ).fetchall()
    return {row[0] for row in rows}


def fold_movements(conn: Connection, limit: int = 10_000) -> None:
    """Adds up appended movements, at most `limit` rows at a time (housekeeping; changes no balance)."""
    conn.execute(SQL["fold_movements"], {"limit": limit})


def _find(conn: Connection, keys: Sequence[AccountKey]) -> dict[AccountKey, int]:
    codes, currencies = [code for code, _ in keys], [currency for _, currency in keys]
    rows = conn.execute(SQL["find_accounts"], {"codes": codes, "currencies": currencies}).fetchall()
    return {(code, currency): account_id for code, currency, account_id in rows}
