"""RAZAO_DATABASE_URL: a PostgreSQL of the user's own, an owner who is no superuser, a login that owns nothing."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from app.base import embedded

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def urls(cluster: embedded.Cluster) -> Iterator[tuple[str, str]]:
    """(the serving login's URL, the owner's) of an empty database."""
    tag = uuid.uuid4().hex[:8]
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"CREATE ROLE shop_owner_{tag} LOGIN CREATEROLE")
        conn.execute(f"CREATE ROLE shop_web_{tag} LOGIN")
        # razao_app belongs to the whole server and exists here: on a server of one's own the migration makes it.
        conn.execute(f"GRANT razao_app TO shop_owner_{tag} WITH ADMIN OPTION")
        conn.execute(f"CREATE DATABASE shop_{tag} OWNER shop_owner_{tag}")
    yield cluster.url(f"shop_{tag}", f"shop_web_{tag}"), cluster.url(f"shop_{tag}", f"shop_owner_{tag}")
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"DROP DATABASE shop_{tag} WITH (FORCE)")
        conn.execute(f"DROP ROLE shop_web_{tag}")
        conn.execute(f"DROP ROLE shop_owner_{tag}")


def razao(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("RAZAO_")}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments], cwd=ROOT, env=clean | settings, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def test_migrated_by_the_owner_and_proved_by_the_doctor(urls: tuple[str, str]) -> None:
    web, owner = urls
    own = {
        "RAZAO_DATABASE_URL": web,
        "RAZAO_MIGRATION_DATABASE_URL": owner,
        "RAZAO_MASTER_KEY": "a key of the shop's own",
    }
    behind = razao("endpoint", "list", **own)
    assert (behind.returncode, "behind this code" in behind.stderr) == (1, True)
    migrated = razao("migrate", **own)
    assert migrated.returncode == 0, migrated.stderr
    assert razao("migrate", **own).returncode == 0
    proved = razao("doctor", **own)
    assert proved.returncode == 0, proved.stdout
    with psycopg.connect(web, options="-c role=razao_app") as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("UPDATE ledger.entry SET amount = 0")
    with psycopg.connect(owner) as conn, pytest.raises(psycopg.errors.CheckViolation, match="only grows"):
        conn.execute("DELETE FROM ledger.entry")


def test_a_database_of_ones_own_needs_a_key_of_ones_own(urls: tuple[str, str]) -> None:
    refused = razao("migrate", RAZAO_DATABASE_URL=urls[1])
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "RAZAO_MASTER_KEY" in refused.stderr


def test_a_database_that_is_not_there_is_one_clear_line() -> None:
    away = razao(
        "migrate",
        RAZAO_DATABASE_URL="postgresql://nobody@127.0.0.1:1/nowhere",
        RAZAO_MASTER_KEY="a key of the shop's own",
    )
    assert (away.returncode, away.stderr.count("\n")) == (1, 1)
    assert away.stderr.startswith("error: cannot reach the database")


def test_the_owner_alone_is_enough(urls: tuple[str, str]) -> None:
    """One URL for both: the service acts as razao_app all the same, and the doctor advises a login of its own."""
    own = {"RAZAO_DATABASE_URL": urls[1], "RAZAO_MASTER_KEY": "a key of the shop's own"}
    assert razao("migrate", **own).returncode == 0
    proved = razao("doctor", **own)
    assert proved.returncode == 0, proved.stdout
    assert "note" in proved.stdout
