"""The measuring programs and the processes under test: found, started, waited for, stopped."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
TOKEN = "a-token-for-the-bench"
Sample = dict[str, float]  # rate, and where it was measured p50_ms, p99_ms
_running: list[subprocess.Popen[bytes]] = []
_PACKAGES = {"wrk": "wrk", "node": "nodejs", "npm": "npm"}


def find_tools() -> dict[str, str]:
    """The path of each program; installs what is missing when root on Debian, else says what to install."""
    missing = [name for name in _PACKAGES if shutil.which(name) is None]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", *{_PACKAGES[name] for name in missing}]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        missing = [name for name in _PACKAGES if shutil.which(name) is None]
    if missing:
        sys.exit(f"bench: {', '.join(missing)} not found; install {' '.join(_PACKAGES[name] for name in missing)}")
    return {name: str(shutil.which(name)) for name in _PACKAGES}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(done: Callable[[], bool], what: str, *, seconds: float = 60, every: float = 0.05) -> None:
    """Returns once it is done; ends the run when it never is."""
    deadline = time.monotonic() + seconds
    while not done():
        dead = [one for one in _running if one.poll() is not None]
        if dead:
            raise RuntimeError(f"{what}: cannot be, for {dead[0].args!r} ended with {dead[0].returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not after {seconds:.0f} s")
        time.sleep(every)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def process(arguments: Sequence[str], environ: Mapping[str, str], *, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """That program, in a process group of its own, for the length of the block. Its output goes to standard error."""
    started = subprocess.Popen(arguments, env=dict(environ), cwd=cwd, stdout=sys.stderr, start_new_session=True)
    _running.append(started)
    try:
        yield started
    finally:
        _running.remove(started)
        if started.poll() is None:
            started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def wrk(url: str, *, connections: int, seconds: int, first_payment: int) -> Sample:
    """Sends pairs of events from that payment on; every answer must be a 2xx."""
    said = subprocess.run(
        ["wrk", "--threads=1", f"--connections={connections}", f"--duration={seconds}s", "--script=load.lua", url],
        cwd=HERE, env={**os.environ, "FIRST_PAYMENT": str(first_payment), "TOKEN": TOKEN},
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    sample: Sample = json.loads(said.splitlines()[-1])
    if sample["failed"] or not sample["requests"]:
        raise RuntimeError(f"{url}: not every webhook was acknowledged: {sample}")
    return sample
