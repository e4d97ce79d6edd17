"""Topology spread constraints that forbid (``whenUnsatisfiable: DoNotSchedule``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exoscaler.sandbox.controllers.scheduling.placement import Board, Candidate, Slot
from exoscaler.sandbox.controllers.selectors import matches_node, selects
from exoscaler.sandbox.controllers.tolerations import untolerated
from exoscaler.sandbox.objects import JsonObject

SKEWED = "node(s) didn't match pod topology spread constraints"
LABEL_MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One constraint with the pods counted in each of its domains."""

    key: str
    highest: int
    """A domain may hold at most this many matching pods before the newcomer joins."""
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class SpreadCheck:
    """What one pod's spread constraints mean on the board."""

    rules: tuple[_Rule, ...]

    @classmethod
    def of(cls, candidate: Candidate, board: Board) -> SpreadCheck:
        """Count every domain once."""
        constraints: Sequence[JsonObject] = [
            entry
            for entry in candidate.spec.get("topologySpreadConstraints") or ()
            if (entry.get("whenUnsatisfiable") or "DoNotSchedule") == "DoNotSchedule"
        ]
        keys = [entry["topologyKey"] for entry in constraints]
        slots = [slot for slot in board.slots if all(key in slot.labels for key in keys)] if keys else []
        return cls(tuple(_rule(entry, candidate, slots) for entry in constraints))

    def why_not(self, slot: Slot) -> str:
        """The reason against a node; empty when there is none."""
        for rule in self.rules:
            value = slot.labels.get(rule.key)
            if value is None:
                return LABEL_MISSING
            if rule.counts.get(value, 0) > rule.highest:
                return SKEWED
        return ""


def _rule(constraint: JsonObject, candidate: Candidate, slots: Sequence[Slot]) -> _Rule:
    key = constraint["topologyKey"]
    selector = _selector(constraint, candidate)
    counts: dict[str, int] = {}
    for slot in slots:
        if _is_counted(constraint, candidate, slot):
            matching = sum(1 for other in slot.placed if _matches(selector, candidate, other))
            counts[slot.labels[key]] = counts.get(slot.labels[key], 0) + matching
    enough_domains = len(counts) >= (constraint.get("minDomains") or 1)
    least = min(counts.values(), default=0) if enough_domains else 0
    itself = 1 if selects(selector, candidate.labels) else 0
    return _Rule(key, highest=least + constraint["maxSkew"] - itself, counts=counts)


def _selector(constraint: JsonObject, candidate: Candidate) -> JsonObject | None:
    selector: JsonObject | None = constraint.get("labelSelector")
    keys = [key for key in constraint.get("matchLabelKeys") or () if key in candidate.labels]
    if selector is None or not keys:
        return selector
    expressions = list(selector.get("matchExpressions") or ())
    expressions += [{"key": key, "operator": "In", "values": [candidate.labels[key]]} for key in keys]
    return {**selector, "matchExpressions": expressions}


def _is_counted(constraint: JsonObject, candidate: Candidate, slot: Slot) -> bool:
    honours_affinity = (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor"
    if honours_affinity and not matches_node(candidate.spec, slot.node):
        return False
    honours_taints = constraint.get("nodeTaintsPolicy") == "Honor"
    return not honours_taints or untolerated(slot.taints, candidate.tolerations) is None


def _matches(selector: JsonObject | None, candidate: Candidate, other: Candidate) -> bool:
    return other.namespace == candidate.namespace and not other.terminating and selects(selector, other.labels)
