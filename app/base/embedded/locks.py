"""Two files say who uses a cluster: one for the moment of starting or stopping, one while it is in use.

Both are flocks: the kernel lets go of them when a process ends, however it ends. Every process opens the
files anew; a forked child drops what it inherited, or it could turn its parent's hold into its own.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.base.embedded.account import EmbeddedError, name_of

DECISION = "start.lock"
IN_USE = "in-use.lock"
PATIENCE = 120.0  # seconds; longer than a start may take


@contextmanager
def deciding(directory: Path) -> Iterator[int]:
    """Alone among all processes: choose a place, start, stop. Gives the lock's descriptor."""
    fd = _open(directory / DECISION)
    try:
        give_up = time.monotonic() + PATIENCE
        while not _lock(fd, fcntl.LOCK_EX):
            if time.monotonic() > give_up:
                raise EmbeddedError(
                    f"another process has been starting or stopping the database in {directory} for "
                    f"{PATIENCE:.0f} s: see {directory / 'server.log'}, then try again"
                )
            time.sleep(0.02)
        yield fd
    finally:
        os.close(fd)


class Hold:
    """That this process uses the cluster. Taken and given back under `deciding`."""

    def __init__(self, directory: Path) -> None:
        self._fd = _open(directory / IN_USE)
        fcntl.flock(self._fd, fcntl.LOCK_SH)  # waits for nothing: alone is only whoever decides

    def is_in(self, directory: Path) -> bool:
        """Whether the file is still the one that others see there."""
        try:
            return os.path.samestat(os.fstat(self._fd), (directory / IN_USE).stat())
        except FileNotFoundError:
            return False

    def release(self) -> bool:
        """Let go; whether nobody else held it. True until `deciding` ends, as holds are taken under it."""
        last = _lock(self._fd, fcntl.LOCK_EX)
        self.forget()
        return last

    def forget(self) -> None:
        """Close without unlocking: in a forked child the parent's hold remains."""
        os.close(self._fd)


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise EmbeddedError(_unusable(path, error)) from None


def _unusable(path: Path, error: OSError) -> str:
    me, owner = name_of(os.geteuid()), name_of(path.parent.stat().st_uid)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return (
            f"the data directory {path.parent} is not writable by user {me} (it belongs to {owner}): "
            f"run Razão as {owner}, or set RAZAO_DATA_DIR to a directory of {me}'s own"
        )
    return f"the data directory {path.parent} cannot be written ({error.strerror}): mend that, or set RAZAO_DATA_DIR"
