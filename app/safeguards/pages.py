"""What the console asks of the safeguards: the last proof of each kind. Reads only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.safeguards", "pages.sql")
KINDS: Final = ("doctor", "verify")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the doctor or of verify."""

    id: int
    kind: str
    holds: bool
    result: Any
    at: datetime


def last_reports(conn: Connection) -> dict[str, Report]:
    """Kind -> its last report, for the kinds that ever ran."""
    return {row[1]: Report(*row) for row in conn.execute(SQL["last_reports"]).fetchall()}
