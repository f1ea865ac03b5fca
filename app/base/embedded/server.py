"""One cluster: made once, started, looked at, stopped. Called under `locks.deciding`."""

import os
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.base.embedded.account import Account, EmbeddedError, last_lines, name_of
from app.base.embedded.places import CLUSTER, is_private

MAJOR: Final = "18"
PORT: Final = 5432  # of the socket's name; no port is opened
START_WITHIN: Final = 60.0  # seconds; recovery after a crash takes its time
_LONGEST_LOG: Final = 10 * 1024 * 1024

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


@dataclass(frozen=True, slots=True)
class Running:
    """A live server, as its postmaster.pid tells it; what is not written yet is empty."""

    pid: int
    port: str
    socket_dir: str
    listens: str
    status: str


def ensure_made(cluster: Cluster, lock: int) -> None:
    """Make the cluster if there is none: aside, then renamed, so that half a cluster is never taken for one.

    initdb keeps the lock open: should we be killed, the next start waits for it before it clears up.
    """
    files, account = cluster.files, cluster.account
    if (files / "PG_VERSION").exists():
        _check(files, account)
        return
    if files.exists() and any(files.iterdir()):
        raise EmbeddedError(f"{files} is neither empty nor a database: move it away, or set RAZAO_DATA_DIR")
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


def _check(files: Path, account: Account) -> None:
    owner = files.stat().st_uid
    if owner != account.uid:
        raise EmbeddedError(
            f"the database in {files} belongs to user {name_of(owner)}, but here PostgreSQL runs as "
            f"{account.name}: run Razão as the user who made it, "
            f"or give it over with chown -R {account.name} {files}"
        )
    try:
        version = (files / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise EmbeddedError(f"the database in {files} cannot be read ({error.strerror})") from None
    if version != MAJOR:
        raise EmbeddedError(
            f"the database in {files} was made by PostgreSQL {version}, and this Razão brings {MAJOR}: "
            f"upgrade it with pg_upgrade, or dump it there and restore it here"
        )


def ensure_running(cluster: Cluster) -> Path:
    """Start the server, or join the one that runs; its socket's directory, once it takes connections."""
    give_up = time.monotonic() + START_WITHIN
    while True:
        running = look(cluster)
        if running is None:
            _launch(cluster, give_up)
        elif running.status in {"ready", "standby"}:
            return _own_socket_dir(cluster, running)
        elif time.monotonic() > give_up:
            raise EmbeddedError(
                f"the database in {cluster.files} is still {running.status or 'starting'} after "
                f"{START_WITHIN:.0f} s (after a crash it replays its log first): "
                f"see {cluster.log}, and start again in a while"
            )
        else:
            time.sleep(0.02)


def look(cluster: Cluster) -> Running | None:
    """The live server of these files, if any. What a dead one left, is cleared away."""
    path = cluster.files / "postmaster.pid"
    try:
        lines = [line.strip() for line in path.read_text().splitlines()]
        pid = abs(int(lines[0]))  # negative: a single-user session
    except (FileNotFoundError, IndexError, ValueError):
        return None
    if not _is_server(pid, cluster.files):
        # The number may belong to a process of ours by now (small numbers come back in containers):
        # PostgreSQL would take that for its postmaster and refuse to start.
        path.unlink(missing_ok=True)
        return None
    lines += [""] * 8
    return Running(pid, port=lines[3], socket_dir=lines[4], listens=lines[5], status=lines[7])


def _is_server(pid: int, files: Path) -> bool:
    """A postmaster works in its data directory, from before it writes postmaster.pid until its end."""
    if Path("/proc/self/cwd").exists():
        try:
            return Path(f"/proc/{pid}/cwd").samefile(files)
        except OSError:  # gone, a zombie, or another user's: then not the server of files that are ours
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _own_socket_dir(cluster: Cluster, running: Running) -> Path:
    """Its directory, which may differ from ours in TMPDIR alone; raises when somebody else started it."""
    path = Path(running.socket_dir)
    expected = path == cluster.socket_dir or path.name.startswith(f"razao-{cluster.account.uid}-")
    if expected and not running.listens and running.port == str(PORT) and is_private(path, cluster.account):
        return path
    where = ", ".join(
        part
        for part in (
            f"socket {running.socket_dir}" if running.socket_dir else "no socket",
            f"{running.listens}:{running.port}" if running.listens else "",
        )
        if part
    )
    raise EmbeddedError(
        f"the database in {cluster.files} is in use by another server, not started by Razão "
        f"(process {running.pid}, {where}): stop that one (pg_ctl stop -D {cluster.files}), "
        f"or set RAZAO_DATA_DIR or RAZAO_DATABASE_URL"
    )


def _launch(cluster: Cluster, give_up: float) -> None:
    """One try. Returns also when another look is worth it: another start won, or backends still end."""
    try:
        if (cluster.files / "razao.conf").read_text() != SETTINGS:
            _write(cluster.files / "razao.conf", SETTINGS, cluster.account)
    except FileNotFoundError:
        _write(cluster.files / "razao.conf", SETTINGS, cluster.account)
    remaining = max(1, round(give_up - time.monotonic()))
    # pg_ctl passes these through a shell. They stand on the command line because they are no matter of taste.
    options = f"-c listen_addresses= -p {PORT} -k {shlex.quote(str(cluster.socket_dir))}"
    if cluster.log.exists() and cluster.log.stat().st_size > _LONGEST_LOG:
        cluster.log.replace(cluster.log.with_suffix(".log.1"))
    with open(cluster.log, "ab", opener=_owner_only) as log:
        before = log.tell()
        code, said = cluster.account.run(
            *(cluster.programs / "pg_ctl", "start", "--silent", "--wait", f"--timeout={remaining}"),
            *("--pgdata=.", f"--options={options}"),
            cwd=cluster.files,
            output=log,
            timeout=remaining + 30,
        )
    if code == 0 or look(cluster) is not None:
        return
    with cluster.log.open("rb") as log:
        log.seek(before)
        said += log.read().decode(errors="replace")
    if "pre-existing shared memory block" in said and time.monotonic() < give_up:
        time.sleep(0.1)  # the postmaster was killed, and a backend has not noticed yet
        return
    raise EmbeddedError(
        f"the database in {cluster.files} did not start ({last_lines(said)}): see {cluster.log}, mend that, "
        f"and start again"
    )


def stop(cluster: Cluster) -> None:
    """Stop the server and wait for it: sessions are ended, everything is written."""
    if look(cluster) is None:
        return
    code, said = cluster.account.run(
        *(cluster.programs / "pg_ctl", "stop", "--silent", "--wait"),
        *("--mode=fast", "--timeout=60", "--pgdata=."),
        cwd=cluster.files,
    )
    if code and look(cluster) is not None:
        raise EmbeddedError(f"the database in {cluster.files} did not stop ({last_lines(said)}): see {cluster.log}")


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


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
