"""How old a pending pod must be before it asks for capacity (R28)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from fractions import Fraction

from exoscaler.core.model import Pod
from exoscaler.core.model.pods import SCALE_UP_DELAY
from exoscaler.core.policy import GrowthPolicy

_MICROSECONDS = {
    "ns": Fraction(1, 1000),
    "us": Fraction(1),
    "\u00b5s": Fraction(1),
    "\u03bcs": Fraction(1),
    "ms": Fraction(1_000),
    "s": Fraction(1_000_000),
    "m": Fraction(60_000_000),
    "h": Fraction(3_600_000_000),
}
_PART = r"(\d{1,15}(?:\.\d{0,15})?)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
_DURATION = re.compile(rf"\+?(?:{_PART})+")
_LONGEST = timedelta(days=365 * 292)
"""About what a Go duration can hold; a longer text is no duration."""


def is_too_young(pod: Pod, policy: GrowthPolicy, now: datetime) -> bool:
    """Whether the pod is not older than its delay.

    The delay is ``new-pod-scale-up-delay``; the annotation on the pod may only lengthen it. One that is shorter, or
    that is no Go duration, changes nothing.
    """
    own = _duration(pod.annotations.get(SCALE_UP_DELAY, ""))
    delay = policy.new_pod_delay if own is None else max(own, policy.new_pod_delay)
    return now - pod.created_at <= delay


def _duration(text: str) -> timedelta | None:
    if text == "0":
        return timedelta(0)
    if not _DURATION.fullmatch(text):
        return None
    microseconds = sum(Fraction(number) * _MICROSECONDS[unit] for number, unit in re.findall(_PART, text))
    longest = _LONGEST // timedelta(microseconds=1)
    return timedelta(microseconds=int(microseconds)) if microseconds <= longest else None
