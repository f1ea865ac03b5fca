"""Registers expected payments: from the shop's application, or from an event where the endpoint allows it.

Owns what a registration must fulfil. A registration and its event meet on the payment's names, so that whichever
comes second finds the other; events that waited are queued in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from app.base.db import Connection
from app.base.errors import Refusal
from app.ledger import books
from app.payments import names
from app.payments.names import Name
from app.payments.state import SQL, Commission


@dataclass(frozen=True, slots=True)
class Registration:
    """A payment to expect. `amount` in minor units."""

    reference: str
    endpoint_id: int
    amount: int
    currency: str
    provider_ref: str | None = None
    wallet: str | None = None
    grant: tuple[str, str] | None = None  # (subject, resource)
    commissions: tuple[Commission, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    source: str = "api"


def register(conn: Connection, wanted: Registration) -> tuple[int, bool]:
    """Registers one payment; returns (its id, whether events that waited for it were queued).

    Refusals: reference_taken, provider_ref_taken (409), commissions_exceed_payment, wallet_currency_differs (422).
    """
    if sum(commission.of(wanted.amount) for commission in wanted.commissions) > wanted.amount:
        raise Refusal(
            "commissions_exceed_payment", "The commissions add up to more than the payment; lower them.", status=422
        )
    own = _names(wanted)
    held = names.hold(conn, own)
    if wanted.provider_ref and held[own[-1]] is not None:
        raise Refusal("provider_ref_taken", "Another payment of this endpoint has this provider_ref; look it up.")
    registered = register_many(conn, [wanted])
    if not registered:
        raise Refusal(
            "reference_taken",
            "A payment with this reference exists already; look it up instead of registering it again.",
        )
    if wanted.wallet:
        books.accounts(conn, [(books.wallet(wanted.wallet), wanted.currency)])
    payment_id = registered[wanted.reference]
    return payment_id, names.give(conn, dict.fromkeys(own, payment_id))


def register_many(conn: Connection, wanted: Sequence[Registration]) -> dict[str, int]:
    """Registers payments whose reference is free; returns reference -> id. The caller gives them their names."""
    if not wanted:
        return {}
    rows = conn.execute(
        SQL["register"],
        {
            "reference": [one.reference for one in wanted],
            "endpoint_id": [one.endpoint_id for one in wanted],
            "provider_ref": [one.provider_ref for one in wanted],
            "amount": [one.amount for one in wanted],
            "currency": [one.currency for one in wanted],
            "wallet": [one.wallet for one in wanted],
            "grant_subject": [one.grant[0] if one.grant else None for one in wanted],
            "grant_resource": [one.grant[1] if one.grant else None for one in wanted],
            "metadata": [Jsonb(one.metadata) for one in wanted],
            "source": [one.source for one in wanted],
        },
    ).fetchall()
    registered = {reference: payment_id for payment_id, reference in rows}
    commissions = [
        (registered[one.reference], commission)
        for one in wanted
        if one.reference in registered
        for commission in one.commissions
    ]
    if commissions:
        conn.execute(
            SQL["add_commissions"],
            {
                "payment_id": [payment_id for payment_id, _ in commissions],
                "partner": [commission.partner for _, commission in commissions],
                "amount": [commission.amount for _, commission in commissions],
                "basis_points": [commission.basis_points for _, commission in commissions],
            },
        )
    return registered


def set_provider_ref(conn: Connection, payment_id: int, provider_ref: str) -> bool:
    """Gives a registered payment its provider's reference, once; True when events that waited were queued.

    Refusals: payment_not_found (404), provider_ref_set, provider_ref_taken (409). The same value again changes nothing.
    """
    row = conn.execute(SQL["endpoint_and_ref"], {"id": payment_id}).fetchone()
    if row is None:
        raise Refusal("payment_not_found", "There is no payment with this id.", status=404)
    name = Name(provider_ref, row[0], "provider")
    held = names.hold(conn, [name])
    if held[name] not in {None, payment_id}:
        raise Refusal("provider_ref_taken", "Another payment of this endpoint has this provider_ref; look it up.")
    changed = conn.execute(SQL["set_provider_ref"], {"id": payment_id, "provider_ref": provider_ref}).fetchone()
    if changed is None:
        raise Refusal("provider_ref_set", "This payment has another provider_ref already; it may be set once.")
    return names.give(conn, {name: payment_id})


def _names(wanted: Registration) -> list[Name]:
    own = [Name(wanted.reference, wanted.endpoint_id, "merchant")]
    if wanted.provider_ref:
        own.append(Name(wanted.provider_ref, wanted.endpoint_id, "provider"))
    return own
