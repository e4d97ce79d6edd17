"""What holds for every plan of growth, over random clusters."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exoscaler.core.model import (
    ClusterSnapshot,
    GroupDescription,
    Node,
    NodeGroup,
    Pod,
    PoolState,
    Quota,
    Toleration,
    TolerationOperator,
)
from exoscaler.core.operations.model import GrowOperation, GrowPhase, ShrinkPhase
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.policy import ExpanderName, GrowthPolicy, Policy, ResourceLimits
from exoscaler.core.reasons import PodSkip
from exoscaler.core.scaleup import ledger_for, look_ahead, plan_growth
from exoscaler.core.scaleup.limits import cores_of, headroom
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, Origin, Place, why_not
from exoscaler.core.state import OperationsDocument
from tests.builders import (
    ago,
    instance_id,
    make_daemonset_pod,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
    taint,
)

_NAMES = ("a", "b", "c")
_CORES = (2, 4, 8)


@dataclass(frozen=True)
class _Pool:
    """A random group: how many nodes it has, how full they are, how many members have no node yet."""

    cores: int
    nodes: int
    booting: int
    starting: int
    missing: int
    tainted: bool
    room: int
    min_size: int
    spare: int
    state: PoolState


_POOLS = st.builds(
    _Pool,
    cores=st.sampled_from(_CORES),
    nodes=st.integers(0, 3),
    booting=st.integers(0, 2),
    starting=st.integers(0, 1),
    missing=st.integers(0, 1),
    tainted=st.booleans(),
    room=st.integers(0, 2000),
    min_size=st.integers(0, 5),
    spare=st.integers(-1, 6),
    state=st.sampled_from([PoolState.RUNNING] * 4 + [PoolState.SCALING_UP, PoolState.BUSY]),
)
_WAITING = st.tuples(
    st.sampled_from([100, 700, 1100, 1500, 1900, 3500, 7000]),
    st.sampled_from([None, None, *_NAMES]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 100, -5]),
    st.integers(1, 900),
)
_POLICIES = st.builds(
    lambda expander, total, cores, per_scaleup: Policy(
        growth=GrowthPolicy(
            expanders=(expander,),
            max_nodes_total=total,
            cores=ResourceLimits(0, cores),
            max_nodes_per_scaleup=per_scaleup,
        )
    ),
    st.sampled_from(list(ExpanderName)),
    st.sampled_from([0, 0, 8, 14]),
    st.sampled_from([10**6, 10**6, 40, 70]),
    st.sampled_from([1000, 1000, 1000, 3]),
)


def _group(name: str, pool: _Pool) -> tuple[NodeGroup, list[Node], list[Pod]]:
    nodes = [make_node(f"{name}{i}", cpu=str(pool.cores), labels={"pool": name}) for i in range(pool.nodes)]
    young = [_young(f"{name}-young{i}", name, pool.cores) for i in range(pool.starting)]
    pods = [
        make_pod(f"filler-{node.name}", node=node.name, cpu=f"{max(0, pool.cores * 1000 - pool.room * i)}m")
        for i, node in enumerate(nodes)
    ]
    pods += [make_daemonset_pod(f"agent-{node.name}", node=node.name, cpu="100m") for node in nodes]
    members = [*(instance_id(n.name) for n in (*nodes, *young)), *(f"{name}-boot{i}" for i in range(pool.booting))]
    group = make_group(
        name,
        members=members,
        size=len(members) + pool.missing,
        min_size=pool.min_size,
        max_size=max(pool.min_size, len(members) + pool.missing + pool.spare),
        state=pool.state,
        description=GroupDescription(
            taints=(taint("dedicated"),) if pool.tainted else (), instance_type_id=f"t{pool.cores}"
        ),
    )
    return group, [*nodes, *young], pods


def _young(name: str, pool: str, cores: int) -> Node:
    return make_node(name, cpu=str(cores), labels={"pool": pool}, age=60, ready=False)


@st.composite
def _scenes(draw: st.DrawFn) -> Scene:
    pools = draw(st.lists(_POOLS, min_size=1, max_size=3))
    built = [_group(name, pool) for name, pool in zip(_NAMES, pools, strict=False)]
    waiting = [
        make_pod(
            f"w{i:02}",
            cpu=f"{cpu}m",
            node_selector={} if pool is None else {"pool": pool},
            tolerations=[Toleration("dedicated", TolerationOperator.EXISTS)] if tolerant else [],
            priority=priority,
            age=age,
        )
        for i, (cpu, pool, tolerant, priority, age) in enumerate(draw(st.lists(_WAITING, max_size=25)))
    ]
    groups = [group for group, _, _ in built]
    used = sum(len(group.pool.members) for group in groups)
    room = draw(st.sampled_from([None, None, 2, 5, 30]))
    removable = [(group, node) for group, nodes, _ in built for node in nodes if node.is_ready]
    leaving = draw(st.lists(st.sampled_from(removable), max_size=1)) if removable else []
    return make_scene(
        *groups,
        nodes=[node for _, nodes, _ in built for node in nodes],
        pods=[*(pod for _, _, pods in built for pod in pods), *waiting],
        policy=draw(_POLICIES),
        quota=None if room is None else Quota(used + room, used),
        shrinking=[make_removal(group, node, phase=ShrinkPhase.DRAINING) for group, node in leaving],
    )


def _planned(scene: Scene) -> tuple[GrowthPlan, Ledger]:
    ledger = ledger_for(scene)
    return plan_growth(scene, ledger), ledger


_settings = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_settings
@given(_scenes())
def test_no_bound_is_exceeded(scene: Scene) -> None:  # I1
    plan, _ = _planned(scene)
    groups = {group.id: group for group in scene.groups}
    outlook = look_ahead(scene)
    left = headroom(scene, outlook)
    ordered = sum(op.target_size - op.base_size for op in plan.operations)

    assert len({op.group_id for op in plan.operations}) == len(plan.operations)
    for op in plan.operations:
        group = groups[op.group_id]
        assert group.pool.size == op.base_size < op.target_size <= group.max_size
        assert group.pool.state.accepts_changes
    assert ordered <= scene.policy.growth.max_nodes_per_scaleup
    if left.quota is not None:
        assert ordered <= left.quota
    if left.nodes is not None:
        assert ordered <= max(left.nodes, 0)
    cores = 0
    for op in plan.operations:
        if template := outlook.templates[op.group_id]:
            cores += (op.target_size - op.base_size) * cores_of(template.node.capacity)
    assert cores <= max(left.cores, 0)


@_settings
@given(_scenes())
def test_never_more_nodes_than_pods_beyond_the_minimum(scene: Scene) -> None:
    plan, _ = _planned(scene)
    groups = {group.id: group for group in scene.groups}
    helped = [entry.group_id for entry in plan.helped]

    for op in plan.operations:
        for_minimum = max(0, groups[op.group_id].min_size - op.base_size)
        assert op.target_size - op.base_size <= for_minimum + helped.count(op.group_id)


@_settings
@given(_scenes())
def test_every_waiting_pod_gets_exactly_one_answer(scene: Scene) -> None:
    plan, _ = _planned(scene)
    answered = [
        *(entry.pod for entry in plan.helped),
        *(entry.pod for entry in plan.unhelped),
        *(entry.pod for entry in plan.skipped),
    ]

    assert sorted(pod.uid for pod in answered) == sorted(pod.uid for pod in scene.snapshot.pods if not pod.is_bound)
    for entry in plan.unhelped:
        assert len(entry.verdicts) == len(scene.groups)
        assert all((verdict.skip is None) != (not verdict.rejections) for verdict in entry.verdicts)


@_settings
@given(_scenes())
def test_every_pod_that_is_promised_a_place_really_fits_there(scene: Scene) -> None:
    plan, ledger = _planned(scene)
    promised = {entry.pod.uid: entry.group_id for entry in plan.helped}
    found = {entry.pod.uid for entry in plan.skipped if entry.reason in (PodSkip.FITS_EXISTING, PodSkip.FITS_UPCOMING)}
    seen: set[str] = set()

    for place in ledger.places:
        waiting = [pod for pod in place.pods if not pod.is_bound]
        replayed = Place.of(place.node, [pod for pod in place.pods if pod.is_bound])
        for pod in waiting:
            assert why_not(pod, replayed) == ()
            replayed = replayed.with_pods((pod,))
            assert promised.get(pod.uid, place.group_id) == place.group_id
            assert (pod.uid in promised) == (place.origin is Origin.ORDERED)
        uids = {pod.uid for pod in waiting}
        assert not uids & seen
        seen |= uids
    assert seen == set(promised) | found


@_settings
@given(_scenes(), st.integers(0, 2**32))
def test_the_order_in_which_things_were_read_does_not_matter(scene: Scene, seed: int) -> None:
    shuffled = _shuffled(scene, random.Random(seed))

    assert _planned(shuffled)[0] == _planned(scene)[0]


def _shuffled(scene: Scene, chance: random.Random) -> Scene:
    nodes, pods = list(scene.snapshot.nodes), list(scene.snapshot.pods)
    groups = list(scene.state.node_groups.groups.items())
    for things in (nodes, pods, groups):
        chance.shuffle(things)
    cache = scene.state.node_groups.model_copy(update={"groups": dict(groups)})
    snapshot = ClusterSnapshot(tuple(nodes), tuple(pods), scene.snapshot.taken_at)
    return replace(scene, snapshot=snapshot, state=scene.state.model_copy(update={"node_groups": cache}))


@_settings
@given(_scenes(), st.sampled_from(["planned", "scaling", "members", "registered"]))
def test_a_plan_that_was_carried_out_is_not_ordered_again(scene: Scene, progress: str) -> None:  # I3, R37
    scene = _at_rest(scene)
    plan, _ = _planned(scene)
    again, _ = _planned(_carried_out(scene, plan, progress))

    assert again.operations == ()
    assert [entry.pod for entry in again.unhelped] == [entry.pod for entry in plan.unhelped]


def _like(template: Node, name: str) -> Node:
    """A node that has just registered as it was expected to: a label that no template knew would change the plan."""
    labels = template.labels.without("kubernetes.io/hostname")
    return make_node(name, allocatable=template.allocatable, labels=labels, age=60, ready=False)


def _at_rest(scene: Scene) -> Scene:
    """The scene without a limit on one scale-up, and with as many members as each pool at rest says it has."""
    roomy = replace(scene.policy, growth=replace(scene.policy.growth, max_nodes_per_scaleup=1000))
    groups = {
        group.id: replace(group, pool=replace(group.pool, size=len(group.pool.members)))
        if group.pool.state is PoolState.RUNNING
        else group
        for group in scene.groups
    }
    cache = scene.state.node_groups.model_copy(update={"groups": groups})
    return replace(scene, policy=roomy, state=scene.state.model_copy(update={"node_groups": cache}))


def _carried_out(scene: Scene, plan: GrowthPlan, progress: str) -> Scene:
    """The scene after a plan was recorded and came as far as `progress` says."""
    groups = dict(scene.state.node_groups.groups)
    nodes = list(scene.snapshot.nodes)
    growing: list[GrowOperation] = []
    for op in plan.operations:
        group = groups[op.group_id]
        new = [f"{op.group_id}-new{i}" for i in range(op.target_size - op.base_size)]
        phase = GrowPhase.PLANNED
        if progress != "planned":
            phase = GrowPhase.SUBMITTED if progress == "scaling" else GrowPhase.PROVISIONING
            there = new[: len(new) // 2] if progress == "scaling" else new
            state = PoolState.SCALING_UP if progress == "scaling" else PoolState.RUNNING
            ids = [instance_id(name) for name in there]
            pool = replace(
                group.pool, size=op.target_size, members=tuple(sorted((*group.pool.members, *ids))), state=state
            )
            groups[op.group_id] = replace(group, pool=pool)
        template = look_ahead(scene).templates[op.group_id]
        if progress == "registered" and template is not None:
            nodes += [_like(template.node, name) for name in new[: len(new) // 2]]
        growing.append(replace(op, phase=phase, phase_since=ago(60)))
    quota = scene.state.node_groups.quota
    if quota is not None:
        added = sum(len(g.pool.members) for g in groups.values()) - sum(len(g.pool.members) for g in scene.groups)
        quota = Quota(quota.limit, quota.usage + added)
    recorded = scene.state.model_copy(
        update={
            "node_groups": scene.state.node_groups.model_copy(update={"groups": groups, "quota": quota}),
            "operations": OperationsDocument(growing=tuple(growing), shrinking=scene.state.operations.shrinking),
            "observations": scene.state.observations.model_copy(update={"evaluations": 1}),
        }
    )
    snapshot = ClusterSnapshot(tuple(nodes), scene.snapshot.pods, scene.snapshot.taken_at)
    return replace(scene, snapshot=snapshot, state=recorded, decision_id="next")
