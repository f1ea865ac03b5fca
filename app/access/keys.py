"""API keys of the shop's systems: shown once, kept as a hash, scoped to reading or writing."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from app.access.audit import SQL
from app.base.db import Connection
from app.base.errors import Refusal

PREFIX: Final = "rz_"
SCOPES: Final = ("read", "write")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A system that may call the API."""

    id: int
    name: str
    scope: str

    @property
    def may_write(self) -> bool:
        return self.scope == "write"


def create(conn: Connection, name: str, scope: str) -> str:
    """Makes a key and returns it, for the only time. Refusals: key_name (422), api_key_exists (409)."""
    if not name.strip() or len(name) > 99:
        raise Refusal("key_name", "A key's name has 1 to 99 characters.", status=422)
    key = PREFIX + secrets.token_urlsafe(32)
    conn.execute(SQL["add_api_key"], {"name": name, "scope": scope, "key_sha256": _hash(key)})
    return key


def find(conn: Connection, key: str) -> ApiKey | None:
    """The active key, if this is one. Looking a hash up takes as long whatever the key's first letters are."""
    row = conn.execute(SQL["api_key_by_hash"], {"key_sha256": _hash(key)}).fetchone()
    return ApiKey(*row) if row else None


def revoke(conn: Connection, name: str) -> None:
    """Ends the key of that name at once. Refusal: api_key_not_found (404)."""
    if conn.execute(SQL["revoke_api_key"], {"name": name}).fetchone() is None:
        raise Refusal("api_key_not_found", f"There is no active API key named {name!r}.", status=404)


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
