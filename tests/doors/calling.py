"""Calls the API as a shop's system does, and holds every answer to the shapes that the contract gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from marshmallow import Schema

from app.doors.api.told import list_of

API = "/api/v1"


class Caller:
    """One API key at work."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self.client = client
        self.headers = {"Authorization": f"Bearer {key}"}

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(API + path, headers=self.headers | more.pop("headers", {}), **more)

    def post(self, path: str, body: Any = None, *, key: str | None = None, **more: Any) -> Any:
        headers = self.headers | more.pop("headers", {}) | ({"Idempotency-Key": key} if key is not None else {})
        if isinstance(body, bytes | str):
            more |= {"data": body, "content_type": more.get("content_type", "application/json")}
        else:
            more["json"] = {} if body is None else body
        return self.client.post(API + path, headers=headers, **more)

    def patch(self, path: str, body: Any) -> Any:
        return self.client.patch(API + path, json=body, headers=self.headers)

    def pay(self, reference: str, amount: int = 4990, **more: Any) -> dict[str, Any]:
        """Registers a payment at `loja` in BRL, known to the provider as pay_<reference>."""
        body = {"reference": reference, "endpoint": "loja", "amount": amount, "currency": "BRL"}
        response = self.post("/payments", {**body, "provider_ref": f"pay_{reference}", **more})
        assert response.status_code == 201, response.text
        found: dict[str, Any] = response.json
        return found


def shaped(response: Any, schema: type[Schema], status: int = 200) -> Any:
    """The answer's object, which has exactly the fields of its shape."""
    assert response.status_code == status, response.text
    assert response.content_type == "application/json"
    schema().load(response.json)
    return response.json


def items(response: Any, schema: type[Schema]) -> list[Any]:
    """The items of a list's only page."""
    found = shaped(response, list_of(schema))
    assert found["next_cursor"] is None
    return list(found["items"])


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The answer is that no, and has the form of one (RFC 9457)."""
    assert (response.status_code, response.json.get("code")) == (status, code), response.text
    assert response.content_type == "application/problem+json"
    assert {"type", "title", "status", "detail", "code"} <= set(response.json)
    assert response.json["status"] == status
    found: dict[str, Any] = response.json
    return found


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every statement that reaches psycopg meanwhile."""
    seen: list[str] = []
    execute = psycopg.Cursor.execute

    def counting(self: Any, query: Any, *arguments: Any, **more: Any) -> Any:
        seen.append(str(query))
        return execute(self, query, *arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", counting)
        yield seen
