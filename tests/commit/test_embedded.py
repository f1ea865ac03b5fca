"""The embedded server, against the real one: shared, killed, foreign, interrupted, as root and as a plain user."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import create_engine, text

from app.base import embedded
from app.base.embedded import account as accounts
from app.base.embedded import places, server

ROOT = Path(__file__).resolve().parents[2]
AS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not AS_ROOT, reason="needs root")

PROGRAM = """
import json, os, sys
from pathlib import Path
from app.base import embedded
if len(sys.argv) > 2:  # by now, as Python itself may be where only root can read it
    os.setgroups([]), os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
try:
    cluster = embedded.start(Path(sys.argv[1]))
except embedded.EmbeddedError as error:
    print(json.dumps({"error": str(error)}), flush=True)
    sys.exit(1)
print(json.dumps({
    "owner": cluster.owner_url, "super": cluster.superuser_url("razao"), "files": str(cluster.files),
    "socket": str(cluster.socket_dir), "programs": str(cluster.programs),
}), flush=True)
sys.stdin.readline()
"""


class User:
    """A process that starts the server, uses it and leaves when told."""

    def __init__(self, data_dir, user=None, env=None):
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-c", PROGRAM, str(data_dir), *([str(user)] if user else [])],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(env or {})},
        )

    @property
    def said(self):
        if not hasattr(self, "_said"):
            self._said = json.loads(self.process.stdout.readline() or "{}")
        return self._said

    def leave(self):
        assert "files" in self.said
        self.process.communicate("\n", timeout=60)
        return self.process.returncode

    def kill(self, sig=signal.SIGKILL):
        """The whole process group, as a terminal does."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, sig)
        self.process.communicate(timeout=60)


def postmaster(files):
    """Its process number, or None when no server runs on these files."""
    try:
        pid = int((Path(files) / "postmaster.pid").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return None
    return pid if server._is_server(pid, Path(files)) else None


def gone(files, within=10):
    until = time.monotonic() + within
    while (alive := postmaster(files)) and time.monotonic() < until:
        time.sleep(0.02)
    return alive is None


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


def ask(url, query):
    with psycopg.connect(url, autocommit=True) as conn:
        cursor = conn.execute(query)
        return cursor.fetchone() if cursor.description else None


def stop_own():
    """Gives up every server of this module; the run's own (conftest.py) is everybody's."""
    own = [path for path in embedded._uses if not path.name.startswith("razao-tests-")]
    stopped = [embedded.stop_if_last(path) for path in own]
    return any(stopped)


@pytest.fixture
def room() -> Iterator[Path]:
    """A directory that others may pass through (pytest's own is closed to them); nothing in it outlives the test."""
    path = Path(tempfile.mkdtemp(prefix="rz-")).resolve()
    path.chmod(0o711)
    try:
        yield path
    finally:
        homes = [p.readlink().parent for p in path.rglob(places.CLUSTER) if p.is_symlink()]
        try:
            stop_own()
        finally:
            for found in [*path.rglob("postmaster.pid"), *(h / "postgres/postmaster.pid" for h in homes)]:
                if pid := postmaster(found.parent):
                    os.kill(pid, signal.SIGQUIT)
                    assert gone(found.parent)
            for home in [path, *homes]:
                shutil.rmtree(home)


@pytest.fixture
def data_dir(room) -> Path:
    """Nothing there yet."""
    return room / ".razao"


@pytest.fixture(scope="module")
def pattern() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="rz-")).resolve()
    path.chmod(0o711)
    try:
        embedded.start(path / "data")
        assert embedded.stop_if_last(path / "data")
        yield path / "data"
    finally:
        shutil.rmtree(path)


@pytest.fixture
def used(room, pattern) -> Path:
    """A data directory whose server ran before, and is stopped."""
    subprocess.run(["cp", "-a", pattern, room / ".razao"], check=True)
    return room / ".razao"


@pytest.fixture
def users() -> Iterator[list[User]]:
    """What is put here is ended with the test."""
    started: list[User] = []
    yield started
    for user in started:
        user.kill()


