"""The menu: label, view, smallest role. A new page is one row here."""

from dataclasses import dataclass
from typing import Final

from flask import request
from flask_babel import lazy_gettext as _l
from flask_babel.speaklater import LazyString

from app.access.people import Role
from app.doors.console import session


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the menu; `also` are further views that belong to it."""

    label: LazyString
    view: str
    role: Role = Role.VIEWER
    also: tuple[str, ...] = ()


GROUPS: Final[tuple[tuple[LazyString, tuple[Item, ...]], ...]] = (
    (
        _l("Work"),
        (
            Item(_l("Overview"), "overview"),
            Item(_l("Events"), "events", also=("event", "acceptance", "dismissal", "acknowledgement", "reveal")),
            Item(_l("Ignored duplicates"), "duplicates"),
            Item(_l("Payments"), "payments", also=("payment", "confirmation")),
            Item(_l("Refunds"), "refunds", also=("refund", "refund_form", "refund_preview")),
        ),
    ),
    (
        _l("Books"),
        (
            Item(_l("Entries"), "entries", also=("entry",)),
            Item(_l("Accounts"), "accounts", also=("account",)),
            Item(_l("Notifications"), "notifications"),
        ),
    ),
    (
        _l("House"),
        (
            Item(_l("Safeguards"), "safeguards"),
            Item(_l("Audit"), "audit"),
            Item(_l("Endpoints"), "endpoints", Role.ADMIN),
        ),
    ),
)


def shown() -> list[tuple[LazyString, list[tuple[Item, bool]]]]:
    """The groups with the items that the person may open, and whether each is where they are."""
    here = (request.endpoint or "").removeprefix("console.")
    groups = [
        (label, [(item, here == item.view or here in item.also) for item in items if session.may(item.role)])
        for label, items in GROUPS
    ]
    return [(label, items) for label, items in groups if items]
