"""What bounds a growing pool, and how a shortage shows."""

from __future__ import annotations

import pytest

from exoscaler.sandbox.exoscale import QuotaSurface
from exoscaler.sandbox.exoscale.errors import NotFound, QuotaReached
from exoscaler.sandbox.exoscale.operations import OperationReason, OperationState
from tests.sandbox.exoscale.worlds import World, nodepool_spec, scenario


@pytest.mark.parametrize(
    ("surface", "state", "reason", "size", "members"),
    [
        (QuotaSurface.FAIL_OPERATION, OperationState.FAILURE, OperationReason.FORBIDDEN, 2, 2),
        (QuotaSurface.PARTIAL, OperationState.FAILURE, OperationReason.PARTIAL, 5, 3),
        (QuotaSurface.STUCK, OperationState.SUCCESS, None, 5, 3),
    ],
)
def test_growing_beyond_the_quota_shows_as_configured(
    surface: QuotaSurface, state: OperationState, reason: OperationReason | None, size: int, members: int
) -> None:
    world = World(scenario(nodepool_spec(size=2), quotas={"instance": 3}, quota_surface=surface))

    operation = world.scale(5)
    assert world.nodepool_state() == "scaling"
    world.pass_time()

    ended = world.operation(operation)
    assert (ended.state, ended.reason) == (state, reason)
    assert (world.pool().size, len(world.members()), world.pool().state) == (size, members, "running")
    assert world.nodepool_state() == ("running" if size == members else "degraded")


def test_growing_beyond_the_quota_can_be_refused_at_once() -> None:
    world = World(scenario(nodepool_spec(size=2), quotas={"instance": 3}, quota_surface=QuotaSurface.REJECT))

    with pytest.raises(QuotaReached, match="Quota exceeded for resource instance: room for 1 of 3") as refused:
        world.scale(5)

    assert refused.value.status == 400
    assert (world.pool().size, world.nodepool_state()) == (2, "running")
    world.scale(3)
    world.pass_time()
    assert len(world.members()) == 3


def test_quota_counts_members_from_acceptance_on_and_over_all_pools() -> None:
    world = World(
        scenario(
            nodepool_spec(size=1),
            nodepool_spec("other", size=1),
            quotas={"instance": 5},
            quota_surface=QuotaSurface.REJECT,
        )
    )
    world.scale(4)

    assert world.usage() == 5
    with pytest.raises(QuotaReached):
        world.scale(2, "other")


def test_unlimited_quota_never_stops_a_pool() -> None:
    world = World(scenario(nodepool_spec(size=0), quotas={"instance": -1}))

    world.scale(300)
    world.pass_time()

    assert len(world.members()) == 300


def test_gpu_quota_counts_gpus_not_instances() -> None:
    world = World(
        scenario(
            nodepool_spec(size=1, instance_type="gpua30.medium"),
            quotas={"gpua30": 5, "instance": -1},
            quota_surface=QuotaSurface.STUCK,
        )
    )
    assert world.usage("gpua30") == 2

    world.scale(4)
    world.pass_time()

    assert (len(world.members()), world.usage("gpua30")) == (2, 4)


def test_raised_quota_gives_a_stuck_pool_its_members() -> None:
    world = World(scenario(nodepool_spec(size=2), quotas={"instance": 3}, quota_surface=QuotaSurface.STUCK))
    world.scale(5)
    world.pass_time()

    world.cloud.set_quota("instance", 4)
    assert world.pool().state == "scaling-up"
    world.pass_time()

    assert len(world.members()) == 4
    assert world.nodepool_state() == "degraded"


def test_size_can_be_lowered_to_the_members_of_a_stuck_pool_without_removing_any() -> None:
    world = World(scenario(nodepool_spec(size=2), quotas={"instance": 3}, quota_surface=QuotaSurface.STUCK))
    world.scale(5)
    world.pass_time()
    before = [member.id for member in world.members()]

    world.scale(3)
    world.pass_time()

    assert [member.id for member in world.members()] == before
    assert world.nodepool_state() == "running"


def test_anti_affinity_group_holds_eight_instances_and_the_rest_never_appears() -> None:
    world = World(scenario(nodepool_spec(size=3, anti_affinity_groups=("spread",)), quotas={"instance": -1}))

    operation = world.scale(10)
    world.pass_time()

    assert world.operation(operation).reason is OperationReason.PARTIAL
    assert (world.pool().size, len(world.members()), world.nodepool_state()) == (10, 8, "degraded")


def test_anti_affinity_group_is_shared_by_all_pools_that_name_it() -> None:
    world = World(
        scenario(
            nodepool_spec(size=6, anti_affinity_groups=("spread",)),
            nodepool_spec("other", size=0, anti_affinity_groups=("spread", "own")),
        )
    )

    world.scale(4, "other")
    world.pass_time()

    assert len(world.members("other")) == 2


def test_size_that_no_zone_can_hold_fails_for_lack_of_capacity() -> None:
    world = World(scenario(nodepool_spec(size=1), quotas={"instance": -1}))

    operation = world.scale(2**62)
    world.pass_time()

    assert world.operation(operation).reason is OperationReason.UNAVAILABLE
    assert (world.pool().size, len(world.members())) == (1, 1)


def test_unknown_quota_is_not_found() -> None:
    world = World(scenario())

    with pytest.raises(NotFound, match="Quota lightsabers not found"):
        world.cloud.set_quota("lightsabers", 3)
    with pytest.raises(ValueError, match="-1 for unlimited"):
        world.cloud.set_quota("instance", -2)