def test_first_start_gives_a_real_database_in_a_moment(data_dir):
    began = time.monotonic()
    cluster = embedded.start(data_dir)
    assert time.monotonic() - began < 10
    assert ask(
        cluster.superuser_url("razao"),
        "SELECT current_setting('server_version_num')::int / 10000, current_setting('fsync'),"
        " current_setting('synchronous_commit'), current_setting('data_checksums'), current_setting('TimeZone'),"
        " current_setting('server_encoding'), current_setting('max_connections'),"
        " (SELECT datlocprovider::text || datlocale || pg_get_userbyid(datdba) FROM pg_database"
        "   WHERE datname = current_database())",
    ) == (18, "on", "on", "on", "UTC", "UTF8", "100", "bC.UTF-8razao_owner")
    assert ask(
        cluster.superuser_url(),
        "SELECT array_agg(format('%s %s %s %s', rolname, rolsuper, rolcreaterole, rolcreatedb) ORDER BY rolname)"
        " FROM pg_roles WHERE rolname LIKE 'razao%' AND rolcanlogin",
    ) == (["razao_owner f t t", "razao_service f f f"],)


def test_the_roles_serve_their_purpose(used):
    cluster = embedded.start(used)
    with psycopg.connect(cluster.owner_url, autocommit=True) as conn:
        conn.execute("CREATE ROLE razao_app NOLOGIN")
        conn.execute("GRANT razao_app TO razao_service")
        conn.execute("CREATE TABLE held (n integer)")
        conn.execute("GRANT SELECT ON held TO razao_app")
        conn.execute("CREATE DATABASE cloned TEMPLATE razao")
    with psycopg.connect(cluster.app_url, options="-c role=razao_app") as conn:
        assert conn.execute("SELECT current_user, count(*) FROM held").fetchone() == ("razao_app", 0)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("CREATE TABLE mine ()")
    engine = create_engine(cluster.url("cloned", "razao_owner").replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as sqlalchemy:
        assert sqlalchemy.execute(text("SELECT count(*) FROM held")).scalar() == 0
    engine.dispose()


def test_processes_share_it_and_the_last_one_stops_it(data_dir, users):
    users += [User(data_dir) for _ in range(3)]  # all at once, on an empty directory
    files = users[0].said["files"]
    assert {user.said["files"] for user in users} == {files}
    pid = postmaster(files)
    for user in users[:2]:
        assert user.leave() == 0
        assert postmaster(files) == pid
    assert ask(users[2].said["owner"], "SELECT 1") == (1,)
    assert users[2].leave() == 0
    assert postmaster(files) is None
    assert embedded.start(data_dir).files == Path(files)
    assert embedded.stop_if_last(data_dir)
    assert postmaster(files) is None
    assert not embedded.stop_if_last(data_dir)


def test_a_forked_child_does_not_stop_its_parents_server(used):
    cluster = embedded.start(used)
    if (child := os.fork()) == 0:
        os._exit(1 if stop_own() else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert ask(cluster.owner_url, "SELECT 1") == (1,)
    other = User(used)  # were the parent's hold gone, this one would be the last
    assert other.leave() == 0
    assert postmaster(cluster.files)


def test_kill_of_our_process_group_leaves_the_server_to_the_next(used, users):
    users.append(User(used, env={"RAZAO_MASTER_KEY": "of nobody's business", "PGPORT": "6543"}))
    files = users[0].said["files"]
    ask(users[0].said["owner"], "CREATE TABLE kept AS SELECT 42 AS n")
    pid = postmaster(files)
    assert b"RAZAO" not in Path(f"/proc/{pid}/environ").read_bytes()
    users[0].kill()
    assert postmaster(files) == pid
    cluster = embedded.start(used)
    assert postmaster(files) == pid
    assert ask(cluster.owner_url, "SELECT n FROM kept") == (42,)
    assert stop_own()
    assert postmaster(files) is None


def test_kill_of_the_server_loses_nothing(used):
    cluster = embedded.start(used)
    ask(cluster.owner_url, "CREATE TABLE kept AS SELECT 42 AS n")
    os.kill(postmaster(cluster.files), signal.SIGKILL)
    assert gone(cluster.files)
    assert embedded.start(used) == cluster  # this process still holds it, and brings it back
    assert ask(cluster.owner_url, "SELECT n FROM kept") == (42,)
    assert stop_own()


def test_a_backend_that_outlived_its_server_is_waited_for(used):
    cluster = embedded.start(used)
    busy = psycopg.connect(cluster.superuser_url(), autocommit=True)
    backend = busy.info.backend_pid

    def spin():
        with pytest.raises(psycopg.OperationalError):
            busy.execute("DO 'BEGIN LOOP END LOOP; END'")

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        time.sleep(0.2)
        os.kill(postmaster(cluster.files), signal.SIGKILL)
        assert gone(cluster.files)
        timer = threading.Timer(0.8, os.kill, (backend, signal.SIGKILL))
        timer.start()
        began = time.monotonic()
        embedded.start(used)
        assert time.monotonic() - began > 0.5
        timer.join()
    finally:
        if Path(f"/proc/{backend}").exists():
            os.kill(backend, signal.SIGKILL)
        thread.join()
        busy.close()
    assert ask(cluster.owner_url, "SELECT 1") == (1,)


def test_a_process_number_that_came_back_is_not_taken_for_the_server(used):
    cluster = embedded.start(used)
    pidfile = cluster.files / "postmaster.pid"
    left = pidfile.read_text()
    os.kill(postmaster(cluster.files), signal.SIGKILL)
    assert gone(cluster.files)
    owner = cluster.files.stat()
    become = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if AS_ROOT else {}
    with subprocess.Popen(["sleep", "60"], **become) as innocent:
        try:
            pidfile.write_text("\n".join([str(innocent.pid), *left.split("\n")[1:]]))
            embedded.start(used)
            assert ask(cluster.owner_url, "SELECT 1") == (1,)
            assert innocent.poll() is None
        finally:
            innocent.kill()


def test_it_listens_on_a_private_socket_alone(data_dir):
    cluster = embedded.start(data_dir)
    pid = postmaster(cluster.files)
    mine = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    for table in ("tcp", "tcp6", "udp", "udp6"):
        listed = Path(f"/proc/{pid}/net/{table}")
        lines = listed.read_text().splitlines()[1:] if listed.exists() else []
        assert not mine & {f"socket:[{line.split()[9]}]" for line in lines}
    assert mode(cluster.socket_dir) == 0o700
    assert mode(cluster.socket_dir / places.SOCKET) == 0o700
    assert cluster.socket_dir.stat().st_uid == cluster.files.stat().st_uid
    assert mode(cluster.files) == 0o700
    assert mode(data_dir) == (0o711 if AS_ROOT else 0o700)
    assert {mode(path) for path in data_dir.iterdir() if path.is_file()} == {0o600}
    with psycopg.connect(cluster.superuser_url(), autocommit=True) as conn:  # nor can a setting open a port
        conn.execute("ALTER SYSTEM SET listen_addresses = '*'")
    stop_own()
    assert ask(embedded.start(data_dir).superuser_url(), "SHOW listen_addresses") == ("",)


def test_a_long_path_has_its_socket_elsewhere(room):
    cluster = embedded.start(room / ("long" * 20) / 'it\'s a $HOME, "quoted"')
    assert cluster.socket_dir.parent == Path(tempfile.gettempdir()).resolve()
    assert mode(cluster.socket_dir) == 0o700
    assert ask(cluster.owner_url, "SELECT 1") == (1,)
    assert stop_own()
    assert not cluster.socket_dir.exists()


@pytest.mark.parametrize("plant", ["link", "file", "others"])
def test_a_planted_socket_directory_is_refused(room, monkeypatch, plant):
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    account = accounts.server_account()
    home = room / ("long" * 30)
    home.mkdir()
    path = places.socket_dir(home, account)
    path.rmdir()
    if plant == "link":
        (room / "target").mkdir(mode=0o755)
        path.symlink_to(room / "target")
    elif plant == "file":
        path.touch()
    elif AS_ROOT:
        path.mkdir()
        os.chown(path, 12345, 12345)
    else:
        pytest.skip("needs root")
    with pytest.raises(embedded.EmbeddedError, match="look who made it"):
        places.socket_dir(home, account)
    if plant == "link":
        assert mode(room / "target") == 0o755


def test_a_foreign_server_on_the_files_is_told_and_left_alone(used, room):
    cluster = embedded.start(used)
    stop_own()
    account = accounts.server_account()
    elsewhere = room / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, account.uid, account.gid)
    code, said = account.run(
        *(cluster.programs / "pg_ctl", "start", "-s", "-w", "-D", cluster.files, "-l", "/dev/null"),
        *("-o", f"-c listen_addresses=127.0.0.1 -p 54329 -k {elsewhere}"),
    )
    assert code == 0, said
    pid = postmaster(cluster.files)
    with pytest.raises(embedded.EmbeddedError) as told:
        embedded.start(used)
    for part in (str(cluster.files), str(pid), str(elsewhere), "127.0.0.1:54329", "pg_ctl stop"):
        assert part in str(told.value)
    assert "\n" not in str(told.value)
    assert postmaster(cluster.files) == pid


def test_a_server_out_of_sight_is_told(used):
    """As from another container: its process number means nothing here, but the socket answers."""
    cluster = embedded.start(used)
    pidfile = cluster.files / "postmaster.pid"
    real = pidfile.read_text()
    pidfile.write_text("\n".join([str(server._NO_PROCESS), *real.split("\n")[1:]]))
    try:
        with pytest.raises(embedded.EmbeddedError, match="in another container"):
            embedded.start(used)
    finally:
        pidfile.write_text(real)


def test_another_major_version_and_another_owner_are_told(used):
    files = used / "postgres"
    (files / "PG_VERSION").write_text("16\n")
    with pytest.raises(embedded.EmbeddedError, match="made by PostgreSQL 16, and this Razão brings 18"):
        embedded.start(used)
    (files / "PG_VERSION").unlink()
    with pytest.raises(embedded.EmbeddedError, match="no database, yet is not empty"):
        embedded.start(used)
    if AS_ROOT:
        os.chown(files, 12345, 12345)
        with pytest.raises(embedded.EmbeddedError, match="belongs to user 12345, but here PostgreSQL runs as razao-pg"):
            embedded.start(used)


def test_a_server_that_cannot_start_says_why(used):
    conf = used / "postgres" / "postgresql.conf"
    with conf.open("a") as file:
        file.write("shared_buffers = 'plenty'\n")
    with pytest.raises(
        embedded.EmbeddedError, match=r'did not start \(.*"shared_buffers".*\): see .*server.log'
    ) as told:
        embedded.start(used)
    assert "\n" not in str(told.value)
    conf.write_text(conf.read_text().replace("'plenty'", "'64MB'"))
    assert ask(embedded.start(used).owner_url, "SHOW shared_buffers") == ("64MB",)  # the admin's word wins


def test_a_start_killed_in_the_making_is_made_good(data_dir, users):
    users.append(User(data_dir))
    while not (data_dir / "postgres.new/base").exists():
        time.sleep(0.005)
    users[0].kill()
    assert not (data_dir / "postgres").exists()
    cluster = embedded.start(data_dir)
    assert not (data_dir / "postgres.new").exists()
    ask(cluster.superuser_url(), "DROP DATABASE razao")  # as if killed before these
    ask(cluster.superuser_url(), "DROP ROLE razao_service")
    assert ask(embedded.start(data_dir).app_url, "SELECT current_user::text") == ("razao_service",)


def test_a_directory_that_cannot_be_used_is_told(room):
    (room / "file").touch()
    with pytest.raises(embedded.EmbeddedError, match="is not a directory"):
        embedded.start(room / "file")
    with pytest.raises(embedded.EmbeddedError, match="cannot be made"):
        embedded.start(Path("/proc/razao"))


def test_a_full_disk_is_told(room, monkeypatch):
    (room / "initdb").write_text(
        "#!/bin/sh\necho 'creating files'\necho 'initdb: error: No space left on device'\nexit 1\n"
    )
    (room / "initdb").chmod(0o755)
    monkeypatch.setattr(places, "programs", lambda account: room)
    with pytest.raises(
        embedded.EmbeddedError, match=r"could not be made in .*\(initdb: error: No space left on device\)"
    ):
        embedded.start(room / "data")
    assert not (room / "data/postgres").exists()
    assert not (room / "data/postgres.new").exists()


@only_root
def test_a_plain_user_has_all_in_the_data_directory(room, users):
    nobody = 65534
    owned = room / "home"
    owned.mkdir(mode=0o700)
    os.chown(owned, nobody, nobody)
    data_dir = owned / ".razao"
    users += [User(data_dir, user=nobody) for _ in range(2)]
    files = Path(users[0].said["files"])
    assert files == data_dir / "postgres"
    assert Path(f"/proc/{postmaster(files)}").stat().st_uid == nobody
    assert (mode(owned), mode(data_dir), mode(data_dir / "run")) == (0o700, 0o700, 0o700)
    assert ask(users[0].said["super"], "SELECT 1") == (1,)
    with pytest.raises(embedded.EmbeddedError, match="belongs to user nobody"):
        embedded.start(data_dir)
    users[0].kill()
    assert users[1].said["files"] == str(files)
    assert users[1].leave() == 0
    assert postmaster(files) is None
    users.append(User(room / "data", user=nobody))
    assert "cannot be made (Permission denied)" in users[-1].said["error"]
    (room / "data").mkdir(mode=0o755)
    users.append(User(room / "data", user=nobody))
    assert "is not writable by user nobody (it belongs to root)" in users[-1].said["error"]


@only_root
@pytest.mark.parametrize("closed", ["the parent", "a directory with other things"])
def test_root_loosens_no_directory_for_it(room, closed):
    data_dir = room / "closed" / "data"
    if closed == "the parent":
        data_dir.parent.mkdir(mode=0o700)
    else:
        data_dir.mkdir(parents=True)
        data_dir.chmod(0o700)
        (data_dir / "letter").write_text("private")
    parent = mode(data_dir.parent)
    cluster = embedded.start(data_dir)
    assert cluster.files.parent.parent == Path("/var/lib/razao")
    assert (mode(data_dir.parent), mode(data_dir), mode(room)) == (parent, 0o700, 0o711)
    assert (data_dir / "postgres").readlink() == cluster.files
    assert (mode(cluster.files), mode(cluster.socket_dir)) == (0o700, 0o700)
    ask(cluster.owner_url, "CREATE TABLE kept AS SELECT 42 AS n")
    assert stop_own()
    moved = data_dir.rename(room / "moved")  # the link is the decision
    assert ask(embedded.start(moved).owner_url, "SELECT n FROM kept") == (42,)
    assert stop_own()
    if closed == "the parent":
        with pytest.raises(embedded.EmbeddedError, match="takes it up again"):
            embedded.start(data_dir)  # a new directory of the old name neither inherits nor overwrites


@only_root
def test_root_runs_a_copy_where_the_wheel_is_out_of_reach(room, monkeypatch):
    account = accounts.server_account()
    wheel = Path(places.programs(account)).parents[1]
    hidden = room / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / wheel.name).mkdir()
    shutil.copytree(wheel / "pginstall18", hidden / wheel.name / "pginstall18")
    shutil.copytree(wheel.with_name(f"{wheel.name}.libs"), hidden / f"{wheel.name}.libs")
    found = SimpleNamespace(submodule_search_locations=[str(hidden / wheel.name)])
    monkeypatch.setattr(places.importlib.util, "find_spec", lambda name: found)
    monkeypatch.setattr(places, "SYSTEM_HOME", room / "system")
    cluster = embedded.start(room / "data")
    assert cluster.programs.is_relative_to(room / "system" / "postgresql-18.4")
    assert ask(cluster.owner_url, "SELECT 1") == (1,)
    assert mode(hidden) == 0o700
    assert places.programs(account) == cluster.programs
