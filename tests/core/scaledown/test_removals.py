"""Which of the unneeded nodes go now, together and one after the other (R117-R128, R137)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from exoscaler.core.model import Node, Pod, PoolState
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.operations.model import ShrinkMode, ShrinkPhase
from exoscaler.core.policy import GrowthPolicy, Policy, ResourceLimits
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scene import Scene
from tests.builders import (
    instance_id,
    make_budget,
    make_daemonset_pod,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
)
from tests.core.scaledown.plans import (
    AT_ONCE,
    LONG,
    cluster,
    going,
    in_flight,
    keep,
    planned,
    reasons,
    shrinking,
    unneeded,
    verdict,
)
from tests.core.scenes import remembering, with_objects

EMPTY, DRAIN = ShrinkMode.EMPTY, ShrinkMode.DRAIN


def loaded(*names: str, cpu: str = "1", labelled: bool = False) -> tuple[list[Node], list[Pod]]:
    """Nodes of four cores with one pod each."""
    nodes = [make_node(name) for name in names]
    labels = {"app": "web"} if labelled else {}
    return nodes, [make_pod(f"on-{name}", node=name, cpu=cpu, labels=labels) for name in names]


def beside(keeper: Node, nodes: Sequence[Node], pods: Sequence[Pod], *, policy: Policy | None = None) -> Scene:
    """A cluster in which all of `nodes` could go as far as their group is concerned: the keeper is in another."""
    groups = (make_group("pool", nodes=[*nodes, make_node("ghost")]), make_group("keepers", nodes=[keeper]))
    scene = make_scene(*groups, nodes=[*nodes, keeper], pods=pods, policy=policy or shrinking())
    return remembering(scene, unneeded={node.name: LONG for node in nodes})


# Which nodes, and how


def test_idle_node_goes_empty_and_used_one_with_a_drain() -> None:  # R128
    nodes, pods = loaded("used")
    plan = planned(beside(keep(), [make_node("idle"), *nodes], pods))
    assert going(plan) == {"idle": EMPTY, "used": DRAIN}


def test_node_with_only_daemonset_pods_is_empty() -> None:  # R128
    node = make_node("n")
    static = make_pod("static", node="n", annotations={"kubernetes.io/config.mirror": "x"})
    pods = [make_daemonset_pod("agent", node="n"), static]
    assert going(planned(beside(keep(), [node], pods))) == {"n": EMPTY}


def test_node_with_an_expendable_pod_is_drained_so_that_the_pod_ends_in_order() -> None:  # R132
    pod = make_pod("cheap", node="n", owner=None, priority=-100)
    assert going(planned(beside(keep(), [make_node("n")], [pod]))) == {"n": DRAIN}


def test_pods_of_a_removed_node_must_all_find_a_place() -> None:  # R117-3
    nodes, pods = loaded("n", cpu="2")
    plan = planned(beside(make_node("small", cpu="1"), nodes, pods))
    assert verdict(plan, "n").reason is Unremovable.NO_PLACE_TO_MOVE_PODS
    assert verdict(plan, "n").detail == "default/on-n: 1 Insufficient cpu"
    assert plan.cached == {nodes[0].uid}


def test_two_removals_never_count_on_the_same_hole() -> None:  # R118, K6, pain 29
    nodes, pods = loaded("a", "b", cpu="1")
    plan = planned(beside(make_node("room", cpu="1500m"), nodes, pods))
    # One pod fits the hole. The other node could take it as well, but then it stays itself.
    assert going(plan) == {"a": DRAIN}
    assert verdict(plan, "b").reason is Unremovable.NO_PLACE_TO_MOVE_PODS


def test_two_half_empty_nodes_become_one() -> None:
    nodes, pods = loaded("a", "b", cpu="1500m")
    plan = planned(cluster(nodes, pods))
    assert going(plan) == {"a": DRAIN}
    assert unneeded(plan) == ["a"]


def test_room_that_was_promised_to_a_pending_pod_is_taken() -> None:  # K3
    nodes, pods = loaded("n", cpu="1")
    waiting = make_pod("waiting", cpu="1200m", node_selector={"kubernetes.io/hostname": "room"})
    scene = beside(make_node("room", cpu="1500m"), nodes, [*pods, waiting])
    assert verdict(planned(scene), "n").reason is Unremovable.NO_PLACE_TO_MOVE_PODS


def test_room_for_pods_of_nodes_being_drained_is_taken() -> None:
    nodes, pods = loaded("a", "b", cpu="1")
    scene = beside(make_node("room", cpu="1500m"), nodes, pods)
    removal = make_removal(scene.groups[1], nodes[0])
    operations = scene.state.operations.model_copy(update={"shrinking": (removal,)})
    plan = planned(replace(scene, state=scene.state.model_copy(update={"operations": operations})))
    assert verdict(plan, "b").reason is Unremovable.NO_PLACE_TO_MOVE_PODS


def test_blocked_node_names_the_pod_and_what_to_change() -> None:  # pains 17, 31
    pod = make_pod("bare", node="n", owner=None)
    found = verdict(planned(beside(keep(), [make_node("n")], [pod])), "n")
    assert found.reason is Unremovable.BLOCKED_BY_POD
    assert found.detail.startswith("default/bare: NotReplicated: no controller would make it again")


def test_node_waits_for_a_pod_that_is_to_complete_but_is_unneeded() -> None:  # R128
    job = make_pod("job", node="n", annotations={SAFE_TO_EVICT: "on-completion"})
    plan = planned(beside(make_node("full", cpu="1m"), [make_node("n")], [job]))
    assert unneeded(plan) == ["n"]
    assert (verdict(plan, "n").reason, verdict(plan, "n").detail) == (
        Unremovable.WAITS_FOR_COMPLETION,
        "default/job",
    )


# Order


def test_empty_nodes_are_tried_before_those_with_pods() -> None:  # R106
    nodes, pods = loaded("a")
    plan = planned(cluster([*nodes, make_node("z")], pods))
    # Either could go; the empty one does, and so the other keeps its pods.
    assert going(plan) == {"z": EMPTY}


def test_node_that_was_unneeded_before_is_tried_before_others() -> None:  # R106
    nodes, pods = loaded("a", "b")
    scene = remembering(beside(make_node("room", cpu="1500m"), nodes, pods), unneeded={"b": LONG})
    assert unneeded(planned(scene)) == ["b"]


def test_node_that_must_wait_for_its_pool_holds_no_place_that_others_could_use() -> None:
    nodes, pods = loaded("a", "b")
    groups = (
        make_group("stuck", nodes=[nodes[0], make_node("s2")], state=PoolState.BUSY),
        make_group("free", nodes=[nodes[1], make_node("f2")]),
        make_group("room", members=[instance_id("room")]),
    )
    scene = make_scene(*groups, nodes=[*nodes, make_node("room", cpu="1500m")], pods=pods, policy=shrinking())
    plan = planned(remembering(scene, unneeded={"a": LONG, "b": LONG}))
    assert going(plan) == {"b": DRAIN}


def test_moved_pods_do_not_land_on_the_next_node_to_go() -> None:
    nodes, pods = loaded("a", "b", cpu="500m")
    scene = beside(make_node("room", cpu="1"), nodes, pods)
    plan = planned(scene)
    assert going(plan) == {"a": DRAIN, "b": DRAIN}


def test_order_of_objects_does_not_change_the_plan() -> None:  # H.2-8
    nodes, pods = loaded("a", "b", "c", "d", "e", labelled=True)
    scene = with_objects(
        beside(make_node("room", cpu="2500m"), nodes, pods), budgets=[make_budget(labels={"app": "web"}, allowed=3)]
    )
    shuffle = random.Random(7)
    expected = planned(scene)
    for _ in range(10):
        seen = scene.snapshot
        mixed = replace(
            seen,
            nodes=tuple(shuffle.sample(seen.nodes, len(seen.nodes))),
            pods=tuple(shuffle.sample(seen.pods, len(seen.pods))),
        )
        assert planned(replace(scene, snapshot=mixed)) == expected


# Minimum


def test_no_more_nodes_go_than_the_group_may_lose() -> None:  # R125, I1
    nodes = [make_node(name) for name in "abcd"]
    plan = planned(cluster(nodes, group=make_group(nodes=nodes, min_size=2)))
    assert going(plan) == {"a": EMPTY, "b": EMPTY}
    assert unneeded(plan) == ["a", "b", "c", "d"]
    assert reasons(plan) == {"c": Unremovable.GROUP_MIN_SIZE_REACHED, "d": Unremovable.GROUP_MIN_SIZE_REACHED}


def test_removal_that_the_cache_has_not_seen_yet_counts_against_the_minimum() -> None:  # pain 39
    nodes = [make_node(name) for name in "ab"]
    group = make_group(members=[instance_id(name) for name in "abx"], min_size=2)
    done = make_removal(group, make_node("x"), phase=ShrinkPhase.REMOVED)
    scene = make_scene(group, nodes=nodes, ended_shrinking=[done], policy=shrinking())
    assert going(planned(remembering(scene, unneeded={"a": LONG, "b": LONG}))) == {}


@pytest.mark.parametrize(("cores", "memory", "expected"), [(0, 0, 3), (8, 0, 2), (9, 0, 1), (0, 40, 1), (17, 0, 0)])
def test_cluster_keeps_its_minimum_of_cores_and_memory(cores: int, memory: int, expected: int) -> None:  # R94, R125
    nodes = [make_node(name) for name in "abcd"]
    limits = GrowthPolicy(cores=ResourceLimits(cores, 999), memory=ResourceLimits(memory * 2**30, 2**50))
    plan = planned(cluster(nodes, policy=replace(shrinking(), growth=limits)))
    assert len(going(plan)) == expected
    if expected < 3:
        assert Unremovable.MINIMAL_RESOURCE_LIMIT_EXCEEDED in reasons(plan).values()


def test_part_of_a_core_counts_as_a_core() -> None:  # R94
    nodes = [make_node("a", cpu="3900m"), make_node("b", cpu="3900m")]
    limits = GrowthPolicy(cores=ResourceLimits(4, 999))
    assert going(planned(cluster(nodes, policy=replace(shrinking(), growth=limits)))) == {"a": EMPTY}


def test_virtual_nodes_do_not_help_to_keep_the_minimum() -> None:  # R94
    nodes = [make_node("a"), make_node("b")]
    virtual = make_node("virtual", cpu="1000", labels={"type": "virtual-kubelet"})
    limits = GrowthPolicy(cores=ResourceLimits(5, 99999))
    scene = cluster([*nodes, virtual], group=make_group(nodes=nodes), policy=replace(shrinking(), growth=limits))
    assert going(planned(scene)) == {}


def test_nodes_on_their_way_out_do_not_help_to_keep_the_minimum() -> None:
    nodes = [make_node(name) for name in "abcd"]
    group = make_group(nodes=nodes)
    limits = GrowthPolicy(cores=ResourceLimits(12, 999))
    scene = make_scene(
        group,
        nodes=nodes,
        shrinking=[make_removal(group, nodes[0], mode=EMPTY, phase=ShrinkPhase.DRAINED)],
        policy=replace(shrinking(), growth=limits),
    )
    plan = planned(remembering(scene, unneeded={n.name: LONG for n in nodes}))
    assert going(plan) == {}
    assert set(reasons(plan).values()) == {Unremovable.MINIMAL_RESOURCE_LIMIT_EXCEEDED}


# How many at a time


def test_only_so_many_go_at_a_time_empty_ones_first() -> None:  # R137
    nodes, pods = loaded("a", "b")
    idle = [make_node(f"idle-{i}") for i in range(2)]
    policy = shrinking(replace(AT_ONCE, max_parallelism=3))
    plan = planned(beside(keep(), [*nodes, *idle], pods, policy=policy))
    assert going(plan) == {"idle-0": EMPTY, "idle-1": EMPTY, "a": DRAIN}
    assert (verdict(plan, "b").reason, verdict(plan, "b").detail) == (
        Unremovable.PARALLELISM_USED_UP,
        "max-scale-down-parallelism is 3",
    )


def test_drains_have_a_limit_of_their_own() -> None:  # R137
    nodes, pods = loaded("a", "b")
    policy = shrinking(replace(AT_ONCE, max_drain_parallelism=1))
    plan = planned(beside(keep(), [*nodes, make_node("idle")], pods, policy=policy))
    assert going(plan) == {"idle": EMPTY, "a": DRAIN}
    assert verdict(plan, "b").detail == "max-drain-parallelism is 1"


def test_removals_in_flight_use_up_the_limits() -> None:  # R137
    nodes, pods = loaded("a", "b")
    policy = shrinking(replace(AT_ONCE, max_drain_parallelism=1))
    scene = beside(keep(), nodes, pods, policy=policy)
    group = scene.groups[1]

    assert going(planned(in_flight(scene, make_removal(group, nodes[0])))) == {}
    # A removal that is being undone drains nothing, and an instance that never was a node has nothing to drain.
    undoing = make_removal(group, nodes[0], phase=ShrinkPhase.ROLLING_BACK)
    never = make_removal(group, make_node("ghost"), mode=ShrinkMode.NEVER_REGISTERED, phase=ShrinkPhase.DRAINED)
    scene = in_flight(scene, undoing, replace(never, node_uid="", node_name=""))
    assert going(planned(replace(scene, policy=shrinking(replace(AT_ONCE, max_parallelism=1))))) == {"b": DRAIN}


# Budgets


def test_budget_that_one_removal_uses_up_holds_the_next_node() -> None:  # R122, K6, pain 32
    nodes, pods = loaded("a", "b", labelled=True)
    scene = with_objects(beside(keep(), nodes, pods), budgets=[make_budget(labels={"app": "web"}, allowed=1)])
    plan = planned(scene)
    assert going(plan) == {"a": DRAIN}
    assert verdict(plan, "b").detail.startswith("default/on-b: NotEnoughPdb")


def test_budget_that_a_drain_in_flight_will_use_is_used_up() -> None:  # pain 32
    nodes, pods = loaded("a", "b", labelled=True)
    scene = with_objects(beside(keep(), nodes, pods), budgets=[make_budget(labels={"app": "web"}, allowed=1)])
    plan = planned(in_flight(scene, make_removal(scene.groups[1], nodes[0])))
    assert verdict(plan, "b").reason is Unremovable.BLOCKED_BY_POD


def test_pods_of_one_node_must_fit_their_budget_jointly() -> None:  # stricter than R122, pain 32
    pods = [make_pod(f"web-{i}", node="n", labels={"app": "web"}) for i in range(2)]
    scene = beside(keep(), [make_node("n")], pods)
    tight = planned(with_objects(scene, budgets=[make_budget("calm", labels={"app": "web"}, allowed=1)]))
    # The node is unneeded and its time goes on, but it would be tainted for a drain that gets stuck half-way.
    assert unneeded(tight) == ["n"]
    assert going(tight) == {}
    assert verdict(tight, "n").reason is Unremovable.BLOCKED_BY_POD
    assert verdict(tight, "n").detail == "default/web-1: budget calm allows 1 disruptions now, 2 are needed"

    assert going(planned(with_objects(scene, budgets=[make_budget(labels={"app": "web"}, allowed=2)]))) == {"n": DRAIN}


def test_pod_marked_safe_to_evict_still_needs_its_budget_to_be_evicted() -> None:  # R131-5, pain 32
    pod = make_pod("web", node="n", labels={"app": "web"}, annotations={SAFE_TO_EVICT: "true"})
    scene = with_objects(beside(keep(), [make_node("n")], [pod]), budgets=[make_budget(allowed=0)])
    plan = planned(scene)
    assert unneeded(plan) == ["n"]
    assert going(plan) == {}


def test_pods_marked_safe_to_evict_use_up_their_budget_like_others() -> None:  # R122
    nodes, pods = loaded("a", "b", labelled=True)
    safe = [replace(pod, annotations=pod.annotations.with_entry(SAFE_TO_EVICT, "true")) for pod in pods]
    scene = with_objects(beside(keep(), nodes, safe), budgets=[make_budget("calm", labels={"app": "web"}, allowed=1)])
    plan = planned(scene)
    assert unneeded(plan) == ["a", "b"]
    assert going(plan) == {"a": DRAIN}
    assert verdict(plan, "b").detail == "default/on-b: budget calm allows 0 disruptions now, 1 are needed"


def test_expendable_pods_are_evicted_too_so_their_budgets_count() -> None:  # unlike R132
    pod = make_pod("cheap", node="n", priority=-100, labels={"app": "web"})
    scene = with_objects(beside(keep(), [make_node("n")], [pod]), budgets=[make_budget(allowed=0)])
    assert going(planned(scene)) == {}
