"""The books through the API: entries, accounts, months, wallets, grants."""

from typing import Any

import pytest
from psycopg import Connection

from app.base.db import transaction
from app.base.runtime import Runtime
from app.doors.api.told import AccountTold, DebitTold, EntryTold, GrantTold, LineTold, PeriodTold, WalletTold, list_of
from app.ledger import books
from tests.doors.calling import Caller, items, problem, shaped
from tests.support import add_asaas, balances


@pytest.fixture(autouse=True)
def loja(app: object, runtime: Runtime) -> int:
    return add_asaas(runtime)


def confirm(shop: Caller, reference: str, amount: int = 4990, **more: Any) -> str:
    """A payment that a person confirmed; returns its id."""
    payment_id: str = shop.pay(reference, amount, **more)["id"]
    assert shop.post(f"/payments/{payment_id}/confirm", {"reason": "seen"}).status_code == 200
    return payment_id


def test_entries_and_their_filters(shop: Caller) -> None:
    confirm(shop, "order-1", commissions=[{"partner": "ana", "amount": 490}])
    confirm(shop, "order-2", currency="USD", provider_ref=None)
    shop.post("/payments/pmt_1/refunds", {"amount": 4990, "reason": "back"})
    period = shop.get("/ledger/periods").json["items"][0]["period"]

    def kinds(query: str) -> list[tuple[str, int]]:
        return [(one["kind"], one["amount"]) for one in items(shop.get(f"/ledger/entries?{query}"), EntryTold)]

    everything = [("commission_reversal", -490), ("refund", -4990), ("sale", 4990), ("commission", 490), ("sale", 4990)]
    assert kinds("") == everything
    assert kinds("payment=pmt_2") == kinds("payment=order-2") == [("sale", 4990)]
    assert kinds("payment=nobody") == kinds("account=partner:nobody") == []
    assert kinds("kind=sale") == [("sale", 4990), ("sale", 4990)]
    assert kinds(f"period={period}") == everything
    assert kinds("period=1999-12") == []
    assert kinds("account=partner:ana") == [("commission_reversal", -490), ("commission", 490)]
    # One code, two currencies: both accounts' entries, newest first.
    assert kinds("account=sales") == [("refund", -4990), ("sale", 4990), ("sale", 4990)]
    assert kinds("account=sales&payment=pmt_1&kind=sale") == [("sale", 4990)]
    found = items(shop.get("/ledger/entries?payment=pmt_1&kind=refund"), EntryTold)[0]
    assert found["postings"] == [{"account": "sales", "amount": 4990}, {"account": "psp:loja", "amount": -4990}]
    assert (found["refund_id"], found["memo"], found["event_id"]) == ("rfd_1", "back", None)


def test_an_entry_that_touches_an_account_twice_is_listed_once(shop: Caller) -> None:
    lines = (books.Line("psp:loja", 300), books.Line("sales", -100), books.Line("sales", -200))
    with transaction() as conn:
        for number in books.take_entry_ids(conn, 3):
            entry = books.Entry(number, "adjustment", 300, "BRL", *moment(), lines, party=f"x{number}")
            assert books.post_many(conn, [entry])
    first = shaped(shop.get("/ledger/entries?account=sales&limit=2"), list_of(EntryTold))
    rest = shaped(shop.get(f"/ledger/entries?account=sales&limit=2&cursor={first['next_cursor']}"), list_of(EntryTold))
    assert [one["id"] for one in first["items"] + rest["items"]] == ["ent_3", "ent_2", "ent_1"]


def moment() -> tuple[Any, Any]:
    """(period, instant) of now."""
    from app.base.clock import now

    return now().date().replace(day=1), now()


def test_balances_are_positive_on_the_accounts_own_side(shop: Caller, conn: Connection) -> None:
    confirm(shop, "order-1", commissions=[{"partner": "ana/rio", "amount": 490}])
    confirm(shop, "top-up", 1000, wallet="joana")
    debits = balances(conn)
    found = {one["code"]: one for one in items(shop.get("/ledger/accounts"), AccountTold)}
    assert {code: (one["type"], one["balance"]) for code, one in found.items()} == {
        "commissions": ("expense", 490), "partner:ana/rio": ("liability", 490), "psp:loja": ("asset", 5990),
        "sales": ("income", 4990), "wallet:joana": ("liability", 1000),
    }  # fmt: skip
    for code, one in found.items():
        sign = -1 if one["type"] in {"liability", "income"} else 1
        assert one["balance"] == sign * debits[code]
        assert shaped(shop.get(f"/ledger/accounts/{code}"), AccountTold) == one


