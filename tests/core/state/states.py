"""States: random small ones that use every field, and a large one as a big cluster would have it."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from exoscaler.core.model import (
    FrozenMap,
    GroupDescription,
    GroupKind,
    NodeGroup,
    Pool,
    PoolState,
    Quota,
    Taint,
    TaintEffect,
    Trouble,
    TroubleKind,
)
from exoscaler.core.operations.model import Claim, GrowOperation, ShrinkMode, ShrinkOperation
from exoscaler.core.reasons import GrowFailure, Unremovable
from exoscaler.core.state import (
    Backoff,
    CounterName,
    NodeGroupsDocument,
    ObservationsDocument,
    OperationsDocument,
    State,
    StayingNode,
    UnneededNode,
    WaitingPod,
)
from tests.builders import NOW, ago

_texts = st.text(st.characters(codec="utf-8"), max_size=12)
_ids = st.uuids().map(str)
_times = st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 the zone is added
_maybe_times = st.none() | _times
_labels = st.dictionaries(_texts, _texts, max_size=3).map(FrozenMap)

_taints = st.builds(Taint, _texts, st.sampled_from(TaintEffect), _texts)
_pools = st.builds(Pool, st.integers(0, 500), st.lists(_ids, max_size=4).map(tuple), st.sampled_from(PoolState), _texts)
_groups = st.builds(
    NodeGroup,
    id=_ids,
    kind=st.sampled_from(GroupKind),
    name=_texts,
    pool=_pools,
    min_size=st.integers(0, 5),
    max_size=st.integers(5, 500),
    read_at=_times,
    nodepool_id=_texts,
    description=st.builds(
        GroupDescription,
        labels=_labels,
        taints=st.lists(_taints, max_size=2).map(tuple),
        instance_type_id=_texts,
        disk_gib=st.none() | st.integers(10, 1000),
        max_pods=st.none() | st.integers(1, 250),
    ),
    anti_affinity_limit=st.none() | st.just(8),
    stale=_texts,
)
_growths = st.builds(GrowOperation, id=_ids, planned_at=_times, phase_since=_maybe_times, base_members=st.just(("a",)))
_removals = st.builds(ShrinkOperation, id=_ids, planned_at=_times, evict_sent_at=_maybe_times, look_at=_maybe_times)

small_states = st.builds(
    State,
    node_groups=st.builds(
        NodeGroupsDocument,
        version=st.just(1),
        groups=st.lists(_groups, max_size=3).map(lambda groups: {group.id: group for group in groups}),
        quota=st.none() | st.builds(Quota, st.integers(-1, 500), st.integers(0, 500)),
        unmanaged=st.lists(_ids, max_size=2).map(tuple),
        troubles=st.lists(st.builds(Trouble, st.sampled_from(TroubleKind), _texts, _texts), max_size=2).map(tuple),
        refreshed_at=_maybe_times,
        attempted_at=_maybe_times,
    ),
    operations=st.builds(
        OperationsDocument,
        version=st.just(1),
        growing=st.lists(_growths, max_size=2).map(tuple),
        shrinking=st.lists(_removals, max_size=2).map(tuple),
        claims=st.lists(st.builds(Claim, _ids, _texts, _times), max_size=2).map(tuple),
        ended_growing=st.lists(_growths, max_size=1).map(tuple),
        ended_shrinking=st.lists(_removals, max_size=1).map(tuple),
    ),
    observations=st.builds(
        ObservationsDocument,
        version=st.just(1),
        unneeded=st.dictionaries(_ids, st.builds(UnneededNode, name=_texts, since=_times), max_size=2),
        staying=st.dictionaries(
            _ids,
            st.builds(StayingNode, name=_texts, reason=st.sampled_from(Unremovable), detail=_texts, until=_maybe_times),
            max_size=2,
        ),
        unregistered=st.dictionaries(_ids, _times, max_size=2),
        backoffs=st.dictionaries(
            _ids,
            st.builds(
                Backoff,
                seconds=st.integers(1, 1800),
                until=_times,
                failed_at=_times,
                failure=st.sampled_from(GrowFailure),
                detail=_texts,
            ),
            max_size=2,
        ),
        grown_at=st.dictionaries(_ids, _times, max_size=2),
        shrunk_at=st.dictionaries(_ids, _times, max_size=2),
        shrink_failed_at=st.dictionaries(_ids, _times, max_size=2),
        waiting=st.lists(
            st.builds(WaitingPod, name=_texts, reasons=st.dictionaries(_texts, _texts, max_size=2), since=_maybe_times),
            max_size=2,
        ).map(tuple),
        evaluation_started_at=_maybe_times,
        evaluation_ended_at=_maybe_times,
        evaluations=st.integers(0, 10**6),
        unhealthy_since=_maybe_times,
        counters=st.dictionaries(st.sampled_from(CounterName), st.integers(0, 10**9), max_size=3),
    ),
)


def simple_state(evaluations: int = 1) -> State:
    return State(observations=ObservationsDocument(evaluations=evaluations, evaluation_started_at=NOW))


def big_state(*, nodes: int = 5000, groups: int = 20, operations: int = 10, seed: int = 1) -> State:
    """Every node unneeded or staying with an explanation, ids as random as the cloud and the cluster make them."""
    chance = random.Random(seed)

    def new_id() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    found: dict[str, NodeGroup] = {}
    unneeded: dict[str, UnneededNode] = {}
    staying: dict[str, StayingNode] = {}
    for number in range(groups):
        members = tuple(sorted(new_id() for _ in range(nodes // groups)))
        group = _big_group(new_id(), number, members, new_id())
        found[group.id] = group
        for index, _ in enumerate(members):
            name = f"pool-{chance.getrandbits(20):05x}-{chance.getrandbits(25):05x}"
            if index % 2:
                since = ago(chance.uniform(0, 3600))
                unneeded[new_id()] = UnneededNode(name=name, since=since)
            else:
                staying[new_id()] = _staying(name, chance)
    growing = tuple(_growth(new_id(), group) for group in list(found.values())[: operations // 2])
    shrinking = tuple(
        _removal(new_id(), group, new_id(), new_id()) for group in list(found.values())[operations // 2 : operations]
    )
    return State(
        node_groups=NodeGroupsDocument(groups=found, quota=Quota(6000, nodes), refreshed_at=NOW, attempted_at=NOW),
        operations=OperationsDocument(growing=growing, shrinking=shrinking),
        observations=ObservationsDocument(
            unneeded=unneeded, staying=staying, evaluation_started_at=NOW, evaluation_ended_at=NOW, evaluations=9
        ),
    )


def _big_group(group_id: str, number: int, members: tuple[str, ...], nodepool_id: str) -> NodeGroup:
    return NodeGroup(
        id=group_id,
        kind=GroupKind.SKS_NODEPOOL,
        name=f"workers-{number}",
        pool=Pool(len(members), members, PoolState.RUNNING, "running"),
        min_size=1,
        max_size=500,
        read_at=NOW,
        nodepool_id=nodepool_id,
        cluster_name="production",
        description=GroupDescription(labels=FrozenMap({"team": f"team-{number}"}), instance_type_id=nodepool_id),
    )


def _staying(name: str, chance: random.Random) -> StayingNode:
    pod = f"shop/checkout-{chance.getrandbits(40):010x}-{chance.getrandbits(25):05x}"
    if chance.random() < 0.5:
        return StayingNode(name=name, reason=Unremovable.BLOCKED_BY_POD, detail=f"{pod}: NotReplicated")
    return StayingNode(
        name=name,
        reason=Unremovable.NO_PLACE_TO_MOVE_PODS,
        detail=f"{pod}: Insufficient memory ({chance.getrandbits(33)} short) on {chance.getrandbits(9)} nodes",
        until=NOW + timedelta(minutes=5),
    )


def _growth(operation_id: str, group: NodeGroup) -> GrowOperation:
    return GrowOperation(
        id=operation_id,
        group_id=group.id,
        group_name=group.name,
        decision_id=operation_id,
        base_size=group.pool.size,
        base_members=group.pool.members,
        target_size=group.pool.size + 3,
        planned_at=NOW,
    )


def _removal(operation_id: str, group: NodeGroup, node_uid: str, instance_id: str) -> ShrinkOperation:
    return ShrinkOperation(
        id=operation_id,
        group_id=group.id,
        group_name=group.name,
        decision_id=operation_id,
        node_name="pool-1-a",
        node_uid=node_uid,
        instance_id=instance_id,
        mode=ShrinkMode.DRAIN,
        planned_at=NOW,
    )
