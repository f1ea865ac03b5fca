"""A real PostgreSQL for every test: one embedded server a run, one migrated template, a fresh clone for each test."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.base import embedded, migrating, settings
from app.base.db import db
from app.base.runtime import Runtime
from app.base.vault import Vault
from app.factory import create_app

TEMPLATE = "razao_template"
MASTER_KEY = "a master key for tests, long enough"


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[embedded.Cluster]:
    """The run's server, shared by xdist's workers; the last one to leave stops it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    data_dir = Path(tempfile.gettempdir()) / f"razao-tests-{run[:12]}"
    found = embedded.start(data_dir)
    with psycopg.connect(found.superuser_url(), autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(1)")
        if not conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone():
            conn.execute(f"CREATE DATABASE {TEMPLATE}_new OWNER razao_owner")
            runtime = _runtime(found, f"{TEMPLATE}_new")
            app = create_app(runtime)
            with app.app_context():
                migrating.upgrade(runtime.owner_url, runtime.app_url)
            conn.execute(f"ALTER DATABASE {TEMPLATE}_new RENAME TO {TEMPLATE}")
    yield found
    if embedded.stop_if_last():
        shutil.rmtree(data_dir, ignore_errors=True)


@pytest.fixture
def runtime(cluster: embedded.Cluster) -> Iterator[Runtime]:
    """A fresh, migrated database of this test's own."""
    name = f"t_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(1)")  # a template takes one copier at a time
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER razao_owner STRATEGY file_copy")
    yield _runtime(cluster, name)
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def app(runtime: Runtime) -> Iterator[Flask]:
    """The application on that database, in an app context."""
    made = create_app(runtime)
    made.testing = True
    with made.app_context():
        yield made
        made.extensions["razao.directory"].close()
        made.extensions["razao.bell"].close()
        db.engine.dispose()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def conn(runtime: Runtime) -> Iterator[psycopg.Connection]:
    """A connection as the application has it: its login, acting as razao_app. In autocommit."""
    with psycopg.connect(runtime.app_url, autocommit=True, options="-c role=razao_app") as found:
        yield found


@pytest.fixture
def owner(runtime: Runtime) -> Iterator[psycopg.Connection]:
    """A connection as the database's owner. In autocommit."""
    with psycopg.connect(runtime.owner_url, autocommit=True) as found:
        yield found


def _runtime(cluster: embedded.Cluster, database: str) -> Runtime:
    return Runtime(
        settings=settings.read({"RAZAO_METRICS_TOKEN": "metrics-token"}),
        app_url=cluster.url(database, "razao_service"),
        owner_url=cluster.url(database, "razao_owner"),
        vault=Vault(MASTER_KEY),
    )
