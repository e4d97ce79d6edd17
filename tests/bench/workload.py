"""The packing workload: nodes of 4 cores and 16 GiB, pods of up to ten sizes in any number of applications."""

from __future__ import annotations

from exoscaler.core.model import Pod, Resources
from tests.builders import make_pod

_MIB = 2**20

TEMPLATE_ALLOCATABLE = Resources(cpu=4000, memory=16384 * _MIB, pods=110)


def request_of(kind: int) -> Resources:
    """What pods of one application ask for."""
    return Resources(cpu=100 + 50 * (kind % 10), memory=(128 + 64 * (7 * kind % 10)) * _MIB)


def estimator_pods(pods: int, kinds: int) -> list[Pod]:
    """Pending pods, equally many of each application, every one an object of its own."""
    return [
        make_pod(f"pod-{kind}-{number}", requests=request_of(kind), owner=f"rs-{kind}", labels={"app": f"app-{kind}"})
        for kind in range(kinds)
        for number in range(pods // kinds)
    ]
