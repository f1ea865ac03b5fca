"""Wallets: what an owner has, how it came about, and spending from it."""

from typing import Any, Final

from flask import Response

from app.access.audit import record
from app.base.clock import now
from app.base.db import Connection, statements
from app.base.errors import Refusal
from app.base.ids import Kind, show, show_or_none
from app.doors.api import asked, caller, cursors, told
from app.doors.api.answering import act, answer, page
from app.doors.api.rendering import instant, runtime
from app.doors.api.room import Room
from app.ledger import reads
from app.ledger.books import wallet
from app.ledger.reads import Line, Wallet
from app.ledger.wallets import debit

room = Room("wallets", "What owners have with us.")
_OWNER: Final = {"owner": "Whose wallet, as payments name it."}


@room.get("/wallets/<path:owner>", answers=told.WalletTold, says=_OWNER)
def get_wallet(owner: str) -> Response:
    """Look up a wallet

    A payment with that wallet opens it. Refusals: `wallet_not_found` (404).
    """
    with statements() as conn:
        found = _wallet(conn, owner)
    return answer({"owner": found.owner, "balance": found.balance, "currency": found.currency})


@room.get("/wallets/<path:owner>/statement", query=asked.Page, answers=told.list_of(told.LineTold), says=_OWNER)
def get_statement(query: dict[str, Any], owner: str) -> Response:
    """A wallet's statement, newest first, with the balance after each movement"""
    where = cursors.parts("statement", query.get("cursor"), int, int)
    below = (int(where[0]), int(where[1])) if where else None
    with statements() as conn:
        _wallet(conn, owner)
        found = reads.statement(conn, owner, below=below, limit=query["limit"] + 1)
    return page(
        found,
        query["limit"],
        items=lambda shown: [_line_json(one) for one in shown],
        after=lambda last: cursors.write("statement", last.entry_id, last.balance - last.amount),
    )


@room.post("/wallets/<path:owner>/debits", takes=asked.NewDebit, answers=told.DebitTold, status=201, says=_OWNER)
def debit_wallet(body: dict[str, Any], owner: str) -> Response:
    """Pay a purchase from a wallet

    Never more than it holds. Refusals: `wallet_not_found` (404), `insufficient_balance`, `entry_exists` (409: the
    wallet has paid this reference already).
    """

    def work(conn: Connection) -> dict[str, Any]:
        found = _wallet(conn, owner)
        entry_id, balance = debit(
            conn,
            owner=owner,
            amount=body["amount"],
            reference=body["reference"],
            memo=body.get("memo"),
            at=now(),
            zone=runtime().settings.timezone,
        )
        shown = show(Kind.ENTRY, entry_id)
        record(
            conn,
            caller.act(body.get("memo")),
            "wallet.debit",
            wallet(owner),
            {"entry": shown, "amount": body["amount"]},
        )
        return {
            "entry_id": shown,
            "owner": owner,
            "amount": body["amount"],
            "currency": found.currency,
            "balance": balance,
            "reference": body["reference"],
            "memo": body.get("memo"),
        }

    return act(work, 201)


def _wallet(conn: Connection, owner: str) -> Wallet:
    found = reads.find_wallet(conn, owner)
    if found is None:
        raise Refusal(
            "wallet_not_found", "There is no wallet of this owner; a payment with that wallet opens it.", status=404
        )
    return found


def _line_json(line: Line) -> dict[str, Any]:
    return {
        "entry_id": show(Kind.ENTRY, line.entry_id),
        "kind": line.kind,
        "amount": line.amount,
        "balance": line.balance,
        "occurred_at": instant(line.occurred_at),
        "memo": line.memo,
        "payment_id": show_or_none(Kind.PAYMENT, line.payment_id),
    }
