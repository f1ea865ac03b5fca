"""Verify is quiet on sound books, and names what was falsified by hand: one check, one falsification that only it may miss."""

import threading
from collections.abc import Iterator

import psycopg
import pytest

from app.base import embedded
from app.base.runtime import Runtime
from app.safeguards import reports
from app.safeguards.pages import last_reports
from app.safeguards.report import Finding, Report
from app.safeguards.verify import CHECKS, ask_all, verify, verify_books
from tests.commit.books import clone, fill
from tests.support import superuser

# check -> (what somebody does with every trigger off, one offender that must be named). SALE etc. are ids, filled in below.
FALSIFIED: dict[str, list[tuple[str, str]]] = {
    "entries_balance": [
        ("UPDATE ledger.posting SET amount = amount + 1 WHERE entry_id = {sale} AND line = 1", "ent_{sale}"),
        ("DELETE FROM ledger.posting WHERE entry_id = {sale} AND line = 2", "ent_{sale}"),
        ("DELETE FROM ledger.posting WHERE entry_id = {sale}", "ent_{sale}"),
    ],
    "entries_say_what_they_move": [
        ("UPDATE ledger.entry SET amount = 4989 WHERE id = {sale}", "ent_{sale}"),
        ("UPDATE ledger.posting SET amount = amount * 2 WHERE entry_id = {sale}", "ent_{sale}"),
    ],
    "entries_lie_in_their_currency": [
        ("UPDATE ledger.entry SET currency = 'USD' WHERE id = {sale}", "ent_{sale}"),
        ("UPDATE ledger.account SET currency = 'USD' WHERE code = 'sales'", "ent_{sale}"),
    ],
    "postings_have_entry_and_account": [
        ("DELETE FROM ledger.entry WHERE id = {debit}", "ent_{debit}"),
        ("UPDATE ledger.posting SET account_id = 999 WHERE entry_id = {sale} AND line = 2", "ent_{sale}"),
    ],
    "balances_equal_postings": [
        ("UPDATE ledger.balance SET owed = owed + 1 WHERE account_id = {wallet}", "wallet:bia (BRL)"),
        ("DELETE FROM ledger.balance WHERE account_id = {wallet}", "wallet:bia (BRL)"),
    ],
    "movements_equal_postings": [
        ("DELETE FROM ledger.movement WHERE account_id = {sales}", "sales (BRL)"),
        ("UPDATE ledger.movement SET debit = debit + 1 WHERE account_id = {sales}", "sales (BRL)"),
        ("UPDATE ledger.movement SET postings = postings + 1 WHERE account_id = {sales}", "sales (BRL)"),
        ("UPDATE ledger.movement SET period = '2001-01-01' WHERE account_id = {sales}", "sales (BRL) in 2001-01"),
        ("INSERT INTO ledger.movement VALUES ({sales}, '2001-01-01', 5, 1)", "sales (BRL) in 2001-01"),
    ],
    "accounts_have_one_balance": [
        ("INSERT INTO ledger.balance (account_id, owed) VALUES ({sales}, 0)", "sales (BRL)"),
        ("INSERT INTO ledger.movement VALUES ({wallet}, '2026-12-01', 5, 1)", "wallet:bia (BRL)"),
        ("INSERT INTO ledger.movement VALUES (999, '2026-12-01', 5, 1)", "account 999"),
    ],
    "wallets_above_floor": [
        (("ALTER TABLE ledger.balance DROP CONSTRAINT wallet_not_overdrawn;"
         "UPDATE ledger.balance SET owed = -1 WHERE account_id = {wallet}"), "wallet:bia (BRL)"),
        ("UPDATE ledger.balance SET floor = NULL WHERE account_id = {wallet}", "wallet:bia (BRL)"),
    ],
    "paid_payments_have_one_sale": [
        ("DELETE FROM ledger.entry WHERE id = {sale}", "pmt_{paid}"),
        ("UPDATE payments.payment SET status = 'paid', paid_at = now() WHERE id = {expired}", "pmt_{expired}"),
        ("UPDATE payments.payment SET amount = 4991 WHERE id = {paid}", "pmt_{paid}"),
        (("DROP INDEX ledger.entry_one_sale; INSERT INTO ledger.entry (kind, amount, currency, period, occurred_at, payment_id, party)"
         " VALUES ('sale', 4990, 'BRL', '2026-12-01', now(), {paid}, 'again')"), "pmt_{paid}"),
    ],
    "sales_have_paid_payments": [
        ("UPDATE payments.payment SET status = 'pending' WHERE id = {paid}", "ent_{sale}"),
        ("UPDATE ledger.entry SET payment_id = NULL WHERE id = {sale}", "ent_{sale}"),
    ],
    "refunded_amount_is_its_refunds": [
        ("UPDATE payments.payment SET refunded_amount = refunded_amount - 1 WHERE id = {paid}", "pmt_{paid}"),
        ("UPDATE payments.refund SET amount = amount + 1 WHERE id = {refund}", "pmt_{paid}"),
        ("DELETE FROM payments.refund WHERE id = {refund}", "pmt_{paid}"),
        ("DELETE FROM ledger.entry WHERE kind = 'refund' AND refund_id = {refund}", "pmt_{paid}"),
    ],
    "charged_back_amount_is_open_disputes": [
        ("UPDATE payments.payment SET charged_back_amount = 0 WHERE id = {disputed}", "pmt_{disputed}"),
        ("DELETE FROM payments.chargeback WHERE payment_id = {disputed}", "pmt_{disputed}"),
    ],
    "status_follows_amounts": [
        ("UPDATE payments.payment SET status = 'refunded' WHERE id = {paid}", "pmt_{paid}"),
        ("UPDATE payments.payment SET status = 'paid' WHERE id = {disputed}", "pmt_{disputed}"),
        ("UPDATE payments.payment SET status = 'paid' WHERE id = {expired}", "pmt_{expired}"),
        ("UPDATE payments.payment SET paid_at = NULL WHERE id = {won}", "pmt_{won}"),
    ],
    "refunds_have_entries": [
        ("DELETE FROM ledger.entry WHERE kind = 'refund' AND refund_id = {refund}", "rfd_{refund}"),
        ("DELETE FROM payments.refund WHERE id = {refund}", "ent_{refund_entry}"),
        ("UPDATE ledger.entry SET payment_id = {disputed} WHERE id = {refund_entry}", "rfd_{refund}"),
    ],
    "claims_stay_within_refunds": [
        ("INSERT INTO payments.refund_claim VALUES ('re_1', {endpoint}, {paid}, {refund}, 4990, {event})", "pmt_{paid}"),
        ("INSERT INTO payments.refund_claim VALUES ('re_1', {endpoint}, {topup}, {refund}, 1, {event})", "pmt_{topup}"),
    ],
    "disputes_have_entries": [
        ("DELETE FROM ledger.entry WHERE kind = 'chargeback' AND payment_id = {disputed}", "pmt_{disputed}"),
        ("UPDATE payments.chargeback SET reversed_at = now() WHERE payment_id = {disputed}", "pmt_{disputed}"),
        ("UPDATE payments.chargeback SET reversed_at = NULL WHERE payment_id = {won}", "pmt_{won}"),
        ("UPDATE payments.chargeback SET amount = 1 WHERE payment_id = {won}", "pmt_{won}"),
    ],
    "commissions_follow_agreements": [
        ("DELETE FROM ledger.entry WHERE kind = 'commission' AND party = 'ana' AND payment_id = {paid}", "pmt_{paid}"),
        ("UPDATE ledger.entry SET amount = 500 WHERE kind = 'commission' AND party = 'ana' AND payment_id = {paid}", "pmt_{paid}"),
        ("DELETE FROM payments.commission WHERE payment_id = {paid} AND partner = 'ana'", "pmt_{paid}"),
        ("INSERT INTO payments.commission (payment_id, partner, amount) VALUES ({topup}, 'ana', 5)", "pmt_{topup}"),
        (("UPDATE payments.commission SET basis_points = 1001 WHERE payment_id = {won} AND partner = 'ana';"
         "UPDATE payments.commission SET amount = 332 WHERE payment_id = {won} AND partner = 'rui/loja'"), "pmt_{won}"),
    ],
    "commissions_come_back_in_proportion": [
        ("DELETE FROM ledger.entry WHERE kind = 'commission_reversal' AND party LIKE 'rui/loja/%%'", "pmt_{paid}"),
        ("UPDATE ledger.entry SET amount = amount - 1 WHERE kind = 'commission_reversal' AND party LIKE 'ana/%%'", "pmt_{paid}"),
        (("INSERT INTO ledger.entry (kind, amount, currency, period, occurred_at, payment_id, party)"
         " VALUES ('commission_reversal', -1, 'BRL', '2026-12-01', now(), {won}, 'ana/77')"), "pmt_{won}"),
    ],
    "fees_are_what_events_told": [
        ("UPDATE ledger.entry SET amount = 98 WHERE kind = 'fee'", "ent_{fee}"),
        ("UPDATE ledger.entry SET event_id = NULL WHERE kind = 'fee'", "ent_{fee}"),
    ],
    "applied_events_have_effects": [
        ("DELETE FROM ledger.entry WHERE id = {sale}", "evn_{event}"),
        ("UPDATE intake.standing SET entry_id = NULL WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.standing SET entry_id = {refund_entry} WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.standing SET reason = 'refund_recorded' WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.standing SET payment_id = NULL WHERE event_id = {expiry}", "evn_{expiry}"),
    ],
    "effects_have_applied_events": [
        ("UPDATE intake.standing SET status = 'duplicate' WHERE event_id = {event}", "ent_{sale}"),
        ("DELETE FROM intake.standing WHERE event_id = {event}", "ent_{sale}"),
    ],
    "standings_are_decided": [
        ("DELETE FROM intake.decision WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.standing SET reason = 'because' WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.standing SET status = 'ignored' WHERE event_id = {event}", "evn_{event}"),
        ("DELETE FROM intake.standing WHERE event_id = {event}", "evn_{event}"),
    ],
    "events_are_delivered": [
        ("DELETE FROM intake.delivery WHERE event_id = {event}", "evn_{event}"),
        ("UPDATE intake.delivery SET body = body || ' ' WHERE event_id = {event}", "dlv_{delivery}"),
        ("UPDATE intake.delivery SET body = NULL WHERE event_id = {event}", "dlv_{delivery}"),
    ],
    "undecided_events_are_queued": [
        ("DELETE FROM intake.queue", "evn_{queued}"),
        ("INSERT INTO intake.queue (event_id) VALUES (999)", "evn_999"),
    ],
    "paid_payments_are_told": [
        ("DELETE FROM outbox.message WHERE type = 'payment.paid' AND payment_id = {paid}", "pmt_{paid}"),
        ("DELETE FROM outbox.message WHERE type = 'wallet.credited'", "pmt_{topup}"),
    ],
    "money_back_is_told": [
        ("DELETE FROM outbox.message WHERE subject LIKE '%%/rfd_{refund}'", "rfd_{refund}"),
        ("DELETE FROM outbox.message WHERE type = 'payment.charged_back' AND payment_id = {disputed}", "pmt_{disputed}"),
        ("DELETE FROM outbox.message WHERE type = 'payment.chargeback_reversed'", "pmt_{won}"),
    ],
    "promised_access_is_given": [
        ("DELETE FROM payments.access_grant", "pmt_{paid}"),
        ("DELETE FROM outbox.message WHERE type = 'grant.created'", "pmt_{paid}"),
        ("UPDATE payments.payment SET grant_resource = 'another' WHERE id = {paid}", "pmt_{paid}"),
        ("UPDATE payments.access_grant SET payment_id = {expired}", "grt_{grant}"),
    ],
    "nothing_is_orphaned": [
        ("DELETE FROM intake.endpoint", "evn_{event}"),
        ("UPDATE payments.name SET endpoint_id = 999 WHERE value = 'pay_1'", "name pay_1"),
        ("INSERT INTO payments.refund_claim VALUES ('re_1', 999, {paid}, {refund}, 1, {event})", "claim re_1"),
        ("UPDATE ledger.entry SET event_id = 999 WHERE id = {sale}", "ent_{sale}"),
        ("DELETE FROM payments.payment WHERE id = {paid}", "ent_{sale}"),
        ("UPDATE ledger.entry SET refund_id = 999 WHERE id = {refund_entry}", "ent_{refund_entry}"),
        ("UPDATE payments.payment SET paid_by_event = 999 WHERE id = {paid}", "pmt_{paid}"),
        ("UPDATE intake.decision SET caused_by = 999 WHERE id = {decision}", "decision {decision} of evn_{event}"),
        ("UPDATE intake.decision SET entry_id = 999 WHERE id = {decision}", "decision {decision} of evn_{event}"),
        ("UPDATE intake.decision SET payment_id = 999 WHERE id = {decision}", "decision {decision} of evn_{event}"),
    ],
}  # fmt: skip

