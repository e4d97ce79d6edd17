"""A node as the simulation sees it: what is left of it and which pods hold the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from exoscaler.core.model import FrozenMap, Node, Pod, Resources


class Origin(StrEnum):
    """How real a node is."""

    EXISTING = "existing"
    UPCOMING = "upcoming"
    """Its instance exists or is on order, but nothing can run on it yet; its group's template stands in."""
    ORDERED = "ordered"
    """This evaluation orders it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A node with its pods.

    Attributes:
        free: allocatable less what the pods request; negative where a node is overcommitted. Its `pods` says how many
            more pods the kubelet takes.
        pods: every pod that holds something of the node, in no particular order.
        group_id: the node group, empty for a node that is in none.
        destination: whether pods may be sent here. A node on its way out is present and is no destination.
    """

    node: Node
    free: Resources
    pods: tuple[Pod, ...] = ()
    origin: Origin = Origin.EXISTING
    group_id: str = ""
    destination: bool = True

    @classmethod
    def of(
        cls,
        node: Node,
        pods: Iterable[Pod] = (),
        *,
        origin: Origin = Origin.EXISTING,
        group_id: str = "",
        destination: bool = True,
    ) -> Place:
        """The place that a node is with these pods on it."""
        pods = tuple(pods)
        return cls(node, node.allocatable - demand(pods), pods, origin, group_id, destination)

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name

    def with_pods(self, pods: tuple[Pod, ...]) -> Place:
        """This place with more pods, whether or not there is room for them."""
        return replace(self, free=self.free - demand(pods), pods=self.pods + pods)

    def with_copies(self, pod: Pod, count: int) -> Place:
        """This place with `count` pods like `pod`."""
        taken = pod.spec.requests.scaled(count) + Resources(pods=count)
        return replace(self, free=self.free - taken, pods=self.pods + (pod,) * count)

    def without(self, uids: frozenset[str]) -> Place:
        """This place less the pods of these uids; uids of pods that are not here change nothing."""
        gone = tuple(pod for pod in self.pods if pod.uid in uids)
        kept = tuple(pod for pod in self.pods if pod.uid not in uids)
        return replace(self, free=self.free + demand(gone), pods=kept)


def demand(pods: Iterable[Pod]) -> Resources:
    """What pods take together: their requests, and one of the kubelet's `pods` each."""
    cpu = memory = storage = count = 0
    extended: dict[str, int] = {}
    for pod in pods:
        requests = pod.spec.requests
        cpu += requests.cpu
        memory += requests.memory
        storage += requests.ephemeral_storage
        count += 1
        if requests.extended:
            for name, amount in requests.extended.items():
                extended[name] = extended.get(name, 0) + amount
    return Resources(cpu, memory, storage, count, FrozenMap(extended))
