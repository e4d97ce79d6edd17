"""Reading the node groups into the cache: what failed stays as it was, and is told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from exoscaler.app.outcome import Outcome, OutcomeKind
from exoscaler.core.model import NodeBounds
from exoscaler.core.planner import NO_GROUPS
from exoscaler.errors import Denied, StateConflict, Unavailable
from exoscaler.ports.events import FunctionName
from tests.app.wired import CallKind, through
from tests.app.world import World

T = TypeVar("T")

WEB, BATCH = "id-of-web", "id-of-batch"


def world_of_two() -> World:
    world = World()
    world.add_pool("web", size=2)
    world.add_pool("batch", size=1)
    return world


def read(world: World) -> Outcome:
    outcome = world.invoke(FunctionName.REFRESH)
    assert outcome is not None, world.troubles
    return outcome


def later(world: World, seconds: float = 60) -> Outcome:
    world.pass_time(seconds)
    return read(world)


def reasons_told(world: World) -> list[str]:
    return [event.reason for event in world.cluster.events]


def test_groups_are_read_with_their_bounds() -> None:
    world = world_of_two()
    outcome = read(world)

    groups = world.state.node_groups.groups
    assert {g.name: (g.pool.size, g.min_size, g.max_size) for g in groups.values()} == {
        "web": (2, 1, 10),
        "batch": (1, 1, 10),
    }
    assert outcome.kind is OutcomeKind.DONE
    assert outcome.facts["troubles"] == []
    assert world.cloud.mutations == []


def test_group_that_cannot_be_read_keeps_its_last_description_and_is_stale() -> None:
    world = world_of_two()
    read(world)
    world.cloud.unreadable = {WEB}
    world.cloud.pool("web").size = 7
    world.cloud.pool("batch").size = 3
    later(world)

    cache = world.state.node_groups
    assert (cache.groups[WEB].pool.size, cache.groups[WEB].stale) == (2, "id-of-web: unavailable (HTTP 503)")
    assert (cache.groups[BATCH].pool.size, cache.groups[BATCH].stale) == (3, "")
    assert cache.refreshed_at is not None
    assert cache.refreshed_at < world.clock.now()


def test_stale_mark_goes_with_the_next_good_reading() -> None:
    world = world_of_two()
    read(world)
    world.cloud.unreadable = {WEB}
    later(world)
    world.cloud.unreadable = set()
    later(world)

    cache = world.state.node_groups
    assert not cache.groups[WEB].is_stale
    assert cache.refreshed_at == world.clock.now()


def test_pool_that_is_gone_leaves_the_cache() -> None:
    world = world_of_two()
    read(world)
    world.cloud.delete_pool("batch")
    later(world)

    assert list(world.state.node_groups.groups) == [WEB]


def test_refused_credentials_make_everything_stale_and_forget_nothing() -> None:
    world = world_of_two()
    read(world)
    world.cloud.fail("read_groups", Denied("list-sks-clusters", status=403))
    later(world)

    groups = world.state.node_groups.groups
    assert set(groups) == {WEB, BATCH}
    assert all("list-sks-clusters" in group.stale for group in groups.values())


def test_quota_that_cannot_be_read_stays_as_last_known() -> None:
    world = world_of_two()
    world.cloud.quota_limit = 20
    read(world)
    world.cloud.quota_unreadable = True
    later(world)

    quota = world.state.node_groups.quota
    assert quota is not None
    assert quota.limit == 20
    assert reasons_told(world) == ["QuotaUnreadable"]


def test_trouble_is_told_once_for_as_long_as_it_lasts() -> None:
    world = world_of_two()
    read(world)
    world.cloud.unreadable = {WEB}
    later(world)
    later(world)
    assert reasons_told(world) == ["NodeGroupUnreadable"]

    world.cloud.unreadable = set()
    later(world)
    world.cloud.unreadable = {WEB}
    later(world)
    assert reasons_told(world) == ["NodeGroupUnreadable", "NodeGroupUnreadable"]


def test_bounds_that_name_no_group_are_told_as_a_warning() -> None:
    world = world_of_two()
    world.policy = replace(world.policy, bounds=(*world.policy.bounds, NodeBounds(1, 3, "wbe")))
    outcome = read(world)

    assert reasons_told(world) == ["NodeGroupNameUnmatched"]
    assert outcome.facts["troubles"] == ["name-unmatched: --nodes names 'wbe', but no node group is called so"]


def test_last_group_that_goes_is_told_once() -> None:
    world = World()
    world.add_pool("web", size=1)
    read(world)
    world.cloud.delete_pool("web")
    later(world)
    later(world)

    assert [event.message for event in world.cluster.events if event.reason == "NoNodeGroups"] == [NO_GROUPS]


def test_slow_reading_does_not_undo_a_newer_one() -> None:
    world = world_of_two()
    read(world)

    class Slow:
        """The reading is made, and then takes half a minute to arrive; meanwhile another one comes and goes."""

        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            result = call()
            if label == "read_groups":
                world.true_clock.advance(15)
                world.cloud.pool("web").size = 5
                read(world)
                world.true_clock.advance(15)
            return result

    world.pass_time(60)
    world.invoke(FunctionName.REFRESH, wiring=through(Slow()))

    assert world.state.node_groups.groups[WEB].pool.size == 5


def test_cluster_that_cannot_be_read_leaves_the_cache_as_it_was() -> None:
    world = world_of_two()
    read(world)
    before = world.state
    world.pass_time(60)
    world.cluster.fail("nodes", Unavailable("list nodes", status=503))

    assert world.invoke(FunctionName.REFRESH) is None
    assert world.state == before


@pytest.mark.parametrize("error", [StateConflict("others kept writing"), Unavailable("put state")], ids=str)
def test_state_that_cannot_be_written_is_not_reported_as_done(error: StateConflict | Unavailable) -> None:
    world = world_of_two()
    world.store.fail(error)

    assert world.invoke(FunctionName.REFRESH) is None
    assert world.troubles == [f"refresh: {error}"]


def test_operations_that_others_record_during_the_reading_are_kept() -> None:
    world = world_of_two()
    world.workloads.run("web", 9, group="web")
    world.settle()
    world.pass_time(1)

    class Meanwhile:
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            result = call()
            if label == "read_groups":
                world.true_clock.advance(1)
                world.invoke(FunctionName.EVALUATE)
            return result

    world.invoke(FunctionName.REFRESH, wiring=through(Meanwhile()))

    assert len(world.state.operations.growing) == 1


def test_clock_set_back_by_minutes_does_not_stop_readings_from_counting() -> None:
    world = world_of_two()
    read(world)
    world.clock.skew = timedelta(minutes=-5)
    world.cloud.pool("web").size = 4
    later(world)

    assert world.state.node_groups.groups[WEB].pool.size == 4
