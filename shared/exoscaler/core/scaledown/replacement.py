"""Whether all pods of a node would find another place, with everything promised so far (R117, R118)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from exoscaler.core.model import Pod
from exoscaler.core.scaleup.pending import scheduling_order
from exoscaler.core.scheduling import Ledger, Origin


@dataclass(frozen=True, slots=True)
class Homeless:
    """A pod that would find no place, and why, in a few words."""

    pod: Pod
    why: str

    @property
    def text(self) -> str:
        """Which pod, and why."""
        return f"{self.pod.key}: {self.why}"


def replace_pods(
    node_name: str, moving: Sequence[Pod], ledger: Ledger, last: Collection[str] = frozenset()
) -> Homeless | None:
    """Move the pods in the ledger to nodes that exist; all or nothing.

    On success the node is no destination any more and its pods are promised their new places; it stays present without
    them, as a node does that is being drained (R117). On failure the ledger is as it was. Pods are moved largest
    priority first, as a scheduler would take them up. Nodes named in `last` are tried after all others: those that may
    have to go themselves, so that as few pods as possible move twice.
    """
    if not moving:
        ledger.exclude(node_name)
        return None
    trial = ledger.fork()
    trial.exclude(node_name)
    trial.take_out(moving, node_name)
    existing = trial.destinations(Origin.EXISTING)
    among = (*(name for name in existing if name not in last), *(name for name in existing if name in last))
    settled = trial.settle(scheduling_order(moving), among)
    if settled.left:
        return Homeless(settled.left[0], _why(settled.left[0], trial, among))
    ledger.exclude(node_name)
    ledger.take_out(moving, node_name)
    ledger.enter(settled.placed)
    return None


def _why(pod: Pod, ledger: Ledger, among: Sequence[str]) -> str:
    if pod.spec.unmodelled:
        return "cannot simulate: " + ", ".join(constraint.value for constraint in pod.spec.unmodelled)
    counts: dict[str, int] = {}
    for name in among:
        for reason in ledger.why_not(pod, name):
            counts[reason.text] = counts.get(reason.text, 0) + 1
    if not counts:
        return "there is no other node"
    return ", ".join(f"{count} {text}" for text, count in sorted(counts.items()))
