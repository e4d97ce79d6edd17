"""Deployments: one ReplicaSet for each template they had, and the rollout from the old ones to the newest."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import DEPLOYMENTS, PODS, REPLICA_SETS, Resource
from exoscaler.sandbox.controllers.workloads.deployment_status import deployment_status
from exoscaler.sandbox.controllers.workloads.replicas import share, wanted
from exoscaler.sandbox.controllers.workloads.templates import owner_reference, template_hash
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = 10


@dataclass(frozen=True, slots=True)
class Family:
    """A Deployment's ReplicaSets: the one of its present template, if it exists yet, and the others."""

    newest: JsonObject | None
    others: tuple[JsonObject, ...]

    @classmethod
    def of(cls, deployment: JsonObject, replica_sets: Sequence[JsonObject]) -> Family:
        """Tell them apart by the hash of the template."""
        wanted_hash = template_hash(deployment["spec"]["template"])
        newest = None
        others = []
        for replica_set in replica_sets:
            if (replica_set["metadata"].get("labels") or {}).get(HASH_LABEL) == wanted_hash:
                newest = replica_set
            else:
                others.append(replica_set)
        return cls(newest, tuple(sorted(others, key=_revision)))

    def members(self) -> tuple[JsonObject, ...]:
        """All ReplicaSets, the newest last."""
        return (*self.others, self.newest) if self.newest is not None else self.others


