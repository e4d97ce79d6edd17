"""What holds for every plan of removals, over random small clusters (I1, I2, I6)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from exoscaler.core.model import Node, Pod
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.plan import ShrinkPlan
from exoscaler.core.planner import evaluate
from exoscaler.core.scaledown import recheck_plan
from exoscaler.core.scene import Scene
from tests.builders import make_group, make_node, make_pod, make_scene
from tests.core.scaledown.clusters import scenes
from tests.core.scaledown.plans import planned, shrinking
from tests.core.scenes import report, with_objects

EXAMPLES = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def new_removals(plan: ShrinkPlan) -> list[ShrinkOperation]:
    """The removals of nodes, without what is only put in order."""
    return [op for op in plan.operations if op.phase is ShrinkPhase.PLANNED]


def is_leaving(operation: ShrinkOperation) -> bool:
    return operation.phase is not ShrinkPhase.ROLLING_BACK


def pods_on(scene: Scene, node_name: str) -> list[Pod]:
    return [pod for pod in scene.snapshot.pods if pod.node_name == node_name]


def is_cheap(pod: Pod) -> bool:
    return (pod.spec.priority or 0) < -10


def needs_a_place(pod: Pod) -> bool:
    return not (is_cheap(pod) or (pod.owner is not None and pod.owner.kind == "DaemonSet"))


# An independent judge: exhaustive search, on nothing but requests and taints


def fit_together(pods: Sequence[Pod], rooms: dict[str, int]) -> bool:
    """Whether pods of these CPU requests fit the free milli-CPU of the nodes, tried in every way."""
    if not pods:
        return True
    first, rest = pods[0], pods[1:]
    tried: set[int] = set()
    for name, free in rooms.items():
        want = first.spec.requests.cpu
        if want <= free and free not in tried:
            tried.add(free)
            if fit_together(rest, {**rooms, name: free - want}):
                return True
    return False


def free_room(scene: Scene, node: Node) -> int:
    return node.allocatable.cpu - sum(p.spec.requests.cpu for p in pods_on(scene, node.name) if not is_cheap(p))


def takes_pods(node: Node) -> bool:
    return node.is_ready and not node.unschedulable and not node.taints


@EXAMPLES
@given(scenes())
def test_pods_of_all_removed_nodes_fit_on_those_that_stay(scene: Scene) -> None:  # I2
    removals = new_removals(planned(scene))
    gone = {op.node_name for op in removals}
    gone |= {op.node_name for op in scene.state.operations.shrinking if is_leaving(op)}
    moving = [p for op in removals for p in pods_on(scene, op.node_name) if needs_a_place(p)]
    moving.sort(key=lambda pod: -pod.spec.requests.cpu)
    rooms = {n.name: free_room(scene, n) for n in scene.snapshot.nodes if n.name not in gone and takes_pods(n)}
    assert fit_together(moving, rooms)


@EXAMPLES
@given(scenes())
def test_no_group_falls_below_its_minimum(scene: Scene) -> None:  # I1
    removals = new_removals(planned(scene))
    in_flight = [op for op in scene.state.operations.shrinking if is_leaving(op)]
    for group in scene.groups:
        going = sum(op.group_id == group.id for op in removals)
        if going:
            left = len(group.pool.members) - going - sum(op.group_id == group.id for op in in_flight)
            assert left >= max(group.min_size, 0 if scene.policy.scale_to_zero else 1)


@EXAMPLES
@given(scenes())
def test_no_budget_is_exceeded_by_all_removals_together(scene: Scene) -> None:  # R122
    def evicted(operations: Sequence[ShrinkOperation], covered: Callable[[Pod], bool]) -> int:
        pods = (pod for op in operations for pod in pods_on(scene, op.node_name))
        daemon = ("DaemonSet",)
        return sum(
            covered(p) and not p.is_terminating and not (p.owner is not None and p.owner.kind in daemon) for p in pods
        )

    removals = new_removals(planned(scene))
    in_flight = [op for op in scene.state.operations.shrinking if is_leaving(op)]
    for budget in scene.snapshot.budgets:
        wanted = evicted(removals, budget.covers)
        if wanted:
            assert wanted + evicted(in_flight, budget.covers) <= budget.disruptions_allowed


@EXAMPLES
@given(scenes())
def test_only_whole_and_willing_nodes_of_managed_groups_go_and_each_once(scene: Scene) -> None:
    plan = planned(scene)
    managed = {member: group for group in scene.groups for member in group.pool.members}
    busy = {op.node_uid for op in scene.state.operations.shrinking}
    removals = new_removals(plan)
    assert len({op.node_uid for op in removals}) == len(removals)
    assert len({op.id for op in plan.operations}) == len(plan.operations)
    for op in removals:
        node = scene.snapshot.node_by_name[op.node_name]
        group = managed[op.instance_id]
        assert node.uid not in busy
        assert node.deletion_taint is None
        assert not node.annotations.get("cluster-autoscaler.kubernetes.io/scale-down-disabled")
        assert group.pool.state.accepts_changes
        assert not group.is_stale
        for pod in pods_on(scene, op.node_name):
            holds = pod.owner is None or pod.annotations.get(SAFE_TO_EVICT) == "false"
            assert is_cheap(pod) or not holds


@EXAMPLES
@given(scenes())
def test_limits_of_parallelism_hold_with_those_in_flight(scene: Scene) -> None:  # R137
    removals = new_removals(planned(scene))
    policy = scene.policy.shrink
    in_flight = [op for op in scene.state.operations.shrinking if is_leaving(op)]
    drains = [op for op in (*removals, *in_flight) if op.mode is ShrinkMode.DRAIN]
    assert not removals or len(removals) + len(in_flight) <= policy.max_parallelism
    new_drains = [op for op in removals if op.mode is ShrinkMode.DRAIN]
    assert not new_drains or len(drains) <= policy.max_drain_parallelism


@EXAMPLES
@given(scenes())
def test_every_node_that_stays_is_told_why_once(scene: Scene) -> None:
    plan = planned(scene)
    assume(plan.judged)
    in_flight = {op.node_name for op in scene.state.operations.shrinking}
    told = Counter([*(v.node_name for v in plan.staying), *(op.node_name for op in plan.operations)])
    expected = {node.name for node in scene.snapshot.nodes} - in_flight
    assert told == Counter(expected)
    assert {name for _, name in plan.unneeded} <= expected


@EXAMPLES
@given(scenes(), st.randoms(use_true_random=False))
def test_order_of_objects_does_not_matter(scene: Scene, chance: random.Random) -> None:  # H.2-8
    seen = scene.snapshot
    mixed = replace(
        seen,
        nodes=tuple(chance.sample(seen.nodes, len(seen.nodes))),
        pods=tuple(chance.sample(seen.pods, len(seen.pods))),
        budgets=tuple(chance.sample(seen.budgets, len(seen.budgets))),
    )
    assert planned(replace(scene, snapshot=mixed)) == planned(scene)


@EXAMPLES
@given(scenes())
def test_nothing_new_is_removed_while_the_list_of_pods_is_in_doubt(scene: Scene) -> None:  # pain 38
    assert new_removals(planned(with_objects(scene, daemonsets=[report(50)]))) == []


@EXAMPLES
@given(scenes())
def test_plan_holds_when_it_is_proven_right_after(scene: Scene) -> None:  # I2: plan and proof are of one mind
    removals = new_removals(planned(scene))
    operations = scene.state.operations.model_copy(update={"shrinking": (*scene.state.operations.shrinking, *removals)})
    recorded = replace(scene, state=scene.state.model_copy(update={"operations": operations}))
    for op in removals:
        node = scene.snapshot.node_by_name[op.node_name]
        refusal = recheck_plan(recorded, op, node, tuple(pods_on(scene, op.node_name)))
        assert refusal is None, (op.node_name, refusal)


def test_clusters_are_such_that_much_is_planned() -> None:
    # Invariants of plans that are empty would prove nothing.
    seen: Counter[str] = Counter()

    @EXAMPLES
    @given(scenes())
    def look(scene: Scene) -> None:
        plan = planned(scene)
        seen.update(op.mode.value for op in new_removals(plan))
        seen.update(verdict.reason.value for verdict in plan.staying)

    look()
    for what in ("empty", "drain", "BlockedByPod", "NodeGroupMinSizeReached", "ParallelismUsedUp"):
        assert seen[what] >= 15, seen
    assert seen["NoPlaceToMovePods"] >= 5, seen


# Timers


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from([20, 60, 170, 181]), st.booleans()), min_size=1, max_size=40))
def test_node_that_was_needed_at_any_look_goes_only_a_full_time_later(looks: list[tuple[int, bool]]) -> None:  # K1, K7
    nodes = [make_node("n"), make_node("full")]
    group = make_group(nodes=nodes, read_ago=0)
    idle = make_scene(group, nodes=nodes, pods=[make_pod("p", node="full", cpu="3")], policy=shrinking())
    used = replace(idle, snapshot=replace(idle.snapshot, pods=(*idle.snapshot.pods, make_pod("q", node="n", cpu="3"))))
    state, now, since = idle.state, idle.now, None
    for gap, needed in looks:
        now += timedelta(seconds=gap)
        plan = evaluate(replace(used if needed else idle, state=state, now=now))
        if needed or gap > 180:
            # Not looked at for so long, it may have been needed.
            since = None
        since = since if needed else since or now
        goes = bool(plan.shrink.operations)
        assert goes == (since is not None and now - since > timedelta(minutes=10))
        if goes:
            return
        state = plan.state
