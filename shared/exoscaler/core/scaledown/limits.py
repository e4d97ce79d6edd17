"""The cluster's minimum of cores and memory (R94, R125)."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import Node
from exoscaler.core.policy import GrowthPolicy


class Floor:
    """What may still be taken away, in milli-CPU and bytes; mutable while removals are accepted one by one."""

    def __init__(self, nodes: Iterable[Node], policy: GrowthPolicy) -> None:
        present = tuple(nodes)
        # A core counts whole, as users count them: a node of 3.9 cores is one of 4.
        self._cores = sum(_cores(node) for node in present) - policy.cores.minimum
        self._memory = sum(node.capacity.memory for node in present) - policy.memory.minimum
        self._bounded = bool(policy.cores.minimum or policy.memory.minimum)

    def refuses(self, node: Node) -> bool:
        """Whether the cluster would fall below a minimum without the node."""
        return self._bounded and (_cores(node) > self._cores or node.capacity.memory > self._memory)

    def take(self, node: Node) -> None:
        """The node goes."""
        self._cores -= _cores(node)
        self._memory -= node.capacity.memory


def _cores(node: Node) -> int:
    return -(-node.capacity.cpu // 1000)
