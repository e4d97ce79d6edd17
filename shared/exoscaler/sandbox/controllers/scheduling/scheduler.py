"""The scheduler: binds pods to nodes that accept them, and says of the others why not."""

from __future__ import annotations

import json
from collections.abc import Iterable

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import condition, with_condition
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_active, key
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import NAMESPACES, NODES, PODS
from exoscaler.sandbox.controllers.scheduling.filters import judge
from exoscaler.sandbox.controllers.scheduling.placement import Board, Candidate
from exoscaler.sandbox.controllers.scheduling.scoring import best
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

SCHEDULER_NAME = "default-scheduler"
GATED_MESSAGE = "Scheduling is blocked due to non-empty scheduling gates"


class Scheduler:
    """Binds the pods that name the default scheduler: by priority, then by age.

    It looks at resources, node selectors and affinity, taints, host ports, required pod (anti-)affinity and topology
    spread. It knows neither volumes nor preemption: a pod waits for room, whatever its priority.
    """

    name = "scheduler"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, SCHEDULER_NAME)

    def step(self) -> bool:
        """Try every pending pod once."""
        waiting = sorted((pod for pod in self._reader.all(PODS) if _is_waiting(pod)), key=_turn)
        gated = [pod for pod in waiting if pod["spec"].get("schedulingGates")]
        ready = [pod for pod in waiting if not pod["spec"].get("schedulingGates")]
        changed = False
        for pod in gated:
            changed = self._report(pod, "SchedulingGated", GATED_MESSAGE) or changed
        return (self._schedule(ready) if ready else False) or changed

    def _schedule(self, pods: Iterable[JsonObject]) -> bool:
        read = self._reader
        board = Board(read.all(NODES), read.all(PODS), read.all(NAMESPACES))
        refused: dict[str, str] = {}
        changed = False
        for pod in pods:
            candidate = Candidate(pod)
            likeness = _likeness(candidate)
            if likeness in refused:
                # Nothing left a node since its like was refused.
                changed = self._refuse(pod, refused[likeness]) or changed
                continue
            verdict = judge(candidate, board)
            if not verdict.feasible:
                message = verdict.message()
                if not candidate.affinity_terms:
                    refused[likeness] = message
                changed = self._refuse(pod, message) or changed
                continue
            slot = best(candidate, verdict.feasible)
            if self._writer.bind(pod, slot.name):
                board.place(slot, candidate)
                self._events.record(PODS, pod, "Scheduled", f"Successfully assigned {key(pod)} to {slot.name}")
                changed = True
        return changed

    def _refuse(self, pod: JsonObject, message: str) -> bool:
        changed = self._report(pod, "Unschedulable", message)
        self._events.record(PODS, pod, "FailedScheduling", message, warning=True)
        return changed

    def _report(self, pod: JsonObject, reason: str, message: str) -> bool:
        known = condition(pod, "PodScheduled")
        if known and (known["status"], known.get("reason"), known.get("message")) == ("False", reason, message):
            return False
        now = stamp(self._clock.now())
        entry = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        return self._writer.status(PODS, pod, {"conditions": with_condition(pod, entry, now)})


def _is_waiting(pod: JsonObject) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName") and (spec.get("schedulerName") or SCHEDULER_NAME) == SCHEDULER_NAME and is_active(pod)
    )


def _turn(pod: JsonObject) -> tuple[int, str, str]:
    metadata = pod["metadata"]
    return -int(pod["spec"].get("priority") or 0), metadata.get("creationTimestamp") or "", key(pod)


def _likeness(candidate: Candidate) -> str:
    """Equal for pods that every node answers alike."""
    spec = candidate.spec
    asked = [candidate.requests, candidate.ports]
    rules = [spec.get(part) for part in ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")]
    return json.dumps([candidate.namespace, candidate.labels, asked, rules], sort_keys=True)
