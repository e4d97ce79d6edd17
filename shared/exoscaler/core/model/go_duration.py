"""Durations as Go writes them, to and from `timedelta`.

A duration is an optional sign and one or more decimal numbers, each with a unit: ``300ms``, ``1.5h``, ``1h30m``;
``0`` needs no unit. Units are h, m, s, ms, us (also µs) and ns. Go counts nanoseconds in 64 bits, so nothing longer
than about 292 years is a duration. `timedelta` counts microseconds: what is finer is cut off towards zero, after the
parts have been added up exactly.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # the micro sign
    "\u03bcs": 1_000,  # the Greek letter, which Go takes too
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST = 2**63 - 1
_LONGEST_TEXT = 100
_PART = re.compile("([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_NUMBER = re.compile(r"[0-9]+[.]?[0-9]*|[.][0-9]+")
_DAYS = re.compile(r"([0-9]+)d(ays?)?")
_EXAMPLES = "a duration is written like 30s, 10m or 1h30m"


def parse_duration(text: str) -> timedelta:
    """Read a Go duration.

    Raises:
        ValueError: not a duration, or one that Go could not hold; the message says what would be right.
    """
    unsigned = text[1:] if text[:1] in ("-", "+") else text
    if len(unsigned) > _LONGEST_TEXT:
        raise ValueError(f"not a duration; {_EXAMPLES}")
    if unsigned == "0":
        return timedelta(0)
    nanoseconds = Fraction(0)
    end = 0
    for part in _PART.finditer(unsigned):
        if part.start() != end:
            break
        nanoseconds += Fraction(part[1]) * _NANOSECONDS[part[2]]
        end = part.end()
    if end == 0 or end != len(unsigned):
        raise ValueError(_complaint(unsigned))
    if nanoseconds > _LONGEST:
        raise ValueError("longer than the 292 years a duration can hold")
    microseconds = int(nanoseconds / 1_000)
    return timedelta(microseconds=-microseconds if text.startswith("-") else microseconds)


def _complaint(unsigned: str) -> str:
    if _NUMBER.fullmatch(unsigned):
        return f"has no unit; {_EXAMPLES}"
    if days := _DAYS.fullmatch(unsigned):
        return f"days are no unit of a duration; write {int(days[1]) * 24}h"
    return f"not a duration; {_EXAMPLES}"


def format_duration(duration: timedelta) -> str:
    """Write a duration in the shortest usual form that Go reads: ``10m``, ``1h30m``, ``1.5s``, ``300ms``, ``0s``.

    `parse_duration` gives back the same duration. (Go itself would write ``10m0s``.)

    Raises:
        ValueError: longer than Go could hold.
    """
    total = duration // timedelta(microseconds=1)
    if abs(total) * 1_000 > _LONGEST:
        raise ValueError("longer than the 292 years a duration can hold")
    sign = "-" if total < 0 else ""
    return sign + _unsigned(abs(total))


def _unsigned(microseconds: int) -> str:
    if microseconds == 0:
        return "0s"
    if microseconds < 1_000:
        return f"{microseconds}us"
    if microseconds < 1_000_000:
        return f"{_decimal(microseconds, 1_000)}ms"
    hours, rest = divmod(microseconds, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    parts = [
        f"{hours}h" if hours else "",
        f"{minutes}m" if minutes else "",
        f"{_decimal(rest, 1_000_000)}s" if rest else "",
    ]
    return "".join(parts)


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = len(str(unit)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".") if rest else str(whole)
