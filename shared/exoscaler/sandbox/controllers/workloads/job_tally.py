"""How a Job counts its pods: each exactly once, however often a controller starts anew.

A finished pod is first written down as uncounted in the Job's status, then released from the tracking finalizer, and
only when it is released (or gone) it moves into the figures. Every crash in between leaves something to carry on from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exoscaler.sandbox.controllers.pods import is_active, is_ready, is_terminating, phase
from exoscaler.sandbox.objects import JsonObject

TRACKING = "batch.kubernetes.io/job-tracking"
_OUTCOMES = ("succeeded", "failed")


@dataclass(frozen=True, slots=True)
class Tally:
    """A Job's pods, counted."""

    succeeded: int
    failed: int
    uncounted: dict[str, list[str]]
    """The uids of finished pods that still carry the finalizer, by outcome."""
    active: tuple[JsonObject, ...]
    terminating: int
    held: tuple[JsonObject, ...]
    """Finished pods that are written down and may be released."""

    @property
    def all_succeeded(self) -> int:
        """Successes, written down or counted."""
        return self.succeeded + len(self.uncounted["succeeded"])

    @property
    def all_failed(self) -> int:
        """Failures, written down or counted."""
        return self.failed + len(self.uncounted["failed"])

    @property
    def is_settled(self) -> bool:
        """Whether no pod is left that could still change a figure."""
        return not self.active and not self.terminating and not any(self.uncounted.values())

    def figures(self) -> JsonObject:
        """The part of the Job's status that is counted."""
        return {
            "active": len(self.active),
            "ready": sum(1 for pod in self.active if is_ready(pod)),
            "terminating": self.terminating,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "uncountedTerminatedPods": {outcome: uids or None for outcome, uids in self.uncounted.items()},
        }


def tally(job: JsonObject, pods: Sequence[JsonObject]) -> Tally:
    """Count from what the Job's status says and what its pods show."""
    status = job.get("status") or {}
    written: JsonObject = status.get("uncountedTerminatedPods") or {}
    carrying = {pod["metadata"]["uid"]: pod for pod in pods if is_tracked(pod)}
    counts = {outcome: int(status.get(outcome) or 0) for outcome in _OUTCOMES}
    uncounted: dict[str, list[str]] = {outcome: [] for outcome in _OUTCOMES}
    held = []
    for outcome in _OUTCOMES:
        for uid in written.get(outcome) or ():
            if uid in carrying:
                uncounted[outcome].append(uid)
                held.append(carrying.pop(uid))
            else:
                counts[outcome] += 1
    for uid, pod in carrying.items():
        outcome = _outcome(pod)
        if outcome:
            uncounted[outcome].append(uid)
    return Tally(
        succeeded=counts["succeeded"],
        failed=counts["failed"],
        uncounted=uncounted,
        active=tuple(pod for pod in pods if is_active(pod)),
        terminating=sum(1 for pod in pods if is_terminating(pod) and phase(pod) not in ("Succeeded", "Failed")),
        held=tuple(held),
    )


def is_tracked(pod: JsonObject) -> bool:
    """Whether the pod still carries the finalizer."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def _outcome(pod: JsonObject) -> str:
    """A pod that is deleted before it succeeded has failed, as in a Job without a pod replacement policy."""
    if phase(pod) == "Succeeded":
        return "succeeded"
    return "failed" if phase(pod) == "Failed" or is_terminating(pod) else ""