# Where the ids in the statements above come from.
IDS = {
    "paid": "SELECT id FROM payments.payment WHERE reference = 'sale'",
    "topup": "SELECT id FROM payments.payment WHERE reference = 'top-up'",
    "disputed": "SELECT id FROM payments.payment WHERE reference = 'disputed'",
    "won": "SELECT id FROM payments.payment WHERE reference = 'won'",
    "expired": "SELECT id FROM payments.payment WHERE reference = 'expired'",
    "sale": "SELECT e.id FROM ledger.entry e JOIN payments.payment p ON p.id = payment_id WHERE kind = 'sale' AND reference = 'sale'",
    "refund": "SELECT min(r.id) FROM payments.refund r JOIN payments.payment p ON p.id = payment_id WHERE reference = 'sale'",
    "refund_entry": "SELECT min(id) FROM ledger.entry WHERE kind = 'refund'",
    "debit": "SELECT id FROM ledger.entry WHERE kind = 'debit'",
    "fee": "SELECT id FROM ledger.entry WHERE kind = 'fee'",
    "wallet": "SELECT id FROM ledger.account WHERE code = 'wallet:bia'",
    "sales": "SELECT id FROM ledger.account WHERE code = 'sales'",
    "endpoint": "SELECT id FROM intake.endpoint",
    "event": "SELECT id FROM intake.event WHERE event_key = 'evt_1'",
    "expiry": "SELECT id FROM intake.event WHERE event_key = 'evt_12'",
    "queued": "SELECT id FROM intake.event WHERE event_key = 'evt_15'",
    "delivery": "SELECT d.id FROM intake.delivery d JOIN intake.event e ON e.id = event_id WHERE event_key = 'evt_1'",
    "decision": "SELECT d.id FROM intake.decision d JOIN intake.event e ON e.id = event_id WHERE event_key = 'evt_1'",
    "grant": "SELECT id FROM payments.access_grant",
}


