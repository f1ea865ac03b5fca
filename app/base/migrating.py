"""Migrations: run each revision's plain .sql file as the owner, and compare a database with this code.

Alembic (through Flask-Migrate) keeps the order; the SQL is for people to read. It runs on the raw psycopg
connection: SQLAlchemy's text() trips over `:word` in a comment, and exec_driver_sql rewrites `%s`.
"""

from pathlib import Path
from typing import Final

import flask_migrate
import psycopg
from alembic import op
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import sql
from sqlalchemy import make_url

from app.base.db import APP_ROLE
from app.base.errors import ConfigurationError
from app.base.paths import shipped

# Holds other migrators off while one works.
ADVISORY_LOCK: Final = 0x52617A616F


def run_sql_beside(revision_file: str) -> None:
    """Executes the .sql file that stands beside a revision's .py file."""
    text = Path(revision_file).with_suffix(".sql").read_text(encoding="utf-8")
    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    driver.execute(text.encode())


def head() -> str:
    """The revision that this code expects."""
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    revision = ScriptDirectory.from_config(config).get_current_head()
    assert revision is not None
    return revision


def upgrade(owner_url: str, app_url: str) -> None:
    """Brings the database to this code's revision and lets the application's login act as its role.

    Runs inside an app context whose config has RAZAO_OWNER_URL. Idempotent; two at once wait for each other.
    """
    try:
        with psycopg.connect(owner_url, autocommit=True) as conn:
            conn.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
            found = current(conn)
            _refuse_if_ahead(found)
            if found != head():
                flask_migrate.upgrade(directory=str(shipped("migrations")))
                conn.execute(sql.SQL("GRANT SELECT ON public.alembic_version TO {}").format(sql.Identifier(APP_ROLE)))
            _let_act_as_app(conn, app_url)
    except psycopg.OperationalError as error:
        raise ConfigurationError(f"cannot reach the database as its owner: {str(error).strip()}") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            f"the migration's login may not do this: {error.diag.message_primary}; "
            f"give RAZAO_MIGRATION_DATABASE_URL a login with CREATEROLE that owns the database"
        ) from error


def check_current(app_url: str) -> None:
    """Raises ConfigurationError when the database is behind or ahead of this code."""
    try:
        with psycopg.connect(app_url, autocommit=True, connect_timeout=10) as conn:
            found = current(conn)
    except psycopg.OperationalError as error:
        raise ConfigurationError(f"cannot reach the database: {str(error).strip()}") from error
    _refuse_if_ahead(found)
    if found != head():
        raise ConfigurationError(
            f"the database is at revision {found or 'none'}, behind this code ({head()}): run razao migrate"
        )


def current(conn: psycopg.Connection[tuple[object, ...]]) -> str | None:
    """The revision that the database is at; None when it has none."""
    row = conn.execute("SELECT to_regclass('public.alembic_version') IS NOT NULL").fetchone()
    if not (row and row[0]):
        return None
    found = conn.execute("SELECT version_num FROM public.alembic_version").fetchone()
    return str(found[0]) if found else None


def _refuse_if_ahead(found: str | None) -> None:
    if found is not None and found > head():
        raise ConfigurationError(f"the database is at revision {found}, ahead of this code ({head()}): upgrade razao")


def _let_act_as_app(conn: psycopg.Connection[tuple[object, ...]], app_url: str) -> None:
    """Both logins may act as the application's role: the application's own, and the owner (whose default it is)."""
    for login in {make_url(app_url).username, conn.info.user} - {None}:
        member = conn.execute("SELECT pg_has_role(%s, %s, 'SET')" if conn.info.server_version >= 160000
                              else "SELECT pg_has_role(%s, %s, 'MEMBER')", [login, APP_ROLE]).fetchone()  # fmt: skip
        if not (member and member[0]):
            conn.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(APP_ROLE), sql.Identifier(str(login))))
