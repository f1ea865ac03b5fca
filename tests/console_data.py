"""A small shop's day for the console: every decision that there is, told by the providers' own samples through the front door."""

from datetime import UTC, datetime, timedelta

from flask.testing import FlaskClient

from app.access import people
from app.access.people import Role
from app.base.db import transaction
from app.base.runtime import Runtime
from app.intake import endpoints
from app.payments.registering import Registration, register
from app.payments.state import Commission
from app.providers.contract import Secret
from app.providers.samples import SAMPLES, Case
from app.providers.signing import sign
from tests.support import ASAAS_TOKEN, add_asaas, asaas_event, deliver, drain

PASSWORD = "a password for tests"
STRIPE_SECRET = "whsec_for_tests"


def add_people() -> None:
    """One person for each role, named after it."""
    with transaction() as conn:
        for role in Role:
            people.add(conn, role.name.lower(), PASSWORD, role)


def send(
    client: FlaskClient, provider: str, slug: str, body: bytes, *, secret: str, at: datetime | None = None
) -> None:
    """Delivers a body as its provider does."""
    signed = sign(provider, body, at=at or datetime.now(UTC), secret=secret)
    answer = client.post(f"/webhooks/{slug}", data=body, headers=list(signed.headers))
    assert answer.status_code == 200, answer.get_data()


def shop(client: FlaskClient, runtime: Runtime) -> dict[str, int]:
    """Two endpoints and one payment of each fate; returns reference -> payment id."""
    loja = add_asaas(runtime)
    with transaction() as conn:
        cards = endpoints.add(
            conn, runtime.vault, slug="cartoes", provider="stripe",
            secrets=[Secret("platform", STRIPE_SECRET), Secret("connect", "whsec_other")],
            url_token=None, unmatched="hold", options={},
        )  # fmt: skip
    ids: dict[str, int] = {}

    def expect(reference: str, amount: int, endpoint: int = loja, **more: object) -> Case:
        provider = "asaas" if endpoint == loja else "stripe"
        name = SAMPLES[provider].payment_id(reference)
        with transaction() as conn:
            wanted = Registration(reference, endpoint, amount, "BRL", provider_ref=name, **more)  # type: ignore[arg-type]
            ids[reference] = register(conn, wanted)[0]
        return Case(
            payment_id=name, amount=amount, occurred_at=datetime.now(UTC) - timedelta(seconds=2), seed=reference,
            merchant_reference=reference, fee=199,
        )  # fmt: skip

    def asaas(*bodies: bytes | None) -> None:
        for body in bodies:
            assert body is not None
            send(client, "asaas", "loja", body, secret=ASAAS_TOKEN)

    def stripe(*bodies: bytes | None) -> None:
        for body in bodies:
            assert body is not None
            send(client, "stripe", "cartoes", body, secret=STRIPE_SECRET)

    samples, card = SAMPLES["asaas"], SAMPLES["stripe"]
    plain = expect(
        "pedido-1001", 4990, grant=("ana@example.com", "curso-de-python"), metadata={"cpf": "123.456.789-09"}
    )
    shared = expect("pedido-1002", 19900, commissions=(Commission("carla", None, 1000),))
    wallet = expect("recarga-77", 10000, wallet="bruno")
    late = expect("pedido-1003", 2500)
    cards_one = expect("pedido-2001", 129900, cards, commissions=(Commission("davi", 5000, None),))
    disputed = expect("pedido-2002", 45000, cards)
    differs = expect("pedido-1004", 9900)
    expect("pedido-1005", 14990)
    for case in (plain, shared, wallet, late):
        confirmed, received = samples.paid(case)
        asaas(confirmed, received, confirmed)
    for case in (cards_one, disputed):
        stripe(*card.paid(case))
    drain(runtime)
    stripe(card.chargeback_opened(disputed), card.informational(disputed))
    asaas(samples.refunded(late, amount=2500, total=2500), samples.informational(plain))
    wrong = Case(payment_id=differs.payment_id, amount=8900, occurred_at=differs.occurred_at, seed="wrong",
                 merchant_reference="pedido-1004")  # fmt: skip
    stranger = Case(payment_id="pay_stranger", amount=3000, occurred_at=plain.occurred_at, seed="stranger",
                    merchant_reference="pedido-9999")  # fmt: skip
    early = Case(payment_id=SAMPLES["asaas"].payment_id("pedido-1005"), amount=14990, occurred_at=plain.occurred_at,
                 seed="early", merchant_reference="pedido-1005")  # fmt: skip
    asaas(samples.paid(wrong)[1], samples.paid(stranger)[1], samples.refunded(early, amount=14990, total=14990))
    asaas(b"<html>not what was promised</html>")
    deliver(client, asaas_event("evt_says_two_things", "PAYMENT_CREATED", "pay_a"))
    deliver(client, asaas_event("evt_says_two_things", "PAYMENT_CREATED", "pay_b", "59.90"))
    client.post("/webhooks/loja", data=b"{}", headers={"asaas-access-token": "forged"})
    drain(runtime)
    return ids