def test_one_account_of_several_currencies(shop: Caller) -> None:
    confirm(shop, "order-1")
    confirm(shop, "order-2", 700, currency="USD", provider_ref=None)
    found = problem(shop.get("/ledger/accounts/sales"), 422, "currency_needed")
    assert found["currencies"] == ["BRL", "USD"]
    assert shaped(shop.get("/ledger/accounts/sales?currency=USD"), AccountTold)["balance"] == 700
    problem(shop.get("/ledger/accounts/sales?currency=EUR"), 404, "account_not_found")
    first = shaped(shop.get("/ledger/accounts?limit=3"), list_of(AccountTold))
    rest = shaped(shop.get(f"/ledger/accounts?limit=3&cursor={first['next_cursor']}"), list_of(AccountTold))
    assert [(one["code"], one["currency"]) for one in first["items"] + rest["items"]] == [
        ("psp:loja", "BRL"), ("psp:loja", "USD"), ("sales", "BRL"), ("sales", "USD"),
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["sales", "wallet:nobody", "partner:a/b", "nonsense", "a//b", "%00", "psp:%2F"])
def test_an_account_that_nobody_opened(shop: Caller, code: str) -> None:
    assert shop.get(f"/ledger/accounts/{code}").status_code == 404
    assert shop.get(f"/ledger/accounts/{code}").json["code"] in {"account_not_found", "not_found"}


def test_months(shop: Caller, owner: Connection) -> None:
    assert items(shop.get("/ledger/periods"), PeriodTold) == []
    confirm(shop, "order-1")
    [one] = items(shop.get("/ledger/periods"), PeriodTold)
    assert (one["status"], one["closed_at"]) == ("open", None)
    owner.execute(
        "INSERT INTO ledger.closed_period (period, closed_by) SELECT DISTINCT period, 'ana' FROM ledger.entry"
    )
    [one] = items(shop.get("/ledger/periods"), PeriodTold)
    assert (one["status"], one["closed_at"] is not None) == ("closed", True)


def test_a_wallet_from_its_top_up_to_its_last_cent(shop: Caller) -> None:
    problem(shop.get("/wallets/joana"), 404, "wallet_not_found")
    problem(shop.get("/wallets/joana/statement"), 404, "wallet_not_found")
    problem(shop.post("/wallets/joana/debits", {"amount": 1, "reference": "x"}), 404, "wallet_not_found")
    shop.pay("top-up", 1000, wallet="joana")
    assert shaped(shop.get("/wallets/joana"), WalletTold) == {"owner": "joana", "balance": 0, "currency": "BRL"}
    shop.post("/payments/pmt_1/confirm", {"reason": "seen"})
    found = shaped(shop.post("/wallets/joana/debits", {"amount": 400, "reference": "buy-1"}), DebitTold, 201)
    assert found | {"entry_id": ""} == {
        "entry_id": "", "owner": "joana", "amount": 400, "currency": "BRL", "balance": 600, "reference": "buy-1", "memo": None,
    }  # fmt: skip
    problem(shop.post("/wallets/joana/debits", {"amount": 400, "reference": "buy-1"}), 409, "entry_exists")
    problem(shop.post("/wallets/joana/debits", {"amount": 601, "reference": "buy-2"}), 409, "insufficient_balance")
    for bad in [{"amount": 4.0}, {"amount": 0}, {"amount": 1, "reference": "x" * 256}, {"amount": 1}]:
        problem(shop.post("/wallets/joana/debits", bad), 422, "invalid")
    shaped(shop.post("/wallets/joana/debits", {"amount": 600, "reference": "buy-3", "memo": "shoes"}), DebitTold, 201)
    assert shaped(shop.get("/wallets/joana"), WalletTold)["balance"] == 0
    lines = items(shop.get("/wallets/joana/statement"), LineTold)
    assert [(one["kind"], one["amount"], one["balance"], one["memo"], one["payment_id"]) for one in lines] == [
        ("debit", -600, 0, "shoes", None), ("debit", -400, 600, "buy-1", None), ("sale", 1000, 1000, "seen", "pmt_1"),
    ]  # fmt: skip


def test_a_statement_goes_on_from_page_to_page_while_money_moves(shop: Caller) -> None:
    for number in range(5):
        confirm(shop, f"top-up-{number}", 100, wallet="a/b statement")
    seen, cursor = [], ""
    while cursor is not None:
        page = shaped(shop.get(f"/wallets/a/b statement/statement?limit=2{cursor}"), list_of(LineTold))
        seen += [(one["amount"], one["balance"]) for one in page["items"]]
        cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else None
        shop.post("/wallets/a/b statement/debits", {"amount": 1, "reference": f"buy-{len(seen)}"})
    assert seen == [(100, 500), (100, 400), (100, 300), (100, 200), (100, 100)]
    assert shop.get("/wallets/a/b statement").json["balance"] == 497


def test_grants(shop: Caller) -> None:
    confirm(shop, "order-1", grant={"subject": "joana", "resource": "curso"})
    confirm(shop, "order-2", grant={"subject": "joana", "resource": "livro"})
    confirm(shop, "order-3", grant={"subject": "rui", "resource": "curso"})

    def found(query: str) -> list[str]:
        return [one["payment_id"] for one in items(shop.get(f"/grants?{query}"), GrantTold)]

    assert found("") == ["pmt_3", "pmt_2", "pmt_1"]
    assert found("subject=joana") == ["pmt_2", "pmt_1"]
    assert found("resource=curso") == ["pmt_3", "pmt_1"]
    assert found("subject=joana&resource=curso") == ["pmt_1"]
    assert found("subject=nobody") == []
