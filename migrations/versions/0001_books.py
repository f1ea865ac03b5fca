"""Everything Razão keeps, and every rule that must hold even if the code is wrong: see 0001_books.sql."""

from app.base.migrating import run_sql_beside

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_sql_beside(__file__)
