"""What the state says, for people and for probes. Reads nothing else and writes nothing."""

from __future__ import annotations

from datetime import datetime

from exoscaler.app.outcome import Told
from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import GrowOperation, ShrinkOperation
from exoscaler.core.policy import Policy
from exoscaler.core.state import Backoff, CounterName, State


def report(state: State, now: datetime) -> dict[str, Told]:
    """The whole state as people want to read it: groups, operations in flight, pods that wait, nodes that stay."""
    seen = state.observations
    return {
        "time": now.isoformat(),
        "lastEvaluation": _moment(seen.evaluation_started_at),
        "lastRefresh": _moment(state.node_groups.refreshed_at),
        "unhealthySince": _moment(seen.unhealthy_since),
        "nodeGroups": [_group(group, seen.backoffs.get(group.id), now) for group in _groups(state)],
        "quota": _quota(state),
        "growing": [_growth(operation) for operation in state.operations.growing],
        "shrinking": [_removal(operation) for operation in state.operations.shrinking],
        "ended": [
            *[_growth(operation) for operation in state.operations.ended_growing],
            *[_removal(operation) for operation in state.operations.ended_shrinking],
        ],
        "waitingPods": [
            {"pod": pod.name, "since": _moment(pod.since), "reasons": dict(pod.reasons)} for pod in seen.waiting
        ],
        "unneededNodes": [{"node": node.name, "since": node.since.isoformat()} for node in seen.unneeded.values()],
        "stayingNodes": [
            {"node": node.name, "reason": node.reason.value, "text": node.reason.text, "detail": node.detail}
            for node in seen.staying.values()
        ],
        "troubles": [
            {"kind": trouble.kind.value, "subject": trouble.subject, "detail": trouble.detail}
            for trouble in state.node_groups.troubles
        ],
        "counters": {name.value: seen.counters.get(name, 0) for name in CounterName},
    }


def not_ready(state: State, policy: Policy, now: datetime) -> str:
    """Why exoscaler is not at work, empty when it is: it has evaluated not long ago (R190)."""
    last = state.last_evaluation_at
    if last is None:
        return "no evaluation has been made yet"
    limit = policy.health.longest_silence
    if now - last > limit:
        return f"the last evaluation was at {last.isoformat()}, more than {limit} ago"
    return ""


def _groups(state: State) -> list[NodeGroup]:
    return sorted(state.node_groups.groups.values(), key=lambda group: (group.name, group.id))


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _quota(state: State) -> Told:
    quota = state.node_groups.quota
    return None if quota is None else {"limit": quota.limit, "usage": quota.usage, "headroom": quota.headroom}


def _group(group: NodeGroup, backoff: Backoff | None, now: datetime) -> Told:
    held = backoff is not None and backoff.until >= now
    return {
        "name": group.name,
        "id": group.id,
        "kind": group.kind.value,
        "nodepoolId": group.nodepool_id,
        "clusterId": group.cluster_id,
        "size": group.pool.size,
        "members": len(group.pool.members),
        "state": group.pool.state_text or group.pool.state.value,
        "minSize": group.min_size,
        "maxSize": group.max_size,
        "minAvailable": group.min_available,
        "antiAffinityLimit": group.anti_affinity_limit,
        "stale": group.stale,
        "backoff": (
            {"until": backoff.until.isoformat(), "failure": backoff.failure.value, "detail": backoff.detail}
            if backoff is not None and held
            else None
        ),
    }


def _growth(operation: GrowOperation) -> Told:
    return {
        "id": operation.id,
        "kind": "grow",
        "group": operation.group_name,
        "from": operation.base_size,
        "to": operation.target_size,
        "phase": operation.phase.value,
        "plannedAt": operation.planned_at.isoformat(),
        "phaseSince": _moment(operation.phase_since),
        "failure": operation.failure.value if operation.failure else None,
        "remedy": operation.failure.remedy if operation.failure else None,
        "detail": operation.detail,
    }


def _removal(operation: ShrinkOperation) -> Told:
    return {
        "id": operation.id,
        "kind": "shrink",
        "group": operation.group_name,
        "node": operation.node_name,
        "instance": operation.instance_id,
        "mode": operation.mode.value,
        "phase": operation.phase.value,
        "plannedAt": operation.planned_at.isoformat(),
        "phaseSince": _moment(operation.phase_since),
        "rollback": operation.rollback.value if operation.rollback else None,
        "detail": operation.detail,
    }
