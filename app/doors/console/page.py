"""The console's blueprint, and what its views share: rendering, lists by keyset, ids in addresses, rehearsals."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from flask import Blueprint, abort, current_app, render_template, request

from app.access.audit import Act
from app.base.db import Connection, transaction
from app.base.ids import Kind, parse
from app.base.runtime import Runtime
from app.doors.console import session
from app.doors.console.rules import is_partial

PAGE_ROWS: Final = 50
LONGEST_REASON: Final = 500

console = Blueprint("console", __name__)

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """One page of a list: its rows, and the addresses of the older ones and of the beginning."""

    rows: Sequence[Row]
    older: str | None
    newest: str | None


def runtime() -> Runtime:
    """What this process runs with."""
    found = current_app.config["RUNTIME"]
    assert isinstance(found, Runtime)
    return found


def act(reason: str | None = None) -> Act:
    """The person at the console as the audit record names them."""
    return Act(f"operator:{session.signed_in().login}", reason, request.remote_addr)


def number(kind: Kind, text: str) -> int:
    """The row's number in an address; 404 for what is no id of that kind."""
    found = parse(kind, text)
    if found is None:
        abort(404)
    return found


def given(name: str) -> str | None:
    """A filter from the address, trimmed; None when empty."""
    return request.args.get(name, "").strip()[:200] or None


def before(kind: Kind) -> int | None:
    """Where this page of a list begins: below that id."""
    text = given("before")
    return parse(kind, text) if text else None


def listing(rows: Sequence[Row], cursor_of: Any) -> Listing[Row]:
    """Cuts the row that only tells of more; `cursor_of` gives a row's id as the address holds it."""
    shown = rows[:PAGE_ROWS]
    older = _address(before=cursor_of(shown[-1])) if len(rows) > PAGE_ROWS else None
    newest = _address() if request.args.get("before") else None
    return Listing(shown, older, newest)


def render(template: str, fragment: str | None = None, **context: Any) -> str:
    """The page, or the fragment of it that htmx asks for."""
    return render_template(fragment if fragment and is_partial() else template, **context)


def reason_given() -> str | None:
    """The reason that a form gives, trimmed; None when empty."""
    return request.form.get("reason", "").strip()[:LONGEST_REASON] or None


def wake_worker() -> None:
    """Rings for the worker: events were queued."""
    current_app.extensions["razao.bell"].ring()


class _Undone(Exception):
    """Ends a rehearsal."""


@contextmanager
def rehearsal() -> Iterator[Connection]:
    """A transaction that is always undone: shows what an act would do, by doing it."""
    try:
        with transaction() as conn:
            yield conn
            raise _Undone  # noqa: TRY301  the one way out of a transaction that undoes it
    except _Undone:
        pass


def clean_address() -> str:
    """The page's address as one would share it: without empty filters."""
    below = given("before")
    return _address(before=below) if below else _address()


def _address(**changed: str) -> str:
    kept = [(key, value) for key, value in request.args.items(multi=True) if key not in {"before", "lang"} and value]
    query = urlencode([*kept, *changed.items()])
    return f"{request.path}?{query}" if query else request.path
