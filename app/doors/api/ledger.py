"""The ledger: entries with their postings, accounts with their balances, months."""

from typing import Any

from flask import Response

from app.base.db import statements
from app.base.errors import Refusal
from app.doors.api import asked, cursors, told
from app.doors.api.answering import answer, page
from app.doors.api.naming import payment_named
from app.doors.api.rendering import entry_json, instant_or_none, month
from app.doors.api.room import Room
from app.ledger import pages, reads
from app.ledger.pages import Account
from app.ledger.reads import Filter

room = Room("ledger", "Double entry that only grows.")


@room.get("/ledger/entries", query=asked.EntryFilter, answers=told.list_of(told.EntryTold))
def list_entries(query: dict[str, Any]) -> Response:
    """List entries, newest first"""
    limit, before = query["limit"], cursors.read("entries", query.get("cursor"))
    with statements() as conn:
        account = query.get("account")
        wanted = Filter(
            payment_id=payment_named(conn, query.get("payment")),
            account_ids=None if account is None else [one.id for one in pages.account(conn, account)],
            period=query.get("period"),
            kind=query.get("kind"),
        )
        found = reads.entries(conn, wanted, before=before, limit=limit + 1)
    return page(
        found,
        limit,
        items=lambda shown: [entry_json(one) for one in shown],
        after=lambda last: cursors.write("entries", last.id),
    )


@room.get("/ledger/accounts", query=asked.Page, answers=told.list_of(told.AccountTold))
def list_accounts(query: dict[str, Any]) -> Response:
    """List accounts, by code

    Balances are positive on the account's own side: debits for assets and expenses, credits for liabilities and income.
    """
    after = cursors.parts("accounts", query.get("cursor"), str, str)
    with statements() as conn:
        found = pages.accounts(conn, after=(str(after[0]), str(after[1])) if after else None, limit=query["limit"])
    return page(
        found,
        query["limit"],
        items=lambda shown: [_account_json(one) for one in shown],
        after=lambda last: cursors.write("accounts", last.code, last.currency),
    )


@room.get(
    "/ledger/accounts/<path:code>",
    query=asked.AccountChoice,
    answers=told.AccountTold,
    says={"code": "An account's code, such as `wallet:joana` or `sales`."},
)
def get_account(query: dict[str, Any], code: str) -> Response:
    """Look up an account

    Its balance is positive on the account's own side: what was debited for assets and expenses, what was credited for
    liabilities and income. Refusals: `account_not_found` (404), `currency_needed` (422, with the `currencies`).
    """
    with statements() as conn:
        found = pages.account(conn, code)
    wanted = query.get("currency")
    if wanted is not None:
        found = [one for one in found if one.currency == wanted]
    if not found:
        raise Refusal(
            "account_not_found", "No account of this code has been opened; see /api/v1/ledger/accounts.", status=404
        )
    if len(found) > 1:
        raise Refusal(
            "currency_needed", "This code has accounts in several currencies; say which: ?currency=BRL.", status=422,
            currencies=[one.currency for one in found],
        )  # fmt: skip
    return answer(_account_json(found[0]))


@room.get("/ledger/periods", query=asked.Page, answers=told.list_of(told.PeriodTold))
def list_periods(query: dict[str, Any]) -> Response:
    """List the competence months that have entries, newest first"""
    after = cursors.parts("periods", query.get("cursor"), str)
    with statements() as conn:
        found = pages.periods(conn)
    later = [(period, closed_at) for period, closed_at in found if after is None or month(period) < str(after[0])]
    return page(
        later[: query["limit"] + 1],
        query["limit"],
        items=lambda shown: [
            {
                "period": month(period),
                "status": "closed" if closed_at else "open",
                "closed_at": instant_or_none(closed_at),
            }
            for period, closed_at in shown
        ],
        after=lambda last: cursors.write("periods", month(last[0])),
    )


def _account_json(account: Account) -> dict[str, Any]:
    return {
        "code": account.code, "type": account.type, "currency": account.currency, "balance": account.balance,
    }  # fmt: skip
