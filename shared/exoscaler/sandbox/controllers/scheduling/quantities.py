"""Kubernetes quantities as exact integers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}

Amounts = Mapping[str, int]
"""Resource name to amount: CPU in thousandths, everything else in whole units (bytes, devices, pods)."""


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """The exact value of a quantity. Raises `ValueError`."""
    if text[-2:] in _BINARY:
        return Fraction(text[:-2]) * _BINARY[text[-2:]]
    # "1E" is an exa, "1E3" is a thousand: the exponent has digits behind it.
    if text[-1:] in _DECIMAL:
        return Fraction(text[:-1]) * _DECIMAL[text[-1]]
    return Fraction(text)


@lru_cache(maxsize=4096)
def whole(text: str) -> int:
    """The value rounded up to a whole unit."""
    return math.ceil(quantity(text))


@lru_cache(maxsize=4096)
def thousandths(text: str) -> int:
    """The value in thousandths, rounded up."""
    return math.ceil(quantity(text) * 1000)


def amounts(resources: Mapping[str, object] | None) -> dict[str, int]:
    """A resource list of the API as integers."""
    return {
        name: thousandths(str(value)) if name == "cpu" else whole(str(value))
        for name, value in (resources or {}).items()
    }
