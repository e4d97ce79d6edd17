"""A growth and a removal meet in one pool: one change at a time, and nothing bought or removed twice (I3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pytest

from exoscaler.app.outcome import OutcomeKind
from exoscaler.core.operations.model import GrowOperation, GrowPhase, ShrinkPhase
from exoscaler.core.recording import with_operations
from exoscaler.errors import TimedOut, Unavailable
from exoscaler.ports.events import FunctionName
from tests.app.auditor import Auditor
from tests.app.interleaving import Interleaver
from tests.app.shrinking import WEB, act, ended, follow, in_flight, instance_of, plan, sent, until, world_of
from tests.app.wired import CallKind, through
from tests.app.world import IN_ORDER, World
from tests.builders import ago
from tests.fakes.pools import SizeChange, Timing

T = TypeVar("T")

SCALE_UP, SCALE_DOWN = FunctionName.SCALE_UP, FunctionName.SCALE_DOWN
QUICK_POOL = Timing(settles=2, operation=60, leaves=60, node_gone=70)
"""The pool calls itself free again long before the change is over."""


def plan_growth(world: World) -> None:
    """Record the growth of ``web`` by one node, as `evaluate` does."""
    loaded = world.store.load()
    pool = world.cloud.pool("web")
    growth = GrowOperation(
        id="growth",
        group_id=WEB,
        group_name="web",
        decision_id="decision",
        base_size=pool.size,
        base_members=pool.members,
        target_size=pool.size + 1,
        planned_at=world.clock.now(),
        phase_since=world.clock.now(),
    )
    operations = loaded.state.operations.model_copy(update={"growing": (growth,)})
    world.store.commit(with_operations(loaded.state, operations), loaded.version)


def world_of_both(timing: Timing | None = None) -> World:
    """The third of three nodes is drained, and the pool is to grow by one."""
    world = world_of(3, timing=timing)
    plan(world, 3)
    until(world, ShrinkPhase.DRAINED, 3)
    plan_growth(world)
    return world


def wake_both(world: World, seconds: int, *order: FunctionName) -> None:
    for _ in range(seconds // 5):
        for function in order:
            world.invoke(function)
        world.pass_time(5)


def grown(world: World) -> list[GrowPhase]:
    return [op.phase for op in world.state.operations.ended_growing]


@pytest.mark.parametrize("order", [(SCALE_UP, SCALE_DOWN), (SCALE_DOWN, SCALE_UP)], ids=["grow first", "shrink first"])
def test_both_happen_one_after_the_other(order: tuple[FunctionName, ...]) -> None:
    world = world_of_both()
    Auditor(world, watched_since=ago(3600))
    wake_both(world, 180, *order)

    assert grown(world) == [GrowPhase.DONE]
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]
    assert (world.size("web"), world.cloud.pool("web").made) == (3, 4)


def test_removal_waits_for_a_growth_under_way_although_the_pool_looks_free() -> None:
    world = world_of_both(QUICK_POOL)
    world.invoke(SCALE_UP)
    wake_both(world, 30, SCALE_DOWN)
    assert sent(world) == []
    assert [op.phase for op in in_flight(world)] == [ShrinkPhase.DRAINED]

    wake_both(world, 120, SCALE_UP, SCALE_DOWN)
    assert len(sent(world)) == 1


def test_growth_waits_for_a_removal_under_way_although_the_pool_looks_free() -> None:
    world = world_of_both(QUICK_POOL)
    act(world)
    assert len(sent(world)) == 1
    wake_both(world, 30, SCALE_UP)
    assert not any(isinstance(mutation, SizeChange) for mutation in world.cloud.mutations)

    wake_both(world, 120, SCALE_DOWN, SCALE_UP)
    assert grown(world) == [GrowPhase.DONE]
    assert world.cloud.pool("web").made == 4


@pytest.mark.parametrize("error", [TimedOut("scale", WEB), Unavailable("scale", WEB)], ids=lambda e: type(e).__name__)
def test_removal_waits_until_a_growth_without_an_answer_is_known(error: TimedOut | Unavailable) -> None:
    """Were it to go first, the size would be lower again, and the growth would be sent, and bought, a second time."""
    world = world_of_both(Timing(settles=2))
    world.cloud.fail("set_size", error, after=True)
    world.invoke(SCALE_UP)
    world.pass_time(5)
    act(world)
    assert sent(world) == []

    wake_both(world, 120, SCALE_DOWN, SCALE_UP)
    assert world.cloud.pool("web").made == 4
    assert world.size("web") == 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("other", IN_ORDER, ids=str)
@pytest.mark.parametrize("first", [SCALE_UP, SCALE_DOWN], ids=str)
def test_another_invocation_at_any_call_changes_the_pool_once_each_way(
    first: FunctionName, other: FunctionName, after: bool
) -> None:
    visited = 0
    for at in range(1, 200):
        world = world_of_both()
        Auditor(world, watched_since=ago(3600))
        interleaver = Interleaver(at, partial(world.invoke, other), after)
        world.invoke(first, wiring=through(interleaver))
        if interleaver.seen < at:
            break
        visited += 1
        victim = instance_of(world, 3)
        wake_both(world, 150, SCALE_DOWN, SCALE_UP)
        assert sent(world) == [(victim,)], f"at call {at}"
        assert world.cloud.pool("web").made == 4, f"at call {at}"
        assert grown(world) == [GrowPhase.DONE], f"at call {at}"

    assert visited >= 8


@dataclass
class AfterCommit:
    """A probe: something happens after the commit of this number."""

    number: int
    then: Callable[[], object]
    seen: int = 0

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        result = call()
        self.seen += label == "commit"
        if label == "commit" and self.seen == self.number:
            self.then()
        return result


def test_claim_that_ran_out_between_the_intent_and_the_call_sends_nothing_and_is_taken_up_again() -> None:
    world = world_of(2)
    plan(world, 2)
    until(world, ShrinkPhase.DRAINED, 2)
    victim = instance_of(world, 2)
    too_long = world.policy.pace.claim_ttl.total_seconds() + 1
    # The first commit takes the claim, the second one writes the intent.
    probe = AfterCommit(2, partial(world.true_clock.advance, too_long))
    world.invoke(SCALE_DOWN, wiring=through(probe))
    assert sent(world) == []
    assert [op.phase for op in in_flight(world)] == [ShrinkPhase.EVICTING]

    follow(world, 60)
    assert sent(world) == [(victim,)]
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


def test_budget_that_ran_out_between_the_intent_and_the_call_sends_nothing_and_is_taken_up_again() -> None:
    world = world_of(2)
    plan(world, 2)
    until(world, ShrinkPhase.DRAINED, 2)
    budget = world.policy.pace.invocation_budget.total_seconds()
    outcome = world.invoke(SCALE_DOWN, wiring=through(AfterCommit(2, partial(world.true_clock.advance, budget))))
    assert outcome is not None
    assert outcome.kind is OutcomeKind.COME_AGAIN
    assert sent(world) == []

    follow(world, 60)
    assert len(sent(world)) == 1
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]
