"""Kubernetes quantities as exact integers.

Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from fractions import Fraction

_SUFFIXES: dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_MAX_EXPONENT = 30
"""Beyond any quantity the API accepts; keeps a hostile exponent from costing memory."""
_QUANTITY = re.compile(
    r"([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}))(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?", re.ASCII
)


def _exact(text: str) -> Fraction:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"not a Kubernetes quantity: {text[:40]!r}")
    number, exponent, suffix = match.groups()
    if exponent is None:
        return Fraction(number) * _SUFFIXES[suffix or ""]
    power = int(exponent[1:])
    if abs(power) > _MAX_EXPONENT:
        raise ValueError(f"not a Kubernetes quantity: {text[:40]!r}")
    return Fraction(number) * Fraction(10) ** power


def _round_up(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)


def milli(text: str) -> int:
    """A quantity in thousandths, rounded up: ``"250m"`` is 250, ``"1"`` is 1000 (R213).

    Raises:
        ValueError: the text is not a quantity.
    """
    return _round_up(_exact(text) * 1000)


def whole(text: str) -> int:
    """A quantity in whole units (bytes, pieces), rounded up: ``"1Ki"`` is 1024 (R213).

    Raises:
        ValueError: the text is not a quantity.
    """
    return _round_up(_exact(text))
