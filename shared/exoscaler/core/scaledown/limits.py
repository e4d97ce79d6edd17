"""The cluster's minimum of cores and memory (R94, R125)."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import Node
from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.scaleup.limits import cores_of

_TYPE_LABEL = "type"
_VIRTUAL = "virtual-kubelet"


class Floor:
    """What may still be taken away, in whole cores and bytes; mutable while removals are accepted one by one.

    `nodes` are those that stay so far: nodes on their way out count as gone. Virtual nodes count for nothing. A core
    counts whole, as in the maximum: a node of 3.9 cores is one of 4.
    """

    def __init__(self, nodes: Iterable[Node], policy: GrowthPolicy) -> None:
        present = [node for node in nodes if not _is_virtual(node)]
        self._policy = policy
        self._cores = sum(cores_of(node.capacity) for node in present)
        self._memory = sum(node.capacity.memory for node in present)

    def refuses(self, node: Node) -> str:
        """Which minimum the cluster would fall below without the node, or is below already; empty when none."""
        cores, memory = self._cores - cores_of(node.capacity), self._memory - node.capacity.memory
        if cores < self._policy.cores.minimum:
            return f"{cores} cores would be left, the minimum is {self._policy.cores.minimum}"
        if memory < self._policy.memory.minimum:
            return f"{memory} bytes of memory would be left, the minimum is {self._policy.memory.minimum}"
        return ""

    def take(self, node: Node) -> None:
        """The node goes."""
        self._cores -= cores_of(node.capacity)
        self._memory -= node.capacity.memory


def _is_virtual(node: Node) -> bool:
    return node.labels.get(_TYPE_LABEL) == _VIRTUAL
