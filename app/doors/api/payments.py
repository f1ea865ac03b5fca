"""Payments: expect one, look it up, give it its provider's name, confirm it by hand, refund it."""

from typing import Any, Final

from flask import Response

from app.base.db import Connection, statements
from app.base.errors import Refusal
from app.base.ids import Kind, parse, show
from app.confirmation.acting import confirm_by_person
from app.doors.api import asked, caller, cursors, told
from app.doors.api.answering import act, answer, key_of_request, page
from app.doors.api.rendering import payments_json, refund_json, runtime
from app.doors.api.room import Room
from app.intake import reads as intake
from app.intake.events import announce_work
from app.payments import reads
from app.payments.registering import Registration, register, set_provider_ref
from app.payments.state import Commission
from app.refunds import reads as refunds
from app.refunds.issuing import issue

room = Room("payments", "Money expected from a payer, and what became of it.")
_ID: Final = {"payment_id": "A payment's id, such as `pmt_42`."}


@room.post("/payments", takes=asked.NewPayment, answers=told.PaymentTold, status=201)
def register_payment(body: dict[str, Any]) -> Response:
    """Expect a payment

    Events that came before it are applied at once. Refusals: `endpoint_unknown`, `endpoint_disabled`,
    `commissions_exceed_payment`, `wallet_currency_differs` (422), `reference_taken`, `provider_ref_taken` (409).
    """

    def work(conn: Connection) -> dict[str, Any]:
        payment_id, woken = register(conn, _registration(conn, body))
        if woken:
            announce_work(conn)
        return _payment(conn, payment_id)

    return act(work, 201)


@room.get("/payments", query=asked.PaymentFilter, answers=told.list_of(told.PaymentTold))
def list_payments(query: dict[str, Any]) -> Response:
    """List payments, newest first"""
    limit, before = query.pop("limit"), cursors.read("payments", query.pop("cursor", None))
    with statements() as conn:
        found = reads.payments(conn, **query, before=before, limit=limit + 1)
        return page(
            found,
            limit,
            items=lambda shown: payments_json(conn, shown),
            after=lambda last: cursors.write("payments", last.id),
        )


@room.get("/payments/<payment_id>", answers=told.PaymentTold, says=_ID)
def get_payment(payment_id: str) -> Response:
    """Look up a payment"""
    with statements() as conn:
        return answer(_payment(conn, _number(payment_id)))


@room.patch("/payments/<payment_id>", takes=asked.PaymentChange, answers=told.PaymentTold, says=_ID)
def change_payment(body: dict[str, Any], payment_id: str) -> Response:
    """Give a payment its provider's name, once

    The same name again changes nothing. Refusals: `provider_ref_set`, `provider_ref_taken` (409).
    """
    number = _number(payment_id)

    def work(conn: Connection) -> dict[str, Any]:
        if set_provider_ref(conn, number, body["provider_ref"]):
            announce_work(conn)
        return _payment(conn, number)

    return act(work)


@room.post("/payments/<payment_id>/confirm", takes=asked.Reason, answers=told.PaymentTold, says=_ID)
def confirm_payment(body: dict[str, Any], payment_id: str) -> Response:
    """Confirm a payment by hand: a person saw the money

    The same path and guards as an event's. Refusals: `already_confirmed` (409).
    """
    number = _number(payment_id)

    def work(conn: Connection) -> dict[str, Any]:
        confirm_by_person(conn, number, act=caller.act(body["reason"]), zone=runtime().settings.timezone)
        announce_work(conn)
        return _payment(conn, number)

    return act(work)


@room.post("/payments/<payment_id>/refunds", takes=asked.NewRefund, answers=told.RefundTold, status=201, says=_ID)
def refund_payment(body: dict[str, Any], payment_id: str) -> Response:
    """Record a refund, in the month of today

    The provider's own event for it will be a duplicate that confirms it. Refusals (409): `payment_not_paid`,
    `payment_charged_back`, `nothing_to_refund`, `refund_exceeds_payment` (with what is `remaining`).
    """
    number = _number(payment_id)

    def work(conn: Connection) -> dict[str, Any]:
        issued = issue(
            conn,
            number,
            amount=body.get("amount"),
            key=key_of_request(),
            source="api",
            act=caller.act(body["reason"]),
            zone=runtime().settings.timezone,
        )
        announce_work(conn)
        [refund] = refunds.of_payment(conn, number, before=issued.refund_id + 1, limit=1)
        return refund_json(refund)

    return act(work, 201)


@room.get("/payments/<payment_id>/refunds", query=asked.Page, answers=told.list_of(told.RefundTold), says=_ID)
def list_refunds(query: dict[str, Any], payment_id: str) -> Response:
    """List a payment's refunds, newest first"""
    number, before = _number(payment_id), cursors.read("refunds", query.get("cursor"))
    with statements() as conn:
        if reads.payment(conn, number) is None:
            raise _not_found()
        found = refunds.of_payment(conn, number, before=before, limit=query["limit"] + 1)
    return page(
        found,
        query["limit"],
        items=lambda shown: [refund_json(one) for one in shown],
        after=lambda last: cursors.write("refunds", last.id),
    )


def _registration(conn: Connection, body: dict[str, Any]) -> Registration:
    endpoint = intake.endpoint(conn, body["endpoint"])
    if endpoint is None:
        raise Refusal("endpoint_unknown", "There is no endpoint with this slug; see razao endpoint list.", status=422)
    endpoint_id, enabled = endpoint
    if not enabled:
        raise Refusal("endpoint_disabled", "This endpoint is disabled; no event would reach the payment.", status=422)
    grant = body.get("grant")
    return Registration(
        reference=body["reference"],
        endpoint_id=endpoint_id,
        amount=body["amount"],
        currency=body["currency"],
        provider_ref=body.get("provider_ref"),
        wallet=body.get("wallet"),
        grant=(grant["subject"], grant["resource"]) if grant else None,
        commissions=tuple(
            Commission(one["partner"], one.get("amount"), one.get("basis_points"))
            for one in body.get("commissions", ())
        ),
        metadata=body.get("metadata") or {},
    )


def _payment(conn: Connection, number: int) -> dict[str, Any]:
    found = reads.payment(conn, number)
    if found is None:
        raise _not_found()
    return payments_json(conn, [found])[0]


def _number(payment_id: str) -> int:
    number = parse(Kind.PAYMENT, payment_id)
    if number is None:
        raise _not_found()
    return number


def _not_found() -> Refusal:
    example = show(Kind.PAYMENT, 42)
    return Refusal("payment_not_found", f"There is no payment with this id; ids look like {example}.", status=404)
