"""The path of an event, from the bytes to the ledger."""

from flask.testing import FlaskClient
from psycopg import Connection

from app.base.runtime import Runtime
from tests.support import add_asaas, asaas_event, balances, deliver, drain, expect, standings


def test_two_events_of_one_payment_are_one_sale(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    endpoint = add_asaas(runtime)
    expect(endpoint, "order-1", provider_ref="pay_1")
    for key, kind in [("evt_1", "PAYMENT_RECEIVED"), ("evt_2", "PAYMENT_CONFIRMED"), ("evt_1", "PAYMENT_RECEIVED")]:
        assert deliver(client, asaas_event(key, kind, "pay_1")).status_code == 200
    assert drain(runtime) == 2
    assert standings(conn) == {
        "evt_1": ("applied", "payment_confirmed"),
        "evt_2": ("duplicate", "payment_already_confirmed"),
    }
    assert balances(conn) == {"psp:loja": 4990, "sales": -4990}


def test_an_event_before_its_payment_waits_for_it(client: FlaskClient, runtime: Runtime, conn: Connection) -> None:
    endpoint = add_asaas(runtime)
    deliver(client, asaas_event("evt_1", "PAYMENT_RECEIVED", "pay_1"))
    drain(runtime)
    assert standings(conn) == {"evt_1": ("unmatched", "payment_unknown")}
    expect(endpoint, "order-1", provider_ref="pay_1")
    drain(runtime)
    assert standings(conn) == {"evt_1": ("applied", "payment_confirmed")}
