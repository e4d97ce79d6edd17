"""Whether all pods of a node would find another place, with everything promised so far (R117, R118)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from exoscaler.core.model import Constraint, Pod
from exoscaler.core.scaleup.pending import scheduling_order
from exoscaler.core.scheduling import Ledger, Likeness, Origin, likeness

MOST_EXPLAINED = 500
"""How many nodes the reason counts over why a pod does not fit: to count over all costs more than to look for one."""


@dataclass(frozen=True, slots=True)
class Homeless:
    """A pod that would find no place, and why, in a few words."""

    pod: Pod
    why: str

    @property
    def text(self) -> str:
        """Which pod, and why."""
        return f"{self.pod.key}: {self.why}"


class Relocation:
    """Moves the pods of nodes, one node after the other, within one ledger that nobody else changes meanwhile.

    Args:
        ledger: where promises are entered; pods with required anti-affinity stay where they are in it.
        last: nodes to be tried after all others, since they may have to go themselves: as few pods as possible should
            move twice.
    """

    def __init__(self, ledger: Ledger, last: Collection[str] = frozenset()) -> None:
        self._ledger = ledger
        self._last = last
        self._repelling = _repelling(ledger)
        self._hopeless: dict[Likeness, tuple[str, str]] = {}

    def empty(self, node_name: str, moving: Sequence[Pod]) -> Homeless | None:
        """Move pods off a node to nodes that exist; all or nothing.

        On success the node is no destination any more and its pods are promised their new places; it stays present
        without them, as a node does that is being drained (R117). On failure, the first pod found without a place is
        returned and the ledger is as it was. Pods are taken as a scheduler would take them up.
        """
        known = next((homeless for pod in moving if (homeless := self._without_looking(pod, node_name))), None)
        if known is not None:
            return known
        trial = self._ledger.fork()
        trial.exclude(node_name)
        trial.take_out(moving, node_name)
        existing = trial.destinations(Origin.EXISTING)
        placed: list[tuple[Pod, str]] = []
        for namespace, pods in _by_namespace(scheduling_order(moving)).items():
            among = self._open_to(namespace, existing)
            settled = trial.settle(pods, among)
            placed.extend(settled.placed)
            if settled.left:
                pod = settled.left[0]
                why = self._why(pod, trial, among)
                if not placed:
                    self._hopeless[likeness(pod)] = (node_name, why)
                return Homeless(pod, why)
        self._ledger.exclude(node_name)
        self._ledger.take_out(moving, node_name)
        self._ledger.enter(placed)
        return None

    def _without_looking(self, pod: Pod, node_name: str) -> Homeless | None:
        """What is certain without trying every node.

        A pod like this one that found no place while nothing else was moving proves that no node has one, but for the
        node that it came from, which could not be asked: places only get fewer.
        """
        if pod.spec.unmodelled:
            unknown = ", ".join(constraint.value for constraint in pod.spec.unmodelled)
            return Homeless(pod, f"cannot simulate: {unknown}")
        unasked, why = self._hopeless.get(likeness(pod), (node_name, ""))
        if unasked == node_name:
            return None
        closed = unasked in self._repelling.get(pod.namespace, ()) or not self._ledger.at(unasked).destination
        return Homeless(pod, why) if closed or not self._ledger.room_for(pod, unasked) else None

    def _open_to(self, namespace: str, existing: Iterable[str]) -> tuple[str, ...]:
        """The nodes that pods of a namespace may be sent to, in the order to try them."""
        closed = self._repelling.get(namespace, frozenset())
        names = [name for name in existing if name not in closed]
        return (*(n for n in names if n not in self._last), *(n for n in names if n in self._last))

    def _why(self, pod: Pod, ledger: Ledger, among: Sequence[str]) -> str:
        """The obstacles by number of nodes, over at most `MOST_EXPLAINED` nodes."""
        counts: dict[str, int] = {}
        for name in among[:MOST_EXPLAINED]:
            for reason in ledger.why_not(pod, name):
                counts[reason.text] = counts.get(reason.text, 0) + 1
        if not counts and pod.namespace in self._repelling:
            return "cannot simulate: pods with required anti-affinity run on the other nodes"
        if not counts:
            return "there is no other node"
        return ", ".join(f"{count} {text}" for text, count in sorted(counts.items()))


def _repelling(ledger: Ledger) -> Mapping[str, frozenset[str]]:
    """By namespace the nodes where a pod with required anti-affinity might keep others out (R208).

    Which pods it keeps out is not known to this version, except that without further words they are of its own
    namespace. So nothing of that namespace is sent there.
    """
    found: dict[str, set[str]] = {}
    for place in ledger.places:
        for pod in place.pods:
            if Constraint.POD_ANTI_AFFINITY in pod.spec.unmodelled:
                found.setdefault(pod.namespace, set()).add(place.name)
    return {namespace: frozenset(names) for namespace, names in found.items()}


def _by_namespace(pods: Iterable[Pod]) -> Mapping[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        found.setdefault(pod.namespace, []).append(pod)
    return found
