"""The payments' tables as the lists with optional filters see them. Read-only: what writes is named SQL."""

from sqlalchemy import column, table

payment = table(
    "payment",
    *map(
        column,
        (
            "id", "reference", "endpoint_id", "provider_ref", "status", "amount", "currency", "refunded_amount",
            "wallet", "metadata", "paid_at", "created_at",
        ),
    ),
    schema="payments",
)  # fmt: skip
name = table("name", *map(column, ("value", "endpoint_id", "kind", "payment_id")), schema="payments")
access_grant = table(
    "access_grant", *map(column, ("id", "payment_id", "subject", "resource", "granted_at")), schema="payments"
)
