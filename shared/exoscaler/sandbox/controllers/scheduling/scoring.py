"""Which of the nodes that accept a pod is the best."""

from __future__ import annotations

from exoscaler.sandbox.controllers.scheduling.placement import Candidate, Slot
from exoscaler.sandbox.controllers.selectors import matches_term
from exoscaler.sandbox.controllers.tolerations import tolerated

_FULL = 100
_TAINT_WEIGHT = 3
_AFFINITY_WEIGHT = 2
_ASSUMED_CPU, _ASSUMED_MEMORY = 100, 200 * 2**20
"""What a pod without requests is taken for, so that such pods spread too."""


def best(candidate: Candidate, feasible: list[Slot]) -> Slot:
    """The highest score; among equals the first by name, so that a round can be repeated."""
    preferences = {slot.name: _preference(candidate, slot) for slot in feasible}
    strongest = max(preferences.values()) or 1
    dislikes = {slot.name: _dislike(candidate, slot) for slot in feasible}
    worst = max(dislikes.values()) or 1

    def score(slot: Slot) -> float:
        liked = _AFFINITY_WEIGHT * _FULL * preferences[slot.name] / strongest
        clean = _TAINT_WEIGHT * _FULL * (1 - dislikes[slot.name] / worst)
        return liked + clean + _least_allocated(candidate, slot)

    return min(feasible, key=lambda slot: (-score(slot), slot.name))


def _least_allocated(candidate: Candidate, slot: Slot) -> float:
    total = 0.0
    for name, assumed in (("cpu", _ASSUMED_CPU), ("memory", _ASSUMED_MEMORY)):
        has = slot.allocatable.get(name, 0)
        wants = sum(other.requests.get(name) or assumed for other in slot.placed)
        free = has - wants - (candidate.requests.get(name) or assumed)
        total += max(0.0, _FULL * free / has) if has else 0.0
    return total / 2


def _preference(candidate: Candidate, slot: Slot) -> int:
    affinity = (candidate.spec.get("affinity") or {}).get("nodeAffinity") or {}
    return sum(
        int(entry["weight"])
        for entry in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        if matches_term(entry["preference"], slot.labels, slot.name)
    )


def _dislike(candidate: Candidate, slot: Slot) -> int:
    return sum(
        1
        for taint in slot.taints
        if taint["effect"] == "PreferNoSchedule" and not tolerated(taint, candidate.tolerations)
    )
