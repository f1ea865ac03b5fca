"""${message}: see the .sql file of the same name."""

from app.base.migrating import run_sql_beside

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    run_sql_beside(__file__)
