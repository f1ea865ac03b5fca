"""Answers as bytes, and acts that may be asked twice: effect, answer and key are one transaction."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import psycopg
from flask import Response, request

from app.access import idempotency
from app.access.idempotency import Answer, Asked
from app.base.db import Connection, transaction
from app.base.errors import Refusal, refusal_of
from app.doors.api import caller, problems

KEY: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"

Item = TypeVar("Item")
Work = Callable[[Connection], Mapping[str, Any]]


def answer(body: Mapping[str, Any], status: int = 200) -> Response:
    """A JSON answer."""
    return _response(Answer(status, _bytes(body)))


def page(
    found: Sequence[Item], limit: int, *, items: Callable[[Sequence[Item]], list[Any]], after: Callable[[Item], str]
) -> Response:
    """A list's page from up to `limit` + 1 rows: the one too many tells that there are more."""
    shown = found[:limit]
    cursor = after(shown[-1]) if len(found) > limit else None
    return answer({"items": items(shown), "next_cursor": cursor})


def act(work: Work, status: int = 200) -> Response:
    """Does the work once and answers; under an Idempotency-Key a repeat gets the first answer, a refusal's too."""
    key = request.headers.get(KEY)
    if key is None:
        with transaction() as conn:
            return _response(Answer(status, _bytes(work(conn))))
    asked = Asked(caller.name(), key, f"{request.method} {request.path}", request.get_data(cache=True))
    with transaction() as conn:
        first = idempotency.begin(conn, asked)
        if first:
            response = _response(first)
            response.headers[REPLAYED] = "true"
            return response
        made = _try(conn, work, status)
        idempotency.keep(conn, asked, made)
    return _response(made)


def key_of_request() -> str | None:
    """What names this very request among all of this caller's, if the caller gave it a name."""
    key = request.headers.get(KEY)
    return None if key is None else f"{caller.name()}:{key}"


def _try(conn: Connection, work: Work, status: int) -> Answer:
    """The work's answer or its refusal; a fault goes on, and takes the key with it."""
    try:
        with conn.transaction():  # a savepoint: a refusal undoes the work, not the key
            body = work(conn)
            conn.execute("SET CONSTRAINTS ALL IMMEDIATE")
        return Answer(status, _bytes(body))
    except Refusal as refusal:
        return _refused(refusal)
    except psycopg.Error as error:
        refusal_found = refusal_of(error)
        if refusal_found is None:
            raise
        return _refused(refusal_found)


def _refused(refusal: Refusal) -> Answer:
    return Answer(refusal.status, problems.body_of(refusal))


def _bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _response(made: Answer) -> Response:
    media_type = "application/json" if made.status < 400 else problems.MEDIA_TYPE
    return Response(made.body, made.status, content_type=media_type)
