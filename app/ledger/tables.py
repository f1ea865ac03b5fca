"""The ledger's tables as the lists with optional filters see them. Read-only: what writes is named SQL."""

from sqlalchemy import column, table

entry = table(
    "entry",
    *map(
        column,
        (
            "id", "kind", "amount", "currency", "period", "occurred_at", "payment_id", "event_id", "refund_id", "memo",
        ),
    ),
    schema="ledger",
)  # fmt: skip
posting = table("posting", *map(column, ("entry_id", "line", "account_id", "amount")), schema="ledger")
