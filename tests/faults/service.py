"""`razao serve` as a real process on a data directory of its own, and the command line beside it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

ROOT = Path(__file__).parent.parent.parent


class Service:
    """One installation: start it, kill it, ask its command line, look into its database."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data_dir.parent / "serve.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        """Starts it and returns once it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--port", str(self.port), *arguments],
                cwd=ROOT, env=self.environment(), stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.post(f"{self.url}/webhooks/nobody", timeout=5).status_code == 404:
                    return
            except httpx.HTTPError:
                time.sleep(0.1)
            assert self._process.poll() is None, self.log.read_text()
        raise AssertionError(self.log.read_text())

    def kill(self, *, everything: bool) -> None:
        """kill -9: of `razao serve` alone, or of all that it started."""
        assert self._process
        pid = self._process.pid
        os.killpg(pid, signal.SIGKILL) if everything else os.kill(pid, signal.SIGKILL)
        self._process.wait(10)

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self._process
        self._process.terminate()
        return self._process.wait(60)

    def environment(self) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("RAZAO_")}
        return {**clean, "RAZAO_DATA_DIR": str(self.data_dir), "RAZAO_PORT": str(self.port)}

    def razao(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """One command of the command line."""
        return subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            cwd=ROOT, env=self.environment(), input=stdin, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def razao_json(self, *arguments: str) -> Any:
        done = self.razao(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def rows(self, statement: str) -> list[Any]:
        """Looks into the database, as its superuser."""
        found = self.data_dir / "run"
        with psycopg.connect(f"postgresql://postgres@/razao?host={found}") as conn:
            return conn.execute(statement).fetchall()


@contextmanager
def service() -> Iterator[Service]:
    """An installation in a temporary directory, gone afterwards."""
    room = Path(tempfile.mkdtemp(prefix="razao-service-"))
    room.chmod(0o711)
    made = Service(room / "data")
    try:
        yield made
    finally:
        if made._process and made._process.poll() is None:
            made.stop()
        shutil.rmtree(room, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
