"""The doctor is green on sound books, and red, by name, when any one safeguard was taken away by hand."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo

import psycopg
import pytest

from app.base import embedded
from app.base.clock import now
from app.base.runtime import Runtime
from app.base.vault import Vault
from app.safeguards import behaviour, environment, privileges, required
from app.safeguards.doctor import examine, examine_rules
from app.safeguards.probes import PROBES, Probe
from app.safeguards.report import Finding
from app.safeguards.trying import SCHEMAS, SQL, stage, try_probes
from tests.commit.books import clone, counts, fill
from tests.support import superuser

DROPPABLE = {(probe.kind, probe.safeguard, probe.table) for probe in PROBES}
TRIGGERS = sorted((probe.safeguard, probe.table) for probe in PROBES if probe.kind == "trigger")


@pytest.fixture(scope="module")
def used(cluster: embedded.Cluster) -> Iterator[Runtime]:
    with clone(cluster) as runtime:
        fill(runtime)
        yield runtime


@pytest.fixture
def hand(used: Runtime) -> Iterator[psycopg.Connection]:
    """A superuser's hand in the used books; whatever it does is undone."""
    with psycopg.connect(superuser(used.owner_url)) as conn:
        yield conn
        conn.rollback()


def failing(findings: list[Finding] | tuple[Finding, ...]) -> set[str]:
    return {finding.name for finding in findings if not finding.holds}


def catalogue(conn: psycopg.Connection) -> set[tuple[str, str, str]]:
    rows = conn.execute(SQL["safeguards"], {"schemas": list(SCHEMAS)}).fetchall()
    return {(kind, name, table) for kind, name, table, _ in rows}


def test_all_holds_on_an_empty_database(runtime: Runtime) -> None:
    report = examine(runtime)
    assert failing(report.findings) == set()
    assert report.holds
    assert report.as_json()["holds"] is True
    assert {finding.rule for finding in report.findings} - {None} == set(range(1, 12)), "each of the eleven rules"


def test_all_holds_on_used_books_and_nothing_is_left_behind(used: Runtime) -> None:
    before = counts(used.owner_url)
    assert failing(examine(used).findings) == set()
    assert counts(used.owner_url) == before, "neither a row nor a number of a sequence"


@pytest.mark.parametrize(("kind", "name", "table"), sorted(DROPPABLE), ids=lambda value: value.replace(" ", "-"))
def test_a_dropped_safeguard_is_named(hand: psycopg.Connection, kind: str, name: str, table: str) -> None:
    before = catalogue(hand)
    if kind == "trigger":
        hand.execute(f"DROP TRIGGER {name} ON {table}")
    elif kind == "unique index":
        hand.execute(f"DROP INDEX {table.partition('.')[0]}.{name}")
    else:
        # A key that foreign keys stand on takes them along: they must be named too.
        hand.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}{' CASCADE' if kind == 'primary key' else ''}")
    gone = before - catalogue(hand)
    assert (kind, name, table) in gone
    with stage(hand):
        found = failing(try_probes(hand))
    assert found == {probe.name for probe in PROBES if (probe.kind, probe.safeguard, probe.table) in gone}


@pytest.mark.parametrize(("trigger", "table"), TRIGGERS)
def test_a_trigger_that_sleeps_is_named(hand: psycopg.Connection, trigger: str, table: str) -> None:
    """Off altogether, on only for ordinary sessions, on only for replicas."""
    expected = {probe.name for probe in PROBES if probe.safeguard == trigger}
    for state in ("DISABLE TRIGGER", "ENABLE TRIGGER", "ENABLE REPLICA TRIGGER"):
        with hand.transaction(force_rollback=True):
            hand.execute(f"ALTER TABLE {table} {state} {trigger}")
            with stage(hand):
                assert failing(try_probes(hand)) == expected, state


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE", "TRUNCATE"])
def test_a_trigger_that_leaves_one_operation_out_is_named(hand: psycopg.Connection, operation: str) -> None:
    others = " OR ".join({"UPDATE", "DELETE", "TRUNCATE"} - {operation})
    hand.execute("DROP TRIGGER posting_only_grows ON ledger.posting")
    hand.execute(
        f"CREATE TRIGGER posting_only_grows BEFORE {others} ON ledger.posting"
        " FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows()"
    )
    hand.execute("ALTER TABLE ledger.posting ENABLE ALWAYS TRIGGER posting_only_grows")
    with stage(hand):
        [finding] = [finding for finding in try_probes(hand) if not finding.holds]
    assert finding.name == "posting_only_grows"
    assert any(line.startswith(operation) for line in finding.detail)


