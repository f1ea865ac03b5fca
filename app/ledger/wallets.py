"""Spending from a wallet: one conditional update decides (rule 8), and its entry is posted with it."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

from app.base.clock import month_of
from app.base.db import Connection
from app.base.errors import Refusal
from app.ledger.books import SALES, SQL, accounts, take_entry_ids, wallet


def debit(
    conn: Connection, *, owner: str, amount: int, reference: str, memo: str | None, at: datetime, zone: ZoneInfo
) -> tuple[int, int]:
    """Takes `amount` minor units from the wallet for a purchase; returns (entry id, balance left).

    The same reference of one wallet debits once. Refusals: wallet_not_found (404), insufficient_balance,
    entry_exists (both 409).
    """
    row = conn.execute(SQL["find_wallet"], {"code": wallet(owner)}).fetchone()
    if row is None:
        raise Refusal(
            "wallet_not_found", f"There is no wallet of {owner!r}; a payment with that wallet opens it.", status=404
        )
    account_id, currency = row
    left = conn.execute(SQL["withdraw"], {"account_id": account_id, "amount": amount}).fetchone()
    if left is None:
        raise Refusal("insufficient_balance", "The wallet's balance does not reach this amount.")
    [entry_id] = take_entry_ids(conn, 1)
    conn.execute(
        SQL["post_withdrawn"],
        {
            "id": entry_id,
            "amount": amount,
            "currency": currency,
            "period": month_of(at, zone),
            "occurred_at": at,
            "party": json.dumps([owner, reference]),  # neither may run into the other
            "memo": memo or reference,
            "wallet": account_id,
            "sales": accounts(conn, [(SALES, currency)])[SALES, currency],
        },
    )
    return entry_id, left[0]
