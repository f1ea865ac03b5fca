"""The plan of a transaction: everything that decisions want written, collected first and then written as sets.

Deciding is pure Python on state that is under lock; writing is a fixed number of statements whatever the number of
payments. Owns the order of the writes; the database's constraints have the last word on every one of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.base.clock import month_of
from app.base.db import Connection
from app.base.ids import Kind, show
from app.intake import events as intake
from app.ledger import books
from app.ledger.books import Entry, Line
from app.notifications.outbox import Message, enqueue_many
from app.payments import names
from app.payments.names import Name
from app.payments.state import SQL, Chargeback, Payment, PostedEntry


@dataclass(slots=True)
class Plan:
    """What one transaction will write. Decisions add to it and see their own additions on the payments."""

    zone: ZoneInfo
    entry_ids: Iterator[int]
    refund_ids: Iterator[int]
    owed: dict[books.AccountKey, int]  # wallets under lock: what each holds, kept up to date as entries are planned
    entries: list[Entry] = field(default_factory=list)
    changed: dict[int, Payment] = field(default_factory=dict)
    refunds: list[tuple[Any, ...]] = field(default_factory=list)
    confirmed_refunds: dict[int, int] = field(default_factory=dict)  # refund -> event
    claims: list[tuple[Any, ...]] = field(default_factory=list)
    chargebacks: list[tuple[int, Chargeback]] = field(default_factory=list)
    reversals: list[tuple[int, Chargeback]] = field(default_factory=list)
    grants: list[Payment] = field(default_factory=list)
    named: dict[Name, int] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    stirred: set[int] = field(default_factory=set)  # payments whose waiting events have their turn

    def post(
        self,
        payment: Payment,
        kind: str,
        amount: int,
        lines: tuple[Line, ...],
        *,
        at: datetime,
        event_id: int | None,
        party: str = "",
        refund_id: int | None = None,
        memo: str | None = None,
    ) -> int:
        """Plans one entry, in the month of `at`; returns its id, or that of the entry which exists already."""
        existing = payment.entries.get((kind, party))
        if existing is not None:
            return existing.id
        entry = Entry(
            id=next(self.entry_ids), kind=kind, amount=amount, currency=payment.currency, period=self.month(at),
            occurred_at=at, lines=lines, payment_id=payment.id, event_id=event_id, refund_id=refund_id, party=party,
            memo=memo,
        )  # fmt: skip
        self.entries.append(entry)
        payment.entries[kind, party] = PostedEntry(entry.id, abs(amount), event_id)
        for line in lines:
            key = (line.account, payment.currency)
            if key in self.owed:
                self.owed[key] -= line.amount
        return entry.id

    def change(self, payment: Payment) -> None:
        """The payment's own row will be written as it stands at the end."""
        self.changed[payment.id] = payment

    def tell(self, payment: Payment, kind: str, about: str, **more: Any) -> None:
        """Owes the shop's application a message about this payment."""
        data = {
            "payment_id": show(Kind.PAYMENT, payment.id),
            "reference": payment.reference,
            "endpoint": payment.slug,
            "status": payment.status,
            "amount": payment.amount,
            "currency": payment.currency,
            "refunded_amount": payment.refunded_amount,
            **more,
        }
        self.messages.append(Message(kind, payment.id, about, data))

    def month(self, at: datetime) -> date:
        """The competence month of that instant, in the merchant's zone."""
        return month_of(at, self.zone)

    def wallet_reach(self, payment: Payment, amount: int) -> int:
        """How much of `amount` the payment's wallet can give back."""
        assert payment.wallet is not None
        return max(0, min(amount, self.owed[books.wallet(payment.wallet), payment.currency]))

    def restore_grant(self, payment: Payment, *, event_id: int | None) -> bool:
        """Gives the access that the payment promises, if it is missing; never touches money."""
        if payment.grant_subject is None or payment.has_grant:
            return False
        payment.has_grant = True
        self.grants.append(payment)
        self.tell(
            payment, "grant.created", show(Kind.PAYMENT, payment.id),
            subject=payment.grant_subject, resource=payment.grant_resource,
            event_id=None if event_id is None else show(Kind.EVENT, event_id),
        )  # fmt: skip
        return True


