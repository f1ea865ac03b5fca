"""Every reason code that the code can produce has a sentence, and every sentence is filled in whole."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.confirmation.explaining import Told, explain, written
from app.confirmation.reasons import SENTENCES

APP = Path(__file__).parents[2] / "app"
DECIDERS = [
    "confirmation/deciding.py", "confirmation/acting.py", "refunds/deciding.py", "doors/worker/loop.py",
    "doors/cli/redelivering.py", "payments/confirming.py",
]  # fmt: skip


def texts(node: ast.AST) -> list[str]:
    """The texts that an expression may give: itself, or both branches of a choice."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    return []


def decided_in(path: Path) -> Iterator[tuple[str, str]]:
    """(status, reason) of every decision that a module makes."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        assigned = {
            target.id: texts(node.value)
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id not in {"Decision", "_said"}:
                continue
            status, reason = call.args[1:3] if call.func.id == "Decision" else call.args[2:4]
            reasons = assigned.get(reason.id, []) if isinstance(reason, ast.Name) else texts(reason)
            yield from ((one, two) for one in texts(status) for two in reasons)


def review_codes() -> set[str]:
    """What adapters hand to a person: `review=` in their readings, directly or from a table."""
    found: set[str] = set()
    for path in (APP / "providers").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tables = {
            target.id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for keyword in (one for one in call.keywords if one.arg == "review"):
                found |= set(texts(keyword.value))
                for name in (node for node in ast.walk(keyword.value) if isinstance(node, ast.Name)):
                    table = tables.get(name.id)
                    if isinstance(table, ast.Dict):
                        found |= {text for value in table.values for text in texts(value)}
    return found


PRODUCED = {one for path in DECIDERS for one in decided_in(APP / path)} | {("review", code) for code in review_codes()}


def test_the_scan_finds_what_it_must() -> None:
    """A scan that finds nothing proves nothing."""
    assert {
        ("applied", "payment_confirmed"), ("duplicate", "payment_already_confirmed"), ("duplicate", "repeats_itself"),
        ("review", "refund_exceeds_payment"), ("failed", "error_of_ours"), ("ignored", "already_expired"),
        ("review", "payment_of_a_reusable_link"), ("review", "refund_failed_at_provider"), ("ignored", "dismissed_by_person"),
    } <= PRODUCED  # fmt: skip
    assert len(PRODUCED) > 30


@pytest.mark.parametrize(("status", "reason"), sorted(PRODUCED))
def test_every_code_that_can_be_decided_has_its_sentence(status: str, reason: str) -> None:
    assert reason in SENTENCES


@pytest.mark.parametrize("portuguese", [False, True])
@pytest.mark.parametrize("reason", sorted(SENTENCES))
def test_every_sentence_is_filled_in_whole(reason: str, portuguese: bool) -> None:
    detail: dict[str, Any] = {"seen": 1, "expected": 2, "remaining": 3, "reference": "order-1"}
    for told in [Told("x", reason, 7, 9, detail, "BRL"), Told("x", reason, None, None, {}, None)]:
        said = explain(told, portuguese=portuguese)
        assert "{" not in said
        assert "None" not in said
        assert said.endswith(".")


def test_sentences_name_what_they_refer_to() -> None:
    told = Told("duplicate", "payment_already_confirmed", 7, 9, {}, "BRL")
    assert explain(told, portuguese=False).endswith("confirmed by evn_7; its sale is entry ent_9.")
    by_person = Told("duplicate", "payment_already_confirmed", None, 9, {"grant_restored": True}, "BRL")
    assert explain(by_person, portuguese=True) == (
        "Ignorado: este pagamento já tinha sido confirmado por uma pessoa; a venda é o lançamento ent_9."
        " O acesso que faltava foi restaurado."
    )
    unreadable = Told("unreadable", "body_not_json", None, None, {}, None)
    assert "(body not json)" in explain(unreadable, portuguese=False)
    differs = Told("review", "currency_differs", None, None, {"seen": "USD", "expected": "BRL"}, "USD")
    assert "says USD, but the payment is in BRL" in explain(differs, portuguese=False)


@pytest.mark.parametrize(
    ("amount", "currency", "english", "portuguese"),
    [
        (4990, "BRL", "BRL 49.90", "R$ 49,90"), (123456789, "BRL", "BRL 1,234,567.89", "R$ 1.234.567,89"),
        (5, "USD", "USD 0.05", "USD 0,05"), (1500, "JPY", "JPY 1,500", "JPY 1.500"), (1234, "KWD", "KWD 1.234", "KWD 1,234"),
        (-4990, "BRL", "-BRL 49.90", "-R$ 49,90"), (0, "BRL", "BRL 0.00", "R$ 0,00"),
    ],
)  # fmt: skip
def test_amounts(amount: int, currency: str, english: str, portuguese: str) -> None:
    assert written(amount, currency, portuguese=False) == english
    assert written(amount, currency, portuguese=True) == portuguese
