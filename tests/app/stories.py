"""Stories to live through: what a world starts with, and what its user does when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from exoscaler.errors import Denied
from tests.app.world import World

Deed = Callable[[World], None]


@dataclass(frozen=True, eq=False)
class Story:
    """A world, and deeds by the number of the tick before which they are done. `ticks` is when it is over at last."""

    name: str
    setting: Callable[[], World]
    deeds: Mapping[int, Deed] = field(default_factory=dict)
    ticks: int = 60

    @property
    def last_deed(self) -> int:
        """The tick after which nothing more is done from outside."""
        return max(self.deeds, default=0)


def run(name: str, replicas: int, *, group: str = "", cpu: str = "1500m") -> Deed:
    """Have so many pods of a deployment; two fit a node."""
    return lambda world: world.workloads.run(name, replicas, group=group, cpu=cpu)


def spread(world: World, group: str = "") -> None:
    """One pod of ``web`` on each of four nodes: beside a large one that then goes."""
    world.workloads.run("large", 4, cpu="2200m", group=group)
    world.workloads.run("web", 4, group=group)
    world.settle()
    world.workloads.run("large", 0)


def pools(**sizes: int) -> Callable[[], World]:
    """A world of pools of these sizes, each from one to six nodes."""

    def build() -> World:
        world = World()
        for name, size in sizes.items():
            world.add_pool(name, size=size, maximum=6)
        return world

    return build


def with_dead_instance() -> World:
    """The first instance that is bought never becomes a node."""
    world = pools(web=1)()
    world.cloud.dead_on_arrival = 1
    return world


def with_refusal() -> World:
    """The first removal that is asked for is refused for good, so that the nodes come back; the next one is not."""
    world = pools(web=3)()
    world.cloud.fail("remove_instances", Denied("evict-sks-nodepool-members", "id-of-web", status=403))
    return world


GROW = Story("grow", pools(web=1), {0: run("web", 2), 2: run("web", 7)}, ticks=20)
SHRINK_EMPTY = Story("shrink-empty", pools(web=4), {0: run("web", 2)}, ticks=40)
SHRINK_DRAIN = Story("shrink-drain", pools(web=4), {0: spread}, ticks=60)
BOTH_AT_ONCE = Story(
    "both-at-once",
    pools(web=1, batch=3),
    {0: run("batch", 1, group="batch"), 4: run("web", 5, group="web")},
    ticks=50,
)
GROW_THEN_SHRINK = Story("grow-then-shrink", pools(web=1), {0: run("web", 6), 8: run("web", 2)}, ticks=60)
NEVER_REGISTERS = Story("never-registers", with_dead_instance, {0: run("web", 3)}, ticks=80)

ROLL_BACK = Story("roll-back", with_refusal, {0: run("web", 2)}, ticks=60)

STORIES = (GROW, SHRINK_EMPTY, SHRINK_DRAIN, BOTH_AT_ONCE, GROW_THEN_SHRINK, NEVER_REGISTERS, ROLL_BACK)
