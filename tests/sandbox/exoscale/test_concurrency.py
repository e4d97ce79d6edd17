"""Many clients at once, fast clocks, and random histories."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale import Cloud, ExoscaleSandbox, Faults, QuotaSurface
from exoscaler.sandbox.exoscale.errors import Busy, Invalid, QuotaReached
from exoscaler.sandbox.exoscale.operations import OperationState
from exoscaler.sandbox.machines.view import MachineState
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import KEY, SECRET, World, eventually, nodepool_spec, pool_spec, scenario

WORKERS = 8


def test_one_of_many_simultaneous_changes_of_a_pool_is_accepted() -> None:
    world = World(scenario(nodepool_spec(size=1), quotas={"instance": -1}))
    barrier = threading.Barrier(WORKERS)

    def scale(size: int) -> bool:
        barrier.wait()
        try:
            world.scale(size)
        except Busy:
            return False
        return True

    with ThreadPoolExecutor(WORKERS) as pool:
        accepted = [size for size, won in zip(range(2, 10), pool.map(scale, range(2, 10)), strict=True) if won]

    world.pass_time()
    assert len(accepted) == 1
    assert len(world.members()) == accepted[0]


def test_simultaneous_growth_of_many_pools_never_exceeds_the_quota() -> None:
    names = [f"pool-{number}" for number in range(WORKERS)]
    world = World(
        scenario(
            *(nodepool_spec(name, size=0) for name in names),
            quotas={"instance": 11},
            quota_surface=QuotaSurface.PARTIAL,
        )
    )

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda name: world.scale(3, name), names))
    world.pass_time()

    assert len(world.cloud.machines()) == 11


def test_many_clients_hammer_a_running_sandbox_and_it_stays_consistent() -> None:
    account = scenario(nodepool_spec(size=3), pools=(pool_spec(size=3),), quotas={"instance": 40})
    sandbox = ExoscaleSandbox(SandboxClock(speed=500), key=KEY, secret=SECRET, scenario=account)
    statuses: set[int] = set()

    def hammer(number: int) -> None:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            pools = client.get("/_sandbox/pools").json()["pools"]
            for step in range(25):
                pool = pools[(number + step) % len(pools)]
                size = {"size": 1 + (number * step) % 9}
                statuses.add(client.post(f"/_sandbox/pools/{pool['id']}/resize", json=size).status_code)
                machines: list[Any] = client.get("/_sandbox/machines").json()
                assert len(machines) <= 40
                victim = machines[(number * step) % len(machines)]["id"]
                statuses.add(client.delete(f"/_sandbox/instances/{victim}").status_code)

    with HttpServer(sandbox.app) as server:
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(hammer, range(WORKERS)))

        def settled() -> bool:
            with sandbox.cloud.at_present() as account:
                idle = all(not each.busy and len(each.member_ids) == each.size for each in account.pools.values())
            return idle and all(machine.state is MachineState.RUNNING for machine in sandbox.cloud.machines())

        eventually(settled)
    assert statuses <= {200, 204, 400, 404, 409}
    assert {200, 204} <= statuses
    counters = sandbox.cloud.counters()
    assert counters.instances_created - counters.instances_destroyed == len(sandbox.cloud.machines())


@pytest.mark.parametrize("speed", [50.0, 5_000.0])
def test_fast_clock_brings_the_same_world_about_sooner(speed: float) -> None:
    clock = SandboxClock(speed=speed)
    cloud = Cloud(clock, Faults(clock), scenario(nodepool_spec(size=1)))
    with cloud.at_present() as account:
        (pool,) = account.pools.values()

    cloud.resize(pool.id, 3)

    eventually(lambda: [machine.state for machine in cloud.machines()] == [MachineState.RUNNING] * 3)
    assert {machine.name for machine in cloud.machines()} == {
        machine.name for machine in _grown_by_hand(3).cloud.machines()
    }


def _grown_by_hand(size: int) -> World:
    world = World(scenario(nodepool_spec(size=1)))
    world.cloud.resize(world.pool().id, size)
    world.pass_time()
    return world


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("scale"), st.sampled_from(["a", "b"]), st.integers(0, 12)),
        st.tuples(st.just("evict"), st.sampled_from(["a", "b"]), st.integers(0, 12)),
        st.tuples(st.just("destroy"), st.sampled_from(["a", "b"]), st.integers(0, 12)),
        st.tuples(st.just("quota"), st.just("a"), st.integers(-1, 12)),
        st.tuples(st.just("wait"), st.just("a"), st.integers(0, 30)),
    ),
    max_size=25,
)


def _take(world: World, step: str, name: str, number: int) -> None:
    members = world.members(name)
    match step:
        case "scale":
            world.scale(number, name)
        case "evict":
            world.evict(*(member.id for member in members[:number]), name=name)
        case "destroy" if members:
            world.cloud.destroy_instance(members[number % len(members)].id)
        case "quota":
            world.cloud.set_quota("instance", number)
        case "wait":
            world.pass_time(number)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS, surface=st.sampled_from(QuotaSurface))
def test_whatever_is_asked_the_account_stays_consistent(
    steps: list[tuple[str, str, int]], surface: QuotaSurface
) -> None:
    world = World(
        scenario(
            nodepool_spec("a", size=2),
            nodepool_spec("b", size=1, anti_affinity_groups=("spread",)),
            quotas={"instance": 10},
            quota_surface=surface,
        )
    )
    for step, name, number in steps:
        with suppress(Busy, Invalid, QuotaReached):
            _take(world, step, name, number)
        pools = [world.pool("a"), world.pool("b")]
        counters = world.cloud.counters()
        assert counters.instances_created - counters.instances_destroyed == len(world.cloud.machines())
        assert len(world.cloud.machines()) == sum(len(pool.member_ids) for pool in pools)
        assert all(pool.coming >= 0 for pool in pools)
        assert len(world.members("b")) <= 8

    world.pass_time()

    for name in ("a", "b"):
        pool = world.pool(name)
        assert not pool.busy
        assert pool.coming == 0
        assert len(world.members(name)) <= pool.size
        assert set(world.states(name)) <= {MachineState.RUNNING}
        expected = "running" if len(world.members(name)) == pool.size else "degraded"
        assert world.nodepool_state(name) == expected
    with world.cloud.at_present() as account:
        pending = [each for each in account.operations.all() if each.state is OperationState.PENDING]
    assert pending == []
