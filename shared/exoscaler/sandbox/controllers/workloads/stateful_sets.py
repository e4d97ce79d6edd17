"""StatefulSets: pods with stable names, brought up and taken down in order."""

from __future__ import annotations

from collections.abc import Mapping

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_active, is_ready, is_terminal, is_terminating
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import PODS, STATEFUL_SETS
from exoscaler.sandbox.controllers.workloads.replicas import available, wanted
from exoscaler.sandbox.controllers.workloads.templates import new_pod, template_hash
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

REVISION_LABEL = "controller-revision-hash"
_Pods = Mapping[int, JsonObject]


class StatefulSets:
    """Keeps pods ``name-0``, ``name-1``, … and rolls a new template out from the highest number down.

    Volume claim templates are not served: the sandbox has no storage.
    """

    name = "stateful-sets"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "statefulset-controller")

    def step(self) -> bool:
        """Bring every StatefulSet one step further."""
        changed = False
        for owner in self._reader.all(STATEFUL_SETS):
            pods = _by_ordinal(owner, self._reader)
            if not owner["metadata"].get("deletionTimestamp"):
                changed = self._advance(owner, pods) or changed
            changed = self._report(owner, pods) or changed
        return changed

    def _advance(self, owner: JsonObject, pods: _Pods) -> bool:
        in_order = owner["spec"].get("podManagementPolicy") != "Parallel"
        ordinals = _ordinals(owner)
        changed = False
        for ordinal in ordinals:
            pod = pods.get(ordinal)
            if pod is None:
                changed = self._create(owner, ordinal) or changed
            elif is_terminal(pod) and not is_terminating(pod):
                # It will not run again: its successor takes the name.
                changed = self._delete(owner, pod) or changed
            elif is_active(pod) and is_ready(pod):
                continue
            if in_order:
                return changed
        surplus = sorted((ordinal for ordinal in pods if ordinal not in ordinals), reverse=True)
        if surplus:
            return self._shrink(owner, pods, surplus[:1] if in_order else surplus) or changed
        return changed or self._roll(owner, pods)

    def _shrink(self, owner: JsonObject, pods: _Pods, ordinals: list[int]) -> bool:
        return sum(self._delete(owner, pods[ordinal]) for ordinal in ordinals if not is_terminating(pods[ordinal])) > 0

    def _roll(self, owner: JsonObject, pods: _Pods) -> bool:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return False
        revision = _revision(owner)
        partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
        for ordinal in sorted(_ordinals(owner), reverse=True):
            pod = pods.get(ordinal)
            if pod is None or is_terminating(pod) or ordinal < partition:
                return False
            if _revision_of(pod) != revision:
                return self._delete(owner, pod)
            if not is_ready(pod):
                return False
        return False

    def _create(self, owner: JsonObject, ordinal: int) -> bool:
        metadata, spec = owner["metadata"], owner["spec"]
        name = f"{metadata['name']}-{ordinal}"
        labels = {
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_LABEL: _revision(owner),
        }
        pod = new_pod(STATEFUL_SETS, owner, labels=labels)
        del pod["metadata"]["generateName"]
        pod["metadata"]["name"] = name
        pod["spec"]["hostname"] = name
        if spec.get("serviceName"):
            pod["spec"]["subdomain"] = spec["serviceName"]
        if self._writer.create(PODS, pod) is None:
            return False
        text = f"create Pod {name} in StatefulSet {metadata['name']} successful"
        self._events.record(STATEFUL_SETS, owner, "SuccessfulCreate", text)
        return True

    def _delete(self, owner: JsonObject, pod: JsonObject) -> bool:
        if not self._writer.delete(PODS, pod):
            return False
        text = f"delete Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']} successful"
        self._events.record(STATEFUL_SETS, owner, "SuccessfulDelete", text)
        return True

    def _report(self, owner: JsonObject, pods: _Pods) -> bool:
        alive = [pod for pod in pods.values() if is_active(pod)]
        revision = _revision(owner)
        updated = sum(1 for pod in alive if _revision_of(pod) == revision)
        known: str = (owner.get("status") or {}).get("currentRevision") or revision
        current = revision if updated == len(alive) == wanted(owner) else known
        status = {
            "replicas": len(alive),
            "readyReplicas": sum(1 for pod in alive if is_ready(pod)),
            "availableReplicas": available(alive, owner, self._clock),
            "currentReplicas": sum(1 for pod in alive if _revision_of(pod) == current),
            "updatedReplicas": updated,
            "currentRevision": current,
            "updateRevision": revision,
            "observedGeneration": owner["metadata"].get("generation"),
        }
        return self._writer.status(STATEFUL_SETS, owner, status)


def _ordinals(owner: JsonObject) -> range:
    first = int((owner["spec"].get("ordinals") or {}).get("start") or 0)
    return range(first, first + wanted(owner))


def _by_ordinal(owner: JsonObject, reader: Reader) -> dict[int, JsonObject]:
    prefix = owner["metadata"]["name"] + "-"
    found = {}
    for pod in reader.children(PODS, owner):
        number = pod["metadata"]["name"].removeprefix(prefix)
        if number.isdigit():
            found[int(number)] = pod
    return found


def _revision(owner: JsonObject) -> str:
    return f"{owner['metadata']['name']}-{template_hash(owner['spec']['template'])}"


def _revision_of(pod: JsonObject) -> str:
    text: str = (pod["metadata"].get("labels") or {}).get(REVISION_LABEL, "")
    return text