@pytest.fixture(scope="module")
def used(cluster: embedded.Cluster) -> Iterator[Runtime]:
    with clone(cluster) as runtime:
        fill(runtime)
        yield runtime


@pytest.fixture
def forger(used: Runtime) -> Iterator[psycopg.Connection]:
    """A superuser with every trigger off, foreign keys included; whatever it does is undone."""
    with psycopg.connect(superuser(used.owner_url)) as conn:
        tables = conn.execute("SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger").fetchall()
        for (table,) in tables:
            conn.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        yield conn
        conn.rollback()


@pytest.fixture(scope="module")
def ids(used: Runtime) -> dict[str, int]:
    with psycopg.connect(used.owner_url) as conn:
        return {name: conn.execute(query).fetchall()[0][0] for name, query in IDS.items()}


def by_name(report: Report) -> dict[str, Finding]:
    return {finding.name: finding for finding in report.findings if not finding.holds}


def test_nothing_is_wrong_on_an_empty_database(runtime: Runtime) -> None:
    report = verify(runtime)
    assert by_name(report) == {}
    assert len(report.findings) == len(CHECKS)


def test_nothing_is_wrong_in_books_where_everything_happened(used: Runtime) -> None:
    """The books hold an entry of each kind that exists so far, and a decision of nearly each status."""
    with psycopg.connect(used.owner_url) as conn:
        kinds = {kind for (kind,) in conn.execute("SELECT DISTINCT kind FROM ledger.entry").fetchall()}
    assert kinds >= {
        "sale", "commission", "fee", "debit", "refund", "commission_reversal", "chargeback", "chargeback_reversal",
    }  # fmt: skip
    assert by_name(verify(used)) == {}