def test_a_function_that_no_longer_refuses_is_named(hand: psycopg.Connection) -> None:
    """The triggers are all there; what they call lets everything through."""
    hand.execute(
        "CREATE OR REPLACE FUNCTION safeguards.only_grows() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    )
    with stage(hand):
        assert failing(try_probes(hand)) == {
            probe.name
            for probe in PROBES
            if probe.kind == "trigger" and probe.safeguard.endswith(("_only_grows", "_is_kept"))
        }


def test_a_check_that_was_loosened_is_named(hand: psycopg.Connection) -> None:
    hand.execute("ALTER TABLE payments.payment DROP CONSTRAINT refunds_within_payment")
    hand.execute("ALTER TABLE payments.payment ADD CONSTRAINT refunds_within_payment CHECK (refunded_amount <= amount)")
    with stage(hand):
        assert failing(try_probes(hand)) == {"refunds_within_payment"}


def test_internal_triggers_switched_off_by_a_superuser_are_named(hand: psycopg.Connection) -> None:
    """ALTER TABLE … DISABLE TRIGGER ALL silences foreign keys, though each is still in the catalogue."""
    hand.execute("ALTER TABLE payments.refund DISABLE TRIGGER ALL")
    with stage(hand):
        assert {"refund_payment_id_fkey", "refund_event_id_fkey"} <= failing(try_probes(hand))


def test_columns_that_may_suddenly_be_empty_are_named(hand: psycopg.Connection) -> None:
    keys = {
        (table, column)
        for table, column in hand.execute(
            "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c JOIN pg_attribute a"
            " ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) WHERE c.contype = 'p'"
        ).fetchall()
    }
    identities = set(hand.execute(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attidentity <> ''").fetchall())  # fmt: skip
    for table, columns in hand.execute(SQL["columns"], {"schemas": list(SCHEMAS)}).fetchall():
        free = [
            c for c in columns if c not in required.MAY_BE_EMPTY.get(table, ()) and (table, c) not in keys | identities
        ]
        if not free:
            continue
        with hand.transaction(force_rollback=True):
            for column in free:
                hand.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
            with stage(hand):
                [finding] = [finding for finding in required.try_required(hand) if not finding.holds]
        assert finding.name == required.name_for(table)
        assert {line.split()[3] for line in finding.detail} == set(free)


def test_what_may_be_empty_is_what_the_schema_says(hand: psycopg.Connection) -> None:
    """Otherwise the list in required.py would excuse a column that must not be empty."""
    rows = hand.execute(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = ANY (%s::regnamespace[]) AND relkind = 'r' AND attnum > 0 AND NOT attnotnull",
        [list(SCHEMAS)],
    ).fetchall()
    assert set(rows) == {(table, column) for table, columns in required.MAY_BE_EMPTY.items() for column in columns}


def test_a_safeguard_that_no_probe_knows_is_pointed_out(hand: psycopg.Connection) -> None:
    hand.execute("ALTER TABLE payments.payment ADD CONSTRAINT payments_below_a_million CHECK (amount < 100000000)")
    hand.execute("CREATE UNIQUE INDEX one_provider ON intake.endpoint (provider, slug)")
    with stage(hand):
        [finding] = [finding for finding in examine_rules(hand) if not finding.holds]
    assert finding.name == "nothing_unknown"
    assert finding.level == "advice"
    assert not finding.fails
    assert finding.detail == (
        "check payments_below_a_million on payments.payment", "unique index one_provider on intake.endpoint",
    )  # fmt: skip


def test_a_constraint_that_skips_old_rows_is_named(hand: psycopg.Connection) -> None:
    hand.execute("ALTER TABLE ledger.balance DROP CONSTRAINT wallet_not_overdrawn")
    hand.execute(
        "ALTER TABLE ledger.balance ADD CONSTRAINT wallet_not_overdrawn CHECK (floor IS NULL OR owed >= floor) NOT VALID"
    )
    with stage(hand):
        [finding] = [finding for finding in examine_rules(hand) if not finding.holds]
    assert finding.name == "constraints_are_valid"
    assert finding.detail == ("check wallet_not_overdrawn on ledger.balance",)


def test_a_missing_table_is_said_and_the_rest_is_still_examined(runtime: Runtime) -> None:
    with psycopg.connect(superuser(runtime.owner_url), autocommit=True) as conn:
        conn.execute("DROP TABLE payments.chargeback CASCADE")
    report = examine(runtime)
    assert not report.holds
    assert failing(report.findings) == {"probes"}
    assert "chargeback" in next(finding.sentence for finding in report.findings if finding.name == "probes")


def test_business_in_progress_is_not_kept_waiting(used: Runtime) -> None:
    """A long report reads the audit: TRUNCATE is not tried at any price, and the finding says so."""
    with psycopg.connect(used.owner_url) as reader:
        reader.execute("LOCK TABLE access.audit IN ACCESS SHARE MODE")
        report = examine(used)
        reader.rollback()
    assert report.holds
    [finding] = [finding for finding in report.findings if finding.name == "audit_only_grows"]
    assert any("busy" in line for line in finding.detail)


def test_a_busy_table_does_not_hide_a_trigger_that_leaves_truncate_out(used: Runtime, hand: psycopg.Connection) -> None:
    hand.execute("DROP TRIGGER audit_only_grows ON access.audit")
    hand.execute(
        "CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE ON access.audit"
        " FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows()"
    )
    hand.execute("ALTER TABLE access.audit ENABLE ALWAYS TRIGGER audit_only_grows")
    audit: Probe = next(probe for probe in PROBES if probe.name == "audit_only_grows")
    assert not hand.execute(SQL["truncate_is_guarded"], {"trigger": audit.safeguard, "table": audit.table}).fetchall()[
        0
    ][0]


class TestRulesThatAreKeptByHowWeWrite:
    def findings(self, used: Runtime, hand: psycopg.Connection) -> set[str]:
        with psycopg.connect(used.owner_url, autocommit=True) as other, stage(hand):
            return failing(behaviour.try_behaviour(hand, other))

    def test_they_hold(self, used: Runtime, hand: psycopg.Connection) -> None:
        assert self.findings(used, hand) == set()

    @pytest.mark.parametrize(
        ("query", "was", "becomes", "named"),
        [
            ("post", "b.owed - m.debit", "b.owed", "balances_follow_postings"),
            ("post", "WHERE a.type <> 'liability'", "WHERE false", "balances_follow_postings"),
            ("withdraw", "owed - %(amount)s >= floor", "owed >= floor", "debit_is_conditional"),
            ("withdraw", "SET owed = owed - %(amount)s", "SET owed = owed", "debit_is_conditional"),
        ],
    )
    def test_a_statement_that_forgets_its_rule_is_named(
        self, used: Runtime, hand: psycopg.Connection, monkeypatch: pytest.MonkeyPatch,
        query: str, was: str, becomes: str, named: str,
    ) -> None:  # fmt: skip
        queries = behaviour.books.SQL
        assert was in queries[query]
        monkeypatch.setitem(queries._by_name, query, queries[query].replace(was, becomes))
        if query == "withdraw":
            hand.execute("ALTER TABLE ledger.balance DROP CONSTRAINT wallet_not_overdrawn")
        assert self.findings(used, hand) == {named}

    def test_a_message_that_is_seen_before_the_commit_is_named(self, hand: psycopg.Connection) -> None:
        """The same connection stands in for one that sees what is not committed."""
        with stage(hand):
            assert failing(behaviour.try_behaviour(hand, hand)) == {"message_waits_for_commit"}


class TestEnvironment:
    def test_another_master_key_opens_nothing(self, used: Runtime) -> None:
        report = examine(replace(used, vault=Vault("another master key, also long")))
        assert failing(report.findings) == {"master_key"}
        [finding] = [finding for finding in report.findings if not finding.holds]
        assert finding.detail == ("secret default of loja",)

    def test_a_url_token_sealed_by_another_key_is_named(self, used: Runtime, hand: psycopg.Connection) -> None:
        hand.execute("UPDATE intake.endpoint SET url_token = 'sealed elsewhere'")
        assert environment.master_key(hand, used.vault).detail == ("URL token of loja",)

    def test_a_database_of_another_revision_is_named(self, runtime: Runtime, owner: psycopg.Connection) -> None:
        owner.execute("UPDATE public.alembic_version SET version_num = '9999'")
        assert failing(examine(runtime).findings) == {"migrations"}

    def test_a_session_that_does_not_wait_for_the_disk_is_named(
        self, runtime: Runtime, owner: psycopg.Connection
    ) -> None:
        database = owner.info.dbname
        owner.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
        assert failing(examine(runtime).findings) == {"synchronous_commit"}

    def test_clocks_that_differ_are_named(self, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        for seconds in (-8, 8):
            monkeypatch.setattr(environment, "now", lambda shift=seconds: now() + timedelta(seconds=shift))
            assert not environment.clock(conn).holds
        monkeypatch.setattr(environment, "now", lambda: now() + timedelta(seconds=3))
        assert environment.clock(conn).holds

    def test_zones_that_differ_or_are_unknown_are_named(self, conn: psycopg.Connection) -> None:
        data = next(path for path in (Path(one) / "America/Sao_Paulo" for one in TZPATH) if path.is_file()).read_bytes()
        as_tokyo = ZoneInfo.from_file(BytesIO(data), key="Asia/Tokyo")
        unknown = ZoneInfo.from_file(BytesIO(data), key="Mars/Olympus")
        assert environment.time_zone(conn, ZoneInfo("America/Sao_Paulo")).holds
        assert not environment.time_zone(conn, as_tokyo).holds
        assert "does not know" in environment.time_zone(conn, unknown).detail[0]

    def test_a_wake_up_that_never_comes_is_named(
        self, runtime: Runtime, used: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """NOTIFY stays within one database: said in another, it is not heard."""
        monkeypatch.setattr(environment, "NOTIFY_SECONDS", 0.3)
        with (
            psycopg.connect(runtime.app_url, autocommit=True) as ears,
            psycopg.connect(used.app_url, autocommit=True) as mouth,
        ):
            assert not environment.notify(ears, mouth).holds
            assert environment.notify(ears, ears).holds


class TestLogins:
    def test_one_login_for_both_is_advised_against_and_fails_nothing(self, used: Runtime) -> None:
        report = examine(replace(used, app_url=used.owner_url))
        assert report.holds
        [finding] = [finding for finding in report.findings if not finding.holds]
        assert (finding.name, finding.level) == ("application's login", "advice")
        assert "separate login" in finding.sentence

    def test_violations_are_tried_as_the_owner_or_not_at_all(self, used: Runtime) -> None:
        """As the service, every UPDATE would be refused for want of a privilege, and prove nothing about the triggers."""
        report = examine(replace(used, owner_url=used.app_url))
        assert not report.holds
        assert "owner" in failing(report.findings)

    def test_no_server_is_a_finding(self, used: Runtime) -> None:
        nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
        report = examine(replace(used, app_url=nowhere, owner_url=nowhere))
        assert not report.holds
        assert len(report.findings) == 4

    @pytest.mark.parametrize(
        ("power", "said"),
        [
            ("ALTER ROLE razao_app SUPERUSER", "it has superuser"),
            ("ALTER ROLE razao_app CREATEDB", "it has CREATEDB"),
            ("ALTER ROLE razao_app CREATEROLE", "it has CREATEROLE"),
            ("ALTER ROLE razao_app BYPASSRLS", "it has BYPASSRLS"),
            ("ALTER ROLE razao_app REPLICATION", "it has REPLICATION"),
            ("GRANT razao_owner TO razao_app", "it is a member of razao_owner"),
            ("GRANT pg_write_all_data TO razao_app", "it is a member of pg_write_all_data"),
            ("ALTER TABLE ledger.movement OWNER TO razao_app", "it owns table ledger.movement"),
            ("ALTER SCHEMA outbox OWNER TO razao_app", "it owns schema outbox"),
            ("ALTER FUNCTION ledger.check_postings OWNER TO razao_app", "it owns function ledger.check_postings()"),
            ("GRANT CREATE ON SCHEMA public TO razao_app", "it may create objects in public"),
        ],
    )
    def test_a_power_that_the_role_should_not_have_is_named(
        self, hand: psycopg.Connection, power: str, said: str
    ) -> None:
        if power.startswith("GRANT razao_owner"):
            hand.execute("REVOKE razao_app FROM razao_owner CASCADE")  # else they would be members of each other
        assert privileges.role_is_harmless(hand, "razao_app", called="it").holds
        hand.execute(power)
        finding = privileges.role_is_harmless(hand, "razao_app", called="it")
        assert not finding.holds
        assert said in finding.detail
