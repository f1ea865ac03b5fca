"""One server: started, joined, looked at, stopped. Called under `locks.deciding`."""

import os
import shlex
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.base.embedded.account import EmbeddedError, last_lines
from app.base.embedded.making import Cluster, refresh_settings
from app.base.embedded.places import SOCKET, is_private

PORT: Final = 5432  # of the socket's name; no port is opened
START_WITHIN: Final = 60.0  # seconds; recovery after a crash takes its time
_LONGEST_LOG: Final = 10 * 1024 * 1024
_NO_PROCESS: Final = 2**31 - 2  # above every kernel's highest process number


@dataclass(frozen=True, slots=True)
class Running:
    """A live server, as its postmaster.pid tells it; what is not written yet is empty."""

    pid: int
    port: str
    socket_dir: str
    listens: str
    status: str


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
    """The live server of these files, if any."""
    path = cluster.files / "postmaster.pid"
    try:
        lines = [line.strip() for line in path.read_text().splitlines()]
        pid = abs(number := int(lines[0]))
    except (FileNotFoundError, IndexError, ValueError):
        return None
    if not _is_server(pid, cluster.files):
        _pronounce_dead(path, pid)
        return None
    lines += [""] * 8
    if number < 0:  # postgres --single: no socket, and nobody else while it lasts
        return Running(pid, port="", socket_dir="", listens="", status="ready")
    return Running(pid, port=lines[3], socket_dir=lines[4], listens=lines[5], status=lines[7])


def _is_server(pid: int, files: Path) -> bool:
    """A postmaster works in its data directory, from before it writes postmaster.pid until its end."""
    if Path("/proc/self").is_dir():
        try:
            return Path(f"/proc/{pid}/cwd").samefile(files)
        except OSError:  # gone, a zombie, or another user's: then not the server of files that are ours
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _pronounce_dead(path: Path, pid: int) -> None:
    """See to what PostgreSQL would misread in the postmaster.pid of a server that is no more.

    The number may be another process's by now (in containers small numbers come back) or a zombie's, which
    PostgreSQL would take for its postmaster and refuse to start. Only the number is replaced: by the rest of the
    file PostgreSQL knows backends that outlived their server, and waits for them.
    """
    try:
        os.kill(pid, 0)
    except OSError:
        return
    with open(path, "r+", opener=_owner_only) as file:
        rest = file.read().split("\n", 1)[1:]
        file.seek(0)
        file.write("\n".join([str(_NO_PROCESS), *rest]))
        file.truncate()


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


def _clear_socket(cluster: Cluster) -> bool:
    """Remove what a dead server left at the socket, as PostgreSQL may take its number there for alive, too.

    A server that answers there, though no process in sight works on these files, is in another container, or lost
    its files. False: in that very moment one came into sight.
    """
    path = cluster.socket_dir / SOCKET
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        answers = probe.connect_ex(str(path)) == 0
    if answers and look(cluster) is None:
        raise EmbeddedError(
            f"the socket {path} is in use by a server out of sight: if it is in another container, stop that one, or "
            f"let both use one PostgreSQL through RAZAO_DATABASE_URL; if its files were removed, it ends in a minute"
        )
    if not answers:
        for left in (path, path.with_name(f"{SOCKET}.lock")):
            left.unlink(missing_ok=True)
    return not answers


def _launch(cluster: Cluster, give_up: float) -> None:
    """One try. Returns also when another look is worth it: another start won, or backends still end."""
    if not _clear_socket(cluster):
        return
    refresh_settings(cluster)
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
    if cluster.socket_dir.parent != cluster.home:
        with suppress(OSError):
            cluster.socket_dir.rmdir()


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
