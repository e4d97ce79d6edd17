from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.core.model import NodeGroup, PoolState
from exoscaler.core.operations.model import GrowPhase, ShrinkMode, ShrinkPhase
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.scaleup import look_ahead
from exoscaler.core.scaleup.upcoming import Upcoming, expected_size
from exoscaler.core.scene import Scene
from exoscaler.core.state import Backoff
from tests.builders import NOW, ago, instance_id, make_group, make_growth, make_node, make_removal, make_scene, taint


def _upcoming(scene: Scene) -> Upcoming:
    return look_ahead(scene).upcoming["id-of-pool"]


def _group(*members: str, size: int | None = None, state: PoolState = PoolState.RUNNING) -> NodeGroup:
    return make_group(members=members, size=size, state=state)


def _backoff(until_in: float) -> dict[str, Backoff]:
    until = ago(-until_in)
    return {"id-of-pool": Backoff(seconds=300, until=until, failed_at=NOW, failure=GrowFailure.CLOUD_FAILURE)}


def test_members_without_a_node_are_coming() -> None:
    node = make_node("a")
    scene = make_scene(_group(instance_id("a"), "i-1", "i-2"), nodes=[node])

    assert _upcoming(scene).unregistered == ("i-1", "i-2")
    assert _upcoming(scene).arriving == 2


@pytest.mark.parametrize(("seconds", "lost"), [(899, False), (900, False), (901, True)])
def test_a_member_that_has_been_without_a_node_for_too_long_is_not_counted_on(seconds: float, lost: bool) -> None:
    # R33
    upcoming = _upcoming(make_scene(_group("i-1"), unregistered={"i-1": seconds}))

    assert (upcoming.lost == ("i-1",)) is lost
    assert upcoming.arriving == (0 if lost else 1)
    assert upcoming.unseen == 1  # for the limits it is there all the same


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        (PoolState.SCALING_UP, 2),
        (PoolState.RUNNING, 0),
        (PoolState.SCALING_DOWN, 0),
        (PoolState.BUSY, 0),
        (PoolState.BLOCKED, 0),
    ],
)
def test_a_target_above_the_members_counts_only_while_the_pool_scales_up(state: PoolState, missing: int) -> None:
    # A target that nobody works on is no capacity: the pool may be out of stock.
    assert _upcoming(make_scene(_group("i-1", size=3, state=state))).missing == missing


@pytest.mark.parametrize("phase", [GrowPhase.PLANNED, GrowPhase.SUBMITTED])
def test_a_growth_in_flight_counts_before_the_pool_shows_it(phase: GrowPhase) -> None:
    group = _group("i-1")

    assert _upcoming(make_scene(group, growing=[make_growth(group, to=4, phase=phase)])).missing == 3


@pytest.mark.parametrize("phase", [GrowPhase.DONE, GrowPhase.FAILED, GrowPhase.TIMED_OUT])
def test_a_growth_that_ended_counts_for_nothing(phase: GrowPhase) -> None:
    group = _group("i-1")

    assert _upcoming(make_scene(group, growing=[make_growth(group, to=4, phase=phase)])).missing == 0


def test_members_that_came_of_a_growth_are_not_counted_twice() -> None:
    group = _group("i-1", "i-2", "i-3", size=4)
    growth = make_growth(group, to=4, base_size=1, base_members=["i-1"], phase=GrowPhase.SUBMITTED)
    upcoming = _upcoming(make_scene(group, growing=[growth]))

    assert (upcoming.unregistered, upcoming.missing) == (("i-1", "i-2", "i-3"), 1)


def test_once_a_growth_took_effect_the_pools_own_size_counts() -> None:
    # Somebody made the pool smaller after exoscaler made it larger.
    group = _group("i-1", "i-2", size=2)
    growth = make_growth(group, to=5, base_size=1, phase=GrowPhase.PROVISIONING, since=60)

    assert expected_size(replace(group, read_at=ago(5)), [growth]) == 2
    assert expected_size(replace(group, read_at=ago(90)), [growth]) == 5  # read before it took effect


def test_no_more_is_expected_than_the_group_may_have() -> None:
    group = replace(_group("i-1"), max_size=3)

    assert expected_size(group, [make_growth(group, to=50)]) == 3
    grown_by_hand = replace(_group("i-1", size=7, state=PoolState.SCALING_UP), max_size=3)
    assert expected_size(grown_by_hand, []) == 7


def test_a_growth_of_another_group_is_none_of_its_business() -> None:
    group, other = _group("i-1"), make_group("other", members=["o-1"])

    assert expected_size(group, [make_growth(other, to=9)]) == 1


@pytest.mark.parametrize(("until_in", "arriving"), [(60, 0), (0, 0), (-1, 2)])
def test_a_backed_off_group_has_nothing_coming(until_in: float, arriving: int) -> None:
    # R37
    scene = make_scene(_group("i-1", size=2, state=PoolState.SCALING_UP), backoffs=_backoff(until_in))

    assert _upcoming(scene).arriving == arriving
    assert _upcoming(scene).unseen == 2


def test_a_young_node_that_is_not_ready_is_coming_an_old_one_is_not() -> None:
    # R32, R38
    young = make_node("young", age=60, ready=False)
    tainted = make_node("tainted", age=60, taints=[taint("startup-taint.cluster-autoscaler.kubernetes.io/cni")])
    old = make_node("old", age=7200, ready=False)
    ready = make_node("ready")
    nodes = [young, tainted, old, ready]
    upcoming = _upcoming(make_scene(make_group(nodes=nodes), nodes=nodes))

    assert [node.name for node in upcoming.starting] == ["tainted", "young"]
    assert upcoming.arriving == 2
    assert upcoming.unseen == 0  # they have nodes, which limits count already


def test_a_node_on_its_way_out_is_not_coming_though_it_is_young_and_not_ready() -> None:
    node = make_node("a", age=60, ready=False)
    group = make_group(nodes=[node])

    assert _upcoming(make_scene(group, nodes=[node], shrinking=[make_removal(group, node)])).arriving == 0


def test_an_instance_that_is_being_removed_or_was_is_not_coming() -> None:
    # Its Node object goes before the pool's list of members is up to date.
    going, gone = make_node("going"), make_node("gone")
    group = make_group(nodes=[going, gone])
    scene = make_scene(
        group,
        shrinking=[make_removal(group, going, phase=ShrinkPhase.EVICTING)],
        ended_shrinking=[make_removal(group, gone, phase=ShrinkPhase.REMOVED)],
    )

    assert _upcoming(scene).arriving == 0


def test_an_instance_that_never_registered_and_is_being_removed_is_not_coming() -> None:
    group = make_group(members=[instance_id("lost")])
    removal = make_removal(group, make_node("lost"), phase=ShrinkPhase.DRAINED, mode=ShrinkMode.NEVER_REGISTERED)

    assert _upcoming(make_scene(group, shrinking=[removal])).arriving == 0
