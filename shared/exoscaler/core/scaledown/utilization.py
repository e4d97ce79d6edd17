"""How much of a node is used: the larger of CPU and memory (R114, R115)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from exoscaler.core.model import Node, Pod
from exoscaler.core.operations.drain import is_stuck
from exoscaler.core.policy import ShrinkPolicy


@dataclass(frozen=True, slots=True)
class Utilization:
    """Requests against what is allocatable, exactly."""

    cpu: Fraction
    memory: Fraction

    @property
    def highest(self) -> Fraction:
        """The larger of the two, which decides."""
        return max(self.cpu, self.memory)

    def exceeds(self, threshold: float) -> bool:
        """Whether it is above the threshold; equal is not (R115)."""
        # By way of its text: the float nearest to 0.3 is a little less than three tenths, which nobody means.
        return self.highest > Fraction(str(threshold))

    @property
    def text(self) -> str:
        """Both numbers, for people."""
        return f"{float(self.cpu):.1%} of CPU and {float(self.memory):.1%} of memory are requested"


def utilization_of(node: Node, pods: Iterable[Pod], policy: ShrinkPolicy, now: datetime) -> Utilization | None:
    """The node's utilisation by these pods; None when it reports no allocatable CPU or memory.

    With ``ignore-daemonsets-utilization`` DaemonSet pods leave the requests and are taken off what is allocatable;
    likewise mirror pods with their flag. Pods stuck in termination do not count. `pods` are those that hold something
    of the node: ended and expendable ones are not among them.
    """
    cpu = memory = 0
    have_cpu, have_memory = node.allocatable.cpu, node.allocatable.memory
    if have_cpu <= 0 or have_memory <= 0:
        return None
    for pod in pods:
        requests = pod.spec.requests
        if _left_out(pod, policy):
            have_cpu -= requests.cpu
            have_memory -= requests.memory
        elif not is_stuck(pod, now):
            cpu += requests.cpu
            memory += requests.memory
    return Utilization(_share(cpu, have_cpu), _share(memory, have_memory))


def _left_out(pod: Pod, policy: ShrinkPolicy) -> bool:
    if pod.is_daemonset and policy.ignore_daemonsets_utilization:
        return True
    return pod.is_mirror and policy.ignore_mirror_pods_utilization


def _share(used: int, have: int) -> Fraction:
    if have <= 0:
        # The pods that every node runs take all of it: nothing is left that could be idle.
        return Fraction(1) if used else Fraction(0)
    return Fraction(used, have)
