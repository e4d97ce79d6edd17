"""Living through a story while something happens at a chosen call: the process dies, or the state is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from exoscaler.core.state import Payload
from tests.app.auditor import Auditor
from tests.app.stories import Story
from tests.app.wired import CallKind, through
from tests.app.world import IN_ORDER, PoolPicture, World

T = TypeVar("T")

TICK_SECONDS = 20
STEADY_TICKS = 3
"""For so many ticks a world must stay as it is before it counts as come to rest."""


class Killed(BaseException):
    """The process is gone: nothing of exoscaler may catch this."""


class Moment(StrEnum):
    """When it happens: with the call not made, or made and its answer lost."""

    BEFORE = "before"
    AFTER = "after"


@dataclass
class Switch:
    """A probe that counts calls with effects, and does something at one of them. This one does nothing.

    Attributes:
        at: the number of the call, from 1; 0 is never.
        visited: what the calls were, in order.
    """

    at: int = 0
    moment: Moment = Moment.BEFORE
    visited: list[str] = field(default_factory=list)

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        if kind is CallKind.LOOK:
            return call()
        self.visited.append(label)
        hit = len(self.visited) == self.at
        if hit and self.moment is Moment.BEFORE:
            self.happen()
        result = call()
        if hit and self.moment is Moment.AFTER:
            self.happen()
        return result

    def happen(self) -> None:
        """What happens at the chosen call."""

    def revive(self) -> None:
        """The next invocation begins."""


@dataclass
class KillSwitch(Switch):
    """The process dies at the call: whatever it tries afterwards, it does nothing more."""

    dead: bool = False

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        if self.dead:
            raise Killed
        return super().around(label, kind, call)

    def happen(self) -> None:
        self.dead = True
        raise Killed

    def revive(self) -> None:
        self.dead = False


@dataclass
class StateLoss(Switch):
    """The state's ConfigMap is gone, or holds something else."""

    world: World | None = None
    auditor: Auditor | None = None
    left: Payload | None = None

    def happen(self) -> None:
        assert self.world is not None
        assert self.auditor is not None
        self.auditor.state_is_lost_now()
        self.world.store.put(self.left)


@dataclass(frozen=True)
class Ending:
    """How a story ended: every pool, what was ever bought, and whether everything had come to rest."""

    pools: Mapping[str, PoolPicture]
    made: Mapping[str, int]
    at_rest: bool
    ticks: int


def live(story: Story, switch: Switch, *, world: World | None = None, until: Ending | None = None) -> Ending:
    """Live through a story, with a tick of every function every so often, and the invariants watched.

    It is over when its time is up or, with `until`, when the world has come to rest like that and stays so.
    """
    if world is None:
        world = story.setting()
        Auditor(world)
    steady = 0
    tick = 0
    for tick in range(story.ticks):
        if tick in story.deeds:
            story.deeds[tick](world)
            world.settle()
        wake_all(world, switch)
        world.pass_time(TICK_SECONDS)
        steady = steady + 1 if until is not None and _is_like(world, until) and tick > story.last_deed else 0
        if steady == STEADY_TICKS:
            break
    return Ending(world.picture(), made(world), world.is_quiet, tick + 1)


def wake_all(world: World, switch: Switch) -> None:
    """One tick of every function; one that dies leaves the others to run."""
    for function in IN_ORDER:
        switch.revive()
        try:
            world.invoke(function, wiring=through(switch))
        except Killed:
            world.troubles.append(f"{function.value}: killed")


def made(world: World) -> Mapping[str, int]:
    """How many instances each pool ever had."""
    return {pool.name: pool.made for pool in world.cloud.pools}


def _is_like(world: World, ending: Ending) -> bool:
    return world.is_quiet and world.picture() == ending.pools
