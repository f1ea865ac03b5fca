"""Stripe: minor units and lower-case currencies, Unix times, snapshot events (providers.md section 2).

ISK, UGX and MGA, which Stripe writes in its own way, are not for these.
"""

from collections.abc import Mapping

from app.providers.samples.case import Case, digest, encode


class StripeSamples:
    """The events of one payment intent with one charge."""

    def payment_id(self, seed: str) -> str:
        return "pi_" + digest(seed)[:24]

    def paid(self, case: Case) -> tuple[bytes, bytes]:
        intent = {
            "id": case.payment_id,
            "object": "payment_intent",
            "amount": case.amount,
            "amount_received": case.amount,
            "currency": case.currency.lower(),
            "latest_charge": case.related("ch_"),
            "metadata": self._metadata(case),
            "status": "succeeded",
        }
        return (
            self._event(case, "payment_intent.succeeded", intent),
            self._event(case, "charge.succeeded", self._charge(case)),
        )

    def refunded(self, case: Case, *, amount: int, total: int) -> bytes | None:
        return self._event(case, "refund.created", self._refund(case, amount, total), what=f"{amount}/{total}")

    def refunded_in_total(self, case: Case, *, total: int) -> bytes:
        """`charge.refunded`, the same refunds told as their sum."""
        charge = self._charge(case) | {"amount_refunded": total, "refunded": total >= case.amount}
        return self._event(case, "charge.refunded", charge, what=str(total))

    def refund_failed(self, case: Case, *, amount: int, total: int) -> bytes:
        """The bank sent an accepted refund back, days later."""
        refund = self._refund(case, amount, total) | {"status": "failed", "failure_reason": "unknown"}
        return self._event(case, "refund.failed", refund, what=f"{amount}/{total}")

    def chargeback_opened(self, case: Case) -> bytes:
        return self._event(case, "charge.dispute.funds_withdrawn", self._dispute(case, "needs_response"))

    def chargeback_won(self, case: Case) -> bytes | None:
        return self._event(case, "charge.dispute.funds_reinstated", self._dispute(case, "won"))

    def expired(self, case: Case) -> bytes | None:
        intent = {
            "id": case.payment_id,
            "object": "payment_intent",
            "amount": case.amount,
            "amount_received": 0,
            "currency": case.currency.lower(),
            "latest_charge": None,
            "metadata": self._metadata(case),
            "status": "canceled",
        }
        return self._event(case, "payment_intent.canceled", intent)

    def informational(self, case: Case) -> bytes:
        return self._event(case, "charge.dispute.created", self._dispute(case, "needs_response"))

    def unknown(self, case: Case) -> bytes:
        return self._event(case, "payment_intent.teleported", {"id": case.payment_id, "object": "payment_intent"})

    def _metadata(self, case: Case) -> dict[str, str]:
        return {"reference": case.merchant_reference} if case.merchant_reference else {}

    def _charge(self, case: Case) -> dict[str, object]:
        return {
            "id": case.related("ch_"),
            "object": "charge",
            "amount": case.amount,
            "amount_captured": case.amount,
            "amount_refunded": 0,
            "balance_transaction": "txn_" + case.token("txn")[:24],
            "captured": True,
            "currency": case.currency.lower(),
            "metadata": self._metadata(case),
            "paid": True,
            "payment_intent": case.payment_id,
            "refunded": False,
            "status": "succeeded",
        }

    def _refund(self, case: Case, amount: int, total: int) -> dict[str, object]:
        return {
            "id": "re_" + case.token(f"refund {amount}/{total}")[:24],
            "object": "refund",
            "amount": amount,
            "charge": case.related("ch_"),
            "currency": case.currency.lower(),
            "payment_intent": case.payment_id,
            "status": "succeeded",
        }

    def _dispute(self, case: Case, status: str) -> dict[str, object]:
        return {
            "id": "du_" + case.token("dispute")[:24],
            "object": "dispute",
            "amount": case.amount,
            "charge": case.related("ch_"),
            "currency": case.currency.lower(),
            "payment_intent": case.payment_id,
            "reason": "fraudulent",
            "status": status,
        }

    def _event(self, case: Case, kind: str, obj: Mapping[str, object], what: str = "") -> bytes:
        return encode(
            {
                "id": "evt_" + case.token(kind + what)[:24],
                "object": "event",
                "api_version": "2025-03-31.basil",
                "created": int(case.occurred_at.timestamp()),
                "data": {"object": obj},
                "livemode": not case.test,
                "pending_webhooks": 1,
                "request": {"id": None, "idempotency_key": None},
                "type": kind,
            }
        )
