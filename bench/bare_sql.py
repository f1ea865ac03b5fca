"""The floor: pgbench runs the least SQL that stores an event, or stores and confirms one, a transaction each."""

import re
import subprocess

import psycopg

from app.base.embedded import Cluster
from bench.tools import HERE, Sample

CLIENTS = (1, 8, 16, 32)
_DATABASE = "bench_floor"
_RATE = re.compile(r"^tps = (?P<rate>[0-9.]+)", re.MULTILINE)
_LATENCY = re.compile(r"^latency average = (?P<ms>[0-9.]+) ms", re.MULTILINE)


def prepare(cluster: Cluster) -> None:
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {_DATABASE}")
    with psycopg.connect(cluster.superuser_url(_DATABASE), autocommit=True) as conn:
        for statement in (HERE / "floor" / "schema.sql").read_text().split(";\n"):
            conn.execute(statement.encode())
        conn.execute("CHECKPOINT")  # each contender starts with what was written before it on the disk


def measure(cluster: Cluster, *, seconds: int) -> dict[str, Sample]:
    return {
        f"floor {script} {clients}": _run(cluster, script, clients, seconds)
        for script in ("ingest", "confirm")
        for clients in CLIENTS
    }


def _run(cluster: Cluster, script: str, clients: int, seconds: int) -> Sample:
    said = subprocess.run(
        [str(cluster.programs / "pgbench"), "-n", "-M", "prepared", "-f", str(HERE / "floor" / f"{script}.sql"), "-c", str(clients),
         "-j", str(min(2, clients)), "-T", str(seconds), "-h", str(cluster.socket_dir), "-U", "postgres", _DATABASE],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    rate, latency = _RATE.search(said), _LATENCY.search(said)
    if rate is None or latency is None:
        raise RuntimeError(f"pgbench said something else than expected: {said}")
    return {"rate": float(rate["rate"]), "mean_ms": float(latency["ms"])}
