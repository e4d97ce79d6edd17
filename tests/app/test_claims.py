"""Who may act on a pool when: claims that are held, run out, or are lost, in the middle of a growth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

import pytest

from exoscaler.app.outcome import OutcomeKind
from exoscaler.app.scale_up import scale_up
from exoscaler.core.operations.claims import with_claim
from exoscaler.core.operations.model import GrowPhase
from exoscaler.core.recording import with_operations
from exoscaler.errors import (
    StateConflict,
    Unavailable,
)
from exoscaler.ports.events import FunctionName
from tests.app.growing import SCALE_UP, WEB, act, ended, follow, growth, planned_world
from tests.app.interleaving import Interleaver
from tests.app.wired import CallKind, through, wired
from tests.app.world import World
from tests.fakes.pools import SizeChange

T = TypeVar("T")


def test_pool_that_another_invocation_holds_is_left_alone() -> None:  # I3
    world = planned_world()
    claim_elsewhere(world)
    outcome = act(world)

    assert outcome.facts["operations"] == [
        {"operation": growth(world).id, "left": "another invocation works on the pool"}
    ]
    assert world.cloud.calls["read_pool"] == 0


def test_claim_of_a_killed_invocation_runs_out() -> None:  # I5
    world = planned_world()
    claim_elsewhere(world)
    world.pass_time(world.policy.pace.claim_ttl.total_seconds())
    act(world)

    assert world.size("web") == 4


def claim_elsewhere(world: World) -> None:
    loaded = world.store.load()
    ttl = world.policy.pace.claim_ttl
    claims = with_claim(loaded.state.operations, WEB, "elsewhere", world.clock.now(), ttl)
    assert claims is not None
    world.store.commit(with_operations(loaded.state, claims), loaded.version)


@dataclass
class Delay:
    """Time goes by right before a call, or while it is answered."""

    world: World
    label: str
    seconds: float
    after: bool = False

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        if label == self.label and not self.after:
            self.world.true_clock.advance(self.seconds)
        result = call()
        if label == self.label and self.after:
            self.world.true_clock.advance(self.seconds)
        return result


def test_claim_that_ran_out_before_the_effect_stops_it() -> None:
    world = planned_world()
    too_long = world.policy.pace.claim_ttl.total_seconds() + 1
    world.invoke(SCALE_UP, wiring=through(Delay(world, "read_pool", too_long)))

    assert world.cloud.mutations == []
    act(world)
    assert world.cloud.mutations == [SizeChange(WEB, 4)]


def test_claim_that_ran_out_during_the_effect_lets_the_next_one_recognise_it() -> None:
    world = planned_world()
    too_long = world.policy.pace.claim_ttl.total_seconds() + 1
    world.invoke(SCALE_UP, wiring=through(Delay(world, "set_size", too_long, after=True)))
    assert growth(world).phase is GrowPhase.PLANNED  # it could not be written any more

    follow(world, 60)
    assert world.cloud.mutations == [SizeChange(WEB, 4)]
    assert ended(world).phase is GrowPhase.DONE


def test_used_up_budget_stops_it_before_the_effect() -> None:
    world = planned_world()
    budget = world.policy.pace.invocation_budget.total_seconds()
    outcome = world.invoke(SCALE_UP, wiring=through(Delay(world, "read_pool", budget)))

    assert outcome is not None
    assert outcome.kind is OutcomeKind.COME_AGAIN
    assert world.cloud.mutations == []
    assert world.state.operations.claims == ()


@pytest.mark.parametrize("number", range(1, 5))
def test_state_that_cannot_be_written_loses_nothing(number: int) -> None:  # I7
    """The claim, the result, the claim given back: whichever write fails, the next ticks go on."""
    world = planned_world()
    writes = 0

    class Failing:
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            nonlocal writes
            writes += label == "commit"
            if label == "commit" and writes == number:
                raise Unavailable("put configmap", status=503)
            return call()

    world.invoke(SCALE_UP, wiring=through(Failing()))
    world.pass_time(world.policy.pace.claim_ttl.total_seconds())
    follow(world, 60)

    assert world.cloud.mutations == [SizeChange(WEB, 4)]
    assert ended(world).phase is GrowPhase.DONE


def test_state_that_others_keep_writing_is_reported_as_unfinished() -> None:
    world = planned_world()

    class Busy:
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            if label == "commit":
                raise StateConflict("the state was changed by others")
            return call()

    assert world.invoke(SCALE_UP, wiring=lambda ports: wired(ports, Busy())) is None
    assert world.cloud.mutations == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("other", [FunctionName.SCALE_UP, FunctionName.EVALUATE], ids=str)
def test_another_invocation_at_any_call_sends_the_size_once(other: FunctionName, after: bool) -> None:  # I3
    visited = 0
    for at in range(1, 200):
        world = planned_world()
        world.pass_time(6)
        interleaver = Interleaver(at, partial(world.invoke, other), after)
        world.invoke(SCALE_UP, wiring=through(interleaver))
        if interleaver.seen < at:
            break
        visited += 1
        assert world.cloud.mutations == [SizeChange(WEB, 4)], f"at call {at}"
        assert growth(world).target_size == 4

    assert visited >= 8


def test_clock_slightly_behind_the_holders_does_not_break_its_claim() -> None:  # I3
    """Two machines never agree on the time to the millisecond."""
    world = planned_world()
    ahead = replace(world.begin(), id="ahead")
    world.clock.skew = timedelta(milliseconds=500)

    class Meanwhile:
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            if label == "read_pool":
                world.clock.skew = timedelta(0)
                act(world)
                world.clock.skew = timedelta(milliseconds=500)
            return call()

    scale_up(replace(ahead, ports=wired(world.ports, Meanwhile())))

    assert world.cloud.mutations == [SizeChange(WEB, 4)]
    assert world.cloud.calls["read_pool"] == 1
