"""Money is read exactly or not at all."""

from decimal import Decimal

import pytest

from app.base.money import MAX_MINOR_UNITS, MoneyError, decimals, is_currency, minor_units, to_minor_units


def test_every_value_from_one_cent_to_a_hundred_is_exact():
    for cents in range(1, 10_001):
        text = f"{cents // 100}.{cents % 100:02}"
        assert to_minor_units(text, "BRL") == cents
        assert to_minor_units(Decimal(text), "BRL") == cents
        assert to_minor_units(text.replace(".", ","), "BRL") == cents


@pytest.mark.parametrize(
    ("value", "currency", "expected"),
    [
        (Decimal("49.9"), "BRL", 4990),
        ("49,90", "BRL", 4990),
        (49, "BRL", 4900),
        ("0", "BRL", 0),
        ("500", "JPY", 500),
        ("5.124", "KWD", 5124),
        ("007.10", "BRL", 710),
        ("999999999999.99", "BRL", MAX_MINOR_UNITS - 1),
    ],
)
def test_what_providers_write(value, currency, expected):
    assert to_minor_units(value, currency) == expected


@pytest.mark.parametrize(
    "value",
    [
        49.9, True, None, [], "", " 1", "1 ", "1.", ".5", "1.2.3", "1,234.56", "1.234,56", "1e2", "+1", "-1", "-0.01",
        "NaN", "Infinity", "49.900", "0.001", "１２", "٣", "1\n", Decimal("1e2"), Decimal("NaN"), Decimal("-0.01"),
        Decimal("Infinity"), Decimal("1e-7"), -1, 10**80, "9" * 13,
    ],
)  # fmt: skip
def test_what_is_refused(value):
    with pytest.raises(MoneyError):
        to_minor_units(value, "BRL")


def test_an_int_that_python_will_not_print_is_refused_like_any_other():
    for value in (10**5000, -(10**5000)):
        with pytest.raises(MoneyError):
            to_minor_units(value, "BRL")
        with pytest.raises(MoneyError):
            minor_units(value)


def test_a_currency_without_decimals_takes_none():
    for text in ("500.0", "500.00", "0.5"):
        with pytest.raises(MoneyError):
            to_minor_units(text, "JPY")


@pytest.mark.parametrize("value", [49.9, True, False, None, "4990", Decimal(4990), -1, MAX_MINOR_UNITS + 1, []])
def test_minor_units_are_whole_numbers(value):
    with pytest.raises(MoneyError):
        minor_units(value)


def test_minor_units_at_the_edges():
    assert minor_units(0) == 0
    assert minor_units(MAX_MINOR_UNITS) == MAX_MINOR_UNITS


def test_currencies():
    assert [decimals(code) for code in ("BRL", "JPY", "KWD", "ISK")] == [2, 0, 3, 0]
    assert is_currency("BRL")
    for wrong in ("brl", "BR", "BRLL", "BRL\n", "ÇÃO", 986, None):
        assert not is_currency(wrong)
