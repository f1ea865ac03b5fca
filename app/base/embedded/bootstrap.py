"""The roles and the database that Razão needs, each made if it is absent.

Asked at every start, so that a first start that was cut off anywhere is finished by the next.
"""

from pathlib import Path
from typing import Final

import psycopg

from app.base.embedded.account import EmbeddedError

DATABASE: Final = "razao"
OWNER: Final = "razao_owner"  # migrates: owns the schema, makes the group role and template databases
SERVICE: Final = "razao_service"  # serves: owns nothing; a migration makes it a member of razao_app

_PRESENT: Final = (
    "SELECT array(SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname = ANY (%s)),"
    " EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = %s)"
)


def bootstrap(superuser_url: str, log: Path) -> None:
    """Make what is absent."""
    try:
        with psycopg.connect(superuser_url, autocommit=True, connect_timeout=10, sslmode="disable") as conn:
            row = conn.execute(_PRESENT, ([OWNER, SERVICE], DATABASE)).fetchone()
            assert row is not None
            roles, database = row
            if OWNER not in roles:
                conn.execute("CREATE ROLE razao_owner LOGIN CREATEROLE CREATEDB")
            if SERVICE not in roles:
                conn.execute("CREATE ROLE razao_service LOGIN")
            if not database:
                conn.execute("CREATE DATABASE razao OWNER razao_owner")
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise EmbeddedError(f"the embedded database does not answer as it should ({said}): see {log}") from None
