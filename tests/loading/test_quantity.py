"""Quantities: every spelling, exactly; bad ones with what was meant."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.loading.quantity import BadQuantity, milli, quantity, whole


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", 0),
        ("100m", Fraction(1, 10)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("+2", 2),
        ("-1", -1),
        ("1k", 10**3),
        ("1M", 10**6),
        ("2G", 2 * 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1Ki", 2**10),
        ("64Mi", 64 * 2**20),
        ("0.5Gi", 2**29),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
        ("5u", Fraction(5, 10**6)),
        ("5n", Fraction(5, 10**9)),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12e-1", Fraction(6, 5)),
        ("65910332Ki", 65910332 * 1024),
        (104857600, 104857600),
        (0.15, Fraction(3, 20)),
        (1e-07, Fraction(1, 10**7)),
    ],
)
def test_every_spelling_has_its_exact_amount(text: str | int | float, amount: Fraction | int) -> None:
    assert quantity(text) == amount


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("512MB", '"512M"'),
        ("512MiB", '"512Mi"'),
        ("1gb", '"1G"'),
        ("1 Gi", '"1Gi"'),
        ("512mi", '"512Mi"'),
        ("1K", '"1k"'),
        ("2cores", '"2"'),
        ("500millicores", '"500m"'),
        ("1,000", '"1000"'),
        ("lots", ""),
        ("", ""),
        ("1e1000000", ""),
        ("1" * 100, ""),
    ],
)
def test_a_bad_spelling_says_what_was_meant(text: str, suggestion: str) -> None:
    with pytest.raises(BadQuantity) as caught:
        quantity(text)
    assert caught.value.suggestion == suggestion


def test_true_is_no_quantity() -> None:
    with pytest.raises(BadQuantity):
        quantity(True)


def test_amounts_round_up() -> None:
    assert milli("100u") == 1
    assert milli("0.1") == 100
    assert whole("512m") == 1
    assert whole("1.5Ki") == 1536


@given(st.text("0123456789.kKMGiImBb ,coresE", max_size=8))
def test_a_suggestion_is_itself_a_quantity(text: str) -> None:
    with contextlib.suppress(BadQuantity):
        assert quantity(text) >= 0
        return
    with pytest.raises(BadQuantity) as caught:
        quantity(text)
    assert not caught.value.suggestion or quantity(caught.value.suggestion.strip('"')) >= 0
