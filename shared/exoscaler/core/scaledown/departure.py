"""What has to happen to the pods of a node before it can go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exoscaler.core.model import Pod
from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability import DrainContext, Outcome, judge
from exoscaler.core.scaleup.pending import is_expendable


@dataclass(frozen=True, slots=True)
class BlockedBy:
    """The pod that holds a node, and why it must not be moved."""

    pod: Pod
    reason: BlockingPod

    @property
    def text(self) -> str:
        """Which pod, and why."""
        return f"{self.pod.key}: {self.reason.value}: {self.reason.text}"


@dataclass(frozen=True, slots=True)
class Departure:
    """The pods that need another place, sorted by key, or the pod that holds the node; and the one waited for."""

    moving: tuple[Pod, ...] = ()
    blocked: BlockedBy | None = None
    waits_for: Pod | None = None


def holding(pods: Iterable[Pod], policy: GrowthPolicy) -> tuple[Pod, ...]:
    """The pods that hold something of their node: neither ended nor expendable (R12, R132)."""
    return tuple(pod for pod in pods if not pod.is_finished and not is_expendable(pod, policy))


def departure(pods: Iterable[Pod], context: DrainContext) -> Departure:
    """Ask the rules about each pod; the first blocking one, by key, is the one that is named.

    `pods` are those that hold something: expendable ones neither block nor need another place (R132).
    """
    moving: list[Pod] = []
    waits_for: Pod | None = None
    for pod in sorted(pods, key=lambda pod: pod.key):
        verdict = judge(pod, context)
        if verdict.blocked_by is not None:
            return Departure(blocked=BlockedBy(pod, verdict.blocked_by))
        if verdict.outcome is Outcome.WAIT:
            waits_for = waits_for or pod
        elif verdict.outcome is Outcome.MOVE:
            moving.append(pod)
    return Departure(tuple(moving), waits_for=waits_for)
