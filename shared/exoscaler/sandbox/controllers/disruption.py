"""PodDisruptionBudgets: how many of their pods may go now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import with_condition
from exoscaler.sandbox.controllers.pods import is_ready, is_terminal, is_terminating
from exoscaler.sandbox.controllers.reading import Reader, controller_reference
from exoscaler.sandbox.controllers.resources import (
    BUDGETS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from exoscaler.sandbox.controllers.selectors import selects
from exoscaler.sandbox.controllers.stamps import parse_stamp, stamp
from exoscaler.sandbox.controllers.workloads.replicas import share, wanted
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

DELETION_SECONDS = 120
"""An eviction that has led to no deletion after this (simulated) time counts as not having happened."""

_SCALED = {
    "ReplicaSet": REPLICA_SETS,
    "StatefulSet": STATEFUL_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
}


class Disruption:
    """Keeps the status that the eviction subresource counts down from.

    The eviction writes into the same status: what is written here is refused when an eviction came in between.
    """

    name = "disruption"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock

    def step(self) -> bool:
        """Bring every budget's status up to date."""
        changed = False
        for budget in self._reader.all(BUDGETS):
            changed = self._writer.status(BUDGETS, budget, self._status(budget)) or changed
        return changed

    def _status(self, budget: JsonObject) -> JsonObject:
        namespace = budget["metadata"]["namespace"]
        selector = budget["spec"].get("selector")
        pods = [
            pod
            for pod in self._reader.all(PODS)
            if pod["metadata"]["namespace"] == namespace
            and not is_terminal(pod)
            and selects(selector, pod["metadata"].get("labels") or {})
        ]
        expected, desired = self._expectation(budget, pods)
        disrupted = self._disrupted(budget, pods)
        healthy = sum(
            1 for pod in pods if is_ready(pod) and not is_terminating(pod) and pod["metadata"]["name"] not in disrupted
        )
        allowed = max(0, healthy - desired) if expected > 0 else 0
        now = stamp(self._clock.now())
        gone = (budget.get("status") or {}).get("disruptedPods") or {}
        entry = {
            "type": "DisruptionAllowed",
            "status": "True" if allowed else "False",
            "reason": "SufficientPods" if allowed else "InsufficientPods",
            "message": "",
            "observedGeneration": budget["metadata"].get("generation"),
        }
        return {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            # A merge patch removes an entry only by naming it.
            "disruptedPods": {**dict.fromkeys(gone), **disrupted},
            "observedGeneration": budget["metadata"].get("generation"),
            "conditions": with_condition(budget, entry, now),
        }

    def _expectation(self, budget: JsonObject, pods: Sequence[JsonObject]) -> tuple[int, int]:
        """How many pods there should be, and how many of them must stay healthy."""
        spec = budget["spec"]
        most = spec.get("maxUnavailable")
        if most is not None:
            expected = self._scale(pods)
            return expected, max(0, expected - share(most, expected, default=0, round_up=True))
        least = spec.get("minAvailable")
        if isinstance(least, str):
            expected = self._scale(pods)
            return expected, share(least, expected, default=0, round_up=True)
        return len(pods), 1 if least is None else int(least)

    def _scale(self, pods: Sequence[JsonObject]) -> int:
        """The replicas that the pods' controllers ask for; pods without a controller that scales do not count."""
        scales: dict[str, int] = {}
        for pod in pods:
            reference = controller_reference(pod)
            resource = _SCALED.get(reference["kind"]) if reference else None
            owner = self._reader.by_uid(resource).get(reference["uid"]) if reference and resource else None
            if owner is None:
                continue
            above = controller_reference(owner)
            if above and above["kind"] == "Deployment":
                owner = self._reader.by_uid(DEPLOYMENTS).get(above["uid"], owner)
            scales[owner["metadata"]["uid"]] = wanted(owner)
        return sum(scales.values())

    def _disrupted(self, budget: JsonObject, pods: Sequence[JsonObject]) -> dict[str, str]:
        """The evictions that are on their way: accepted, but the pod's deletion is not seen yet."""
        known: dict[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
        waiting = {pod["metadata"]["name"] for pod in pods if not is_terminating(pod)}
        patience = timedelta(seconds=DELETION_SECONDS / self._clock.speed)
        now = self._clock.now()
        return {
            name: since for name, since in known.items() if name in waiting and now - parse_stamp(since) <= patience
        }
