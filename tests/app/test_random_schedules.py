"""Random schedules of wake-ups, faults, deaths and clock jumps: the invariants hold, and afterwards all comes to rest.

`Auditor` raises out of the very call that breaks an invariant (I1, I2, I3, I6). Events are lost, doubled, late and out
of order all along (I4). Once the faults end, ticks alone must bring the world to rest (I5, I7): every pod on a node,
no taint, no operation in flight, pools within their bounds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exoscaler.core.policy import Policy
from tests.app.crashing import Switch, wake_all
from tests.app.schedules import JumpClock, Round, Run, schedules
from tests.app.stories import spread
from tests.app.world import HURRIED, World
from tests.fakes.pools import Timing

POOLS = ("web", "batch")
LARGEST = 6
QUOTA = 14
TICKS_TO_REST = 240


def policy() -> Policy:
    """Back-offs end soon, so that rest comes within the time there is."""
    return replace(HURRIED, growth=replace(HURRIED.growth, max_backoff=timedelta(minutes=2)))


TIMINGS = (
    Timing(),
    Timing(settles=2, operation=60, leaves=60, node_gone=70),  # the pool calls itself free long before it is done
    Timing(node_gone=None),  # nobody but exoscaler deletes the nodes of instances that are gone
    Timing(appears=30, operation=45, settles=60, registers=80, ready=90),
)


def new_run(timing: Timing, *, dead: int) -> Run:
    world = World(policy(), timing)
    # One is about to shrink by half, with drains; the other to grow.
    world.add_pool("web", size=4, maximum=LARGEST)
    world.add_pool("batch", size=1, maximum=LARGEST)
    spread(world, group="web")
    world.workloads.run("batch", 5, group="batch")
    world.cloud.quota_limit = QUOTA
    world.cloud.dead_on_arrival = dead
    world.settle()
    return Run(world)


def end_the_faults(run: Run) -> None:
    JumpClock(0).do(run)
    run.switch = Switch()
    run.world.heal()


def has_come_to_rest(world: World) -> bool:
    """Nothing is under way, nothing marked, and every instance that is paid for is a node."""
    pools = world.picture().values()
    whole = all(pool.size == pool.members == pool.nodes and not pool.marked for pool in pools)
    return whole and world.is_quiet


def come_to_rest(world: World) -> bool:
    for _ in range(TICKS_TO_REST):
        wake_all(world, Switch())
        world.pass_time(30, step=30)
        if has_come_to_rest(world):
            return True
    return False


def test_invariants_hold_and_the_world_comes_to_rest() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=45, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    @given(schedule=schedules(POOLS), timing=st.sampled_from(TIMINGS), dead=st.integers(0, 1))
    def live_through(schedule: list[Round], timing: Timing, dead: int) -> None:
        run = new_run(timing, dead=dead)
        for step in schedule:
            step.do(run)
        end_the_faults(run)

        world = run.world
        assert come_to_rest(world), (world.state.operations, world.picture(), world.troubles)
        for name, pool in world.picture().items():
            assert 1 <= pool.size <= LARGEST, name
        operations = world.state.operations
        seen.update(type(mutation).__name__ for mutation in world.cloud.accepted)
        seen.update(f"growth {op.phase.value}" for op in operations.ended_growing)
        seen.update(f"removal {op.phase.value} {op.mode.value}" for op in operations.ended_shrinking)

    live_through()

    # Schedules in which little happens would prove little.
    assert seen["SizeChange"] >= 20, seen
    assert seen["Removal"] >= 20, seen
    for what in ("growth done", "growth timed-out", "removal removed empty", "removal removed drain"):
        assert seen[what], seen
    assert seen["removal rolled-back empty"] + seen["removal rolled-back drain"], seen
