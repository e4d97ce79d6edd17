"""Selectors of the API to records."""

from __future__ import annotations

from exoscaler.adapters.kubernetes import wire
from exoscaler.core.model import LabelSelector, Operator, Requirement


def requirement(found: wire.Requirement) -> Requirement:
    """A requirement of any selector.

    Raises:
        ValueError: its operator is not known.
    """
    return Requirement(found.key, Operator(found.operator), tuple(found.values or ()))


def label_selector(found: wire.LabelSelector) -> LabelSelector:
    """A selector as a conjunction of requirements; an empty one selects everything.

    Raises:
        ValueError: an operator is not known.
    """
    labels = sorted((found.match_labels or {}).items())
    return LabelSelector(
        (
            *(Requirement(key, Operator.IN, (value,)) for key, value in labels),
            *(requirement(expression) for expression in found.match_expressions or ()),
        )
    )
