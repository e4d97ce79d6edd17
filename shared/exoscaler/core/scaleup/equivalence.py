"""Pods that are alike, taken together: deciding then costs classes, not pods (R50)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from exoscaler.core.model import Pod
from exoscaler.core.scheduling import Likeness, likeness


@dataclass(frozen=True, slots=True)
class PodClass:
    """Pods that every constraint treats alike, whoever owns them; never empty."""

    pods: tuple[Pod, ...]

    @property
    def exemplar(self) -> Pod:
        """The pod that stands for all."""
        return self.pods[0]

    def __len__(self) -> int:
        return len(self.pods)

    def without_first(self, count: int) -> PodClass:
        """The class less the first pods, of which it must have more than `count`."""
        return replace(self, pods=self.pods[count:]) if count else self


def classes_of(pods: Iterable[Pod]) -> tuple[PodClass, ...]:
    """Pods sorted into classes; classes and the pods in them keep the order in which pods are given."""
    found: dict[Likeness, list[Pod]] = {}
    for pod in pods:
        found.setdefault(likeness(pod), []).append(pod)
    return tuple(PodClass(tuple(alike)) for alike in found.values())


def pods_of(classes: Sequence[PodClass]) -> int:
    """How many pods the classes hold together."""
    return sum(len(alike) for alike in classes)
