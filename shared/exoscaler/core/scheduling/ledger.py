"""The one ledger of promised capacity in an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from exoscaler.core.model import Pod
from exoscaler.core.reasons import WhyNot
from exoscaler.core.scheduling.constraints import room_for, why_not
from exoscaler.core.scheduling.likeness import Likeness, likeness
from exoscaler.core.scheduling.place import Origin, Place


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where pods found a place, in the order they were placed, and which found none."""

    placed: tuple[tuple[Pod, str], ...]
    left: tuple[Pod, ...]


class Ledger:
    """Nodes, what is free on them, and the pods they are promised to.

    Everything that an evaluation promises is entered here, so that no hole is promised twice: pending pods on nodes
    that exist or are coming up, pods of nodes to be removed on the nodes that stay. It is the one value of the core
    that can change: a function that takes a ledger may enter promises into it and says so; `fork` copies it to try
    things out.

    Nodes have one order, the order of entry, so that equal ledgers make equal choices. Asking about or changing a node
    that is not in the ledger raises `KeyError`.
    """

    def __init__(self, places: Iterable[Place] = ()) -> None:
        self._places: dict[str, Place] = {}
        self._destinations: tuple[str, ...] | None = None
        for place in places:
            self.add(place)

    def fork(self) -> Ledger:
        """An independent copy. Places are immutable and shared, so it costs one pointer a node."""
        copy = Ledger()
        copy._places = self._places.copy()
        copy._destinations = self._destinations
        return copy

    def __contains__(self, node_name: object) -> bool:
        return node_name in self._places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def places(self) -> tuple[Place, ...]:
        """All places, destinations or not, in the ledger's order."""
        return tuple(self._places.values())

    def at(self, node_name: str) -> Place:
        """The place that a node is now."""
        return self._places[node_name]

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """The pods that hold something of a node, promised ones included."""
        return self._places[node_name].pods

    def destinations(self, *origins: Origin) -> tuple[str, ...]:
        """The nodes that pods may be sent to, in the ledger's order; only those of some origins if any are named."""
        if self._destinations is None:
            self._destinations = tuple(name for name, place in self._places.items() if place.destination)
        if not origins:
            return self._destinations
        return tuple(name for name in self._destinations if self._places[name].origin in origins)

    # Changing nodes

    def add(self, place: Place) -> None:
        """Enter a node.

        Raises:
            ValueError: the ledger has a node of that name.
        """
        if place.name in self._places:
            raise ValueError(f"node {place.name} is in the ledger already")
        self._places[place.name] = place
        self._destinations = None

    def remove(self, node_name: str) -> None:
        """Strike a node out, with its pods."""
        del self._places[node_name]
        self._destinations = None

    def exclude(self, node_name: str) -> None:
        """Send no more pods to a node. It stays present, with its pods, as a node does while it is drained."""
        self._set_destination(node_name, wanted=False)

    def admit(self, node_name: str) -> None:
        """Undo `exclude`."""
        self._set_destination(node_name, wanted=True)

    def _set_destination(self, node_name: str, *, wanted: bool) -> None:
        self._places[node_name] = replace(self._places[node_name], destination=wanted)
        self._destinations = None

    # Changing promises

    def place(self, pod: Pod, node_name: str) -> None:
        """Promise room on a node to a pod, without asking whether it fits."""
        self._places[node_name] = self._places[node_name].with_pods((pod,))

    def place_all(self, pods: Iterable[Pod], node_name: str) -> None:
        """Promise room on a node to several pods, without asking whether they fit."""
        self._places[node_name] = self._places[node_name].with_pods(tuple(pods))

    def enter(self, placed: Iterable[tuple[Pod, str]]) -> None:
        """Promise what was settled on a fork."""
        by_node: dict[str, list[Pod]] = {}
        for pod, node_name in placed:
            by_node.setdefault(node_name, []).append(pod)
        for node_name, pods in by_node.items():
            self.place_all(pods, node_name)

    def take_out(self, pods: Iterable[Pod], node_name: str) -> None:
        """Take pods off a node and free what they held; one that is not there changes nothing."""
        self._places[node_name] = self._places[node_name].without(frozenset(pod.uid for pod in pods))

    # Questions

    def why_not(self, pod: Pod, node_name: str) -> tuple[WhyNot, ...]:
        """Why a pod does not fit a node as it is now; empty when it does."""
        return why_not(pod, self._places[node_name])

    def room_for(self, pod: Pod, node_name: str) -> int:
        """How many pods like this one fit a node as it is now."""
        return room_for(pod, self._places[node_name])

    def first_fit(self, pod: Pod, among: Sequence[str] | None = None) -> str | None:
        """The first node, in order, that the pod fits; None when there is none. Nothing is promised.

        `among` restricts the search to some nodes, in that order, of which those that are no destinations are passed
        over; without it all destinations are tried in the ledger's order.
        """
        return next((name for name in self._candidates(among) if room_for(pod, self._places[name])), None)

    def settle(self, pods: Iterable[Pod], among: Sequence[str] | None = None) -> Settlement:
        """Promise each pod, in the order given, the first node that it fits; `among` as in `first_fit`.

        Pods that find no place are left out, and the others keep theirs: who needs all or nothing settles on a fork.
        """
        names = self._candidates(among)
        # Room only shrinks here, so a node that was too small for one pod is too small for those like it that follow.
        first_open: dict[Likeness, int] = {}
        placed: list[tuple[Pod, str]] = []
        left: list[Pod] = []
        for pod in pods:
            kind = likeness(pod)
            at = first_open.get(kind, 0)
            while at < len(names) and not room_for(pod, self._places[names[at]]):
                at += 1
            first_open[kind] = at
            if at == len(names):
                left.append(pod)
            else:
                self.place(pod, names[at])
                placed.append((pod, names[at]))
        return Settlement(tuple(placed), tuple(left))

    def _candidates(self, among: Sequence[str] | None) -> Sequence[str]:
        if among is None:
            return self.destinations()
        return [name for name in among if self._places[name].destination]
