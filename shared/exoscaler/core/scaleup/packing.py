"""How many new nodes of one kind pods need, and which pod goes where (R68-R72).

First fit, the pods most demanding for the kind of node first. Pods are handled by class and equal nodes by run, so the
cost grows with classes times runs, and a class adds at most a few runs: 50,000 pods of 100 classes cost no more than
500 of them.

First fit has a property that more than speed hangs on: what goes to a node depends only on the nodes before it. Packing
what is left from one set of nodes into the next gives the same as packing into both at once, so an evaluation that
finds the nodes of the last one coming up arranges the same pods on them in the same way, and orders nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TypeAlias

from exoscaler.core.model import Pod, Resources
from exoscaler.core.scaleup.equivalence import PodClass
from exoscaler.core.scheduling import Place, room_for


@dataclass(frozen=True, slots=True)
class Run:
    """Nodes alike: `count` nodes that look like `place`, each given the same numbers of pods by class."""

    place: Place
    count: int
    given: tuple[tuple[int, int], ...] = ()

    def take(self, count: int) -> Run:
        """The same for fewer nodes."""
        return replace(self, count=count)

    def add(self, index: int, pod: Pod, each: int) -> Run:
        """Every node gets `each` pods of a class."""
        return replace(self, place=self.place.with_copies(pod, each), given=(*self.given, (index, each)))


@dataclass(frozen=True, slots=True)
class Packing:
    """The result for one kind of node.

    Attributes:
        node_count: new nodes, every one with at least one pod.
        placed: how many pods found a place.
        demand: what those request together, one of `pods` each.
        left: the classes of what found none, in the order of the classes given.
    """

    node_count: int
    placed: int
    demand: Resources
    left: tuple[PodClass, ...]
    runs: tuple[Run, ...]
    classes: tuple[PodClass, ...]

    def loads(self) -> list[tuple[Pod, ...]]:
        """The pods for each node: first the open nodes in the order they were given, then the new ones."""
        taken = [0] * len(self.classes)
        loads: list[tuple[Pod, ...]] = []
        for run in self.runs:
            for _ in range(run.count):
                load: list[Pod] = []
                for index, each in run.given:
                    load.extend(self.classes[index].pods[taken[index] : taken[index] + each])
                    taken[index] += each
                loads.append(tuple(load))
        return loads


def pack(classes: Sequence[PodClass], fresh: Place, most: int, open_places: Sequence[Place] = ()) -> Packing:
    """Place pods on open nodes, then on at most `most` new nodes like `fresh`.

    When not all that fit a new node get one, the pods of higher priority come first whatever their size, so that a
    limit is not spent on the large but unimportant.
    """
    packing = _pack(classes, _by_score(classes, fresh), fresh, most, open_places)
    priorities = {alike.exemplar.spec.priority or 0 for alike in classes}
    if len(priorities) > 1 and any(room_for(alike.exemplar, fresh) for alike in packing.left):
        return _pack(classes, _by_priority(classes, fresh), fresh, most, open_places)
    return packing


def _pack(
    classes: Sequence[PodClass], order: Sequence[int], fresh: Place, most: int, open_places: Sequence[Place]
) -> Packing:
    runs = [Run(place, 1) for place in open_places]
    opened = 0
    left = [len(alike) for alike in classes]
    for index in order:
        pod = classes[index].exemplar
        runs, rest = _onto(runs, index, pod, left[index])
        each = room_for(pod, fresh)
        if rest and each and opened < most:
            new = min(most - opened, -(-rest // each))
            opened += new
            added, rest = _onto([Run(fresh, new)], index, pod, rest)
            runs += added
        left[index] = rest
    placed = [len(alike) - rest for alike, rest in zip(classes, left, strict=True)]
    return Packing(
        node_count=opened,
        placed=sum(placed),
        demand=_demand(classes, placed),
        left=tuple(alike.without_first(done) for alike, done in zip(classes, placed, strict=True) if done < len(alike)),
        runs=tuple(runs),
        classes=tuple(classes),
    )


def _onto(runs: Sequence[Run], index: int, pod: Pod, count: int) -> tuple[list[Run], int]:
    """Runs after up to `count` pods went to the first nodes that take them, and how many pods are left."""
    after: list[Run] = []
    for run in runs:
        each = room_for(pod, run.place) if count else 0
        if not each:
            after.append(run)
            continue
        full = min(run.count, count // each)
        if full:
            after.append(run.take(full).add(index, pod, each))
        count -= full * each
        untouched = run.count - full
        if untouched and count:
            after.append(run.take(1).add(index, pod, count))
            count = 0
            untouched -= 1
        if untouched:
            after.append(run.take(untouched))
    return after, count


def _demand(classes: Sequence[PodClass], placed: Sequence[int]) -> Resources:
    total = Resources()
    for alike, count in zip(classes, placed, strict=True):
        if count:
            total += alike.exemplar.spec.requests.scaled(count) + Resources(pods=count)
    return total


def score(pod: Pod, allocatable: Resources) -> Fraction:
    """How much of a node a pod takes: its shares of CPU and memory added up (R68)."""
    shares = Fraction(0)
    if allocatable.cpu > 0:
        shares += Fraction(pod.spec.requests.cpu, allocatable.cpu)
    if allocatable.memory > 0:
        shares += Fraction(pod.spec.requests.memory, allocatable.memory)
    return shares


_Rank: TypeAlias = tuple[Fraction, int, int, int, datetime, str]


def _rank(alike: PodClass, fresh: Place) -> _Rank:
    """Between classes of one score what they ask for decides, before which pod happens to be the first of them.

    That pod is another one when some of the class are placed already, and the order of classes must not depend on it.
    """
    pod = alike.exemplar
    asked = pod.spec.requests
    return (
        -score(pod, fresh.node.allocatable),
        -(pod.spec.priority or 0),
        -asked.cpu,
        -asked.memory,
        pod.created_at,
        pod.key,
    )


def _by_score(classes: Sequence[PodClass], fresh: Place) -> list[int]:
    return sorted(range(len(classes)), key=lambda index: _rank(classes[index], fresh))


def _by_priority(classes: Sequence[PodClass], fresh: Place) -> list[int]:
    def rank(index: int) -> tuple[int, _Rank]:
        return -(classes[index].exemplar.spec.priority or 0), _rank(classes[index], fresh)

    return sorted(range(len(classes)), key=rank)
