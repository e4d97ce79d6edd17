"""How pools grow and shrink, on a clock moved by hand. Default timing: see `Timing`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from exoscaler.sandbox.exoscale import InstanceSpec
from exoscaler.sandbox.exoscale.errors import Busy, Invalid, NotFound
from exoscaler.sandbox.exoscale.operations import OperationState
from exoscaler.sandbox.machines.view import MachineState
from tests.sandbox.exoscale.worlds import NOBODY, QUICK, World, nodepool_spec, pool_spec, scenario

RUNNING, STARTING = MachineState.RUNNING, MachineState.STARTING


def test_account_starts_with_all_members_running() -> None:
    world = World(scenario(nodepool_spec(size=3)))

    assert world.states() == [RUNNING] * 3
    assert world.nodepool_state() == "running"
    assert world.usage() == 3


def test_growing_is_accepted_at_once_and_members_appear_one_after_the_other() -> None:
    world = World(scenario(nodepool_spec(size=1), timing=QUICK))

    operation = world.scale(4)

    assert operation.state is OperationState.PENDING
    assert world.pool().size == 4
    assert (world.pool().state, world.nodepool_state()) == ("scaling-up", "scaling")
    assert len(world.members()) == 1
    seen = []
    for _ in range(5):
        world.pass_time(0.5)
        seen.append(len(world.members()))
    assert seen == [1, 2, 3, 4, 4]


def test_operation_succeeds_before_the_pool_is_running_and_the_pool_before_its_nodes() -> None:
    world = World(scenario(nodepool_spec(size=1), timing=QUICK))
    operation = world.scale(2)

    world.pass_time(4.5)
    assert world.operation(operation).state is OperationState.SUCCESS
    assert world.pool().busy

    world.pass_time(2)
    assert (world.pool().state, world.nodepool_state()) == ("running", "running")
    assert world.states() == [RUNNING, STARTING]

    world.pass_time(35)
    assert world.states() == [RUNNING, RUNNING]


def test_boot_times_differ_by_instance_and_not_by_run() -> None:
    def booted_by_second() -> list[int]:
        world = World(scenario(nodepool_spec(size=0), quotas={"instance": -1}))
        world.scale(20)
        counts = []
        for _ in range(60):
            world.pass_time(1)
            counts.append(world.states().count(RUNNING))
        return counts

    first = booted_by_second()

    assert first == booted_by_second()
    assert first[-1] == 20
    assert len(set(first)) > 5


def test_pool_can_have_its_own_boot_time() -> None:
    world = World(scenario(nodepool_spec(size=0, boot_seconds=200), timing=QUICK))
    world.scale(1)

    world.pass_time(150)
    assert world.states() == [STARTING]
    world.pass_time(60)
    assert world.states() == [RUNNING]


def test_member_names_carry_prefix_and_pool_id() -> None:
    world = World(scenario(nodepool_spec(size=3, instance_prefix="workers")))

    names = [member.name for member in world.members()]

    assert all(re.fullmatch(rf"workers-{world.pool().id[:5]}-[a-z]{{5}}", name) for name in names)
    assert len(set(names)) == 3


def test_shrinking_by_scale_removes_the_oldest_members() -> None:
    world = World(scenario(nodepool_spec(size=2), timing=QUICK))
    world.scale(4)
    world.pass_time()
    oldest, second, *younger = [member.id for member in world.members()]

    world.scale(2)
    assert (world.pool().state, world.pool().size) == ("scaling-down", 2)
    world.pass_time()

    assert [member.id for member in world.members()] == younger
    assert {oldest, second}.isdisjoint(member.id for member in world.members())


def test_evicted_members_stop_then_are_destroyed_then_vanish_and_the_size_falls_at_once() -> None:
    world = World(scenario(nodepool_spec(size=3), timing=QUICK))
    stays, *victims = [member.id for member in world.members()]

    operation = world.evict(*victims)

    assert world.pool().size == 1
    assert (world.pool().state, world.nodepool_state()) == ("scaling-down", "scaling")
    assert world.states() == [RUNNING] * 3
    world.pass_time(1.5)
    assert world.states() == [RUNNING, MachineState.STOPPING, MachineState.STOPPING]
    world.pass_time(4)
    assert world.states() == [RUNNING, MachineState.DESTROYING, MachineState.DESTROYING]
    assert world.operation(operation).state is OperationState.SUCCESS
    assert world.usage() == 3
    world.pass_time(4)
    assert [member.id for member in world.members()] == [stays]
    assert world.pool().busy
    world.pass_time(2)
    assert world.nodepool_state() == "running"
    assert world.usage() == 1


def test_instance_can_be_evicted_while_it_boots() -> None:
    world = World(scenario(nodepool_spec(size=1), timing=QUICK))
    world.scale(2)
    world.pass_time(10)
    booting = world.members()[-1]
    assert booting.state is STARTING

    world.evict(booting.id)
    world.pass_time()

    assert len(world.members()) == 1


def test_last_member_can_be_evicted_and_the_pool_grows_again_from_zero() -> None:
    world = World(scenario(nodepool_spec(size=1)))
    world.evict(world.members()[0].id)
    world.pass_time()
    assert (world.pool().size, world.members(), world.nodepool_state()) == (0, [], "running")

    world.scale(2)
    world.pass_time()

    assert world.states() == [RUNNING, RUNNING]


@pytest.mark.parametrize("case", ["unknown", "of another pool", "of no pool", "gone", "twice", "twice and unknown"])
def test_eviction_with_a_wrong_id_is_refused_as_a_whole(case: str) -> None:
    world = World(
        scenario(
            nodepool_spec(size=3),
            nodepool_spec("other", size=1),
            instances=(InstanceSpec(name="db", instance_type="standard.small"),),
        )
    )
    good, gone, *_ = [member.id for member in world.members()]
    world.evict(gone)
    world.pass_time()
    plain = next(machine.id for machine in world.cloud.machines() if machine.name == "db")
    wrong = {
        "unknown": (NOBODY,),
        "of another pool": (world.members("other")[0].id,),
        "of no pool": (plain,),
        "gone": (gone,),
        "twice": (good,),
        "twice and unknown": (good, NOBODY),
    }[case]

    with pytest.raises(Invalid) as refused:
        world.evict(good, *wrong)

    assert refused.value.status == 400
    assert len(refused.value.details) == len(wrong)
    world.pass_time()
    assert len(world.members()) == 2
    assert world.pool().size == 2


def test_instance_on_its_way_out_cannot_be_evicted_again() -> None:
    world = World(scenario(nodepool_spec(size=2)))
    victim = world.members()[0].id
    world.cloud.destroy_instance(victim)

    with pytest.raises(Invalid, match="validation") as refused:
        world.evict(victim)

    assert "being removed already" in refused.value.details[0]


@pytest.mark.parametrize("change", ["grow", "shrink", "evict"])
def test_busy_pool_refuses_another_change(change: str) -> None:
    world = World(scenario(nodepool_spec(size=3)))
    changes: dict[str, Callable[[], object]] = {
        "grow": lambda: world.scale(4),
        "shrink": lambda: world.scale(2),
        "evict": lambda: world.evict(world.members()[0].id),
    }
    changes[change]()

    more: tuple[Callable[[], object], ...] = (lambda: world.scale(6), lambda: world.evict(world.members()[-1].id))
    for second in more:
        with pytest.raises(Busy) as refused:
            second()
        assert (refused.value.status, refused.value.message) == (409, "The nodepool is already being updated.")

    world.pass_time()
    world.scale(6)
    world.pass_time()
    assert len(world.members()) == 6


def test_change_of_one_pool_leaves_others_free() -> None:
    world = World(scenario(nodepool_spec(), nodepool_spec("other")))
    world.scale(2)

    world.scale(3, "other")
    world.pass_time()

    assert (len(world.members()), len(world.members("other"))) == (2, 3)


def test_scaling_to_the_present_size_changes_nothing_and_succeeds() -> None:
    world = World(scenario(nodepool_spec(size=2)))
    before = [member.id for member in world.members()]

    operation = world.scale(2)

    assert not world.pool().busy
    world.pass_time()
    assert world.operation(operation).state is OperationState.SUCCESS
    assert [member.id for member in world.members()] == before


def test_standalone_pool_scales_and_evicts_through_its_own_operations() -> None:
    world = World(scenario(pools=(pool_spec(size=1),)))
    pool = world.pool("batch")

    operation = world.cloud.scale_pool(pool.id, 3)
    assert operation.reference.command == "get-instance-pool"
    with pytest.raises(Busy, match="instance pool is already being updated"):
        world.cloud.scale_pool(pool.id, 4)
    world.pass_time()
    world.cloud.evict_pool_members(pool.id, (world.members("batch")[1].id,))
    world.pass_time()

    assert world.states("batch") == [RUNNING, RUNNING]


def test_pool_of_a_nodepool_cannot_be_changed_directly() -> None:
    world = World(scenario(nodepool_spec()))
    pool = world.pool()
    changes: tuple[Callable[[], object], ...] = (
        lambda: world.cloud.scale_pool(pool.id, 3),
        lambda: world.cloud.evict_pool_members(pool.id, (world.members()[0].id,)),
    )

    for change in changes:
        with pytest.raises(Invalid, match="managed by SKS Nodepool"):
            change()


def test_nodepool_is_found_only_in_its_own_cluster() -> None:
    world = World(scenario(nodepool_spec()))

    with pytest.raises(NotFound):
        world.cloud.scale_nodepool(NOBODY, world.nodepool().id, 2)
    with pytest.raises(NotFound):
        world.cloud.scale_nodepool(world.nodepool().cluster_id, NOBODY, 2)
