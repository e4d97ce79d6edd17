"""How the text of a flag becomes a value: one `Kind` per sort of value, and the annotated types made of them.

A `Kind` reads text and raises `ValueError` whose message says what is wrong and what would be right; it never repeats
the text, which the report shows anyway. Ranges are validators of the annotated type, so that a `Settings` built in
code is held to the same rules.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Annotated, TypeVar

from pydantic import AfterValidator

from exoscaler.core.model.go_duration import format_duration, parse_duration
from exoscaler.logs import LogFormat, LogLevel


class Gathers(Enum):
    """What happens when a flag is written more than once, and where lists come from."""

    LAST = auto()
    """One value; the last occurrence counts, as in Go's flag library."""
    EACH = auto()
    """A list; every occurrence adds one value, which may contain commas."""
    COMMAS = auto()
    """A list; every occurrence adds its comma-separated values."""
    WHOLE = auto()
    """A comma-separated list that is one value upstream: the last occurrence counts."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of value: its word in the reference page, and how its text is read."""

    word: str
    read: Callable[[str], object]
    gathers: Gathers = Gathers.LAST


# --- reading -----------------------------------------------------------------------------------------------------

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_FLOAT = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?")
_INT = re.compile(r"[+-]?(0|[1-9][0-9]{0,18}|0[xX][0-9a-fA-F]{1,15})")
_GATE = re.compile(r"[A-Za-z][A-Za-z0-9]*=(true|false)", re.IGNORECASE)


def read_bool(text: str) -> bool:
    """Read a boolean as Go does."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("neither true nor false")


def read_int(text: str) -> int:
    """Read a whole number of 64 bits, decimal or hexadecimal. Leading zeros are refused: Go would read octal."""
    if not _INT.fullmatch(text):
        raise ValueError("not a whole number")
    number = int(text, 0)
    if not -(2**63) <= number < 2**63:
        raise ValueError("a whole number must fit 64 bits")
    return number


def read_float(text: str) -> float:
    """Read a finite number."""
    if not _FLOAT.fullmatch(text) or math.isinf(float(text)):
        raise ValueError("not a number; write it like 0.5")
    return float(text)


def read_text(text: str) -> str:
    """Any text is fine."""
    return text


def read_word(text: str) -> str:
    """An element of a list: any text but none."""
    if not text.strip():
        raise ValueError("empty")
    return text.strip()


def read_gates(text: str) -> str:
    """Check a list of feature gates, ``Name=true,Other=false``; nobody needs them taken apart."""
    wrong = [gate for gate in text.split(",") if gate and not _GATE.fullmatch(gate.strip())]
    if wrong:
        raise ValueError("feature gates are written Name=true,OtherName=false")
    return text


def one_of(*words: str) -> Callable[[str], str]:
    """Read one word of a few."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be {' or '.join(words)}")
        return text

    return read


def read_log_level(text: str) -> LogLevel:
    """Read a log level."""
    return LogLevel(one_of(*LogLevel)(text.lower()))


def read_log_format(text: str) -> LogFormat:
    """Read a log format."""
    return LogFormat(one_of(*LogFormat)(text.lower()))


BOOL = Kind("bool", read_bool)
INT = Kind("int", read_int)
FLOAT = Kind("float", read_float)
DURATION = Kind("duration", parse_duration)
TEXT = Kind("text", read_text)
TEXTS = Kind("text, repeated", read_word, Gathers.EACH)
NAMES = Kind("comma list", read_word, Gathers.COMMAS)
GATES = Kind("gates", read_gates)
LOG_LEVEL = Kind(" ".join(LogLevel), read_log_level)
LOG_FORMAT = Kind(" ".join(LogFormat), read_log_format)

# --- ranges ------------------------------------------------------------------------------------------------------

_N = TypeVar("_N", int, float)


def at_least(least: int) -> Callable[[int], int]:
    """A validator: the number is not smaller."""

    def check(number: int) -> int:
        if number < least:
            raise ValueError(f"must be {least} or more")
        return number

    return check


def between(least: int, most: int) -> Callable[[_N], _N]:
    """A validator: the number lies in this range, its ends included."""

    def check(number: _N) -> _N:
        if not least <= number <= most:
            raise ValueError(f"must be between {least} and {most}")
        return number

    return check


def is_fraction(number: float) -> float:
    """A validator: a fraction of one. The usual mistake is a percentage."""
    if 1 < number <= 100:
        raise ValueError(f"is a fraction, not a percentage; write {number / 100:g}")
    return between(0, 1)(number)


def not_negative(duration: timedelta) -> timedelta:
    """A validator: no duration below zero."""
    if duration < timedelta(0):
        raise ValueError("must not be negative")
    return duration


def longer_than_zero(duration: timedelta) -> timedelta:
    """A validator: a duration above zero."""
    if duration <= timedelta(0):
        raise ValueError(f"must be longer than {format_duration(timedelta(0))}")
    return duration


Flagged = Annotated[bool, BOOL]
Text = Annotated[str, TEXT]
Texts = Annotated[tuple[str, ...], TEXTS]
Names = Annotated[tuple[str, ...], NAMES]
Integer = Annotated[int, INT]
Count = Annotated[int, INT, AfterValidator(at_least(0))]
PositiveCount = Annotated[int, INT, AfterValidator(at_least(1))]
Fraction = Annotated[float, FLOAT, AfterValidator(is_fraction)]
Percentage = Annotated[float, FLOAT, AfterValidator(between(0, 100))]
Duration = Annotated[timedelta, DURATION, AfterValidator(not_negative)]
PositiveDuration = Annotated[timedelta, DURATION, AfterValidator(longer_than_zero)]
Level = Annotated[LogLevel, LOG_LEVEL]
Format = Annotated[LogFormat, LOG_FORMAT]
