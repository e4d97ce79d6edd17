"""A world with something to decide, and what a decision is asked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from exoscaler.app.evaluate import Recollection, evaluate
from exoscaler.app.outcome import Outcome
from exoscaler.ports.events import FunctionName, Wakeup, WakeupKind
from tests.app.wired import CallKind
from tests.app.world import TICK, World

T = TypeVar("T")

EVALUATE = FunctionName.EVALUATE
INTERVAL = World().policy.pace.min_evaluation_interval


def world_with_waiting_pods(replicas: int = 7) -> World:
    """One node with room for two pods; the others wait."""
    world = World()
    world.add_pool("web", size=1, maximum=6)
    run_web(world, replicas)
    return world


def run_web(world: World, replicas: int) -> None:
    """Have so many pods, old enough to count."""
    world.workloads.run("web", replicas)
    world.settle()
    world.pass_time(1)


def decide(world: World, wakeup: Wakeup = TICK) -> Outcome:
    outcome = world.invoke(EVALUATE, wakeup)
    assert outcome is not None, world.troubles
    return outcome


def pod_event(world: World, *, seconds_ago: float) -> Wakeup:
    return Wakeup(WakeupKind.POD, occurred_at=world.clock.now() - timedelta(seconds=seconds_ago))


@dataclass
class Recorder:
    """A probe that notes the calls, and does something of its own before the one it is told."""

    before: str = ""
    then: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        self.calls.append(label)
        if label == self.before:
            self.before = ""
            self.then()
        return call()


def evaluate_elsewhere(world: World) -> None:
    evaluate(world.begin(), TICK, Recollection())
