"""The reads as the contract's JSON: prefixed ids, instants in UTC, months, sentences in the caller's language."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from flask import current_app, request

from app.base.db import Connection
from app.base.ids import Kind, show, show_or_none
from app.base.runtime import Runtime
from app.confirmation.explaining import Told, explain
from app.intake import reads as intake
from app.intake.reads import Decided, Event
from app.ledger import reads as ledger
from app.ledger.reads import Entry
from app.payments import reads as payments
from app.payments.reads import Grant, Payment
from app.refunds.reads import Refund

Json = dict[str, Any]


def payments_json(conn: Connection, found: Sequence[Payment]) -> list[Json]:
    """Payments with all that belongs to them: a fixed number of statements, however many."""
    ids = [payment.id for payment in found]
    names, grants, events, entries = _by(ids), _by(ids), _by(ids), _by(ids)
    if ids:
        for payment_id, name in payments.provider_names(conn, ids):
            names[payment_id].append(name)
        for grant in payments.grants_of(conn, ids):
            grants[grant.payment_id].append(grant_json(grant))
        for event in intake.of_payments(conn, ids):
            events[event.payment_id].append(
                {
                    "id": show(Kind.EVENT, event.id), "key": event.key, "type": event.type, "status": event.status,
                    "reason": event.reason,
                }
            )  # fmt: skip
        for entry in ledger.of_payments(conn, ids):
            assert entry.payment_id is not None
            entries[entry.payment_id].append(entry_json(entry))
    return [
        {
            "id": show(Kind.PAYMENT, payment.id),
            "reference": payment.reference,
            "endpoint": payment.slug,
            "provider_ref": payment.provider_ref,
            "provider_refs": _first(payment.provider_ref, names[payment.id]),
            "status": payment.status,
            "amount": payment.amount,
            "currency": payment.currency,
            "refunded_amount": payment.refunded_amount,
            "wallet": payment.wallet,
            "paid_at": instant_or_none(payment.paid_at),
            "created_at": instant(payment.created_at),
            "metadata": payment.metadata,
            "grants": grants[payment.id],
            "events": events[payment.id],
            "entries": entries[payment.id],
        }
        for payment in found
    ]


def events_json(conn: Connection, found: Sequence[Event]) -> list[Json]:
    """Events with the sentence for where each stands."""
    currencies = _currencies(conn, found)
    return [
        {
            "id": show(Kind.EVENT, event.id),
            "endpoint": event.slug,
            "provider": event.provider,
            "key": event.key,
            "type": event.type,
            "fact": event.fact,
            "status": event.status,
            "reason": event.reason,
            "explanation": _explanation(event, currencies),
            "payment_id": show_or_none(Kind.PAYMENT, event.payment_id),
            "caused_by": show_or_none(Kind.EVENT, event.caused_by),
            "deliveries": event.deliveries,
            "redeliveries": event.redeliveries,
            "received_at": instant(event.received_at),
            "processed_at": instant_or_none(event.processed_at),
        }
        for event in found
    ]


def decision_json(conn: Connection, decided: Decided) -> Json:
    """One decision with its sentence."""
    return {
        "event_id": show(Kind.EVENT, decided.event_id),
        "status": decided.status,
        "reason": decided.reason,
        "explanation": _explanation(decided, _currencies(conn, [decided])),
        "payment_id": show_or_none(Kind.PAYMENT, decided.payment_id),
        "caused_by": show_or_none(Kind.EVENT, decided.caused_by),
        "entry_id": show_or_none(Kind.ENTRY, decided.entry_id),
        "actor": decided.actor,
        "decided_at": instant(decided.decided_at),
    }


def entry_json(entry: Entry) -> Json:
    """An entry with its postings."""
    return {
        "id": show(Kind.ENTRY, entry.id),
        "kind": entry.kind,
        "amount": entry.amount,
        "currency": entry.currency,
        "period": month(entry.period),
        "occurred_at": instant(entry.occurred_at),
        "payment_id": show_or_none(Kind.PAYMENT, entry.payment_id),
        "event_id": show_or_none(Kind.EVENT, entry.event_id),
        "refund_id": show_or_none(Kind.REFUND, entry.refund_id),
        "memo": entry.memo,
        "postings": [{"account": posting.account, "amount": posting.amount} for posting in entry.postings],
    }


def grant_json(grant: Grant) -> Json:
    """Access that a payment gave."""
    return {
        "id": show(Kind.GRANT, grant.id),
        "payment_id": show(Kind.PAYMENT, grant.payment_id),
        "subject": grant.subject,
        "resource": grant.resource,
        "granted_at": instant(grant.granted_at),
    }


def refund_json(refund: Refund) -> Json:
    """Money that went back."""
    return {
        "id": show(Kind.REFUND, refund.id),
        "payment_id": show(Kind.PAYMENT, refund.payment_id),
        "amount": refund.amount,
        "currency": refund.currency,
        "status": refund.status,
        "reason": refund.reason,
        "entry_id": show_or_none(Kind.ENTRY, refund.entry_id),
        "period": month(refund.period) if refund.period else None,
        "created_at": instant(refund.created_at),
    }


def instant(moment: datetime) -> str:
    """`2026-08-31T23:30:00.000000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def instant_or_none(moment: datetime | None) -> str | None:
    """As `instant`; None for nothing."""
    return None if moment is None else instant(moment)


def month(period: date) -> str:
    """`2026-08`."""
    return f"{period:%Y-%m}"


def runtime() -> Runtime:
    """What this process runs with."""
    found = current_app.config["RUNTIME"]
    assert isinstance(found, Runtime)
    return found


def _first(name: str | None, names: list[str]) -> list[str]:
    """The names, with the one that was given first before those that events taught."""
    return [one for one in names if one == name] + [one for one in names if one != name]


def _by(ids: Iterable[int]) -> dict[int, list[Any]]:
    return {payment_id: [] for payment_id in ids}


def _currencies(conn: Connection, found: Sequence[Event | Decided]) -> dict[int, str]:
    """The currencies of the payments whose amounts a sentence may name, where the event says none."""
    ids = {one.payment_id for one in found if one.payment_id is not None and one.currency is None and one.detail}
    return payments.currencies(conn, ids) if ids else {}


def _explanation(one: Event | Decided, currencies: dict[int, str]) -> str:
    currency = one.currency or currencies.get(one.payment_id or 0)
    told = Told(one.status, one.reason, one.caused_by, one.entry_id, one.detail, currency)
    return explain(told, portuguese=_portuguese())


def _portuguese() -> bool:
    for wanted in request.accept_languages.values():
        if wanted.lower().startswith(("pt", "en")):
            return wanted.lower().startswith("pt")
    return runtime().settings.locale == "pt-BR"
