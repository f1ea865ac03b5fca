"""What the running application cannot do, tried as its own role: change or remove what only grows, or own anything.

The last line of rules 5 and 11: even code that is wrong, or not ours, has no way to rewrite the books.
"""

from typing import Final

from psycopg import sql

from app.base.db import APP_ROLE, Connection
from app.safeguards.report import Finding
from app.safeguards.trying import SCHEMAS, SQL, attempt

_INSUFFICIENT_PRIVILEGE: Final = "42501"
_ALL: Final = "*"

# What the application may UPDATE (columns, or all of them) and whether it may DELETE; everything else is tried.
MAY_UPDATE: Final[dict[str, frozenset[str]]] = {
    table: frozenset(columns.split())
    for table, columns in {
        "intake.endpoint": "disabled_at url_token options unmatched",
        "intake.secret": "retired_at sealed",
        "intake.queue": _ALL,
        "intake.standing": _ALL,
        "payments.payment": _ALL,
        "payments.name": "payment_id",
        "payments.refund": "status event_id",
        "payments.chargeback": "reversed_event reversed_at",
        "ledger.balance": _ALL,
        "ledger.movement": "postings",  # so that folding may lock the rows that it adds up
        "outbox.message": "due_at attempts delivered_at",
        "access.operator": "password_hash role session_epoch disabled_at",
        "access.api_key": "revoked_at",
        "access.idempotency": "status answer",
    }.items()
}
MAY_DELETE: Final = frozenset({
    "intake.queue", "intake.rejection", "payments.awaiting", "ledger.movement", "access.idempotency",
    "access.failed_login",
})  # fmt: skip
_RULES: Final = {
    "ledger.entry": 5, "ledger.posting": 5, "ledger.account": 5, "ledger.closed_period": 9, "payments.commission": 3,
    "intake.event": 11, "intake.delivery": 11, "intake.decision": 11, "access.audit": 11,
}  # fmt: skip

# No row is touched: the server looks at the privilege before it looks for rows, and before it waits for a lock.
_UPDATE: Final = sql.SQL("UPDATE {table} SET {column} = DEFAULT WHERE false")
_DELETE: Final = sql.SQL("DELETE FROM {table} WHERE false")
_TRUNCATE: Final = sql.SQL("TRUNCATE {table}")
_CREATE: Final = sql.SQL("CREATE TABLE {table} ()")


def name_for(table: str) -> str:
    """The finding's name for a table."""
    return f"application's privileges on {table}"


def try_as_application(conn: Connection) -> list[Finding]:
    """One finding for each table and schema, on a connection that acts as APP_ROLE; all is rolled back."""
    with conn.transaction(force_rollback=True):
        conn.execute(SQL["be_quicker"])
        tables = conn.execute(SQL["columns"], {"schemas": list(SCHEMAS)}).fetchall()
        on_tables = [_on_table(conn, table, columns) for table, columns in tables]
        return [*on_tables, *(_in_schema(conn, schema) for schema in SCHEMAS), _spare(conn)]


def _on_table(conn: Connection, table: str, columns: list[str]) -> Finding:
    where = sql.Identifier(*table.split("."))
    may_update = MAY_UPDATE.get(table, frozenset())
    tried = {
        f"UPDATE of {column}": _UPDATE.format(table=where, column=sql.Identifier(column))
        for column in columns
        if column not in may_update and _ALL not in may_update
    }
    if table not in MAY_DELETE:
        tried["DELETE"] = _DELETE.format(table=where)
    tried["TRUNCATE"] = _TRUNCATE.format(table=where)
    failed = _not_refused(conn, tried)
    name, rule = name_for(table), _RULES.get(table)
    if failed:
        sentence = f"The application could change {table} behind the rules: REVOKE this from {APP_ROLE}."
        return Finding(name, rule, False, sentence, tuple(failed))
    return Finding(name, rule, True, f"The application may change nothing in {table} beyond what it must.")


def _in_schema(conn: Connection, schema: str) -> Finding:
    tried = {"CREATE TABLE": _CREATE.format(table=sql.Identifier(schema, "razao_doctor"))}
    failed = _not_refused(conn, tried)
    name = f"application's privileges on schema {schema}"
    if failed:
        sentence = f"The application could put objects of its own into {schema}: REVOKE CREATE from {APP_ROLE}."
        return Finding(name, 5, False, sentence, tuple(failed))
    return Finding(name, 5, True, f"The application may create nothing in {schema}.")


def _spare(conn: Connection) -> Finding:
    rows = conn.execute(SQL["spare_privileges"], {"schemas": list(SCHEMAS), "role": APP_ROLE}).fetchall()
    name = "application's spare privileges"
    if rows:
        sentence = f"Privileges that nobody needs open ways around the rules: REVOKE them from {APP_ROLE} and PUBLIC."
        return Finding(name, 5, False, sentence, tuple(row[0] for row in rows))
    return Finding(name, 5, True, "The application and the public have no privilege that nobody needs.")


def _not_refused(conn: Connection, tried: dict[str, sql.Composed]) -> list[str]:
    ends = {said: attempt(conn, lambda: conn.execute(statement)) for said, statement in tried.items()}  # noqa: B023
    return [f"{said} -> {end}" for said, end in ends.items() if end.sqlstate != _INSUFFICIENT_PRIVILEGE]


def role_is_harmless(conn: Connection, role: str, *, called: str) -> Finding:
    """Whether a role owns nothing and has no power to pass by the rules. `called`: what it is to people."""
    found: list[str] = []
    row = conn.execute(SQL["powers"], {"role": role, "schemas": list(SCHEMAS), "app_role": APP_ROLE}).fetchone()
    if row is None:
        return Finding(called, 5, False, f"There is no role {role}: run razao migrate as the owner.")
    powers = ("superuser", "CREATEDB", "CREATEROLE", "BYPASSRLS", "REPLICATION", "CREATE on the database")
    found += [f"it has {power}" for power, has in zip(powers, row, strict=False) if has]
    found += [f"it may create objects in {schema}" for schema in row[6] or ()]
    found += [f"it is a member of {other}" for other in row[7] or ()]
    found += [f"it owns {owned}" for (owned,) in conn.execute(SQL["owned_by"], {"role": role}).fetchall()]
    if found:
        sentence = f"{role} has powers that let it around the rules; take them away, or give the service another login."
        return Finding(called, 5, False, sentence, tuple(found))
    return Finding(called, 5, True, f"{role} owns nothing and has no power beyond its privileges.")
