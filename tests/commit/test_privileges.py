"""The books refuse to be rewritten: by the application for want of a privilege, by the owner and the superuser by trigger."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors

from app.base import embedded
from app.base.runtime import Runtime
from app.safeguards import privileges
from app.safeguards.doctor import examine
from app.safeguards.trying import SCHEMAS, SQL
from tests.commit.books import clone
from tests.support import superuser

ONLY_GROW = [
    "intake.event", "intake.delivery", "intake.decision", "payments.commission", "ledger.entry", "ledger.posting",
    "ledger.account", "ledger.closed_period", "access.audit",
]  # fmt: skip
CHANGES = ["UPDATE {} SET {} = {}", "DELETE FROM {}", "TRUNCATE {} CASCADE"]


@pytest.fixture(scope="module")
def shared(cluster: embedded.Cluster) -> Iterator[Runtime]:
    """For tests that leave nothing behind."""
    with clone(cluster) as runtime:
        yield runtime


def first_column(conn: psycopg.Connection, table: str) -> str:
    row = conn.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attidentity <> 'a' ORDER BY attnum",
        [table],
    ).fetchone()
    assert row
    return str(row[0])


@pytest.mark.parametrize("table", ONLY_GROW)
def test_what_only_grows_is_refused_to_everybody(shared: Runtime, table: str) -> None:
    with (
        psycopg.connect(shared.app_url, autocommit=True, options="-c role=razao_app") as app,
        psycopg.connect(shared.owner_url, autocommit=True) as owner,
        psycopg.connect(superuser(shared.owner_url), autocommit=True) as almighty,
    ):
        column = first_column(app, table)
        for change in CHANGES:
            statement = change.format(table, column, column)
            with pytest.raises(errors.InsufficientPrivilege):
                app.execute(statement)
            for conn in (owner, almighty):
                with pytest.raises(errors.CheckViolation) as refused:
                    conn.execute(statement)
                assert (refused.value.diag.constraint_name or "").endswith("_only_grows")


def test_a_replicated_session_is_refused_too(shared: Runtime) -> None:
    """session_replication_role = replica silences ordinary triggers: ours are ENABLE ALWAYS."""
    with psycopg.connect(superuser(shared.owner_url)) as conn:
        conn.execute("SET session_replication_role = replica")
        with pytest.raises(errors.CheckViolation):
            conn.execute("DELETE FROM ledger.posting")


def test_the_lists_of_the_doctor_are_the_grants_of_the_migration(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT table_schema || '.' || table_name, column_name FROM information_schema.column_privileges"
        " WHERE grantee = 'razao_app' AND privilege_type = 'UPDATE' AND table_schema = ANY (%s)",
        [list(SCHEMAS)],
    ).fetchall()
    columns = dict(owner.execute(SQL["columns"], {"schemas": list(SCHEMAS)}).fetchall())
    expected = {
        (table, column)
        for table, allowed in privileges.MAY_UPDATE.items()
        for column in (columns[table] if "*" in allowed else allowed)
    }
    assert set(rows) == expected
    deletes = owner.execute(
        "SELECT table_schema || '.' || table_name FROM information_schema.role_table_grants"
        " WHERE grantee = 'razao_app' AND privilege_type = 'DELETE'"
    ).fetchall()
    assert {table for (table,) in deletes} == privileges.MAY_DELETE


@pytest.mark.parametrize(
    ("grant", "named"),
    [
        ("GRANT UPDATE ON ledger.entry TO razao_app", privileges.name_for("ledger.entry")),
        ("GRANT UPDATE (memo) ON ledger.entry TO razao_app", privileges.name_for("ledger.entry")),
        ("GRANT DELETE ON ledger.posting TO razao_app", privileges.name_for("ledger.posting")),
        ("GRANT DELETE ON access.audit TO PUBLIC", privileges.name_for("access.audit")),
        ("GRANT UPDATE (amount) ON payments.refund TO razao_app", privileges.name_for("payments.refund")),
        ("GRANT CREATE ON SCHEMA ledger TO razao_app", "application's privileges on schema ledger"),
    ],
)
def test_a_privilege_too_many_is_named(runtime: Runtime, owner: psycopg.Connection, grant: str, named: str) -> None:
    owner.execute(grant)
    report = examine(runtime)
    assert not report.holds
    # What everybody may is spare as well; who may create in a schema is told of the role, too.
    beside = {"application's spare privileges"} if "PUBLIC" in grant else set()
    beside |= {"application's role", "application's login"} if "CREATE" in grant else set()
    found = {finding.name for finding in report.findings if not finding.holds}
    assert found - beside == {named}


@pytest.mark.parametrize("table", ONLY_GROW)
@pytest.mark.parametrize("privilege", ["UPDATE", "DELETE", "TRUNCATE", "TRIGGER", "REFERENCES"])
def test_every_privilege_on_what_only_grows_is_tried(shared: Runtime, privilege: str, table: str) -> None:
    with psycopg.connect(shared.owner_url, autocommit=True) as owner, owner.transaction(force_rollback=True):
        owner.execute(f"GRANT {privilege} ON {table} TO razao_app")
        owner.execute("SET LOCAL ROLE razao_app")
        found = {finding.name for finding in privileges.try_as_application(owner) if not finding.holds}
    expected = {
        "UPDATE": {privileges.name_for(table)},
        "DELETE": {privileges.name_for(table)},
        "TRUNCATE": {privileges.name_for(table), "application's spare privileges"},
    }
    assert found == expected.get(privilege, {"application's spare privileges"})


def test_a_sequence_that_could_be_set_back_is_named(runtime: Runtime, owner: psycopg.Connection) -> None:
    owner.execute("GRANT UPDATE ON SEQUENCE ledger.entry_id_seq TO razao_app")
    [finding] = [finding for finding in examine(runtime).findings if not finding.holds]
    assert finding.name == "application's spare privileges"
    assert finding.detail == ("UPDATE on ledger.entry_id_seq",)
