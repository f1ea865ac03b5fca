"""Operators: people with a login, a role and an argon2 password. Guessing is slowed down across processes.

Roles in ascending order of what they may: viewer looks, support re-delivers and decides reviews, finance moves money,
admin configures. Each may all that the ones before may.
"""

import secrets
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from app.access.audit import SQL
from app.base.db import Connection
from app.base.errors import Refusal

SHORTEST_PASSWORD: Final = 8  # NIST SP 800-63B
FAILURES_OF_A_LOGIN: Final = 5
FAILURES_OF_AN_ADDRESS: Final = 30
WINDOW_MINUTES: Final = 15

_hasher: Final = PasswordHasher()


class Role(IntEnum):
    """What a person may do; a greater role includes the smaller ones."""

    VIEWER = 1
    SUPPORT = 2
    FINANCE = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True)
class Operator:
    """A person who may sign in."""

    id: int
    login: str
    role: Role
    session_epoch: int


def role_named(name: str) -> Role:
    """The role of that name, in any case; Refusal unknown_role (422)."""
    try:
        return Role[name.upper()]
    except KeyError:
        known = ", ".join(role.name.lower() for role in Role)
        raise Refusal("unknown_role", f"There is no role {name!r}; choose one of: {known}.", status=422) from None


def new_password() -> str:
    """A password that nobody guesses."""
    return secrets.token_urlsafe(15)


def add(conn: Connection, login: str, password: str, role: Role, *, may_be_short: bool = False) -> int:
    """Adds an operator; returns the id. Refusals: password_too_short, login_shape (422), operator_exists (409).

    `may_be_short`: whoever installs may choose the first operator's password as they like.
    """
    if len(password) < SHORTEST_PASSWORD and not may_be_short:
        raise Refusal("password_too_short", f"A password has at least {SHORTEST_PASSWORD} characters.", status=422)
    login = login.strip().lower()
    if not login.isascii() or not login or len(login) > 99 or any(char.isspace() for char in login):
        raise Refusal("login_shape", "A login has letters, digits and . _ @ + - only, at most 99.", status=422)
    row = conn.execute(
        SQL["add_operator"], {"login": login, "password_hash": _hasher.hash(password), "role": role.name.lower()}
    ).fetchone()
    assert row is not None
    operator_id: int = row[0]
    return operator_id


def anybody(conn: Connection) -> bool:
    """Whether there is any operator yet."""
    return conn.execute(SQL["any_operator"]).fetchone() is not None


def find(conn: Connection, operator_id: int) -> Operator | None:
    """The enabled operator of that id."""
    row = conn.execute(SQL["operator_by_id"], {"id": operator_id}).fetchone()
    return Operator(row[0], row[1], Role[row[2].upper()], row[3]) if row else None


def sign_in(conn: Connection, login: str, password: str, remote_address: str) -> Operator | None:
    """The operator, if the password is theirs; None otherwise, whatever was wrong.

    Refusal too_many_attempts (429) after FAILURES_OF_A_LOGIN for a login or FAILURES_OF_AN_ADDRESS for an address
    within WINDOW_MINUTES. Run in a transaction that commits in either case: the failure is counted by it.
    """
    login = login.strip().lower()[:99]
    bounds = {"login": login, "remote_address": remote_address, "minutes": WINDOW_MINUTES}
    counted = conn.execute(SQL["count_failures"], bounds).fetchone()
    assert counted is not None
    if counted[0] >= FAILURES_OF_A_LOGIN or counted[1] >= FAILURES_OF_AN_ADDRESS:
        raise Refusal(
            "too_many_attempts", f"Too many attempts; wait {WINDOW_MINUTES} minutes and try again.", status=429
        )
    row = conn.execute(SQL["operator_by_login"], {"login": login}).fetchone()
    try:
        _hasher.verify(row[4] if row else _nobody(), password)
    except VerifyMismatchError:
        row = None
    if row is None:
        conn.execute(SQL["note_failure"], bounds)
        return None
    conn.execute(SQL["forget_failures"], bounds)
    return Operator(row[0], row[1], Role[row[2].upper()], row[3])


@cache
def _nobody() -> str:
    """A hash that is verified for unknown logins, so that they take as long as known ones."""
    return _hasher.hash(secrets.token_urlsafe(16))
