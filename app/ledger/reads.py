"""The books: entries with their postings, and a wallet's statement with its running balance. Writes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import Select, select, union_all
from sqlalchemy.dialects.postgresql import distinct_on

from app.base.db import Connection
from app.base.selecting import select_all
from app.base.sql import Queries
from app.ledger import tables
from app.ledger.books import wallet

SQL: Final = Queries(__package__ or "app.ledger", "reads.sql")

MOST_OF_A_PAYMENT: Final = 200  # entries told with one payment; the list of entries has them all
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Posting:
    """One line of an entry: minor units, positive for debit."""

    account: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its postings; `amount` is signed as people read it."""

    id: int
    kind: str
    amount: int
    currency: str
    period: date
    occurred_at: datetime
    payment_id: int | None
    event_id: int | None
    refund_id: int | None
    memo: str | None
    postings: list[Posting] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries a list has; None does not narrow. `account_ids`: of one code, one a currency."""

    payment_id: int | None = None
    account_ids: Sequence[int] | None = None
    period: date | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Wallet:
    """A wallet: what we owe its owner."""

    account_id: int
    owner: str
    currency: str
    balance: int


@dataclass(frozen=True, slots=True)
class Line:
    """One movement of a wallet: signed as its owner reads it, with the balance after it."""

    entry_id: int
    kind: str
    amount: int
    balance: int
    occurred_at: datetime
    memo: str | None
    payment_id: int | None


def entries(conn: Connection, wanted: Filter, *, before: int | None, limit: int) -> list[Entry]:
    """Newest first, below the id `before`, at most `limit`, with postings."""
    of = tables.entry.c
    if wanted.account_ids is None:
        statement = _narrowed(select(*of), wanted, before).order_by(of.id.desc()).limit(limit)
        return _with_postings(conn, [Entry(*row) for row in select_all(conn, statement)])
    if not wanted.account_ids:
        return []
    # Along each account's own index, which ends in the entry's id as the lists do; an entry may touch an account twice.
    posting = tables.posting.c
    each = [
        _narrowed(select(*of), wanted, before)
        .join_from(tables.posting, tables.entry, posting.entry_id == of.id)
        .where(posting.account_id == account_id, posting.entry_id < (before or _LARGEST))
        .ext(distinct_on(posting.entry_id))
        .order_by(posting.entry_id.desc())
        .limit(limit)
        .subquery()
        for account_id in wanted.account_ids
    ]
    found = union_all(*(select(one) for one in each)).subquery()
    statement = select(found).order_by(found.c.id.desc()).limit(limit)
    return _with_postings(conn, [Entry(*row) for row in select_all(conn, statement)])


def of_payments(conn: Connection, payment_ids: Iterable[int]) -> list[Entry]:
    """The entries of those payments, first to last, at most MOST_OF_A_PAYMENT of each, with postings."""
    wanted = {"payment_ids": sorted(payment_ids), "most": MOST_OF_A_PAYMENT}
    return _with_postings(conn, [Entry(*row) for row in conn.execute(SQL["of_payments"], wanted).fetchall()])


def find_wallet(conn: Connection, owner: str) -> Wallet | None:
    """The wallet of that owner, once a payment opened it."""
    row = conn.execute(SQL["wallet"], {"code": wallet(owner)}).fetchone()
    return Wallet(row[0], owner, row[1], row[2]) if row else None


def statement(conn: Connection, owner: str, *, below: tuple[int, int] | None, limit: int) -> list[Line]:
    """A wallet's movements, newest first, at most `limit`.

    `below`: (entry, balance before it) where the page before ended; None starts at the newest, with the balance of now.
    The wallet's entries take their ids under its lock, so their order is the order of its balances.
    """
    entry_id, balance = below or (_LARGEST, None)
    wanted = {"code": wallet(owner), "before": entry_id, "limit": limit}
    lines = []
    for number, kind, amount, start, occurred_at, memo, payment_id in conn.execute(SQL["statement"], wanted).fetchall():
        after = start if balance is None else balance
        lines.append(Line(number, kind, amount, after, occurred_at, memo, payment_id))
        balance = after - amount
    return lines


def _narrowed(found: Select[Any], wanted: Filter, before: int | None) -> Select[Any]:
    of = tables.entry.c
    if wanted.payment_id is not None:
        found = found.where(of.payment_id == wanted.payment_id)
    if wanted.period is not None:
        found = found.where(of.period == wanted.period)
    if wanted.kind is not None:
        found = found.where(of.kind == wanted.kind)
    return found if before is None else found.where(of.id < before)


def _with_postings(conn: Connection, found: list[Entry]) -> list[Entry]:
    by_id = {one.id: one for one in found}
    for entry_id, account, amount in conn.execute(SQL["postings"], {"entry_ids": sorted(by_id)}).fetchall():
        by_id[entry_id].postings.append(Posting(account, amount))
    return found
