"""How filters name a payment: by its id, or by the merchant's reference."""

from typing import Final

from app.base.db import Connection
from app.base.ids import Kind, parse
from app.payments import reads

NONE: Final = 0  # the id of no payment


def payment_named(conn: Connection, text: str | None) -> int | None:
    """The number of that payment; NONE where nobody is called so; None where no payment is asked for."""
    if text is None:
        return None
    return parse(Kind.PAYMENT, text) or reads.id_of_reference(conn, text) or NONE
