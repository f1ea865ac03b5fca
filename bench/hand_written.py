"""The hand-written receiver (baseline/): Express and TypeORM, all inside the request. Driven by the same script."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from app.base.embedded import Cluster
from bench.tools import HERE, TOKEN, Sample, answers, free_port, process, wait_until, wrk

CONNECTIONS = (1, 16, 64)
_DATABASE = "bench_hand_written"
_PAYMENTS = 300_000
_SOURCE = HERE / "baseline"


def install(npm: str) -> Path:
    """Its packages as the lock file pins them, kept in a cache beside the system's temporary files."""
    pinned = hashlib.sha256((_SOURCE / "package-lock.json").read_bytes()).hexdigest()[:16]
    directory = Path(tempfile.gettempdir()) / f"razao-bench-baseline-{os.geteuid()}-{pinned}"
    if not (directory / "installed").exists():
        directory.mkdir(mode=0o700, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_SOURCE / name, directory)
        subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--silent"], cwd=directory, check=True)
        (directory / "installed").touch()
    shutil.copy(_SOURCE / "server.js", directory)
    return directory


def measure(cluster: Cluster, node: str, directory: Path, *, seconds: int) -> dict[str, Sample]:
    """A fresh database and a fresh server for one round."""
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
        conn.execute(f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)")
        conn.execute(f"CREATE DATABASE {_DATABASE}")
    port = free_port()
    environ = {
        "PATH": os.environ["PATH"], "PGHOST": str(cluster.socket_dir), "PGDATABASE": _DATABASE, "PORT": str(port),
        "TOKEN": TOKEN, "PAYMENTS": str(_PAYMENTS), "NODE_ENV": "production",
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}/hook"
    found: dict[str, Sample] = {}
    with process([node, "server.js"], environ, cwd=directory):
        wait_until(lambda: answers(port), "the hand-written receiver is up")
        with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:
            conn.execute("CHECKPOINT")
        wrk(url, connections=16, seconds=2, first_payment=1)
        first = 20_000
        for connections in CONNECTIONS:
            sample = wrk(url, connections=connections, seconds=seconds, first_payment=first)
            found[f"hand-written {connections}"] = sample
            first += int(sample["requests"]) // 2 + 100
    with psycopg.connect(cluster.superuser_url(_DATABASE)) as conn:
        row = conn.execute("SELECT count(*) FROM event WHERE processed").fetchone()
        acknowledged = sum(sample["requests"] for sample in found.values())
        if row is None or row[0] < acknowledged:
            raise RuntimeError(f"the hand-written receiver processed {row} of {acknowledged:.0f} events")
    return found
