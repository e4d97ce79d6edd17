"""Label selectors: as text in a query, and as the `LabelSelector` object of workloads and disruption budgets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from exoscaler.sandbox.kubernetes.failures import bad_request
from exoscaler.sandbox.kubernetes.json_values import entries, section
from exoscaler.sandbox.objects import JsonObject


class Operator(StrEnum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    GREATER = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True when the labels meet the condition; ``notin`` is met by an absent label."""
        present = self.key in labels
        if self.operator is Operator.EXISTS:
            return present
        if self.operator is Operator.ABSENT:
            return not present
        if self.operator is Operator.IN:
            return present and labels[self.key] in self.values
        if self.operator is Operator.NOT_IN:
            return not present or labels[self.key] not in self.values
        return present and self._compares(labels[self.key])

    def _compares(self, value: str) -> bool:
        (bound,) = self.values
        if not _INTEGER.fullmatch(value):
            return False
        return int(value) > int(bound) if self.operator is Operator.GREATER else int(value) < int(bound)


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All requirements must hold; without any, everything matches."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True when the labels meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERY_LABEL = LabelSelector()
"""The selector that matches whatever the labels are."""

_INTEGER = re.compile(r"-?\d+")
_NAME = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_WORD = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_SETS = {"in": Operator.IN, "notin": Operator.NOT_IN}
_EQUALS = {"=": Operator.IN, "==": Operator.IN, "!=": Operator.NOT_IN}
_BOUNDS = {">": Operator.GREATER, "<": Operator.LESS}


def parse_label_selector(source: str) -> LabelSelector:
    """Parse the text form, such as ``app=web,tier in (a, b),!old,size>3``.

    Raises:
        ApiFailure: 400, with the place that cannot be understood.
    """
    return LabelSelector(tuple(_Parser(source).requirements()))


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._words = _WORD.findall(source)
        self._next = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        if not self._words:
            return found
        while True:
            found.append(self._requirement())
            word = self._take()
            if word == "":
                return found
            if word != ",":
                raise self._error(f"found '{word}', expected: ',' or 'end of string'")

    def _requirement(self) -> Requirement:
        word = self._take()
        if word == "!":
            return Requirement(self._key(self._take()), Operator.ABSENT)
        key = self._key(word)
        word = self._peek()
        if word in ("", ","):
            return Requirement(key, Operator.EXISTS)
        self._take()
        if word in _SETS:
            return Requirement(key, _SETS[word], self._value_set())
        if word in _EQUALS:
            return Requirement(key, _EQUALS[word], frozenset({self._value()}))
        if word in _BOUNDS:
            bound = self._value()
            if not _INTEGER.fullmatch(bound):
                raise self._error(f"for 'Gt', 'Lt' operators, the value must be an integer, not '{bound}'")
            return Requirement(key, _BOUNDS[word], frozenset({bound}))
        raise self._error(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")

    def _key(self, word: str) -> str:
        if not _NAME.fullmatch(word):
            raise self._error(f"found '{word}', expected: !, identifier, or 'end of string'")
        return word

    def _value(self) -> str:
        if self._peek() in ("", ","):
            return ""
        word = self._take()
        if not _VALUE.fullmatch(word):
            raise self._error(f"found '{word}', expected: identifier")
        return word

    def _value_set(self) -> frozenset[str]:
        if self._take() != "(":
            raise self._error("expected: '('")
        values = {""} if self._peek() in (",", ")") else {self._value()}
        while self._peek() == ",":
            self._take()
            values.add("" if self._peek() in (",", ")") else self._value())
        if self._take() != ")":
            raise self._error("expected: ',' or ')'")
        return frozenset(values)

    def _peek(self) -> str:
        return self._words[self._next] if self._next < len(self._words) else ""

    def _take(self) -> str:
        word = self._peek()
        self._next += 1
        return word

    def _error(self, what: str) -> Exception:
        return bad_request(f"unable to parse requirement: {what} (in label selector {self._source!r})")


_OBJECT_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.ABSENT,
}


def selector_of(selector: JsonObject) -> LabelSelector | None:
    """The meaning of a `LabelSelector` object; None when one of its operators does not exist."""
    found = [
        Requirement(key, Operator.IN, frozenset({value})) for key, value in section(selector, "matchLabels").items()
    ]
    for expression in entries(selector, "matchExpressions"):
        operator = _OBJECT_OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            return None
        found.append(Requirement(expression.get("key", ""), operator, frozenset(expression.get("values") or ())))
    return LabelSelector(tuple(found))
