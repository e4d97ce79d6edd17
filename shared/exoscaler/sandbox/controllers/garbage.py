"""Garbage collection: what nobody owns, needs or can reach any more is deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import with_condition
from exoscaler.sandbox.controllers.pods import is_terminal, is_terminating, key
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    KINDS,
    LEASES,
    NODES,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Resource,
)
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

NODE_QUARANTINE_SECONDS = 40.0
"""Pods of a vanished node are kept this long (simulated), in case the node comes back."""
TERMINATED_PODS_KEPT = 12_500
FOREGROUND = "foregroundDeletion"

_OWNERS = (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, PODS, NODES)
_OWNED = (REPLICA_SETS, JOBS, PODS, LEASES)


class OwnerCollector:
    """Deletes the children of owners that are gone, and those of owners that wait for their children to go first.

    It knows the kinds that the sandbox's own controllers relate; a reference to any other kind keeps its child.
    """

    name = "owner-collector"

    def __init__(self, client: ObjectClient, reader: Reader) -> None:
        self._writer = Writer(client)
        self._reader = reader

    def step(self) -> bool:
        """Look at every child once."""
        changed = False
        for resource, child in self._orphans():
            changed = self._writer.delete(resource, child) or changed
        for resource in _OWNERS:
            for owner in self._reader.all(resource):
                if FOREGROUND in (owner["metadata"].get("finalizers") or ()) and not self._has_children(owner):
                    changed = self._writer.release(resource, owner, FOREGROUND) or changed
        return changed

    def _orphans(self) -> Iterator[tuple[Resource, JsonObject]]:
        for resource in _OWNED:
            for child in self._reader.all(resource):
                metadata = child["metadata"]
                references = metadata.get("ownerReferences")
                if references and not metadata.get("deletionTimestamp") and not any(map(self._is_kept_by, references)):
                    yield resource, child

    def _is_kept_by(self, reference: JsonObject) -> bool:
        resource = _RESOURCES.get((reference["apiVersion"], reference["kind"]))
        if resource is None:
            return True
        owner = self._reader.by_uid(resource).get(reference["uid"])
        return owner is not None and FOREGROUND not in (owner["metadata"].get("finalizers") or ())

    def _has_children(self, owner: JsonObject) -> bool:
        uid = owner["metadata"]["uid"]
        return any(
            reference["uid"] == uid and reference.get("blockOwnerDeletion")
            for resource in _OWNED
            for child in self._reader.all(resource)
            for reference in child["metadata"].get("ownerReferences") or ()
        )


class PodCollector:
    """Deletes pods whose node is gone, pods that end without ever having had one, and the oldest of many ended pods."""

    name = "pod-collector"

    def __init__(
        self,
        client: ObjectClient,
        reader: Reader,
        clock: SandboxClock,
        *,
        quarantine: float = NODE_QUARANTINE_SECONDS,
        keep: int = TERMINATED_PODS_KEPT,
    ) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._quarantine = quarantine
        self._keep = keep
        self._missing_since: dict[str, float] = {}

    def step(self) -> bool:
        """Look at every pod once."""
        pods = self._reader.all(PODS)
        gone = self._gone_nodes(pods)
        changed = False
        for pod in pods:
            node = pod["spec"].get("nodeName")
            if node in gone:
                changed = self._bury(pod) or changed
            elif not node and is_terminating(pod):
                changed = self._delete(pod) or changed
        ended = [pod for pod in pods if is_terminal(pod) and not is_terminating(pod)]
        surplus = len(ended) - self._keep
        if surplus > 0:
            oldest = sorted(ended, key=lambda pod: (pod["metadata"].get("creationTimestamp") or "", key(pod)))
            changed = sum(self._delete(pod) for pod in oldest[:surplus]) > 0 or changed
        return changed

    def _gone_nodes(self, pods: Sequence[JsonObject]) -> set[str]:
        known = {node["metadata"]["name"] for node in self._reader.all(NODES)}
        named = {pod["spec"].get("nodeName") for pod in pods} - {None, ""}
        now = self._clock.monotonic()
        self._missing_since = {name: self._missing_since.get(name, now) for name in named - known}
        return {name for name, since in self._missing_since.items() if now - since >= self._quarantine}

    def _bury(self, pod: JsonObject) -> bool:
        """A pod whose node is gone has failed, and says so before it goes: its finalizers may outlive it."""
        if not is_terminal(pod):
            now = stamp(self._clock.now())
            entry = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "DeletionByPodGC",
                "message": "PodGC: node no longer exists",
            }
            body = {"status": {"phase": "Failed", "conditions": with_condition(pod, entry, now)}}
            self._writer.patch(PODS, pod, body, subresource="status")
        return self._delete(pod)

    def _delete(self, pod: JsonObject) -> bool:
        if is_terminating(pod) and not pod["metadata"].get("deletionGracePeriodSeconds"):
            # Nothing but a finalizer holds it.
            return False
        return self._writer.delete(PODS, pod, grace_seconds=0)


_RESOURCES = {(resource.group, KINDS[resource]): resource for resource in _OWNERS}
