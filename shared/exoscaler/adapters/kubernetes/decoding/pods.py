"""Pods of the API to records."""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.amounts import effective_requests, resize_is_infeasible
from exoscaler.adapters.kubernetes.decoding.fragments import UNKNOWN_TIME, Fragments
from exoscaler.adapters.kubernetes.decoding.nodes import with_zone
from exoscaler.adapters.kubernetes.decoding.placement import node_affinity, tolerations, unmodelled, volumes
from exoscaler.core.model import (
    Constraint,
    FrozenMap,
    Owner,
    Pod,
    PodPhase,
    PodSpec,
    RestartPolicy,
    SchedulerVerdict,
    Volume,
)

_PHASES = {phase.value: phase for phase in PodPhase}
_RESTART_POLICIES = {policy.value: policy for policy in RestartPolicy}
_REFUSALS = {
    "Unschedulable": SchedulerVerdict.UNSCHEDULABLE,
    "SchedulingGated": SchedulerVerdict.GATED,
}
_DEFAULT_SCHEDULER = "default-scheduler"
_DEFAULT_GRACE_SECONDS = 30

_REMEMBERED_PER_OWNER = 4
"""Pods of one controller nearly always have one spec, two during a roll-out; those of a DaemonSet all differ."""

_NO_SPEC = wire.PodSpec()
_NO_STATUS = wire.PodStatus()
_NO_LABELS: FrozenMap[str] = FrozenMap()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a spec was made from, to know it again."""

    spec: wire.PodSpec
    volumes: tuple[Volume, ...]
    status: wire.PodStatus
    record: PodSpec
    labels: FrozenMap[str]


class PodConverter:
    """Makes the records of pods; pods alike share one spec object, and equal labels one mapping.

    It remembers what it has seen, so one converter serves one list and is thrown away.
    """

    def __init__(self) -> None:
        self._seen: dict[str, list[_Seen]] = {}
        self._specs: dict[PodSpec, PodSpec] = {}

    def __call__(self, found: wire.Pod) -> Pod:
        """The record of a pod. A phase that is not known is unknown, a restart policy that is not known restarts.

        Raises:
            ValueError: it has no uid or creation time, an amount is no quantity, or an operator is not known.
        """
        metadata, spec, status = found.metadata, found.spec or _NO_SPEC, found.status or _NO_STATUS
        if not metadata.uid or metadata.creation_timestamp is None:
            raise ValueError("it has no uid or no creationTimestamp")
        owner = _controller(metadata)
        record, labels = self._shared(owner.uid if owner is not None else "", spec, status, metadata.labels)
        deleted_at = metadata.deletion_timestamp
        return Pod(
            namespace=intern(metadata.namespace),
            name=metadata.name,
            uid=metadata.uid,
            spec=record,
            created_at=with_zone(metadata.creation_timestamp),
            labels=labels,
            annotations=FrozenMap(metadata.annotations) if metadata.annotations else _NO_LABELS,
            owner=owner,
            phase=_PHASES.get(status.phase or PodPhase.PENDING.value, PodPhase.UNKNOWN),
            node_name=intern(spec.node_name or ""),
            nominated_node=status.nominated_node_name or "",
            verdict=_verdict(status),
            deleted_at=with_zone(deleted_at) if deleted_at is not None else None,
        )

    def _shared(
        self, owner: str, spec: wire.PodSpec, status: wire.PodStatus, labels: dict[str, str] | None
    ) -> tuple[PodSpec, FrozenMap[str]]:
        asked = _without_place_and_volumes(spec)
        kept = volumes(spec)
        remembered = self._seen.setdefault(owner, [])
        for seen in remembered:
            if seen.spec == asked and seen.volumes == kept and _same_amounts(seen.status, status):
                same = seen.labels == (labels or {})
                return seen.record, seen.labels if same else FrozenMap(labels)
        record = _spec(asked, kept, status)
        record = self._specs.setdefault(record, record)
        fresh = _Seen(asked, kept, status, record, FrozenMap(labels))
        remembered.append(fresh)
        del remembered[:-_REMEMBERED_PER_OWNER]
        return record, fresh.labels


def _without_place_and_volumes(spec: wire.PodSpec) -> wire.PodSpec:
    """The part of the spec that pods of one controller have in common.

    The node differs, and so does the random name of the token volume; what matters of the volumes is compared apart.
    """
    return wire.PodSpec(
        containers=spec.containers,
        init_containers=spec.init_containers,
        node_selector=spec.node_selector,
        affinity=spec.affinity,
        tolerations=spec.tolerations,
        topology_spread_constraints=spec.topology_spread_constraints,
        overhead=spec.overhead,
        resources=spec.resources,
        resource_claims=spec.resource_claims,
        priority=spec.priority,
        scheduler_name=spec.scheduler_name,
        restart_policy=spec.restart_policy,
        termination_grace_period_seconds=spec.termination_grace_period_seconds,
    )


def _same_amounts(one: wire.PodStatus, other: wire.PodStatus) -> bool:
    """Whether two statuses lead to the same requests, given equal specs."""
    return (
        one.container_statuses == other.container_statuses
        and one.init_container_statuses == other.init_container_statuses
        and one.resources == other.resources
        and one.allocated_resources == other.allocated_resources
        and resize_is_infeasible(one) == resize_is_infeasible(other)
    )


def _spec(spec: wire.PodSpec, kept: tuple[Volume, ...], status: wire.PodStatus) -> PodSpec:
    grace = spec.termination_grace_period_seconds
    return PodSpec(
        requests=effective_requests(spec, status),
        node_selector=FrozenMap(spec.node_selector),
        node_affinity=node_affinity(spec),
        tolerations=tolerations(spec),
        volumes=kept,
        priority=spec.priority,
        scheduler_name=spec.scheduler_name or _DEFAULT_SCHEDULER,
        restart_policy=_RESTART_POLICIES.get(spec.restart_policy or "", RestartPolicy.ALWAYS),
        grace_seconds=_DEFAULT_GRACE_SECONDS if grace is None else grace,
        unmodelled=unmodelled(spec, kept),
    )


def _controller(metadata: wire.Metadata) -> Owner | None:
    for reference in metadata.owner_references or ():
        if reference.controller:
            return Owner(intern(reference.kind), intern(reference.name), intern(reference.uid))
    return None


def _verdict(status: wire.PodStatus) -> SchedulerVerdict:
    for condition in status.conditions or ():
        if condition.type == "PodScheduled":
            if condition.status == "True":
                return SchedulerVerdict.SCHEDULED
            if condition.status == "False":
                return _REFUSALS.get(condition.reason or "", SchedulerVerdict.NOT_SEEN)
    return SchedulerVerdict.NOT_SEEN


def unreadable_pod(found: Fragments) -> Pod:
    """What stands for a pod that is not understood.

    It is where it is and covered by the budgets that cover it, but nothing is known that would let it move: no
    controller, no annotation that allows it, and a constraint that no simulation can place. So its node stays, and
    while it has no node, none is ordered for it.

    Raises:
        ValueError: not even its namespace, name, uid and node are certain.
    """
    if not found.absent("spec", "nodeName"):
        found.certain_text("spec", "nodeName")
    return Pod(
        namespace=found.certain_text("metadata", "namespace"),
        name=found.certain_text("metadata", "name"),
        uid=found.certain_text("metadata", "uid"),
        spec=PodSpec(unmodelled=(Constraint.UNREADABLE,)),
        created_at=found.time("metadata", "creationTimestamp") or UNKNOWN_TIME,
        labels=FrozenMap(found.texts("metadata", "labels")),
        phase=_PHASES.get(found.text("status", "phase"), PodPhase.UNKNOWN),
        node_name=found.text("spec", "nodeName"),
    )
