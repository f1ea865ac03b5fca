"""What the console asks of the ledger beyond reads.py: an entry's page, accounts with their balance, months."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import column, select, table

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.ledger", "pages.sql")
_ABOVE_ALL: Final = 2**63 - 1

_account = table("account", *map(column, "id code type currency created_at".split()), schema="ledger")


@dataclass(frozen=True, slots=True)
class Posting:
    """One line of an entry: positive for debit."""

    account: str
    type: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its postings."""

    id: int
    kind: str
    amount: int
    currency: str
    period: date
    occurred_at: datetime
    recorded_at: datetime
    payment_id: int | None
    event_id: int | None
    refund_id: int | None
    party: str
    memo: str | None
    postings: list[Posting] = field(default_factory=list)

    @property
    def sum(self) -> int:
        """The sum of its postings: zero, and shown."""
        return sum(posting.amount for posting in self.postings)

    @property
    def debited(self) -> int:
        """The sum of its debits, which its credits equal."""
        return sum(posting.amount for posting in self.postings if posting.amount > 0)


@dataclass(frozen=True, slots=True)
class Account:
    """An account; `debit` is its balance with debits positive."""

    id: int
    code: str
    type: str
    currency: str
    created_at: datetime
    debit: int

    @property
    def balance(self) -> int:
        """As people read it: what we owe and what we earned are positive."""
        return -self.debit if self.type in {"liability", "income"} else self.debit


@dataclass(frozen=True, slots=True)
class Line:
    """A posting on its account's page."""

    entry_id: int
    kind: str
    period: date
    occurred_at: datetime
    payment_id: int | None
    memo: str | None
    amount: int


def entry(conn: Connection, entry_id: int) -> Entry | None:
    """The entry of that id, with its postings."""
    row = conn.execute(SQL["entry"], {"entry_id": entry_id}).fetchone()
    return _with_postings(conn, [Entry(*row)])[0] if row else None


def of_payment(conn: Connection, payment_id: int) -> list[Entry]:
    """The entries of a payment, first to last, with their postings."""
    rows = conn.execute(SQL["of_payment"], {"payment_id": payment_id}).fetchall()
    return _with_postings(conn, [Entry(*row) for row in rows])


def accounts(conn: Connection, *, after: tuple[str, str] | None, limit: int) -> list[Account]:
    """By code, after (code, currency); one more than `limit` tells that there are more."""
    columns = _account.c
    statement = select(*columns).order_by(columns.code, columns.currency).limit(limit + 1)
    if after:
        code, currency = after
        later = columns.code > code
        statement = statement.where(later | ((columns.code == code) & (columns.currency > currency)))
    return _with_balances(conn, select_all(conn, statement))


def account(conn: Connection, code: str) -> list[Account]:
    """The accounts of that code, one a currency."""
    return _with_balances(conn, conn.execute(SQL["account"], {"code": code}).fetchall())


def account_page(conn: Connection, account_id: int, *, before: int | None, limit: int) -> list[Line]:
    """The account's postings, newest first; one more than `limit` tells that there are more."""
    wanted = {"account_id": account_id, "before": before or _ABOVE_ALL, "limit": limit + 1}
    return [Line(*row) for row in conn.execute(SQL["account_page"], wanted).fetchall()]


def periods(conn: Connection) -> list[tuple[date, datetime | None]]:
    """(month, when it was closed) of the months with entries, newest first."""
    return [(row[0], row[1]) for row in conn.execute(SQL["periods"]).fetchall()]


def recorded_since(conn: Connection, since: datetime) -> list[tuple[str, str, int, int]]:
    """(kind, currency, entries, their sum)."""
    rows = conn.execute(SQL["recorded_since"], {"since": since}).fetchall()
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def of_party(conn: Connection, text: str) -> list[tuple[str, str]]:
    """(code, currency) of the accounts called so, or of a wallet, partner or endpoint called so."""
    return [(row[0], row[1]) for row in conn.execute(SQL["of_party"], {"text": text}).fetchall()]


def open_month(conn: Connection, period: date) -> date:
    """The month in which a fact of that month would be posted."""
    row = conn.execute(SQL["open_month"], {"period": period}).fetchone()
    assert row is not None
    month: date = row[0]
    return month


def is_entry(conn: Connection, entry_id: int) -> bool:
    """Whether there is such an entry."""
    return conn.execute(SQL["exists"], {"entry_id": entry_id}).fetchone() is not None


def _with_postings(conn: Connection, found: Sequence[Entry]) -> list[Entry]:
    by_id = {one.id: one for one in found}
    if by_id:
        rows = conn.execute(SQL["postings"], {"entry_ids": sorted(by_id)}).fetchall()
        for entry_id, code, kind, amount in rows:
            by_id[entry_id].postings.append(Posting(code, kind, amount))
    return list(found)


def _with_balances(conn: Connection, rows: Iterable[tuple[Any, ...]]) -> list[Account]:
    found = list(rows)
    if not found:
        return []
    held: dict[int, int] = dict(conn.execute(SQL["balances"], {"account_ids": [row[0] for row in found]}).fetchall())
    return [Account(row[0], row[1], row[2], row[3], row[4], held.get(row[0], 0)) for row in found]
