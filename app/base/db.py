"""The database as doors use it: one pool, and transactions that only doors open.

Flask-SQLAlchemy holds the engine and its pool; what money stands on is named SQL on the psycopg connection
beneath. Capabilities take that connection as their first argument, never keep it and never commit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy.exc
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import make_url

from app.base.errors import refusal_of

Connection = psycopg.Connection[tuple[Any, ...]]

db = SQLAlchemy()

APP_ROLE = "razao_app"


class DatabaseUnavailable(Exception):
    """The database cannot be reached; what was asked may be tried again later (intake answers 503)."""


def engine_url(url: str) -> str:
    """A libpq URL as SQLAlchemy's psycopg dialect wants it."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def engine_options(*, pool_size: int) -> dict[str, Any]:
    """The running application acts as APP_ROLE, whoever logged in: that role owns nothing (rule 5)."""
    return {
        "pool_size": pool_size,
        "max_overflow": pool_size,
        "pool_timeout": 5,
        "pool_use_lifo": True,
        "connect_args": {
            "options": f"-c role={APP_ROLE} -c timezone=UTC -c idle_in_transaction_session_timeout=60000",
            "application_name": "razao",
            "connect_timeout": 5,
            "keepalives_idle": 30,
        },
    }


@contextmanager
def transaction() -> Iterator[Connection]:
    """One transaction on a pooled connection: commits at the end, rolls back on any exception.

    A violated constraint that has a refusal (base/errors.py) is raised as that refusal, deferred ones included.
    """
    with _pooled() as conn:
        try:
            yield conn
            conn.commit()
        except psycopg.Error as error:
            _roll_back(conn)
            refusal = refusal_of(error)
            if refusal is None:
                raise
            raise refusal from error
        except BaseException:
            _roll_back(conn)
            raise


@contextmanager
def statements() -> Iterator[Connection]:
    """A pooled connection in autocommit: each statement is a transaction of its own, without the cost of BEGIN."""
    with _pooled() as conn:
        conn.autocommit = True
        try:
            yield conn
        finally:
            if not conn.closed:
                conn.autocommit = False


@contextmanager
def _pooled() -> Iterator[Connection]:
    try:
        pooled = db.engine.raw_connection()
    except (sqlalchemy.exc.OperationalError, sqlalchemy.exc.TimeoutError) as error:
        raise DatabaseUnavailable("no connection to the database") from error
    try:
        conn = pooled.driver_connection
        assert isinstance(conn, psycopg.Connection)
        yield conn
    except psycopg.OperationalError as error:
        if not pooled.driver_connection or not pooled.driver_connection.closed:
            raise  # a deadlock or a time-out: the connection is sound
        # The server went away: no connection of this pool can be trusted.
        pooled.invalidate(error)
        db.engine.dispose()
        raise DatabaseUnavailable("the connection to the database broke") from error
    finally:
        pooled.close()


def _roll_back(conn: Connection) -> None:
    if not conn.closed:
        conn.rollback()
