"""Requests that may be sent twice: the first answer to a key is kept with its effect, in one transaction, for a day.

A second request with the same key waits for the first on the key's row, then gets its answer. Refuses a key that was
used for something else. Whoever calls keeps the answer before the commit, so that no effect stays without one.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from app.access.audit import SQL
from app.base.db import Connection
from app.base.errors import Refusal

HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Asked:
    """One request under a key: who asks, the key, what for (`POST /api/v1/payments`), and the exact bytes."""

    caller: str
    key: str
    request: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: the status and the exact bytes."""

    status: int
    body: bytes


def begin(conn: Connection, asked: Asked) -> Answer | None:
    """Takes the key for this transaction; None: act, then `keep`. Else the first answer, to be given again.

    Refusals: bad_idempotency_key (400), idempotency_key_reused (422).
    """
    if not 1 <= len(asked.key) <= 255 or not all("!" <= letter <= "~" for letter in asked.key):
        raise Refusal("bad_idempotency_key", "An Idempotency-Key has 1 to 255 visible ASCII characters.", status=400)
    own = {"caller": asked.caller, "key": asked.key, "hours": HOURS}
    digest = hashlib.sha256(asked.body).digest()
    conn.execute(SQL["forget_expired_key"], own)
    if conn.execute(SQL["take_key"], {**own, "request": asked.request, "body_sha256": digest}).fetchone():
        return None
    row = conn.execute(SQL["kept_answer"], own).fetchone()
    assert row is not None
    request, body_sha256, status, body = row
    if (request, bytes(body_sha256)) != (asked.request, digest):
        raise Refusal(
            "idempotency_key_reused",
            "This Idempotency-Key was used for another request; use a new key for a new request.",
            status=422,
        )
    return Answer(status, bytes(body))


def keep(conn: Connection, asked: Asked, answer: Answer) -> None:
    """Keeps the answer with its effect, and forgets some keys of more than a day ago."""
    own = {"caller": asked.caller, "key": asked.key, "hours": HOURS}
    conn.execute(SQL["keep_answer"], {**own, "status": answer.status, "answer": answer.body})
