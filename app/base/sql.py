"""Named SQL: each capability's statements live in its `queries.sql`; Python names them and never assembles them.

Arrays are `%(name)b::type[]`: in binary they cost psycopg two to thirteen times less than as text.
"""

import re
from importlib.resources import files
from typing import Final, LiteralString, cast

_NAME: Final = re.compile(r"^-- name: (?P<name>[a-z_]+)$", re.MULTILINE)


class Queries:
    """The statements of one `.sql` file, by name. Comments travel along: they show in the server's log too."""

    def __init__(self, package: str, filename: str = "queries.sql") -> None:
        text = files(package).joinpath(filename).read_text(encoding="utf-8")
        parts = _NAME.split(text)
        # LiteralString: this text is ours, reviewed with the code; a type checker then refuses assembled statements.
        self._by_name = {
            name: cast("LiteralString", body.strip()) for name, body in zip(parts[1::2], parts[2::2], strict=True)
        }

    def __getitem__(self, name: str) -> LiteralString:
        return self._by_name[name]

    def names(self) -> list[str]:
        """Every statement's name, in the file's order."""
        return list(self._by_name)
