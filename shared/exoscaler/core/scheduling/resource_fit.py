"""Whether a node has enough left of everything that a pod requests (R202)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.model.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling.place import Place


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:
    """Every resource that falls short, all together, each with how much is missing.

    A resource that is not requested is not looked at, so a pod without requests fits an overcommitted node, as long as
    the kubelet takes one more pod.
    """
    requests, free = pod.spec.requests, place.free
    reasons: list[WhyNot] = []
    if free.pods < 1:
        reasons.append(WhyNot(Obstacle.TOO_MANY_PODS, short_by=1 - free.pods))
    asked = [
        (CPU, requests.cpu, free.cpu),
        (MEMORY, requests.memory, free.memory),
        (EPHEMERAL_STORAGE, requests.ephemeral_storage, free.ephemeral_storage),
        *((name, requests.extended[name], free.extended.get(name, 0)) for name in sorted(requests.extended)),
    ]
    reasons.extend(
        WhyNot(Obstacle.INSUFFICIENT, name, want - have) for name, want, have in asked if want > 0 and want > have
    )
    return tuple(reasons)


def room(pod: Pod, place: Place) -> int:
    """How many pods like `pod` the node has resources for."""
    requests, free = pod.spec.requests, place.free
    count = free.pods
    if requests.cpu > 0:
        count = min(count, free.cpu // requests.cpu)
    if requests.memory > 0:
        count = min(count, free.memory // requests.memory)
    if requests.ephemeral_storage > 0:
        count = min(count, free.ephemeral_storage // requests.ephemeral_storage)
    if requests.extended:
        for name, want in requests.extended.items():
            if want > 0:
                count = min(count, free.extended.get(name, 0) // want)
    return max(count, 0)