def open_plan(conn: Connection, payments: list[Payment], *, decisions: int, zone: ZoneInfo) -> Plan:
    """A plan for up to `decisions` decisions on these locked payments; holds the balances that they may move."""
    keys = {
        key
        for payment in payments
        for key in [
            *([(books.wallet(payment.wallet), payment.currency)] if payment.wallet else []),
            *((books.partner(one.partner), payment.currency) for one in payment.commissions),
        ]
    }
    account_ids = books.accounts(conn, keys) if keys else {}
    owed = books.lock_balances(conn, account_ids.values()) if keys else {}
    # At most: a sale or what goes back, a fee, and a line of business for each partner.
    most_entries = decisions * (2 + max((len(payment.commissions) for payment in payments), default=0))
    return Plan(
        zone=zone,
        entry_ids=iter(books.take_entry_ids(conn, most_entries)) if payments else iter(()),
        refund_ids=_lazily(lambda: _take_refund_ids(conn, decisions)),
        owed={key: owed[account_id] for key, account_id in account_ids.items()},
    )


def write(conn: Connection, plan: Plan) -> None:
    """Writes the plan, a fixed number of statements. What waited for it has its turn by `wake`, last."""
    _write_payments(conn, list(plan.changed.values()))
    _write_refunds(conn, plan)
    _write_chargebacks(conn, plan)
    books.post_many(conn, plan.entries)
    if plan.grants:
        conn.execute(
            SQL["give_access"],
            {
                "payment_id": [payment.id for payment in plan.grants],
                "subject": [payment.grant_subject for payment in plan.grants],
                "resource": [payment.grant_resource for payment in plan.grants],
            },
        )
    enqueue_many(conn, plan.messages)


def wake(conn: Connection, plan: Plan) -> bool:
    """Gives the learned names and queues the events that waited; True if there were any.

    The last thing before the commit: by then the transaction's own events are decided and off the queue.
    """
    named = names.give(conn, plan.named)
    disputed = {payment_id for payment_id, _ in plan.chargebacks}
    return intake.enqueue_waiting(conn, plan.stirred, disputed) > 0 or named


def _write_payments(conn: Connection, payments: list[Payment]) -> None:
    if payments:
        columns = "id status amount refunded_amount charged_back_amount paid_at paid_by_event provider_ref".split()
        conn.execute(
            SQL["change_payments"],
            {name: [getattr(payment, name) for payment in payments] for name in columns},
        )


def _write_refunds(conn: Connection, plan: Plan) -> None:
    if plan.refunds:
        columns = "id payment_id amount source status reason refund_key actor event_id occurred_at".split()
        conn.execute(SQL["record_refunds"], _transposed(columns, plan.refunds))
    if plan.confirmed_refunds:
        confirmed = sorted(plan.confirmed_refunds.items())
        conn.execute(SQL["confirm_refunds"], _transposed(("id", "event_id"), confirmed))
    if plan.claims:
        claim = ("provider_refund_id", "endpoint_id", "payment_id", "refund_id", "amount", "event_id")
        conn.execute(SQL["claim_refunds"], _transposed(claim, plan.claims))


def _write_chargebacks(conn: Connection, plan: Plan) -> None:
    if plan.chargebacks:
        columns = ("payment_id", "cycle", "amount", "wallet_part", "dispute_id", "opened_event", "opened_at")
        rows = [
            (payment_id, one.cycle, one.amount, one.wallet_part, one.dispute_id, one.opened_event, one.opened_at)
            for payment_id, one in plan.chargebacks
        ]
        conn.execute(SQL["open_chargebacks"], _transposed(columns, rows))
    if plan.reversals:
        ends = [(payment_id, one.cycle, one.reversed_event, one.reversed_at) for payment_id, one in plan.reversals]
        conn.execute(SQL["reverse_chargebacks"], _transposed(("payment_id", "cycle", "event_id", "reversed_at"), ends))


def _transposed(columns: Sequence[str], rows: list[Any]) -> dict[str, list[Any]]:
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def _take_refund_ids(conn: Connection, count: int) -> list[int]:
    return [row[0] for row in conn.execute(SQL["take_refund_ids"], {"count": count}).fetchall()]


def _lazily(take: Callable[[], list[int]]) -> Iterator[int]:
    """The ids, taken only when the first is wanted."""
    yield from take()
