"""Keeps each proof in safeguards.report, where the console reads the last one (pages.py)."""

from typing import Literal

from psycopg.types.json import Jsonb

from app.base.db import Connection
from app.safeguards.report import Report
from app.safeguards.trying import SQL


def save(conn: Connection, kind: Literal["doctor", "verify"], report: Report) -> None:
    """Appends the report."""
    conn.execute(SQL["save_report"], {"kind": kind, "holds": report.holds, "result": Jsonb(report.as_json())})
