from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model.quantity import milli, whole


@pytest.mark.parametrize(
    ("text", "thousandths"),
    [
        ("0", 0),
        ("1", 1000),
        ("250m", 250),
        ("0.5", 500),
        (".5", 500),
        ("5.", 5000),
        ("1e3", 1_000_000),
        ("1E-3", 1),
        ("2k", 2_000_000),
        ("100u", 1),  # R213: rounded up, never to nothing
        ("1500u", 2),
        ("1n", 1),
        ("-1500u", -1),  # up is towards zero here
        ("+3", 3000),
    ],
)
def test_cpu_is_read_in_thousandths_rounded_up(text: str, thousandths: int) -> None:
    assert milli(text) == thousandths


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("1Ki", 1024),
        ("1.5Gi", 3 * 2**29),
        ("1G", 10**9),
        ("16Ei", 2**64),
        ("0.1Ki", 103),  # R213
        ("100m", 1),
        ("12e2", 1200),
    ],
)
def test_memory_is_read_in_bytes_rounded_up(text: str, units: int) -> None:
    assert whole(text) == units


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 Gi", "1gi", "Gi", "1e", "1e5Ki", "1e99", "0x10", "1_000", "\u0661", "1Ki\n", "nan", "--1", "1" * 50],
)
def test_what_is_no_quantity_is_an_error_that_quotes_it_shortly(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity") as error:
        whole(text)
    assert len(str(error.value)) < 80


@given(st.integers(0, 10**15), st.sampled_from(["", "m", "k", "Mi"]))
def test_a_quantity_is_never_read_as_less_than_it_is(number: int, suffix: str) -> None:
    unit = {"": Fraction(1), "m": Fraction(1, 1000), "k": Fraction(1000), "Mi": Fraction(2**20)}[suffix]
    read = whole(f"{number}{suffix}")
    assert 0 <= read - number * unit < 1
