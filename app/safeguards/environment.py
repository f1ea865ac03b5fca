"""What the rules stand on outside our schema: durability, wake-ups, clocks, time zones, migrations, the master key."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import psycopg

from app.base.clock import now
from app.base.db import Connection
from app.base.errors import ConfigurationError
from app.base.migrating import check_current
from app.base.vault import Vault
from app.safeguards.report import Finding
from app.safeguards.trying import SQL

OLDEST_SERVER: Final = 150000
CLOCKS_MAY_DIFFER: Final = timedelta(seconds=5)
NOTIFY_SECONDS: Final = 3.0
# A winter's and a summer's day: São Paulo had summer time until 2019, and business months must not shift by an hour.
_SAMPLES: Final = (
    datetime(2018, 1, 15, 12, tzinfo=UTC), datetime(2024, 1, 15, 12, tzinfo=UTC), datetime(2024, 7, 15, 12, tzinfo=UTC),
)  # fmt: skip


def server(conn: Connection) -> list[Finding]:
    """Version, durability and encoding, as the application's sessions have them."""
    number, version, fsync, pages, commit, encoding = conn.execute(SQL["settings"]).fetchall()[0]
    lost = "after a power cut, what a provider was told is stored may be gone"
    return [
        _said("server_version", number >= OLDEST_SERVER, f"PostgreSQL {version}", "Razão needs PostgreSQL 15 or later"),
        _said("fsync", fsync == "on", f"fsync is {fsync}", f"{lost}: set fsync = on"),
        _said("full_page_writes", pages == "on", f"full_page_writes is {pages}",
              f"{lost}, or torn: set full_page_writes = on"),
        _said("synchronous_commit", commit != "off", f"synchronous_commit is {commit}",
              f"{lost}: set synchronous_commit = on, for the database and for the role"),
        _said("encoding", encoding == "UTF8", f"the encoding is {encoding}",
              "names and messages need UTF8: create the database anew with ENCODING 'UTF8'"),
    ]  # fmt: skip


def notify(ears: Connection, mouth: Connection) -> Finding:
    """A word said on one connection in autocommit arrives on another."""
    word = secrets.token_hex(8)
    ears.execute(SQL["listen"])
    mouth.execute(SQL["notify"], {"word": word})
    heard = any(notice.payload == word for notice in ears.notifies(timeout=NOTIFY_SECONDS, stop_after=1))
    return _said(
        "notify", heard, "NOTIFY wakes the worker" if heard else f"no NOTIFY arrived within {NOTIFY_SECONDS:.0f} s",
        "the worker finds new events by its poll alone; is there a pooler in transaction mode between?",
    )  # fmt: skip


def clock(conn: Connection) -> Finding:
    """The database's clock against this process's; half of the round trip is not counted."""
    before = now()
    [(theirs,)] = conn.execute(SQL["clock"]).fetchall()
    difference = max(before - theirs, theirs - now(), timedelta())
    return _said(
        "clock", difference <= CLOCKS_MAY_DIFFER, f"the clocks differ by {difference.total_seconds():.1f} s",
        "signatures are judged by one clock and months by the other: set both by NTP",
    )  # fmt: skip


def time_zone(conn: Connection, zone: ZoneInfo) -> Finding:
    """The merchant's zone, in Python's data and in PostgreSQL's: today and on days that differ by summer time."""
    wrong = []
    try:
        for at in (now(), *_SAMPLES):
            [(theirs,)] = conn.execute(SQL["offset_of_zone"], {"at": at, "zone": zone.key}).fetchall()
            ours = at.astimezone(zone).utcoffset()
            if ours != timedelta(minutes=theirs):
                wrong.append(f"on {at:%Y-%m-%d} Python says UTC{ours}, PostgreSQL {theirs} minutes")
    except psycopg.errors.InvalidParameterValue:
        wrong.append(f"PostgreSQL does not know {zone.key}")
    remedy = "an entry near midnight would fall into another month: update tzdata on both sides"
    said = f"Python and PostgreSQL agree on {zone.key}" if not wrong else f"Python and PostgreSQL differ on {zone.key}"
    return _said("time_zone", not wrong, said, remedy, tuple(wrong))


def migrations(app_url: str) -> Finding:
    """The schema is this code's."""
    try:
        check_current(app_url)
    except ConfigurationError as error:
        return Finding("migrations", None, False, str(error))
    return Finding("migrations", None, True, "the database is at this code's revision")


def master_key(conn: Connection, vault: Vault) -> Finding:
    """The master key opens every secret and URL token, retired ones too."""
    closed, count = [], 0
    for what, sealed in conn.execute(SQL["sealed"]):
        count += 1
        try:
            vault.open(sealed)
        except ConfigurationError:
            closed.append(what)
    return _said(
        "master_key", not closed, f"the master key opens {count - len(closed)} of {count} stored secrets",
        "calls to these endpoints cannot be verified: start with the RAZAO_MASTER_KEY that sealed them", tuple(closed),
    )  # fmt: skip


def _said(name: str, holds: bool, fact: str, otherwise: str, detail: tuple[str, ...] = ()) -> Finding:
    return Finding(name, None, holds, fact if holds else f"{fact}: {otherwise}", detail)
