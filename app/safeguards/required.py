"""Columns that must never be empty: each is tried, with a copy of a row that lacks it.

A posting without an amount would pass every sum; an entry without a period would be in no month.
"""

from typing import Final

from psycopg import sql
from psycopg.types.json import Jsonb

from app.base.db import Connection
from app.safeguards.report import Finding
from app.safeguards.trying import SCHEMAS, SQL, attempt

_NOT_NULL_VIOLATION: Final = "23502"

# What may be empty; every other column of every table is required.
MAY_BE_EMPTY: Final[dict[str, frozenset[str]]] = {
    table: frozenset(columns.split())
    for table, columns in {
        "access.api_key": "revoked_at",
        "access.audit": "reason remote_address",
        "access.idempotency": "status answer",
        "access.operator": "disabled_at",
        "intake.decision": "payment_id caused_by entry_id",
        "intake.delivery": "remote_address body headers",
        "intake.endpoint": "url_token disabled_at",
        "intake.event": "merchant_reference amount currency fee occurred_at provider_refund_id dispute_id account "
        "unreadable review",
        "intake.rejection": "remote_address",
        "intake.secret": "retired_at",
        "intake.standing": "payment_id caused_by entry_id",
        "ledger.balance": "floor",
        "ledger.entry": "payment_id event_id refund_id memo",
        "outbox.message": "payment_id delivered_at",
        "payments.chargeback": "dispute_id opened_event reversed_event reversed_at",
        "payments.commission": "amount basis_points",
        "payments.name": "payment_id",
        "payments.payment": "provider_ref wallet grant_subject grant_resource paid_at paid_by_event",
        "payments.refund": "reason event_id",
    }.items()
}
_COPY_WITH: Final = sql.SQL(
    "INSERT INTO {table} OVERRIDING SYSTEM VALUE"
    " SELECT (jsonb_populate_record(r, {changes})).* FROM {table} AS r LIMIT 1"
)


def name_for(table: str) -> str:
    """The finding's name for a table."""
    return f"required columns of {table}"


def try_required(conn: Connection) -> list[Finding]:
    """One finding for each table. Inside `trying.stage`, as the owner: the scene has a row in each."""
    tables = conn.execute(SQL["columns"], {"schemas": list(SCHEMAS)}).fetchall()
    return [_finding(conn, table, columns) for table, columns in tables]


def _finding(conn: Connection, table: str, columns: list[str]) -> Finding:
    failed = []
    for column in columns:
        if column in MAY_BE_EMPTY.get(table, ()):
            continue
        statement = _COPY_WITH.format(table=sql.Identifier(*table.split(".")), changes=sql.Placeholder("changes"))
        refused = attempt(conn, lambda: conn.execute(statement, {"changes": Jsonb({column: None})}))  # noqa: B023
        if (refused.sqlstate, refused.column) != (_NOT_NULL_VIOLATION, column):
            failed.append(f"a row without {column} -> {refused}")
    if failed:
        return Finding(
            name_for(table),
            None,
            False,
            f"{table} takes rows that lack what every sum and report needs.",
            tuple(failed),
        )
    return Finding(name_for(table), None, True, f"{table} refuses a row that lacks a column it must have.")
