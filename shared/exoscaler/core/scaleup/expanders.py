"""Choosing between groups that could each help (R75-R79)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from exoscaler.core.model import NodeGroup
from exoscaler.core.policy import ExpanderName
from exoscaler.core.scaleup.packing import Packing
from exoscaler.core.scheduling import Template


@dataclass(frozen=True, slots=True)
class Option:
    """One group that could grow, and what that would give: at least one node and one pod."""

    group: NodeGroup
    template: Template
    packing: Packing


def choose(options: Iterable[Option], chain: Sequence[ExpanderName], seed: str) -> Option | None:
    """The best option; None when there is none.

    Each expander keeps the options that it likes best and hands them to the next (R75). What is still equal after the
    last one is decided by group name and id, so that equal clusters get equal plans; `seed` moves only ``random``.
    """
    best = sorted(options, key=lambda option: (option.group.name, option.group.id))
    for name in chain:
        if len(best) <= 1:
            break
        rank = _RANKS[name](seed)
        least = min(rank(option) for option in best)
        best = [option for option in best if rank(option) == least]
    return best[0] if best else None


_Rank: TypeAlias = Callable[[Option], Fraction]


def _most_pods(_seed: str) -> _Rank:
    return lambda option: Fraction(-option.packing.placed)


def _least_nodes(_seed: str) -> _Rank:
    return lambda option: Fraction(option.packing.node_count)


def _least_waste(_seed: str) -> _Rank:
    return waste


def _random(seed: str) -> _Rank:
    """As good as chance and the same every time it is asked: a hash, not a generator."""

    def drawn(option: Option) -> Fraction:
        return Fraction(int.from_bytes(hashlib.sha256(f"{seed}/{option.group.id}".encode()).digest()))

    return drawn


_RANKS: Mapping[ExpanderName, Callable[[str], _Rank]] = {
    ExpanderName.MOST_PODS: _most_pods,
    ExpanderName.LEAST_NODES: _least_nodes,
    ExpanderName.LEAST_WASTE: _least_waste,
    ExpanderName.RANDOM: _random,
}


def waste(option: Option) -> Fraction:
    """The shares of the new nodes' CPU and memory that the pods would leave idle, added up (R79); exact.

    A node that reports no capacity of a resource wastes none of it.
    """
    count, capacity, demand = option.packing.node_count, option.template.node.capacity, option.packing.demand
    idle = Fraction(0)
    for have, want in ((capacity.cpu * count, demand.cpu), (capacity.memory * count, demand.memory)):
        if have > 0:
            idle += Fraction(have - want, have)
    return idle
