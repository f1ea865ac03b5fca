"""The doctor: tries to break every rule in the configured database, rolls everything back, and says what held.

Violations are tried as the owner (the rules hold for him too) and, for privileges, as the application. Two doctors wait
for each other; what the business holds is waited for only briefly. Nothing that it does is ever seen by anybody.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import psycopg

from app.base.db import APP_ROLE, Connection
from app.base.errors import BY_CONSTRAINT
from app.base.runtime import Runtime
from app.safeguards import environment
from app.safeguards.behaviour import try_behaviour
from app.safeguards.privileges import role_is_harmless, try_as_application
from app.safeguards.probes import PROBES
from app.safeguards.report import Finding, Report
from app.safeguards.required import try_required
from app.safeguards.trying import SCHEMAS, SQL, stage, try_probes


def examine(runtime: Runtime) -> Report:
    """Every finding about the database that the runtime is configured for. Takes about a second."""
    sections: tuple[tuple[str, Callable[[Runtime], Iterable[Finding]]], ...] = (
        ("probes", _as_owner),
        ("application's role", _as_application),
        ("logins", _logins),
        ("environment", _environment),
    )
    return Report(tuple(finding for name, section in sections for finding in _run(name, section, runtime)))


def _run(name: str, section: Callable[[Runtime], Iterable[Finding]], runtime: Runtime) -> list[Finding]:
    try:
        return list(section(runtime))
    except psycopg.Error as error:
        # The stage itself could not be set: no server, no right to it, a missing table, a lock that stays.
        said = " ".join(str(error).split())
        return [Finding(name, None, False, f"Could not be examined: {said}")]


@contextmanager
def _connected(url: str, *, role: str | None = None) -> Iterator[Connection]:
    options = f"-c role={role}" if role else ""
    with psycopg.connect(
        url, autocommit=True, connect_timeout=10, options=options, application_name="razao doctor"
    ) as conn:
        yield conn


def _as_owner(runtime: Runtime) -> list[Finding]:
    with _connected(runtime.owner_url) as conn, _connected(runtime.owner_url) as other:
        [(login, owns)] = conn.execute(SQL["who"]).fetchall()
        if not owns:
            sentence = (
                f"{login} does not own the tables, so nothing was tried: "
                "set RAZAO_MIGRATION_DATABASE_URL to the owner's."
            )
            return [Finding("owner", None, False, sentence)]
        with stage(conn):
            return [*examine_rules(conn), *try_behaviour(conn, other)]


def examine_rules(conn: Connection) -> list[Finding]:
    """The probes and the inventory of safeguards. Inside `trying.stage`, as the owner."""
    return [*try_probes(conn), *try_required(conn), *_inventory(conn)]


def _inventory(conn: Connection) -> list[Finding]:
    """What the catalogue has: constraints that skip old rows, and safeguards that no probe tries."""
    known = {(probe.kind, probe.safeguard, probe.table) for probe in PROBES}
    rows = conn.execute(SQL["safeguards"], {"schemas": list(SCHEMAS)}).fetchall()
    lax = tuple(f"{kind} {name} on {table}" for kind, name, table, whole in rows if not whole)
    strange = tuple(f"{kind} {name} on {table}" for kind, name, table, _ in rows if (kind, name, table) not in known)
    unproven = tuple(sorted(set(BY_CONSTRAINT) - {probe.constraint for probe in PROBES}))
    return [
        Finding("constraints_are_valid", None, not lax, "Every constraint holds for the rows that were there before it."
                if not lax else "These skip the rows that were there before them: VALIDATE or REINDEX them.", lax),
        Finding("nothing_unknown", None, not strange, "Every safeguard in the database is known, and tried."
                if not strange else "Somebody added these; no probe tries them, and they may refuse honest work.",
                strange, "advice"),
        Finding("refusals_are_proven", None, not unproven, "Every refusal that callers may get can really happen."
                if not unproven else "No probe shows that these refusals can happen.", unproven),
    ]  # fmt: skip


def _as_application(runtime: Runtime) -> list[Finding]:
    with _connected(runtime.app_url, role=APP_ROLE) as conn:
        return try_as_application(conn)


def _logins(runtime: Runtime) -> list[Finding]:
    with _connected(runtime.app_url) as conn, _connected(runtime.owner_url) as owner:
        [(login, _)], [(owner_login, _)] = conn.execute(SQL["who"]).fetchall(), owner.execute(SQL["who"]).fetchall()
        findings = [role_is_harmless(conn, APP_ROLE, called="application's role")]
        if login == owner_login:
            sentence = (
                f"The service and the migrations share the login {login}. Each session takes on {APP_ROLE}, but a "
                "separate login that owns nothing is safer: give RAZAO_DATABASE_URL one, and keep this one in "
                "RAZAO_MIGRATION_DATABASE_URL."
            )
            return [*findings, Finding("application's login", 5, False, sentence, (), "advice")]
        return [*findings, role_is_harmless(conn, login, called="application's login")]


def _environment(runtime: Runtime) -> Iterator[Finding]:
    with _connected(runtime.app_url, role=APP_ROLE) as conn, _connected(runtime.app_url, role=APP_ROLE) as other:
        yield from environment.server(conn)
        yield environment.notify(conn, other)
        yield environment.clock(conn)
        yield environment.time_zone(conn, runtime.settings.timezone)
        yield environment.migrations(runtime.app_url)
        yield environment.master_key(conn, runtime.vault)
