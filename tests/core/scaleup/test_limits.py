from __future__ import annotations

import pytest

from exoscaler.core.model import GroupDescription, PoolState, Quota
from exoscaler.core.policy import GrowthPolicy, Policy, ResourceLimits
from exoscaler.core.reasons import GroupSkip
from exoscaler.core.scaleup import look_ahead
from exoscaler.core.scaleup.limits import Cap, Headroom, headroom
from exoscaler.core.scene import Scene
from tests.builders import instance_id, make_group, make_growth, make_node, make_scene, resources

_GIB = 2**30
_SIZE = resources(cpu="3500m", memory="16Gi")
_ALL = Headroom(nodes=None, quota=None, per_scaleup=None, cores=10**6, memory=10**18)


def _headroom(scene: Scene) -> Headroom:
    return headroom(scene, look_ahead(scene))


def _with(**changes: int) -> Headroom:
    fields = {"nodes": None, "quota": None, "per_scaleup": None, "cores": 10**6, "memory": 10**18, **changes}
    return Headroom(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "cap"),
    [
        (_ALL, Cap(7, GroupSkip.AT_MAX)),  # R69
        (_with(nodes=5), Cap(5, GroupSkip.MAX_NODES_TOTAL)),  # R87
        (_with(nodes=-3), Cap(0, GroupSkip.MAX_NODES_TOTAL)),
        (_with(quota=4), Cap(4, GroupSkip.QUOTA)),
        (_with(quota=0), Cap(0, GroupSkip.QUOTA)),
        (_with(per_scaleup=3), Cap(3, GroupSkip.MAX_NODES_PER_SCALEUP)),
        (_with(cores=11), Cap(2, GroupSkip.CLUSTER_LIMIT)),  # R94: 3.5 cores count as 4
        (_with(cores=-1), Cap(0, GroupSkip.CLUSTER_LIMIT)),
        (_with(memory=47 * _GIB), Cap(2, GroupSkip.CLUSTER_LIMIT)),
        (_with(nodes=2, quota=2, per_scaleup=2), Cap(2, GroupSkip.MAX_NODES_TOTAL)),
        (_with(nodes=6, quota=1, cores=8), Cap(1, GroupSkip.QUOTA)),
    ],
)
def test_the_tightest_limit_decides_and_is_named(left: Headroom, cap: Cap) -> None:
    assert left.cap(make_group(max_size=10), 3, _SIZE) == cap


def test_a_group_above_its_maximum_gets_nothing() -> None:
    assert _ALL.cap(make_group(max_size=3), 5, _SIZE) == Cap(0, GroupSkip.AT_MAX)


@pytest.mark.parametrize(("left", "nodes"), [(_ALL, 1), (_with(cores=0), 0), (_with(memory=0), 0)])
def test_nodes_of_unknown_size_come_one_at_a_time(left: Headroom, nodes: int) -> None:
    assert left.cap(make_group(max_size=10), 3, None).nodes == nodes


def test_what_one_group_takes_is_gone_for_the_others() -> None:
    left = Headroom(nodes=10, quota=9, per_scaleup=8, cores=100, memory=100 * _GIB).less(3, _SIZE)

    assert left == Headroom(nodes=7, quota=6, per_scaleup=5, cores=88, memory=52 * _GIB)
    assert _ALL.less(3, None) == _ALL


def _policy(**settings: object) -> Policy:
    return Policy(growth=GrowthPolicy(**settings))  # type: ignore[arg-type]


def test_every_node_counts_for_the_total_and_so_does_what_is_coming() -> None:
    # R52, F26
    nodes = [make_node("a"), make_node("unmanaged"), make_node("unready", ready=False)]
    group = make_group(members=[instance_id("a"), "i-1", "i-lost"], size=4, state=PoolState.SCALING_UP)
    scene = make_scene(group, nodes=nodes, policy=_policy(max_nodes_total=10), unregistered={"i-lost": 5000})

    assert _headroom(scene).nodes == 10 - 3 - 3


def test_zero_means_no_limit() -> None:
    assert _headroom(make_scene(policy=_policy(max_nodes_total=0, max_nodes_per_scaleup=0))).nodes is None
    assert _headroom(make_scene(policy=_policy(max_nodes_per_scaleup=0))).per_scaleup is None
    assert _headroom(make_scene(policy=_policy(max_nodes_per_scaleup=7))).per_scaleup == 7


def test_cores_and_memory_count_all_nodes_but_virtual_ones_and_what_is_coming() -> None:
    # R94
    node = make_node("a", cpu="3500m", memory="10Gi")
    unmanaged = make_node("b", cpu="2", memory="1Gi")
    virtual = make_node("v", cpu="900", memory="900Gi", labels={"type": "virtual-kubelet"})
    group = make_group(members=[instance_id("a"), "i-1"])
    policy = _policy(cores=ResourceLimits(0, 20), memory=ResourceLimits(0, 30 * _GIB))
    left = _headroom(make_scene(group, nodes=[node, unmanaged, virtual], policy=policy))

    assert left.cores == 20 - 4 - 2 - 4
    assert left.memory == (30 - 10 - 1 - 10) * _GIB


@pytest.mark.parametrize(
    ("quota", "left"),
    [(None, None), (Quota(-1, 50), None), (Quota(10, 4), 6), (Quota(4, 9), 0)],
)
def test_the_quota_leaves_what_it_says(quota: Quota | None, left: int | None) -> None:
    assert _headroom(make_scene(make_group(members=["i-1"]), quota=quota)).quota == left


def test_what_pools_are_still_to_take_of_the_quota_is_taken_already() -> None:
    ordered, by_hand = make_group("ordered", members=["o-1"]), make_group("by-hand", members=["h-1"], size=3)
    scene = make_scene(ordered, by_hand, quota=Quota(20, 10), growing=[make_growth(ordered, to=4)])

    assert _headroom(scene).quota == 10 - 3 - 2


def test_a_size_learnt_from_another_group_counts_for_what_is_coming() -> None:
    description = GroupDescription(instance_type_id="t")
    node = make_node("a", cpu="8")
    donor = make_group("donor", nodes=[node], description=description)
    empty = make_group("empty", members=["e-1"], description=description)
    scene = make_scene(donor, empty, nodes=[node], policy=_policy(cores=ResourceLimits(0, 100)))

    assert _headroom(scene).cores == 100 - 16
