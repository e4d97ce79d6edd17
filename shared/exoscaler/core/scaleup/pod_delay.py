"""How old a pending pod must be before it asks for capacity (R28)."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.model import Pod
from exoscaler.core.model.go_duration import parse_duration
from exoscaler.core.model.pods import SCALE_UP_DELAY
from exoscaler.core.policy import GrowthPolicy


def is_too_young(pod: Pod, policy: GrowthPolicy, now: datetime) -> bool:
    """Whether the pod is not older than its delay.

    The delay is ``new-pod-scale-up-delay``; the annotation on the pod may only lengthen it. One that is shorter, or
    that is no Go duration, changes nothing.
    """
    return now - pod.created_at <= max(_own_delay(pod), policy.new_pod_delay)


def _own_delay(pod: Pod) -> timedelta:
    try:
        return parse_duration(pod.annotations.get(SCALE_UP_DELAY, "0"))
    except ValueError:
        # Anybody may write an annotation; one that cannot be read asks for nothing.
        return timedelta(0)
