"""`razao serve` as a user has it: forty payments told four times each; killed twice under load; stopped politely."""

import json
import subprocess
import sys
import time

import psycopg
import pytest

from app.base import embedded
from tests.faults.service import ROOT, Service, service

STANDINGS = "SELECT status, count(*) FROM intake.standing GROUP BY 1 ORDER BY 1"
ENTRIES = "SELECT kind, count(*), sum(amount)::bigint FROM ledger.entry GROUP BY 1 ORDER BY 1"
UNDECIDED = (
    "SELECT count(*) FROM intake.event e LEFT JOIN intake.standing s ON s.event_id = e.id WHERE s.event_id IS NULL"
)


def until_decided(running: Service, events: int) -> None:
    deadline = time.monotonic() + 60
    while running.rows("SELECT count(*) FROM intake.event") != [(events,)] or running.rows(UNDECIDED) != [(0,)]:
        assert time.monotonic() < deadline, running.log.read_text()
        time.sleep(0.1)


@pytest.mark.parametrize("provider", ["asaas", "stripe", "abacatepay"])
def test_forty_payments_told_four_times_each(provider: str) -> None:
    """Two events each, each delivered twice in parallel, and forgeries: forty sales, forty duplicates with their cause."""
    with service() as running:
        running.start()
        secret = [] if provider == "abacatepay" else ["--secret", "a-secret-for-tests"]
        added = running.razao("endpoint", "add", "loja", "--provider", provider, *secret, "--url-token", "a-token")
        assert added.returncode == 0, added.stderr
        summary = running.razao_json(
            "simulate", "--endpoint", "loja", "--payments", "40", "--repeat", "2", "--forge", "5", "--json"
        )
        assert (summary["acknowledged"], summary["gave_up"]) == (160, 0)
        assert summary["forgeries_refused"] == 5
        until_decided(running, 80)
        assert running.rows(STANDINGS) == [("applied", 40), ("duplicate", 40)]
        assert running.rows(ENTRIES)[-1] == ("sale", 40, 40 * 4990)
        caused = "SELECT count(*) FROM intake.standing WHERE status = 'duplicate' AND caused_by IS NOT NULL AND entry_id IS NOT NULL"
        assert running.rows(caused) == [(40,)]
        assert running.rows("SELECT count(*) FROM intake.delivery") == [(160,)]
        for proof in ("verify", "doctor"):
            assert running.razao(proof).returncode == 0, running.razao(proof).stdout
        assert running.stop() == 0


def test_killed_twice_under_load_nothing_is_lost_or_doubled() -> None:
    """kill -9, once of everything and once of the parent alone, while a provider sends in parallel and retries."""
    with service() as running:
        running.start()
        assert running.razao("endpoint", "add", "loja", "--provider", "asaas", "--secret", "a-secret").returncode == 0
        load = subprocess.Popen(
            [sys.executable, "-m", "app", "simulate", "--endpoint", "loja", "--payments", "300", "--json"],
            cwd=ROOT, env=running.environment(), stdout=subprocess.PIPE,
        )  # fmt: skip
        for deaths, everything in ((1, True), (2, False)):
            deadline = time.monotonic() + 60
            while running.rows("SELECT count(*) FROM intake.event")[0][0] < 100 * deaths:
                assert time.monotonic() < deadline, running.log.read_text()
                time.sleep(0.02)
            running.kill(everything=everything)
            running.start()
        output, _ = load.communicate(timeout=120)
        summary = json.loads(output)
        assert summary["gave_up"] == 0
        assert summary["retries"] > 0, "the kills must have been felt"
        until_decided(running, 600)
        assert running.rows(STANDINGS) == [("applied", 300), ("duplicate", 300)]
        assert running.rows(ENTRIES)[-1] == ("sale", 300, 300 * 4990)
        assert running.razao("verify").returncode == 0


def test_the_first_start_prints_the_password_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    with service() as running:
        running.start()
        assert running.stop() == 0
        first = running.log.read_text()
        running.log.write_text("")
        running.start()
        assert running.stop() == 0
        assert "password" in first
        assert "shown this once" not in running.log.read_text()


def test_the_command_line_says_one_clear_line() -> None:
    with service() as running:
        assert running.razao("migrate").returncode == 0
        usage = running.razao("endpoint", "add", "loja")
        assert (usage.returncode, usage.stderr.count("\n"), usage.stdout) == (2, 1, "")
        unknown = running.razao("endpoint", "disable", "nobody")
        assert (unknown.returncode, unknown.stderr.count("\n")) == (1, 1)
        assert unknown.stderr.startswith("error: There is no endpoint 'nobody'")
        needs = running.razao("endpoint", "add", "abacate", "--provider", "abacatepay")
        assert needs.returncode == 1
        assert "URL token" in needs.stderr
        key = running.razao("api-key", "create", "shop")
        assert key.returncode == 0
        assert key.stdout.strip().startswith("rz_") and key.stdout.count("\n") == 1
        assert running.razao("api-key", "create", "shop").returncode == 1
        assert running.razao("api-key", "revoke", "shop").returncode == 0
        given = running.razao("user", "add", "ana", "--role", "support", stdin="a long password\n")
        assert "password" not in given.stdout
        made = running.razao("user", "add", "bia", "--role", "viewer")
        assert "password: " in made.stdout
        piped = running.razao("endpoint", "add", "loja", "--provider", "asaas", "--secret", "-", stdin="from-a-pipe\n")
        assert piped.returncode == 0
        assert "from-a-pipe" not in running.razao("endpoint", "list", "--json").stdout


def test_a_database_behind_the_code_stops_web_with_one_line() -> None:
    with service() as running:
        assert running.razao("migrate").returncode == 0
        cluster = embedded.start(running.data_dir)  # the server would stop with the last that uses it
        with psycopg.connect(cluster.superuser_url("razao"), autocommit=True) as conn:
            conn.execute("UPDATE public.alembic_version SET version_num = '0000'")
            behind = running.razao("web")
            conn.execute("UPDATE public.alembic_version SET version_num = '9999'")
            ahead = running.razao("serve")
        assert (behind.returncode, ahead.returncode) == (1, 1)
        assert "behind this code" in behind.stderr
        assert "ahead of this code" in ahead.stderr
        assert behind.stderr.count("\n") == 1
        embedded.stop_if_last(running.data_dir)
