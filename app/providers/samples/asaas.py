"""Asaas: amounts in reais, times in Brasília without an offset, no refund ids (providers.md section 1)."""

from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from app.providers.samples.case import Case, digest, encode

_BRASILIA: Final = ZoneInfo("America/Sao_Paulo")


class AsaasSamples:
    """The PAYMENT_* events of one charge."""

    def payment_id(self, seed: str) -> str:
        return "pay_" + digest(seed)[:16]

    def paid(self, case: Case) -> tuple[bytes, bytes]:
        return self._event(case, "PAYMENT_CONFIRMED"), self._event(case, "PAYMENT_RECEIVED")

    def refunded(self, case: Case, *, amount: int, total: int) -> bytes | None:
        parts = [part for part in (total - amount, amount) if part > 0]
        refunds = [
            {
                "dateCreated": _brasilia(case),
                "status": "DONE",
                "value": _reais(part),
                "description": None,
            }
            for part in parts
        ]
        kind = "PAYMENT_REFUNDED" if total >= case.amount else "PAYMENT_PARTIALLY_REFUNDED"
        return self._event(case, kind, what=f"{amount}/{total}", refunds=refunds)

    def chargeback_opened(self, case: Case) -> bytes:
        return self._event(case, "PAYMENT_CHARGEBACK_REQUESTED", chargeback={"status": "REQUESTED"})

    def chargeback_won(self, case: Case) -> bytes | None:
        """Asaas sends CONFIRMED or RECEIVED once more."""
        return self._event(case, "PAYMENT_RECEIVED", what="won", chargeback={"status": "REVERSED"})

    def expired(self, case: Case) -> bytes | None:
        return self._event(case, "PAYMENT_OVERDUE")

    def informational(self, case: Case) -> bytes:
        return self._event(case, "PAYMENT_CREATED")

    def unknown(self, case: Case) -> bytes:
        return self._event(case, "PAYMENT_TELEPORTED")

    def _event(self, case: Case, kind: str, what: str = "", **extra: object) -> bytes:
        day = _brasilia(case)[:10]
        payment = {
            "object": "payment",
            "id": case.payment_id,
            "dateCreated": day,
            "customer": "cus_" + case.token("customer")[:12],
            "dueDate": day,
            "value": _reais(case.amount),
            "netValue": _reais(case.amount - case.fee),
            "originalValue": None,
            "externalReference": case.merchant_reference,
            "billingType": "PIX",
            "status": kind.removeprefix("PAYMENT_"),
            "deleted": False,
            "anticipated": False,
            "refunds": None,
            "chargeback": None,
        }
        token = case.token(kind + what)
        return encode(
            {
                "id": f"evt_{token}&{int(token[:8], 16)}",
                "event": kind,
                "dateCreated": _brasilia(case),
                "payment": payment | extra,
            }
        )


def _brasilia(case: Case) -> str:
    return case.occurred_at.astimezone(_BRASILIA).strftime("%Y-%m-%d %H:%M:%S")


def _reais(amount: int) -> Decimal:
    return Decimal(amount).scaleb(-2)
