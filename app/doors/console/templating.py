"""What templates may call: ids, states, words. Kept small: a template shows, it does not work things out."""

from typing import Any
from urllib.parse import urlencode

from flask import Flask, url_for
from markupsafe import Markup

from app.base.ids import Kind, show
from app.doors.console import bodies, words
from app.doors.console.language import plain_amount
from app.doors.console.session import may

_VIEWS = {Kind.PAYMENT: "payment", Kind.EVENT: "event", Kind.ENTRY: "entry", Kind.REFUND: "refund"}
_ARGUMENTS = {Kind.PAYMENT: "payment_id", Kind.EVENT: "event_id", Kind.ENTRY: "entry_id", Kind.REFUND: "refund_id"}


def init(app: Flask) -> None:
    """Teaches the templates the console's words."""
    app.jinja_env.globals.update(
        words=words,
        state=lambda table, name: table[name],
        may=may,
        pmt=lambda number: link(Kind.PAYMENT, number),
        evn=lambda number: link(Kind.EVENT, number),
        ent=lambda number: link(Kind.ENTRY, number),
        rfd=lambda number: link(Kind.REFUND, number),
        object_link=object_link,
        show_id=lambda kind, number: show(Kind(kind), number),
        address=address,
        plain_amount=plain_amount,
        events_at=lambda slug: f"{url_for('console.events')}?{urlencode({'endpoint': slug})}",
        masked=bodies.mask,
        pairs=lambda values: [(value, value) for value in values],
        choices_of=lambda table: [(name, getattr(one, "word", one)) for name, one in table.items()],
    )
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True


def address(kind: str, number: int) -> str:
    """Where the page of an object is."""
    found = Kind(kind)
    values: dict[str, Any] = {_ARGUMENTS[found]: show(found, number)}
    return url_for(f"console.{_VIEWS[found]}", **values)


def link(kind: Kind, number: int | None) -> Markup:
    """The id as a link to its page; a dash for nothing."""
    if number is None:
        return Markup("—")
    return Markup('<a class="id" href="{}">{}</a>').format(address(kind, number), show(kind, number))


def object_link(text: str) -> Markup:
    """An audit record's object as a link where it has a page."""
    prefix, _, digits = text.partition("_")
    if prefix in {kind.value for kind in _VIEWS} and digits.isascii() and digits.isdigit():
        return link(Kind(prefix), int(digits))
    return Markup('<span class="id">{}</span>').format(text)
