"""Monitors: the process, readiness with each check named, the figures behind their token."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import values
from prometheus_client.parser import text_string_to_metric_families
from psycopg import Connection

from app.base.db import DatabaseUnavailable
from app.base.runtime import Runtime
from app.doors.health import views
from tests.support import add_asaas, asaas_event, deliver, drain

TOKEN = {"Authorization": "Bearer metrics-token"}


def away() -> Any:
    raise DatabaseUnavailable("gone")


def test_the_process_is_up_whatever_the_database_does(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "statements", away)
    assert (client.get("/healthz").status_code, client.get("/healthz").json) == (200, {"ok": True})


def test_ready(client: FlaskClient) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json["ready"] is True
    assert {name: check["ok"] for name, check in response.json["checks"].items()} == {
        "database": True,
        "migrations": True,
        "worker": True,
    }


def test_not_ready_without_the_database(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "statements", away)
    response = client.get("/readyz")
    assert (response.status_code, response.json["ready"]) == (503, False)
    assert response.json["checks"]["database"]["ok"] is False


def test_not_ready_at_another_revision(client: FlaskClient, owner: Connection) -> None:
    owner.execute("UPDATE public.alembic_version SET version_num = '0000'")
    response = client.get("/readyz")
    assert (response.status_code, response.json["checks"]["migrations"]["ok"]) == (503, False)


def test_not_ready_while_the_worker_lags(client: FlaskClient, owner: Connection) -> None:
    owner.execute("INSERT INTO intake.queue (event_id, due_at) VALUES (1, now() - interval '59 seconds')")
    assert client.get("/readyz").status_code == 200
    owner.execute("UPDATE intake.queue SET due_at = now() - interval '61 seconds'")
    response = client.get("/readyz")
    assert (response.status_code, response.json["checks"]["worker"]["ok"]) == (503, False)
    assert response.json["checks"]["worker"]["backlog"] == 1


def figures(client: FlaskClient) -> dict[tuple[str, str], float]:
    """(name, status) -> value of the samples of one scrape."""
    response = client.get("/metrics", headers=TOKEN)
    assert response.status_code == 200
    return {
        (sample.name, sample.labels.get("status", "")): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def test_figures(client: FlaskClient, runtime: Runtime, owner: Connection) -> None:
    add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)
    deliver(client, asaas_event("evt_2", "PAYMENT_RECEIVED", "pay_2"))
    owner.execute("UPDATE intake.queue SET due_at = now() - interval '30 seconds'")
    found = figures(client)
    assert found["razao_database_up", ""] == 1
    assert found["razao_backlog_events", ""] == 1
    assert 30 <= found["razao_backlog_age_seconds", ""] < 60
    assert found["razao_events_unsettled", "unmatched"] == 1
    assert found["razao_events_unsettled", "review"] == 0
    assert found["razao_webhooks_acknowledged_total", ""] >= 2


def test_figures_without_the_database(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "statements", away)
    found = figures(client)
    assert found["razao_database_up", ""] == 0
    assert ("razao_backlog_events", "") not in found


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic metrics-token", "Bearer \xff"]
)
def test_figures_need_their_token(client: FlaskClient, header: str | None) -> None:
    response = client.get("/metrics", headers={"Authorization": header} if header is not None else {})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert "razao_" not in response.text


def test_without_a_configured_token_there_are_no_figures(app: Flask, client: FlaskClient, runtime: Runtime) -> None:
    app.config["RUNTIME"] = replace(runtime, settings=replace(runtime.settings, metrics_token=None))
    for headers in [{}, TOKEN, {"Authorization": "Bearer "}]:
        assert client.get("/metrics", headers=headers).status_code == 404


def test_figures_of_several_processes_are_added_up(
    client: FlaskClient, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    for pid in (11, 22):
        value = values.MultiProcessValue(lambda pid=pid: pid)
        value("counter", "razao_x_total", "razao_x_total", (), (), "x").inc(3)
    assert figures(client)["razao_x_total", ""] == 6
    assert figures(client)["razao_database_up", ""] == 1
