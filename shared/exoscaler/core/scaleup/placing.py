"""Room for waiting pods on what exists and on what is coming, before anything is ordered (R23, R25)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exoscaler.core.model import Pod, Resources
from exoscaler.core.plan import HelpedPod
from exoscaler.core.scaleup.equivalence import PodClass, classes_of
from exoscaler.core.scaleup.packing import pack, score
from exoscaler.core.scaleup.pending import scheduling_order
from exoscaler.core.scaleup.waves import Wave
from exoscaler.core.scheduling import Ledger, Origin, Settlement


def settle_on_existing(pods: Iterable[Pod], ledger: Ledger) -> frozenset[str]:
    """Promise pods room on nodes that exist; the uids of those that found some.

    Pods are taken as a scheduler takes them. When that leaves some out, they are tried once more with the largest first
    among equal priorities: as long as there is an arrangement that holds more of them, none is bought for.
    """
    names = ledger.destinations(Origin.EXISTING)
    ordered = scheduling_order(pods)
    best = ledger.fork().settle(ordered, names)
    if best.placed and best.left:
        other = ledger.fork().settle(_largest_first(ordered, ledger, names), names)
        best = min(best, other, key=_pods_left)
    ledger.enter(best.placed)
    return frozenset(pod.uid for pod, _ in best.placed)


def _pods_left(settlement: Settlement) -> int:
    return len(settlement.left)


def _largest_first(pods: Sequence[Pod], ledger: Ledger, names: Sequence[str]) -> list[Pod]:
    largest = Resources()
    for name in names:
        largest = largest.at_least(ledger.at(name).node.allocatable)
    return sorted(pods, key=lambda pod: (-(pod.spec.priority or 0), -score(pod, largest)))


def fill(waves: Iterable[Wave], pods: Iterable[Pod], ledger: Ledger) -> tuple[HelpedPod, ...]:
    """Promise pods room on nodes that are coming, one wave after the other; which pod goes to which group."""
    promised: list[HelpedPod] = []
    classes: Sequence[PodClass] = classes_of(pods)
    for wave in waves:
        if not classes:
            break
        started = [ledger.at(name) for name in wave.started]
        packing = pack(classes, wave.template.empty, len(wave.blank), started)
        for name, load in zip(wave.names, packing.loads(), strict=False):
            ledger.place_all(load, name)
            promised.extend(HelpedPod(pod, wave.template.group_id) for pod in load)
        classes = packing.left
    return tuple(promised)
