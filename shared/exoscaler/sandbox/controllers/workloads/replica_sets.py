"""ReplicaSets: as many pods as asked for."""

from __future__ import annotations

from collections.abc import Sequence

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_active, is_ready
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import PODS, REPLICA_SETS
from exoscaler.sandbox.controllers.workloads.replicas import available, surplus_first, wanted
from exoscaler.sandbox.controllers.workloads.templates import new_pod
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

BURST = 500
"""Pods created or deleted for one ReplicaSet in one round."""


class ReplicaSets:
    """Creates the pods that are missing and deletes the surplus. Orphaned pods are not adopted."""

    name = "replica-sets"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "replicaset-controller")

    def step(self) -> bool:
        """Bring every ReplicaSet's pods and status up to date."""
        changed = False
        for replica_set in self._reader.all(REPLICA_SETS):
            pods = [pod for pod in self._reader.children(PODS, replica_set) if is_active(pod)]
            if not replica_set["metadata"].get("deletionTimestamp"):
                changed = self._scale(replica_set, pods) or changed
            changed = self._report(replica_set, pods) or changed
        return changed

    def _scale(self, replica_set: JsonObject, pods: Sequence[JsonObject]) -> bool:
        missing = wanted(replica_set) - len(pods)
        changed = False
        for _ in range(min(missing, BURST)):
            pod = self._writer.create(PODS, new_pod(REPLICA_SETS, replica_set))
            if pod is not None:
                text = f"Created pod: {pod['metadata']['name']}"
                self._events.record(REPLICA_SETS, replica_set, "SuccessfulCreate", text)
                changed = True
        for pod in surplus_first(pods)[: min(-missing, BURST)] if missing < 0 else ():
            if self._writer.delete(PODS, pod):
                text = f"Deleted pod: {pod['metadata']['name']}"
                self._events.record(REPLICA_SETS, replica_set, "SuccessfulDelete", text)
                changed = True
        return changed

    def _report(self, replica_set: JsonObject, pods: Sequence[JsonObject]) -> bool:
        labels = (replica_set["spec"]["template"].get("metadata") or {}).get("labels") or {}
        labelled = sum(1 for pod in pods if labels.items() <= (pod["metadata"].get("labels") or {}).items())
        status = {
            "replicas": len(pods),
            "fullyLabeledReplicas": labelled,
            "readyReplicas": sum(1 for pod in pods if is_ready(pod)),
            "availableReplicas": available(pods, replica_set, self._clock),
            "observedGeneration": replica_set["metadata"].get("generation"),
        }
        return self._writer.status(REPLICA_SETS, replica_set, status)
