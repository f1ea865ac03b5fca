"""`razao serve`, its halves `web` and `worker`, and `migrate`."""

import logging
import os
import signal
import tempfile
import threading
from typing import Final

import click
from granian.constants import Interfaces
from granian.server import Server

from app.access import people
from app.base import lifeline, migrating, settings
from app.base.db import transaction
from app.base.runtime import Runtime
from app.doors.cli import context
from app.doors.cli.demo import demo_login, prepare_demo
from app.doors.cli.supervising import Child, supervise
from app.doors.worker.loop import Worker
from app.factory import create_app

WEB_PROCESSES: Final = 2
THREADS_PER_PROCESS: Final = 16  # waiting calls share a commit, so a few more wait well: docs/performance.md
DRAIN_SECONDS: Final = 15
_METRICS_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"


@click.command()
@click.option("--host", help="Address to listen on; default RAZAO_HOST or 127.0.0.1.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; default RAZAO_PORT or 8000.")
@click.option("--workers", type=click.IntRange(1, 64), default=WEB_PROCESSES, show_default=True, help="Web processes.")
@click.option("--demo", is_flag=True, help="Add an endpoint for each provider, payments, and the simulator's traffic.")
def serve(host: str | None, port: int | None, workers: int, demo: bool) -> None:
    """Migrate, then run web and worker until SIGTERM; the first start creates the operator admin."""
    runtime = context.prepared()
    host, port = host or runtime.settings.host, port or runtime.settings.port
    password = _set_up(runtime, demo=demo)
    with tempfile.TemporaryDirectory(prefix="razao-metrics-") as metrics_dir:
        os.environ.setdefault(_METRICS_DIR, metrics_dir)
        os.environ[lifeline.TIED] = "1"
        web_arguments = ("web", "--host", host, "--port", str(port), "--workers", str(workers))
        children = [Child("web", web_arguments), Child("worker", ("worker",))]
        if demo:
            children.append(Child("demo", ("simulate", "--demo", "--url", f"http://{_reachable(host)}:{port}")))
        _greet(host, port, password, demo=demo)
        supervise(children, drain_seconds=DRAIN_SECONDS)


@click.command()
@click.option("--host", help="Address to listen on; default RAZAO_HOST or 127.0.0.1.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; default RAZAO_PORT or 8000.")
@click.option("--workers", type=click.IntRange(1, 64), default=WEB_PROCESSES, show_default=True, help="Web processes.")
def web(host: str | None, port: int | None, workers: int) -> None:
    """Answer providers, the shop's systems and people; several machines may."""
    lifeline.tie_to_parent(signal.SIGTERM)
    found = settings.read(os.environ)
    runtime = context.prepared()
    migrating.check_current(runtime.app_url)
    with tempfile.TemporaryDirectory(prefix="razao-metrics-") as metrics_dir:
        os.environ.setdefault(_METRICS_DIR, metrics_dir)
        os.environ[lifeline.TIED] = "1"
        Server(
            "app.factory:from_environment",
            factory=True,
            address=host or found.host,
            port=port or found.port,
            interface=Interfaces.WSGI,
            workers=workers,
            blocking_threads=THREADS_PER_PROCESS,
            respawn_failed_workers=True,
            workers_kill_timeout=DRAIN_SECONDS,
            websockets=False,
            log_access=False,  # query strings hold secrets
        ).serve()


@click.command()
def worker() -> None:
    """Confirm stored events; several may run at once, on one machine or many."""
    lifeline.tie_to_parent(signal.SIGTERM)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    runtime = context.prepared()
    migrating.check_current(runtime.app_url)
    working = Worker(create_app(runtime), runtime)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: working.stop())
    # The loop runs beside the main thread, so that a signal is heard even while it waits for the database.
    thread = threading.Thread(target=working.run, name="worker")
    thread.start()
    while thread.is_alive():
        thread.join(0.5)


@click.command()
def migrate() -> None:
    """Bring the database to this code's revision, as its owner."""
    runtime = context.prepared()
    with create_app(runtime).app_context():
        migrating.upgrade(runtime.owner_url, runtime.app_url)
    click.echo(f"database is at revision {migrating.head()}")


def _set_up(runtime: Runtime, *, demo: bool) -> str | None:
    """Migrates and creates the first operator; returns a password that was made now, for the only time it is shown."""
    with create_app(runtime).app_context():
        migrating.upgrade(runtime.owner_url, runtime.app_url)
        migrating.check_current(runtime.app_url)
        made: str | None = None
        with transaction() as conn:
            if not people.anybody(conn):
                given = runtime.settings.admin_password
                made = None if given else demo_login() if demo else people.new_password()
                people.add(conn, "admin", given or made or "", people.Role.ADMIN, may_be_short=given is not None)
                if given and len(given) < people.SHORTEST_PASSWORD:
                    click.echo(
                        "warning: RAZAO_ADMIN_PASSWORD is short; choose a longer one before others reach this", err=True
                    )
        if demo:
            prepare_demo(runtime)
    return made


def _greet(host: str, port: int, password: str | None, *, demo: bool) -> None:
    url = f"http://{_reachable(host)}:{port}"
    click.echo(f"\n  Razão is at {url}")
    if password:
        click.echo(f"  Sign in as admin with the password {password}  (shown this once)")
    else:
        click.echo("  Sign in as admin, with the password that you have.")
    if demo:
        click.echo("  Try a call that proves nothing:")
        click.echo(f'    curl -i -X POST {url}/webhooks/demo-asaas -d \'{{"event": "PAYMENT_RECEIVED"}}\'')
    click.echo("  Stop with Ctrl-C.\n")


def _reachable(host: str) -> str:
    if host in {"0.0.0.0", "::"}:  # noqa: S104  the address to print, not to bind
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