class Deployments:
    """Rolls out, scales, and keeps the status by which ``kubectl rollout status`` waits."""

    name = "deployments"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "deployment-controller")

    def step(self) -> bool:
        """Bring every Deployment one step further."""
        changed = False
        for deployment in self._reader.all(DEPLOYMENTS):
            family = Family.of(deployment, self._reader.children(REPLICA_SETS, deployment))
            if not deployment["metadata"].get("deletionTimestamp"):
                changed = self._advance(deployment, family) or changed
            status = deployment_status(deployment, family.members(), family.newest, self._clock)
            changed = self._writer.status(DEPLOYMENTS, deployment, status) or changed
        return changed

    def _advance(self, deployment: JsonObject, family: Family) -> bool:
        if deployment["spec"].get("paused"):
            # A paused rollout is not carried on, but the workload still scales.
            latest = family.members()[-1:]
            return sum(self._resize(deployment, item, wanted(deployment)) for item in latest) > 0
        strategy = deployment["spec"].get("strategy") or {}
        recreate = strategy.get("type") == "Recreate"
        if family.newest is None:
            size = _first_size(deployment, family, recreate=recreate)
            return False if size is None else self._add_replica_set(deployment, family, size)
        changed = self._number(deployment, family)
        if recreate:
            changed = self._recreate(deployment, family, family.newest) or changed
        else:
            changed = self._roll(deployment, family, family.newest) or changed
        return self._tidy(deployment, family) or changed

    def _recreate(self, deployment: JsonObject, family: Family, newest: JsonObject) -> bool:
        changed = sum(self._resize(deployment, item, 0) for item in family.others) > 0
        if any(self._reader.children(PODS, item) for item in family.others):
            return changed
        return self._resize(deployment, newest, wanted(deployment)) or changed

    def _roll(self, deployment: JsonObject, family: Family, newest: JsonObject) -> bool:
        goal = wanted(deployment)
        surge, unavailable = _room(deployment)
        size = wanted(newest)
        total = sum(wanted(item) for item in family.members())
        grown = goal if size >= goal else min(goal, size + max(0, goal + surge - total))
        changed = self._resize(deployment, newest, grown)
        least = goal - unavailable
        dispensable = total - least - (size - _available(newest))
        return self._shrink_others(deployment, family, least, dispensable) or changed

    def _shrink_others(self, deployment: JsonObject, family: Family, least: int, dispensable: int) -> bool:
        """Take away old pods: first the ones that are not available anyway, then as many as are not needed."""
        spare = sum(_available(item) for item in family.members()) - least
        changed = False
        for item in family.others:
            size = wanted(item)
            unhealthy = min(size - _available(item), max(0, dispensable))
            dispensable -= unhealthy
            healthy = min(size - unhealthy, max(0, min(spare, dispensable)))
            dispensable -= healthy
            spare -= healthy
            changed = self._resize(deployment, item, size - unhealthy - healthy) or changed
        return changed

    def _resize(self, deployment: JsonObject, replica_set: JsonObject, size: int) -> bool:
        before = wanted(replica_set)
        if before == size:
            return False
        if not self._writer.patch(REPLICA_SETS, replica_set, {"spec": {"replicas": size}}, guarded=True):
            return False
        direction = "up" if size > before else "down"
        text = f"Scaled {direction} replica set {replica_set['metadata']['name']} from {before} to {size}"
        self._events.record(DEPLOYMENTS, deployment, "ScalingReplicaSet", text)
        return True

    def _add_replica_set(self, deployment: JsonObject, family: Family, size: int) -> bool:
        spec, metadata = deployment["spec"], deployment["metadata"]
        template = copy.deepcopy(spec["template"])
        digest = template_hash(spec["template"])
        labels = {**((template.get("metadata") or {}).get("labels") or {}), HASH_LABEL: digest}
        template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
        selector = copy.deepcopy(spec["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: digest}
        body = {
            "apiVersion": REPLICA_SETS.group,
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name']}-{digest}",
                "namespace": metadata["namespace"],
                "labels": labels,
                "annotations": {REVISION: str(_next_revision(family))},
                "ownerReferences": [owner_reference(DEPLOYMENTS, deployment)],
            },
            "spec": {
                "replicas": size,
                "minReadySeconds": int(spec.get("minReadySeconds") or 0),
                "selector": selector,
                "template": template,
            },
        }
        created = self._writer.create(REPLICA_SETS, body)
        if created is None:
            return False
        text = f"Scaled up replica set {created['metadata']['name']} from 0 to {size}"
        self._events.record(DEPLOYMENTS, deployment, "ScalingReplicaSet", text)
        return True

    def _number(self, deployment: JsonObject, family: Family) -> bool:
        """Give the newest ReplicaSet the highest revision (it may be an old one, rolled back to)."""
        newest = family.newest
        if newest is None:
            return False
        changed = False
        number = _revision(newest)
        if family.others and number <= max(_revision(item) for item in family.others):
            number = _next_revision(family)
            changed = self._annotate(REPLICA_SETS, newest, number)
        if _revision(deployment) != number:
            changed = self._annotate(DEPLOYMENTS, deployment, number) or changed
        return changed

    def _annotate(self, resource: Resource, item: JsonObject, number: int) -> bool:
        return self._writer.patch(resource, item, {"metadata": {"annotations": {REVISION: str(number)}}})

    def _tidy(self, deployment: JsonObject, family: Family) -> bool:
        limit = deployment["spec"].get("revisionHistoryLimit")
        idle = [
            item
            for item in family.others
            if not wanted(item)
            and not (item.get("status") or {}).get("replicas")
            and not item["metadata"].get("deletionTimestamp")
        ]
        surplus = len(idle) - (HISTORY if limit is None else int(limit))
        return sum(self._writer.delete(REPLICA_SETS, item) for item in idle[: max(0, surplus)]) > 0


def _first_size(deployment: JsonObject, family: Family, *, recreate: bool) -> int | None:
    goal = wanted(deployment)
    total = sum(wanted(item) for item in family.others)
    if recreate:
        return 0 if family.others else goal
    surge, _ = _room(deployment)
    return min(goal, max(0, goal + surge - total))


def _room(deployment: JsonObject) -> tuple[int, int]:
    """How many pods a rollout may add, and how many it may be short of."""
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    goal = wanted(deployment)
    surge = share(rolling.get("maxSurge"), goal, default="25%", round_up=True)
    unavailable = share(rolling.get("maxUnavailable"), goal, default="25%", round_up=False)
    # Both rounded to nothing would stop the rollout for ever.
    return surge, unavailable if surge or unavailable else 1


def _available(replica_set: JsonObject) -> int:
    # The status may be older than the size.
    return min(wanted(replica_set), int((replica_set.get("status") or {}).get("availableReplicas") or 0))


def _revision(item: JsonObject) -> int:
    return int((item["metadata"].get("annotations") or {}).get(REVISION, "0"))


def _next_revision(family: Family) -> int:
    return max((_revision(item) for item in family.members()), default=0) + 1
