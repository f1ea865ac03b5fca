"""Who the server runs as, and how its programs are called.

PostgreSQL refuses to run as root. When we are root, its programs run as a system user of their own; otherwise
as us. Nothing of our environment reaches them: no master key, no PGPORT that would change what they do.
"""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from app.base.errors import ConfigurationError

SYSTEM_USER = "razao-pg"


_COMPLAINT = re.compile(r"FATAL|PANIC|ERROR|error:|could not|invalid|unrecognized|syntax")
_STAMP = re.compile(r"^[-\d]+ [:.\d]+ \w+ \[\d+\] \S+ \w+:\s+")  # what log_line_prefix puts before, and the level


class EmbeddedError(ConfigurationError):
    """The embedded server cannot be had; the message is one line: what, where, what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """The system user that owns the cluster's files; `other` when that is not the user we are."""

    name: str
    uid: int
    gid: int
    other: bool

    def run(
        self,
        *command: str | Path,
        cwd: Path = Path("/"),
        output: IO[bytes] | None = None,
        keep_open: tuple[int, ...] = (),
        timeout: float = 300,
    ) -> tuple[int, str]:
        """Run to the end, in a session of its own (a Ctrl-C here is not for it): exit code, and what it said.

        What it says goes to a file, not a pipe: a server left behind would hold a pipe open for ever.
        """
        become: dict[str, Any] = {"user": self.uid, "group": self.gid, "extra_groups": [self.gid]} if self.other else {}
        with tempfile.TemporaryFile() as scratch:
            said = output or scratch
            try:
                done = subprocess.run(  # noqa: S603 - our own programs and arguments, and no shell
                    [str(part) for part in command],
                    cwd=cwd,
                    env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC"},
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    pass_fds=keep_open,
                    start_new_session=True,
                    timeout=timeout,
                    check=False,
                    **become,
                )
            except subprocess.TimeoutExpired:
                return 124, f"gave no answer within {timeout:.0f} s"
            except OSError as error:
                return 126, f"{command[0]}: {error.strerror}" + (f" (as user {self.name})" if self.other else "")
            scratch.seek(0)
            return done.returncode, scratch.read().decode(errors="replace")

    def enters(self, directory: Path) -> bool:
        """Whether this user can pass through the directory: the kernel's word, not our reading of modes."""
        code, _ = self.run("/bin/sh", "-c", 'cd -- "$1"', "sh", directory)
        return code == 0


def server_account() -> Account:
    """Us; or the system user, made when missing, when we are root."""
    uid = os.geteuid()
    if uid != 0:
        return Account(name_of(uid), uid, os.getegid(), other=False)
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        entry = _add_system_user()
    return Account(SYSTEM_USER, entry.pw_uid, entry.pw_gid, other=True)


def name_of(uid: int) -> str:
    """The user's name, or the number where there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _add_system_user() -> pwd.struct_passwd:
    advice = f"run Razão as a plain user, or create the system user {SYSTEM_USER} yourself"
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        raise EmbeddedError(f"PostgreSQL does not run as root, and useradd is not here to make it a user: {advice}")
    shell = next((s for s in ("/usr/sbin/nologin", "/sbin/nologin") if Path(s).exists()), "/bin/false")
    root = Account("root", 0, 0, other=False)
    _, said = root.run(
        *(useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"),
        *("--shell", shell, "--comment", "Razao embedded PostgreSQL", SYSTEM_USER),
    )
    try:
        return pwd.getpwnam(SYSTEM_USER)  # whether by us or, just before, by another process
    except KeyError:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and useradd {SYSTEM_USER} failed ({last_lines(said)}): {advice}"
        ) from None


def last_lines(said: str, count: int = 3) -> str:
    """The end of what a program said, as one line; its complaints rather than its chatter."""
    lines = [_STAMP.sub("", line.strip()) for line in said.splitlines() if line.strip()]
    complaints = [line for line in lines if _COMPLAINT.search(line) and not line.startswith("pg_ctl:")]
    return "; ".join((complaints or lines)[-count:]) or "it said nothing"
