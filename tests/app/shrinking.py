"""A world in which removals were planned, and what carries them out."""

from __future__ import annotations

from exoscaler.app.outcome import Outcome
from exoscaler.core.model import Node
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.recording import with_operations
from exoscaler.ports.events import FunctionName
from tests.app.world import World
from tests.builders import make_pod
from tests.fakes.pools import Removal, Timing

SCALE_DOWN = FunctionName.SCALE_DOWN
WEB = "id-of-web"


def world_of(size: int, *, minimum: int = 1, timing: Timing | None = None) -> World:
    """One pool of idle nodes, which the cache knows."""
    world = World(timing=timing)
    world.add_pool("web", size=size, minimum=minimum)
    world.tick(FunctionName.REFRESH)
    return world


def node(world: World, number: int) -> Node:
    """A node of ``web`` as it is now."""
    return next(n for n in world.cluster.all_nodes if n.name == f"web-{number:02d}")


def instance_of(world: World, number: int) -> str:
    """The instance behind the node of this number, whether or not there is one any more."""
    pool = world.cloud.pool("web")
    return next(i.id for i in pool.instances.values() if i.name == f"web-{number:02d}")


def plan(world: World, *numbers: int, mode: ShrinkMode = ShrinkMode.EMPTY) -> None:
    """Record the removal of these nodes of ``web``, as `evaluate` does."""
    loaded = world.store.load()
    planned = tuple(_removal(world, number, mode) for number in numbers)
    operations = loaded.state.operations
    recorded = operations.model_copy(update={"shrinking": (*operations.shrinking, *planned)})
    world.store.commit(with_operations(loaded.state, recorded), loaded.version)


def _removal(world: World, number: int, mode: ShrinkMode) -> ShrinkOperation:
    registered = mode is not ShrinkMode.NEVER_REGISTERED
    return ShrinkOperation(
        id=f"removal-{number}",
        group_id=WEB,
        group_name="web",
        decision_id="decision",
        node_name=node(world, number).name if registered else "",
        node_uid=node(world, number).uid if registered else "",
        instance_id=instance_of(world, number),
        mode=mode,
        planned_at=world.clock.now(),
        phase=ShrinkPhase.PLANNED if registered else ShrinkPhase.DRAINED,
        phase_since=world.clock.now(),
    )


def act(world: World) -> Outcome:
    """Wake scale-down once."""
    outcome = world.invoke(SCALE_DOWN)
    assert outcome is not None, world.troubles
    return outcome


def follow(world: World, seconds: float, *, step: float = 5) -> None:
    """Only scale-down is woken for a while."""
    for _ in range(round(seconds / step)):
        world.pass_time(step)
        act(world)


def until(world: World, phase: ShrinkPhase, number: int) -> None:
    """Wake scale-down until a removal has come so far."""
    for _ in range(60):
        act(world)
        if phase in (op.phase for op in (*in_flight(world), *ended(world)) if op.id == f"removal-{number}"):
            return
        world.pass_time(5)
    raise AssertionError(f"removal {number} never came to {phase}: {in_flight(world)} {ended(world)}")


def in_flight(world: World) -> tuple[ShrinkOperation, ...]:
    return world.state.operations.shrinking


def ended(world: World) -> tuple[ShrinkOperation, ...]:
    return world.state.operations.ended_shrinking


def sent(world: World) -> list[tuple[str, ...]]:
    """The instances of every removal call that was made, by call."""
    return [call.instance_ids for call in world.cloud.mutations if isinstance(call, Removal)]


def effects_of(world: World, kind: type) -> list[object]:
    return [effect for effect in world.cluster.effects if isinstance(effect, kind)]


def names(world: World) -> set[str]:
    return {node.name for node in world.cluster.all_nodes}


def reasons_told(world: World) -> list[str]:
    return [event.reason for event in world.cluster.events]


def put_web_pod(world: World, number: int, *, cpu: str = "500m") -> None:
    """A pod of a ReplicaSet on the node of this number, which its controller makes anew elsewhere."""
    world.workloads.run("filler", 0)
    pod = make_pod(f"web-pod-{number}", owner="web", node=node(world, number).name, cpu=cpu, labels={"app": "web"})
    world.cluster.put_pod(pod)
