"""A world in which a growth was planned, and what carries it out."""

from __future__ import annotations

from exoscaler.app.outcome import Outcome
from exoscaler.core.operations.model import GrowOperation, GrowPhase
from exoscaler.ports.cluster import EventType
from exoscaler.ports.events import FunctionName
from tests.app.world import World

SCALE_UP = FunctionName.SCALE_UP
WEB = "id-of-web"


def planned_world() -> World:
    """A growth of ``web`` from 1 to 4 is in the state, and nothing was done about it yet."""
    world = World()
    world.add_pool("web", size=1, maximum=6)
    world.workloads.run("web", 7)
    world.settle()
    world.pass_time(1)
    world.tick(FunctionName.EVALUATE)
    assert growth(world).target_size == 4
    return world


def submitted_world() -> World:
    """The size was sent and accepted."""
    world = planned_world()
    act(world)
    assert growth(world).phase is GrowPhase.SUBMITTED
    return world


def growth(world: World) -> GrowOperation:
    (operation,) = world.state.operations.growing
    return operation


def ended(world: World) -> GrowOperation:
    assert world.state.operations.growing == ()
    (operation,) = world.state.operations.ended_growing
    return operation


def act(world: World) -> Outcome:
    outcome = world.invoke(SCALE_UP)
    assert outcome is not None, world.troubles
    return outcome


def follow(world: World, seconds: float) -> None:
    """Only scale-up is woken for a while."""
    for _ in range(round(seconds / 10)):
        world.pass_time(10)
        act(world)


def warnings(world: World) -> list[str]:
    return [event.reason for event in world.cluster.events if event.type is EventType.WARNING]
