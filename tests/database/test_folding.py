"""Folding adds up what batches appended, as the application's own role, and changes no balance."""

from flask import Flask
from psycopg import Connection

from app.base.clock import now
from app.base.db import transaction
from app.ledger.books import Entry, Line, fold_movements, post_many, take_entry_ids


def test_folding_leaves_one_row_for_each_account_and_month(app: Flask, conn: Connection) -> None:
    for number in range(3):
        with transaction() as own:
            [entry_id] = take_entry_ids(own, 1)
            lines = (Line("psp:loja", 100), Line("sales", -100))
            month = now().date().replace(day=1)
            post_many(own, [Entry(entry_id, "adjustment", 100, "BRL", month, now(), lines, party=f"x{number}")])
    rows = "SELECT count(*), sum(debit) FILTER (WHERE debit > 0), sum(postings) FROM ledger.movement"
    assert conn.execute(rows).fetchone() == (6, 300, 6)
    with transaction() as own:
        fold_movements(own)
    assert conn.execute(rows).fetchone() == (2, 300, 6)
