"""Kubernetes quantities as exact numbers: ``500m``, ``1.5Gi``, ``2e3``."""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?\d+))?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LARGEST_EXPONENT = 30


def parse_quantity(source: object) -> Fraction | None:
    """The value of a quantity as JSON carries it (a string or a number); None when it is not one."""
    match = _QUANTITY.fullmatch(str(source))
    if match is None or isinstance(source, bool):
        return None
    number = Fraction(match["number"])
    suffix = match["suffix"]
    if suffix in _BINARY:
        return number * (1 << _BINARY[suffix])
    exponent = _DECIMAL[suffix] if suffix else int(match["exponent"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        return None
    factor = Fraction(10 ** abs(exponent))
    return number * factor if exponent >= 0 else number / factor
