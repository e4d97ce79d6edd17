"""What has to happen to the pods of a node before it can go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exoscaler.core.model import Pod
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability import RULES, DrainContext, Outcome, Rule, judge


@dataclass(frozen=True, slots=True)
class Departure:
    """The pods to move, sorted by key, or the pod that holds the node, or the one that is waited for."""

    moving: tuple[Pod, ...] = ()
    blocked: tuple[Pod, BlockingPod] | None = None
    waits_for: Pod | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to move."""
        return not self.moving and self.blocked is None and self.waits_for is None


def departure(pods: Iterable[Pod], context: DrainContext, rules: tuple[Rule, ...] = RULES) -> Departure:
    """Ask the rules about each pod; the first blocking one, by key, is the one that is named."""
    moving: list[Pod] = []
    waits_for: Pod | None = None
    for pod in sorted(pods, key=lambda pod: pod.key):
        verdict = judge(pod, context, rules)
        if verdict.blocked_by is not None:
            return Departure(blocked=(pod, verdict.blocked_by))
        if verdict.outcome is Outcome.WAIT:
            waits_for = waits_for or pod
        elif verdict.outcome is Outcome.MOVE:
            moving.append(pod)
    return Departure(tuple(moving), waits_for=waits_for)
