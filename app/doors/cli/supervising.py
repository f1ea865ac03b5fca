"""Keeps the halves of `razao serve` running: each is a process, a dead one is started again, all drain at the end."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Final

_RESTART_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Child:
    """One half: its name and the arguments of the `razao` that it is."""

    name: str
    arguments: tuple[str, ...]

    def start(self) -> subprocess.Popen[bytes]:
        """Starts it, in our process group, with our environment."""
        return subprocess.Popen([sys.executable, "-m", "app", *self.arguments], env=os.environ)  # noqa: S603  our own


def supervise(children: Sequence[Child], *, drain_seconds: float) -> None:
    """Runs until SIGTERM or SIGINT, then lets every child finish what it has in hand."""
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    running = {child: child.start() for child in children}
    while not stopping.wait(_LOOK_SECONDS):
        for child, process in list(running.items()):
            if process.poll() is not None:
                _log.warning("%s ended with %s; starting it again", child.name, process.returncode)
                if not stopping.wait(_RESTART_SECONDS):
                    running[child] = child.start()
    for process in running.values():
        process.terminate()
    deadline = time.monotonic() + drain_seconds
    for process in running.values():
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
