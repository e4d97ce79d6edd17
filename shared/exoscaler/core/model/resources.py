"""Amounts of resources, in integers: CPU in thousandths of a core, memory and storage in bytes, the rest in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from exoscaler.core.model.frozen_map import FrozenMap

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of each resource. Addition and subtraction are exact; a difference may be negative.

    Attributes:
        cpu: milli-CPU.
        memory: bytes.
        ephemeral_storage: bytes.
        pods: number of pods; a pod's request counts as 1 by its mere existence, so requests leave it 0.
        extended: every other resource by name, in pieces (hugepages in bytes).
    """

    cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    pods: int = 0
    extended: FrozenMap[int] = field(default_factory=FrozenMap)

    def __add__(self, other: Resources) -> Resources:
        return self._combined(other, 1)

    def __sub__(self, other: Resources) -> Resources:
        return self._combined(other, -1)

    def _combined(self, other: Resources, sign: int) -> Resources:
        extended = self.extended
        if other.extended:
            names = [*self.extended, *(n for n in other.extended if n not in self.extended)]
            extended = FrozenMap({n: self.extended.get(n, 0) + sign * other.extended.get(n, 0) for n in names})
        return Resources(
            self.cpu + sign * other.cpu,
            self.memory + sign * other.memory,
            self.ephemeral_storage + sign * other.ephemeral_storage,
            self.pods + sign * other.pods,
            extended,
        )

    def scaled(self, factor: int) -> Resources:
        """This amount `factor` times."""
        return Resources(
            self.cpu * factor,
            self.memory * factor,
            self.ephemeral_storage * factor,
            self.pods * factor,
            FrozenMap({name: amount * factor for name, amount in self.extended.items()}),
        )

    def at_least(self, other: Resources) -> Resources:
        """Of each resource the larger amount of the two."""
        names = [*self.extended, *(n for n in other.extended if n not in self.extended)]
        return Resources(
            max(self.cpu, other.cpu),
            max(self.memory, other.memory),
            max(self.ephemeral_storage, other.ephemeral_storage),
            max(self.pods, other.pods),
            FrozenMap({n: max(self.extended.get(n, 0), other.extended.get(n, 0)) for n in names}),
        )

    def items(self) -> Iterator[tuple[str, int]]:
        """Each resource's name and amount, extended ones in name order."""
        yield CPU, self.cpu
        yield MEMORY, self.memory
        yield EPHEMERAL_STORAGE, self.ephemeral_storage
        yield PODS, self.pods
        for name in sorted(self.extended):
            yield name, self.extended[name]
