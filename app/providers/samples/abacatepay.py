"""AbacatePay: version 2 envelopes, centavos, ISO times (providers.md section 3)."""

from collections.abc import Mapping
from datetime import UTC

from app.providers.samples.case import Case, digest, encode


class AbacatePaySamples:
    """A transparent charge and its checkout; the two share nothing but `externalId`."""

    def payment_id(self, seed: str) -> str:
        return "char_" + digest(seed)[:24]

    def paid(self, case: Case) -> tuple[bytes, bytes]:
        return (
            self._event(case, "transparent.completed", case.payment_id),
            self._event(case, "checkout.completed", case.related("bill_")),
        )

    def refunded(self, case: Case, *, amount: int, total: int) -> bytes | None:
        if amount < case.amount or total < case.amount:
            return None
        return self._event(case, "transparent.refunded", case.payment_id, reason="requested_by_customer")

    def chargeback_opened(self, case: Case) -> bytes:
        return self._event(case, "transparent.disputed", case.payment_id, reason="requested_by_customer")

    def chargeback_won(self, case: Case) -> bytes | None:  # noqa: ARG002 - the protocol's signature
        return None

    def expired(self, case: Case) -> bytes | None:  # noqa: ARG002 - the protocol's signature
        return None

    def informational(self, case: Case) -> bytes:
        withdraw = {"id": "tran_" + case.token("payout")[:24], "amount": case.amount, "status": "COMPLETE"}
        return self._envelope(case, "payout.completed", {"withdraw": withdraw})

    def unknown(self, case: Case) -> bytes:
        return self._event(case, "transparent.teleported", case.payment_id)

    def _event(self, case: Case, kind: str, object_id: str, **extra: object) -> bytes:
        stamp = case.occurred_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        described = {
            "id": object_id,
            "externalId": case.merchant_reference,
            "amount": case.amount,
            "paidAmount": case.amount,
            "platformFee": case.fee,
            "status": "PAID",
            "frequency": "ONE_TIME",
            "methods": ["PIX"],
            "customerId": None,
            "createdAt": stamp,
            "updatedAt": stamp,
        }
        name = kind.partition(".")[0]
        payer = {"method": "PIX", "PIX": {"name": "Ana Exemplo", "taxId": "123.***.***-**"}}
        return self._envelope(case, kind, {name: described, "customer": None, "payerInformation": payer, **extra})

    def _envelope(self, case: Case, kind: str, data: Mapping[str, object]) -> bytes:
        return encode(
            {
                "id": "log_" + case.token(kind)[:24],
                "event": kind,
                "apiVersion": 2,
                "devMode": case.test,
                "data": data,
            }
        )
