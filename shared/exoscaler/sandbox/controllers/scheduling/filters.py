"""Where a pod can go, and for every node where it cannot: why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from exoscaler.sandbox.controllers.scheduling.affinity import AffinityCheck
from exoscaler.sandbox.controllers.scheduling.placement import UNSCHEDULABLE_TAINT, Board, Candidate, Slot
from exoscaler.sandbox.controllers.scheduling.spread import LABEL_MISSING, SpreadCheck
from exoscaler.sandbox.controllers.selectors import matches_node, required_node_affinity
from exoscaler.sandbox.controllers.tolerations import tolerated, untolerated

UNSCHEDULABLE = "node(s) were unschedulable"
OTHER_NODE = "node(s) didn't match the requested node name"
NAMED_NODES = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
TAINTED = "node(s) had untolerated taint(s)"
NODE_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
PORTS_TAKEN = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY_PODS = "Too many pods"

_NO_EVICTION_HELPS = frozenset({UNSCHEDULABLE, OTHER_NODE, NAMED_NODES, TAINTED, NODE_AFFINITY, LABEL_MISSING})
"""Reasons that stay whatever pod leaves the node; the scheduler's message says so."""


@dataclass(slots=True)
class Verdict:
    """The nodes that accept a pod, and the reasons of those that do not."""

    nodes: int
    feasible: list[Slot] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    beyond_help: int = 0
    """Nodes on which no eviction would make room."""

    def message(self) -> str:
        """The scheduler's sentence on a pod that fits nowhere."""
        if not self.nodes:
            return "no nodes available to schedule pods"
        head = f"0/{self.nodes} nodes are available"
        counted = sorted(f"{count} {reason}" for reason, count in self.reasons.items())
        hopeless, crowded = self.beyond_help, self.nodes - self.beyond_help
        evictions = []
        if hopeless:
            evictions.append(f"{hopeless} Preemption is not helpful for scheduling")
        if crowded:
            evictions.append(f"{crowded} No preemption victims found for incoming pod")
        return f"{head}: {', '.join(counted)}. preemption: {head}: {', '.join(evictions)}."


def judge(candidate: Candidate, board: Board) -> Verdict:
    """Ask every node. The first kind of constraint that rejects a node gives the reason, as in kube-scheduler."""
    spread = SpreadCheck.of(candidate, board)
    affinity = AffinityCheck.of(candidate, board)
    names = _named_nodes(candidate)
    verdict = Verdict(nodes=len(board.slots))
    for slot in board.slots:
        reasons = _why_not_here(candidate, slot, names)
        if not reasons:
            later = spread.why_not(slot) or affinity.why_not(slot)
            reasons = [later] if later else []
        if reasons:
            verdict.reasons.update(reasons)
            verdict.beyond_help += any(reason in _NO_EVICTION_HELPS for reason in reasons)
        else:
            verdict.feasible.append(slot)
    return verdict


def _why_not_here(candidate: Candidate, slot: Slot, names: frozenset[str] | None) -> list[str]:
    spec = candidate.spec
    if names is not None and slot.name not in names:
        return [NAMED_NODES]
    if slot.unschedulable and not tolerated(UNSCHEDULABLE_TAINT, candidate.tolerations):
        return [UNSCHEDULABLE]
    if slot.taints and untolerated(slot.taints, candidate.tolerations):
        return [TAINTED]
    if not matches_node(spec, slot.node):
        return [NODE_AFFINITY]
    if any(port.conflicts(taken) for port in candidate.ports for taken in slot.ports):
        return [PORTS_TAKEN]
    return _lacking(candidate, slot)


def _lacking(candidate: Candidate, slot: Slot) -> list[str]:
    lacking = []
    if len(slot.placed) + 1 > slot.allocatable.get("pods", 0):
        lacking.append(TOO_MANY_PODS)
    for name, asked in candidate.requests.items():
        if asked and asked > slot.allocatable.get(name, 0) - slot.used.get(name, 0):
            lacking.append(f"Insufficient {name}")
    return lacking


def _named_nodes(candidate: Candidate) -> frozenset[str] | None:
    """The only nodes that a pod names by field, as a DaemonSet's pods do; None when it names none."""
    required = required_node_affinity(candidate.spec)
    terms = (required or {}).get("nodeSelectorTerms") or ()
    names: set[str] = set()
    for term in terms:
        fields = [entry for entry in term.get("matchFields") or () if entry["operator"] == "In"]
        if not fields:
            return None
        allowed = [set(entry["values"]) for entry in fields if entry["key"] == "metadata.name"]
        names |= set.intersection(*allowed)
    return frozenset(names) if terms else None
