"""Required pod affinity and anti-affinity, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exoscaler.sandbox.controllers.scheduling.placement import Board, Candidate, Slot
from exoscaler.sandbox.controllers.selectors import selects
from exoscaler.sandbox.objects import JsonObject

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"

_Domain = tuple[str, str]
"""A topology key and one value of it."""


@dataclass(frozen=True, slots=True)
class AffinityCheck:
    """What one pod's affinity means on the board, worked out once for all nodes."""

    keys: tuple[str, ...]
    attracted: frozenset[_Domain]
    repelled: frozenset[_Domain]
    kept_away: frozenset[_Domain]
    first_of_its_kind: bool

    @classmethod
    def of(cls, candidate: Candidate, board: Board) -> AffinityCheck:
        """Look at every placed pod once."""
        attracted, matched = _attracted(candidate, board)
        return cls(
            keys=tuple(term["topologyKey"] for term in candidate.affinity_terms),
            attracted=attracted,
            repelled=_repelled(candidate, board),
            kept_away=_kept_away(candidate, board),
            first_of_its_kind=not matched
            and all(_term_selects(term, candidate, candidate, board) for term in candidate.affinity_terms),
        )

    def why_not(self, slot: Slot) -> str:
        """The reason against a node; empty when there is none."""
        labels = slot.labels
        if self.keys and not self._attracts(labels):
            return AFFINITY
        if any(labels.get(key) == value for key, value in self.repelled):
            return ANTI_AFFINITY
        if any(labels.get(key) == value for key, value in self.kept_away):
            return EXISTING_ANTI_AFFINITY
        return ""

    def _attracts(self, labels: Mapping[str, str]) -> bool:
        if any(key not in labels for key in self.keys):
            return False
        return self.first_of_its_kind or all((key, labels[key]) in self.attracted for key in self.keys)


def _attracted(candidate: Candidate, board: Board) -> tuple[frozenset[_Domain], bool]:
    terms = candidate.affinity_terms
    domains: set[_Domain] = set()
    matched = False
    for slot in board.slots if terms else ():
        # A placed pod counts only when it matches all terms together.
        if any(all(_term_selects(term, candidate, other, board) for term in terms) for other in slot.placed):
            found = {(key, slot.labels[key]) for key in (term["topologyKey"] for term in terms) if key in slot.labels}
            matched = matched or bool(found)
            domains |= found
    return frozenset(domains), matched


def _repelled(candidate: Candidate, board: Board) -> frozenset[_Domain]:
    return frozenset(
        (term["topologyKey"], slot.labels[term["topologyKey"]])
        for term in candidate.anti_affinity_terms
        for slot in board.slots
        if term["topologyKey"] in slot.labels
        and any(_term_selects(term, candidate, other, board) for other in slot.placed)
    )


def _kept_away(candidate: Candidate, board: Board) -> frozenset[_Domain]:
    return frozenset(
        (term["topologyKey"], slot.labels[term["topologyKey"]])
        for slot, other in board.repelling
        for term in other.anti_affinity_terms
        if term["topologyKey"] in slot.labels and _term_selects(term, other, candidate, board)
    )


def _term_selects(term: JsonObject, owner: Candidate, other: Candidate, board: Board) -> bool:
    return _in_scope(term, owner, other, board) and selects(term.get("labelSelector"), other.labels)


def _in_scope(term: JsonObject, owner: Candidate, other: Candidate, board: Board) -> bool:
    names = term.get("namespaces") or ()
    selector = term.get("namespaceSelector")
    if not names and selector is None:
        return owner.namespace == other.namespace
    return other.namespace in names or selects(selector, board.namespaces.get(other.namespace, {}))
