"""Intake's tables as the lists with optional filters see them. Read-only: what writes is named SQL."""

from sqlalchemy import column, table

event = table(
    "event",
    *map(column, ("id", "endpoint_id", "event_key", "type", "fact", "amount", "currency", "received_at")),
    schema="intake",
)
standing = table(
    "standing",
    *map(
        column,
        (
            "event_id", "status", "reason", "payment_id", "caused_by", "entry_id", "detail", "redeliveries",
            "processed_at",
        ),
    ),
    schema="intake",
)  # fmt: skip
endpoint = table("endpoint", *map(column, ("id", "slug", "provider")), schema="intake")
delivery = table("delivery", *map(column, ("id", "event_id", "contradicts")), schema="intake")
queue = table("queue", column("event_id"), schema="intake")