def test_every_check_has_its_falsification() -> None:
    assert list(FALSIFIED) == [check.name for check in CHECKS]


@pytest.mark.parametrize(
    ("check", "forgery", "offender"),
    [(check, forgery, offender) for check, forgeries in FALSIFIED.items() for forgery, offender in forgeries],
    ids=[f"{check}-{number}" for check, forgeries in FALSIFIED.items() for number, _ in enumerate(forgeries)],
)
def test_what_was_falsified_is_named(
    forger: psycopg.Connection, ids: dict[str, int], check: str, forgery: str, offender: str
) -> None:
    forger.execute(forgery.format(**ids).replace("%%", "%"))
    found = by_name(ask_all(forger))
    assert check in found
    assert any(line.startswith(f"{offender.format(**ids)}") for line in found[check].detail), found[check].detail
    assert found[check].sentence.startswith("Broken: ")


def test_at_most_ten_are_named(forger: psycopg.Connection) -> None:
    forger.execute("INSERT INTO intake.queue (event_id) SELECT generate_series(1001, 1011)")
    detail = by_name(ask_all(forger))["undecided_events_are_queued"].detail
    assert len(detail) == 11
    assert detail[-1] == "… and more"


def test_it_sees_one_moment_and_changes_nothing(used: Runtime) -> None:
    """What is committed between two checks is not half seen; the transaction cannot write."""
    with (
        psycopg.connect(used.app_url, options="-c role=razao_app") as conn,
        psycopg.connect(superuser(used.owner_url), autocommit=True) as other,
    ):
        seen: list[tuple[str, str]] = []
        gone = threading.Event()

        class Watching(psycopg.Cursor):
            def execute(self, query, *args, **kwargs):
                result = super().execute(query, *args, **kwargs)
                if "cursor_tuple_fraction" in str(query) and not gone.is_set():
                    super().execute(
                        "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')"
                    )
                    seen.append(self.fetchone())
                    other.execute("DELETE FROM intake.queue")
                    gone.set()
                return result

        conn.cursor_factory = Watching
        queued = other.execute("SELECT event_id FROM intake.queue").fetchall()
        try:
            report = verify_books(conn)
        finally:
            for (event_id,) in queued:
                other.execute("INSERT INTO intake.queue (event_id) VALUES (%s)", [event_id])
    assert seen == [("repeatable read", "on")]
    assert gone.is_set()
    assert by_name(report) == {}, "the queue was emptied after the snapshot was taken"


def test_reports_are_kept_for_the_console(conn: psycopg.Connection) -> None:
    report = Report((Finding("one", 1, True, "Good."), Finding("two", None, False, "Hm.", ("why",), "advice")))
    reports.save(conn, "doctor", Report(()))
    reports.save(conn, "doctor", report)
    last = last_reports(conn)
    assert set(last) == {"doctor"}
    assert last["doctor"].holds
    assert last["doctor"].result == report.as_json()
    assert last["doctor"].result["findings"][1] == {
        "name": "two", "rule": None, "holds": False, "level": "advice", "sentence": "Hm.", "detail": ["why"],
    }  # fmt: skip
