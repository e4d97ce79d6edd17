"""Builders that make objects readable: name what matters to the test, the rest is ordinary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from exoscaler.core.model import (
    ClusterSnapshot,
    ConditionStatus,
    Constraint,
    DaemonSet,
    DisruptionBudget,
    FrozenMap,
    GroupDescription,
    GroupKind,
    LabelSelector,
    Node,
    NodeCondition,
    NodeGroup,
    NodeSelectorTerm,
    Operator,
    Owner,
    Pod,
    PodPhase,
    PodSpec,
    Pool,
    PoolState,
    Quota,
    Requirement,
    Resources,
    RestartPolicy,
    SchedulerVerdict,
    Taint,
    TaintEffect,
    Toleration,
    Volume,
)
from exoscaler.core.model.quantity import milli, whole
from exoscaler.core.operations.model import GrowOperation, GrowPhase, ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import Policy
from exoscaler.core.scene import Scene
from exoscaler.core.state import Backoff, NodeGroupsDocument, ObservationsDocument, OperationsDocument, State

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
"""The moment at which tests of the core take place."""


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def resources(*, cpu: str = "0", memory: str = "0", pods: int = 0, storage: str = "0", **extended: int) -> Resources:
    named = {name.replace("__", "/").replace("_", "."): amount for name, amount in extended.items()}
    return Resources(milli(cpu), whole(memory), whole(storage), pods, FrozenMap(named))


def taint(key: str, value: str = "", effect: TaintEffect = TaintEffect.NO_SCHEDULE) -> Taint:
    return Taint(key, effect, value)


def instance_id(name: str) -> str:
    return f"instance-of-{name}"


def make_node(
    name: str = "node",
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    ready: bool = True,
    unschedulable: bool = False,
    age: float = 7200,
    ready_since: float | None = None,
    provider_id: str | None = None,
    allocatable: Resources | None = None,
) -> Node:
    """A ready node of 4 cores and 16 GiB, two hours old; `age` and `ready_since` in seconds before `NOW`."""
    have = allocatable or resources(cpu=cpu, memory=memory, pods=pods, storage="40Gi")
    since = ago(ready_since if ready_since is not None else max(age - 30, 0))
    status = ConditionStatus.TRUE if ready else ConditionStatus.FALSE
    return Node(
        name=name,
        uid=f"uid-of-{name}",
        created_at=ago(age),
        provider_id=f"exoscale://{instance_id(name)}" if provider_id is None else provider_id,
        system_uuid=instance_id(name),
        labels=FrozenMap({"kubernetes.io/hostname": name, **(labels or {})}),
        annotations=FrozenMap(annotations or {}),
        taints=tuple(taints),
        unschedulable=unschedulable,
        capacity=have,
        allocatable=have,
        conditions=(NodeCondition("Ready", status, since),),
    )


def make_pod(
    name: str = "pod",
    *,
    namespace: str = "default",
    cpu: str = "100m",
    memory: str = "64Mi",
    requests: Resources | None = None,
    node: str = "",
    owner: str | None = "web",
    owner_kind: str = "ReplicaSet",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    node_selector: Mapping[str, str] | None = None,
    node_affinity: Sequence[NodeSelectorTerm] | None = None,
    tolerations: Sequence[Toleration] = (),
    volumes: Sequence[Volume] = (),
    unmodelled: Sequence[Constraint] = (),
    priority: int | None = 0,
    phase: PodPhase | None = None,
    verdict: SchedulerVerdict | None = None,
    nominated_node: str = "",
    age: float = 600,
    deleted_ago: float | None = None,
    grace_seconds: int = 30,
    restart_policy: RestartPolicy = RestartPolicy.ALWAYS,
) -> Pod:
    """A pod of a ReplicaSet: running when it has a node, unschedulable when it has none."""
    spec = PodSpec(
        requests=requests or resources(cpu=cpu, memory=memory),
        node_selector=FrozenMap(node_selector or {}),
        node_affinity=None if node_affinity is None else tuple(node_affinity),
        tolerations=tuple(tolerations),
        volumes=tuple(volumes),
        priority=priority,
        restart_policy=restart_policy,
        grace_seconds=grace_seconds,
        unmodelled=tuple(unmodelled),
    )
    default_verdict = SchedulerVerdict.SCHEDULED if node else SchedulerVerdict.UNSCHEDULABLE
    return Pod(
        namespace=namespace,
        name=name,
        uid=f"uid-of-{namespace}-{name}",
        spec=spec,
        created_at=ago(age),
        labels=FrozenMap(labels or {}),
        annotations=FrozenMap(annotations or {}),
        owner=None if owner is None else Owner(owner_kind, owner, f"uid-of-{owner_kind}-{owner}"),
        phase=phase or (PodPhase.RUNNING if node else PodPhase.PENDING),
        node_name=node,
        nominated_node=nominated_node,
        verdict=verdict or default_verdict,
        deleted_at=None if deleted_ago is None else ago(deleted_ago),
    )


def make_daemonset_pod(
    name: str, *, node: str, daemonset: str = "agent", cpu: str = "100m", memory: str = "64Mi"
) -> Pod:
    return make_pod(
        name, namespace="kube-system", node=node, owner=daemonset, owner_kind="DaemonSet", cpu=cpu, memory=memory
    )


def make_group(
    name: str = "pool",
    *,
    nodes: Sequence[Node] = (),
    members: Sequence[str] | None = None,
    size: int | None = None,
    min_size: int = 1,
    max_size: int = 10,
    state: PoolState = PoolState.RUNNING,
    kind: GroupKind = GroupKind.SKS_NODEPOOL,
    description: GroupDescription | None = None,
    stale: str = "",
    read_ago: float = 5,
) -> NodeGroup:
    """A running SKS group whose members are the instances of `nodes`, as large as it has members."""
    ids = tuple(sorted(instance_id(node.name) for node in nodes)) if members is None else tuple(sorted(members))
    return NodeGroup(
        id=f"id-of-{name}",
        kind=kind,
        name=name,
        pool=Pool(len(ids) if size is None else size, ids, state, state.value),
        min_size=min_size,
        max_size=max_size,
        read_at=ago(read_ago),
        nodepool_id=f"nodepool-of-{name}" if kind is GroupKind.SKS_NODEPOOL else "",
        cluster_id="cluster" if kind is GroupKind.SKS_NODEPOOL else "",
        description=description or GroupDescription(),
        stale=stale,
    )


def make_budget(
    name: str = "budget", *, namespace: str = "default", labels: Mapping[str, str] | None = None, allowed: int = 1
) -> DisruptionBudget:
    requirements = tuple(Requirement(key, Operator.IN, (value,)) for key, value in sorted((labels or {}).items()))
    return DisruptionBudget(namespace, name, LabelSelector(requirements), allowed)


def make_snapshot(
    nodes: Sequence[Node] = (),
    pods: Sequence[Pod] = (),
    *,
    budgets: Sequence[DisruptionBudget] = (),
    daemonsets: Sequence[DaemonSet] = (),
    taken_at: datetime = NOW,
) -> ClusterSnapshot:
    return ClusterSnapshot(tuple(nodes), tuple(pods), taken_at, tuple(budgets), tuple(daemonsets))


def make_growth(
    group: NodeGroup,
    *,
    to: int,
    base_size: int | None = None,
    base_members: Sequence[str] | None = None,
    phase: GrowPhase = GrowPhase.PLANNED,
    since: float = 30,
    number: int = 1,
    decision_id: str = "earlier",
) -> GrowOperation:
    """A growth of the group to size `to`, planned `since` seconds ago on the group as it is."""
    return GrowOperation(
        id=f"{decision_id}-grow-{number}",
        group_id=group.id,
        group_name=group.name,
        decision_id=decision_id,
        base_size=group.pool.size if base_size is None else base_size,
        base_members=group.pool.members if base_members is None else tuple(base_members),
        target_size=to,
        planned_at=ago(since),
        phase=phase,
        phase_since=ago(since),
    )


def make_removal(
    group: NodeGroup,
    node: Node,
    *,
    phase: ShrinkPhase = ShrinkPhase.DRAINING,
    mode: ShrinkMode = ShrinkMode.DRAIN,
    since: float = 30,
    decision_id: str = "earlier",
) -> ShrinkOperation:
    """The removal of a node of the group, planned `since` seconds ago."""
    return ShrinkOperation(
        id=f"{decision_id}-shrink-{node.name}",
        group_id=group.id,
        group_name=group.name,
        decision_id=decision_id,
        node_name=node.name,
        node_uid=node.uid,
        instance_id=instance_id(node.name),
        mode=mode,
        planned_at=ago(since),
        phase=phase,
        phase_since=ago(since),
    )


def make_scene(
    *groups: NodeGroup,
    nodes: Sequence[Node] = (),
    pods: Sequence[Pod] = (),
    policy: Policy | None = None,
    quota: Quota | None = None,
    growing: Sequence[GrowOperation] = (),
    shrinking: Sequence[ShrinkOperation] = (),
    ended_shrinking: Sequence[ShrinkOperation] = (),
    backoffs: Mapping[str, Backoff] | None = None,
    unregistered: Mapping[str, float] | None = None,
    evaluations: int = 0,
    decision_id: str = "decision",
    now: datetime = NOW,
) -> Scene:
    """A scene at `NOW`; `unregistered` says for how many seconds instances have been without a node."""
    since = {instance: ago(seconds) for instance, seconds in (unregistered or {}).items()}
    state = State(
        node_groups=NodeGroupsDocument(groups={group.id: group for group in groups}, quota=quota),
        operations=OperationsDocument(
            growing=tuple(growing), shrinking=tuple(shrinking), ended_shrinking=tuple(ended_shrinking)
        ),
        observations=ObservationsDocument(backoffs=dict(backoffs or {}), unregistered=since, evaluations=evaluations),
    )
    return Scene(make_snapshot(nodes, pods), state, policy or Policy(), now, decision_id)
