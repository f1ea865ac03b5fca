"""Who calls: an API key in `Authorization: Bearer`, and whether its scope reaches. Nothing is looked up before."""

from flask import g, request

from app.access import keys
from app.access.audit import Act
from app.access.keys import ApiKey
from app.base.db import statements
from app.base.errors import Refusal


def guard() -> None:
    """Before each request: refuses (401) who gives no active key, and (403) a reader who wants to write."""
    if "\0" in request.path:  # nothing that is kept here has such a name
        raise Refusal("not_found", "There is nothing at this address.", status=404)
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise Refusal("unauthorized", "Send your API key as Authorization: Bearer <key>.", status=401)
    with statements() as conn:
        found = keys.find(conn, key.strip())
    if found is None:
        raise Refusal("unauthorized", "This API key is unknown or was revoked.", status=401)
    if request.method not in {"GET", "HEAD", "OPTIONS"} and not found.may_write:
        raise Refusal(
            "scope_too_small",
            "This API key may only read; use one with the scope write.",
            status=403,
            scope=found.scope,
        )
    g.api_key = found


def name() -> str:
    """The caller as records name it: `api:shop`."""
    found = g.api_key
    assert isinstance(found, ApiKey)
    return f"api:{found.name}"


def act(reason: str | None = None) -> Act:
    """What the caller does now, for the audit record."""
    return Act(name(), reason, request.remote_addr)
