"""Label selectors: Kubernetes' set-based requirements.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """How a requirement compares a label's value. ``Gt`` and ``Lt`` exist for nodes only."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
"""What Go's parser takes; Python's own takes underscores too, which label values may contain."""
_LARGEST = 2**63


def _integer(text: str | None) -> int | None:
    if text is None or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_LARGEST <= number < _LARGEST else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label (R206)."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet the condition. An absent key meets ``NotIn`` and ``DoesNotExist``."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value is not None and value in self.values
            case Operator.NOT_IN:
                return value is None or value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.GT | Operator.LT:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        have = _integer(value)
        bound = _integer(self.values[0]) if len(self.values) == 1 else None
        if have is None or bound is None:
            return False
        return have > bound if self.operator is Operator.GT else have < bound


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A conjunction of requirements; an empty one selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)
