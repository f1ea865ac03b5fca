"""Where a list goes on: opaque to callers, checked when it comes back. A cursor of another list is refused."""

import base64
import binascii
import json
from typing import Final

from app.base.errors import Refusal

_LARGEST: Final = 2**63 - 1


def write(kind: str, *where: int | str) -> str:
    """The cursor of a list of that kind."""
    text = json.dumps([kind, *where], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(kind: str, cursor: str | None) -> int | None:
    """The id below which the list goes on; None at its beginning. Refusal: bad_cursor (400)."""
    where = parts(kind, cursor, int)
    return None if where is None else _number(where[0])


def parts(kind: str, cursor: str | None, *types: type) -> list[int | str] | None:
    """All that a cursor of that kind holds, in its types; None at the beginning. Refusal: bad_cursor (400)."""
    if cursor is None:
        return None
    try:
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        sound = isinstance(found, list) and found[0] == kind and [type(one) for one in found[1:]] == list(types)
        sound = sound and write(kind, *found[1:]) == cursor  # exactly as we wrote it
    except (ValueError, binascii.Error, IndexError, RecursionError):
        sound = False
    if not sound or any(isinstance(one, int) and abs(one) > _LARGEST for one in found[1:]):
        raise bad_cursor()
    return [one for one in found[1:] if isinstance(one, int | str)]


def bad_cursor() -> Refusal:
    """The refusal of a cursor that this list did not give."""
    return Refusal("bad_cursor", "This cursor is not one that this list gave; begin without one.", status=400)


def _number(found: int | str) -> int:
    assert isinstance(found, int)
    return found
