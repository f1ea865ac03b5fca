"""A payment as it stands under its lock: loaded for a whole set with a fixed number of statements.

Owns the reading of state for decisions. Nothing here writes; see plan.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from app.base.db import Connection
from app.base.sql import Queries

SQL: Final = Queries(__package__ or "app.payments")

EXPECTED: Final = frozenset({"pending", "expired"})  # may still be paid


@dataclass(frozen=True, slots=True)
class Commission:
    """A partner's share: a fixed amount in minor units, or basis points of the payment."""

    partner: str
    amount: int | None
    basis_points: int | None

    def of(self, paid: int) -> int:
        """The share of `paid` minor units. Basis points are rounded down to the minor unit: never above the share."""
        if self.amount is not None:
            return min(self.amount, paid)
        assert self.basis_points is not None
        return paid * self.basis_points // 10_000


@dataclass(slots=True)
class Refund:
    """A refund as booked. `recorded`: a person's, of which the provider has said nothing yet; else `confirmed`."""

    id: int
    amount: int
    source: str
    status: str
    event_id: int | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A refund that the provider named: the event that first told of it, where it is booked, and its own amount."""

    event_id: int
    refund_id: int
    amount: int


@dataclass(slots=True)
class Chargeback:
    """One cycle of a dispute."""

    cycle: int
    amount: int
    wallet_part: int
    dispute_id: str | None
    opened_event: int | None
    opened_at: datetime
    reversed_event: int | None = None
    reversed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PostedEntry:
    """An entry that exists: its id, absolute amount and the event that caused it."""

    id: int
    amount: int
    event_id: int | None


@dataclass(slots=True)
class Payment:
    """A payment under its lock. Amounts in minor units of `currency`."""

    id: int
    reference: str
    endpoint_id: int
    slug: str
    provider_ref: str | None
    status: str
    amount: int
    currency: str
    refunded_amount: int
    charged_back_amount: int
    wallet: str | None
    grant_subject: str | None
    grant_resource: str | None
    paid_at: datetime | None
    paid_by_event: int | None
    provider_names: set[str] = field(default_factory=set)
    has_grant: bool = False
    commissions: list[Commission] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)
    claims: dict[str, Claim] = field(default_factory=dict)  # by the provider's refund id
    chargebacks: list[Chargeback] = field(default_factory=list)
    entries: dict[tuple[str, str], PostedEntry] = field(default_factory=dict)  # (kind, party)

    @property
    def remaining(self) -> int:
        """What may still go back."""
        return self.amount - self.refunded_amount - self.charged_back_amount

    @property
    def sale(self) -> PostedEntry | None:
        """The entry of its sale, whoever is its party."""
        return next((entry for (kind, _), entry in self.entries.items() if kind == "sale"), None)

    def is_another_charge(self, refs: Iterable[str]) -> bool:
        """Whether the provider means another charge: of a kind (`pay_…`, `pi_…`) of which this payment has another.

        A name of a new kind is a further name of the same money: AbacatePay's `char_…` and `bill_…` share nothing but
        the merchant's reference.
        """
        kinds = {name.rpartition("_")[0] for name in self.provider_names}
        return any(ref.rpartition("_")[0] in kinds and ref not in self.provider_names for ref in refs)

    @property
    def open_chargeback(self) -> Chargeback | None:
        """The dispute that holds the money now."""
        return next((one for one in self.chargebacks if one.reversed_at is None), None)

    def settled_status(self) -> str:
        """The status that the amounts imply, once paid."""
        if self.open_chargeback:
            return "charged_back"
        if self.refunded_amount == 0:
            return "paid"
        return "refunded" if self.refunded_amount == self.amount else "partially_refunded"


def lock_payments(conn: Connection, ids: Iterable[int]) -> dict[int, Payment]:
    """Holds those payments in order of id, then reads all that belongs to them: a fixed number of statements."""
    wanted = {"ids": sorted(set(ids))}
    if not wanted["ids"]:
        return {}
    found = {row[0]: Payment(*row) for row in conn.execute(SQL["lock_payments"], wanted).fetchall()}
    # What follows is read in statements of their own: after the wait for the lock, so that they see what was committed.
    for payment_id, *commission in conn.execute(SQL["commissions_of"], wanted).fetchall():
        found[payment_id].commissions.append(Commission(*commission))
    for payment_id, *refund in conn.execute(SQL["refunds_of"], wanted).fetchall():
        found[payment_id].refunds.append(Refund(*refund))
    for payment_id, provider_refund_id, *claim in conn.execute(SQL["claims_of"], wanted).fetchall():
        found[payment_id].claims[provider_refund_id] = Claim(*claim)
    for payment_id, _, *chargeback in conn.execute(SQL["chargebacks_of"], wanted).fetchall():
        found[payment_id].chargebacks.append(Chargeback(*chargeback))
    for payment_id, entry_id, kind, party, amount, event_id in conn.execute(SQL["entries_of"], wanted).fetchall():
        found[payment_id].entries[kind, party] = PostedEntry(entry_id, amount, event_id)
    for (payment_id,) in conn.execute(SQL["grants_of"], wanted).fetchall():
        found[payment_id].has_grant = True
    for payment_id, name in conn.execute(SQL["provider_names_of"], wanted).fetchall():
        found[payment_id].provider_names.add(name)
    return found
