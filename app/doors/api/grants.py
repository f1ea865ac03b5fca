"""Grants: who has access to what, because of which payment."""

from typing import Any

from flask import Response

from app.base.db import statements
from app.doors.api import asked, cursors, told
from app.doors.api.answering import page
from app.doors.api.rendering import grant_json
from app.doors.api.room import Room
from app.payments import reads

room = Room("grants", "Access that payments gave.")


@room.get("/grants", query=asked.GrantFilter, answers=told.list_of(told.GrantTold))
def list_grants(query: dict[str, Any]) -> Response:
    """List grants, newest first"""
    limit, before = query["limit"], cursors.read("grants", query.get("cursor"))
    with statements() as conn:
        found = reads.grants(
            conn, subject=query.get("subject"), resource=query.get("resource"), before=before, limit=limit + 1
        )
    return page(
        found,
        limit,
        items=lambda shown: [grant_json(one) for one in shown],
        after=lambda last: cursors.write("grants", last.id),
    )
