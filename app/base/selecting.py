"""Runs a SQLAlchemy Core select on the connection that a capability was given: lists with optional filters."""

from typing import Any, Final

from sqlalchemy import Select
from sqlalchemy.dialects.postgresql import psycopg as _psycopg

from app.base.db import Connection

_DIALECT: Final = _psycopg.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped


def select_all(conn: Connection, statement: Select[Any]) -> list[tuple[Any, ...]]:
    """Every row of the statement; values travel as parameters, never inside the text."""
    compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    # The text is made of tables and columns that our code names; psycopg gets the values beside it.
    return conn.execute(compiled.string, compiled.params, prepare=False).fetchall()
