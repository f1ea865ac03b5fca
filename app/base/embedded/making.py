"""A cluster's files: made once, with Razão's settings, and never half."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.base.embedded.account import Account, EmbeddedError, last_lines
from app.base.embedded.places import CLUSTER

MAJOR: Final = "18"

SETTINGS: Final = """\
# Written by Razão at every start. Your own settings belong in postgresql.conf, below its include: they win.
fsync = on                      # a webhook's 200 means: on the disk
synchronous_commit = on
full_page_writes = on
max_connections = 100
shared_buffers = 128MB
unix_socket_permissions = 0700  # beside the directory's own 0700
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %u@%d '
log_error_verbosity = terse     # no DETAIL: it quotes rows, and rows are customers' data
jit = off                       # many small statements, none that compiling would speed up
"""
HBA: Final = """\
# No line for TCP: nobody gets in that way. On the socket everybody is trusted, because getting to it is the
# check: its directory is 0700, so whoever comes is root or the user who owns the data files anyway. (`peer`
# would want the system user's name to be the role's, and one user comes here under several roles.)
local all         all trust
local replication all trust
"""
INCLUDE: Final = """

# Razão's settings, written anew at every start. Put yours below this line: they win.
include_if_exists = 'razao.conf'
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where one server's things are, and who it runs as."""

    home: Path
    programs: Path
    socket_dir: Path
    account: Account

    @property
    def files(self) -> Path:
        return self.home / CLUSTER

    @property
    def log(self) -> Path:
        return self.home / "server.log"


def ensure_made(cluster: Cluster, lock: int) -> None:
    """Make the cluster if there is none: aside, then renamed, so that half a cluster is never taken for one.

    initdb keeps the lock open: should we be killed, the next start waits for it before it clears up.
    """
    files, account = cluster.files, cluster.account
    if files.exists() and _is_cluster(files):
        return
    half = files.with_name(f"{CLUSTER}.new")
    shutil.rmtree(half, ignore_errors=True)
    try:
        half.mkdir(mode=0o700)
        if account.other:
            os.chown(half, account.uid, account.gid)
        code, said = account.run(
            *(cluster.programs / "initdb", "--pgdata", half, "--username=postgres", "--auth=trust"),
            *("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--data-checksums", "--no-instructions"),
            keep_open=(lock,),
        )
        if code:
            shutil.rmtree(half, ignore_errors=True)
            raise EmbeddedError(f"the database could not be made in {files} ({last_lines(said)})")
        _write(half / "razao.conf", SETTINGS, account)
        _write(half / "pg_hba.conf", HBA, account)
        conf = half / "postgresql.conf"
        _write(conf, conf.read_text() + INCLUDE, account)
        half.rename(files)
        _sync(cluster.home)
    except OSError as error:
        raise EmbeddedError(f"the database could not be made in {files} ({error.strerror}): mend that first") from None


def _is_cluster(files: Path) -> bool:
    """A cluster that we can run; False for an empty directory; raises for anything else."""
    try:
        if not any(files.iterdir()):
            return False
        version = (files / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise EmbeddedError(
            f"{files} holds no database, yet is not empty: move it away, or set RAZAO_DATA_DIR"
        ) from None
    except OSError as error:
        raise EmbeddedError(f"the database in {files} cannot be read ({error.strerror})") from None
    if version != MAJOR:
        raise EmbeddedError(
            f"the database in {files} was made by PostgreSQL {version}, and this Razão brings {MAJOR}: "
            f"upgrade it with pg_upgrade, or dump it there and restore it here"
        )
    return True


def refresh_settings(cluster: Cluster) -> None:
    """A newer Razão may bring other settings."""
    path = cluster.files / "razao.conf"
    if not path.is_file() or path.read_text() != SETTINGS:
        _write(path, SETTINGS, cluster.account)


def _write(path: Path, text: str, account: Account) -> None:
    """Replace a file of the cluster in one step, following no link that is planted there."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        if account.other:
            os.fchown(fd, account.uid, account.gid)
        file.write(text)
        file.flush()
        os.fsync(fd)
    new.replace(path)
    _sync(path.parent)


def _sync(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
