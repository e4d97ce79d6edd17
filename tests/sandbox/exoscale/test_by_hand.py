"""What people do past the API, and what tests and demos can look at."""

from __future__ import annotations

import pytest

from exoscaler.sandbox.exoscale import InstanceSpec, Timing
from exoscaler.sandbox.exoscale.errors import Invalid, NotFound
from exoscaler.sandbox.machines.view import MachineState
from tests.sandbox.exoscale.worlds import NOBODY, QUICK, World, nodepool_spec, pool_spec, scenario

RUNNING = MachineState.RUNNING


def test_instance_destroyed_by_hand_is_replaced() -> None:
    world = World(scenario(nodepool_spec(size=2), timing=QUICK))
    lost, kept = [member.id for member in world.members()]

    world.cloud.destroy_instance(lost)
    assert world.pool().size == 2
    world.pass_time(1)
    assert world.nodepool_state() == "degraded"
    world.pass_time()

    ids = [member.id for member in world.members()]
    assert ids[0] == kept
    assert len(ids) == 2
    assert world.states() == [RUNNING, RUNNING]


def test_instance_lost_while_the_pool_is_busy_is_replaced_afterwards() -> None:
    world = World(scenario(nodepool_spec(size=2), timing=Timing(finish_seconds=60)))
    world.cloud.destroy_instance(world.members()[0].id)
    world.scale(3)

    world.pass_time()

    assert (world.pool().size, len(world.members()), world.nodepool_state()) == (3, 3, "running")


def test_plain_instance_destroyed_by_hand_is_just_gone() -> None:
    world = World(scenario(instances=(InstanceSpec(name="db", instance_type="standard.small"),)))
    world.cloud.destroy_instance(world.cloud.machines()[0].id)
    with pytest.raises(Invalid):
        world.cloud.destroy_instance(world.cloud.machines()[0].id)

    world.pass_time()

    assert world.cloud.machines() == ()
    with pytest.raises(NotFound):
        world.cloud.destroy_instance(NOBODY)


def test_resize_by_hand_takes_pool_and_nodepool_ids() -> None:
    world = World(scenario(nodepool_spec(size=1), pools=(pool_spec(size=1),)))

    world.cloud.resize(world.nodepool().id, 2)
    world.cloud.resize(world.pool("batch").id, 3)
    world.pass_time()
    world.cloud.resize(world.pool().id, 3)
    world.pass_time()

    assert (len(world.members()), len(world.members("batch"))) == (3, 3)
    with pytest.raises(NotFound):
        world.cloud.resize(NOBODY, 1)
    with pytest.raises(Invalid):
        world.cloud.resize(world.pool().id, -1)


def test_things_can_be_added_while_the_cloud_runs() -> None:
    world = World(scenario())
    cluster = world.cloud.add_cluster(scenario(nodepool_spec("first")).clusters[0])

    world.cloud.add_nodepool(cluster, nodepool_spec("second", size=2))
    world.cloud.add_instance_pool(pool_spec("jobs", size=2))
    world.cloud.add_instance(InstanceSpec(name="db", instance_type="standard.small", registers=True))

    assert len(world.members("second")) == 2
    assert len(world.members("jobs")) == 2
    assert len(world.cloud.machines()) == 6


def test_impossible_additions_are_refused_and_leave_nothing_behind() -> None:
    world = World(scenario(nodepool_spec(id=NOBODY)))
    cluster = world.nodepool().cluster_id

    with pytest.raises(ValueError, match="used twice"):
        world.cloud.add_nodepool(cluster, nodepool_spec("again", id=NOBODY))
    with pytest.raises(ValueError, match="not offered in zone ch-gva-2"):
        world.cloud.add_cluster(scenario(nodepool_spec(instance_type="gpu2.small")).clusters[0])
    for number in range(15):
        world.cloud.add_nodepool(cluster, nodepool_spec(f"pool-{number}", size=0))
    with pytest.raises(ValueError, match="16 nodepools already"):
        world.cloud.add_nodepool(cluster, nodepool_spec("one-too-many"))

    with world.cloud.at_present() as account:
        assert len(account.clusters) == 1
        assert len(account.pools) == 16


def test_counters_tell_instances_and_the_time_they_existed() -> None:
    world = World(scenario(nodepool_spec(size=2), timing=QUICK))
    world.pass_time(100)
    world.evict(world.members()[0].id)
    world.pass_time(50)

    counters = world.cloud.counters()

    assert (counters.instances_created, counters.instances_destroyed) == (2, 1)
    assert counters.machine_seconds == pytest.approx(150 + 109)


def test_machines_are_listed_by_name_with_what_their_nodes_need() -> None:
    world = World(
        scenario(
            nodepool_spec(
                size=1,
                instance_prefix="zz",
                instance_type="gpua30.small",
                disk_size=120,
                labels={"tier": "gpu"},
                taints={"nvidia.com/gpu": {"value": "yes", "effect": "NoSchedule"}},
                kubelet_max_pods=64,
            ),
            pools=(pool_spec(size=1, instance_prefix="aa", node_labels={"tier": "batch"}),),
        )
    )

    standalone, gpu = world.cloud.machines()

    assert (gpu.cpus, gpu.memory_bytes, gpu.gpus, gpu.disk_gib) == (12, 56 * 2**30, 1, 120)
    assert (gpu.labels, gpu.max_pods, gpu.type_name) == ({"tier": "gpu"}, 64, "gpua30.small")
    assert [(taint.key, taint.value, taint.effect) for taint in gpu.taints] == [("nvidia.com/gpu", "yes", "NoSchedule")]
    assert (gpu.pool_id, gpu.nodepool_id) == (world.pool().id, world.nodepool().id)
    assert (standalone.nodepool_id, standalone.max_pods, standalone.labels) == ("", 110, {"tier": "batch"})
    assert gpu.address != standalone.address
