"""A whole world on fakes: a cloud, a cluster that lives, the state, and the functions that look after them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from exoscaler.app.evaluate import Recollection, evaluate
from exoscaler.app.invocation import Invocation, Ports, begin
from exoscaler.app.outcome import Outcome
from exoscaler.app.refresh import refresh
from exoscaler.app.scale_down import scale_down
from exoscaler.app.scale_up import scale_up
from exoscaler.core.model import NodeBounds
from exoscaler.core.policy import GrowthPolicy, PacePolicy, Policy, ShrinkPolicy
from exoscaler.core.state import State, UnreadableState
from exoscaler.errors import BudgetExhausted, RemoteError, StateError
from exoscaler.ports.events import FunctionName, Wakeup, WakeupKind
from tests.app.workloads import Workloads
from tests.builders import make_node
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import FakeCloud
from tests.fakes.cluster import FakeCluster
from tests.fakes.pools import Timing
from tests.fakes.sink import FakeSink
from tests.fakes.state import FakeStateStore

TICK = Wakeup(WakeupKind.TICK)

IN_ORDER = (FunctionName.REFRESH, FunctionName.EVALUATE, FunctionName.SCALE_UP, FunctionName.SCALE_DOWN)

HURRIED = Policy(
    growth=GrowthPolicy(
        max_node_provision_time=timedelta(minutes=2),
        initial_backoff=timedelta(minutes=1),
    ),
    shrink=ShrinkPolicy(
        unneeded_time=timedelta(minutes=1),
        unready_time=timedelta(minutes=2),
        delay_after_add=timedelta(seconds=30),
        delay_after_failure=timedelta(seconds=30),
        unremovable_recheck=timedelta(seconds=30),
        max_drain_parallelism=2,
    ),
    pace=PacePolicy(evaluation_period=timedelta(seconds=30)),
)
"""The usual policy with shorter times, so that a story needs fewer ticks."""

Wiring = Callable[[Ports], Ports]


class SkewedClock:
    """What the functions take for the time: the true one, set forward or back."""

    def __init__(self, true: FakeClock) -> None:
        self._true = true
        self.skew = timedelta(0)

    def now(self) -> datetime:
        return self._true.now() + self.skew

    def pause(self, duration: timedelta) -> None:
        self._true.pause(duration)


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """A pool as it stands, names aside: target, members, nodes that are there and ready, and marked or cordoned."""

    size: int
    members: int
    nodes: int
    marked: int


class World:
    """Everything together. `invocations` counts them; `wiring` may put something between a function and its ports."""

    def __init__(self, policy: Policy = HURRIED, timing: Timing | None = None) -> None:
        self.policy = policy
        self.true_clock = FakeClock()
        self.clock = SkewedClock(self.true_clock)
        self.cluster = FakeCluster(clock=self.true_clock)
        self.cloud = FakeCloud(self.true_clock, self.cluster, timing)
        self.store = FakeStateStore()
        self.sink = FakeSink()
        self.workloads = Workloads(self.cluster, self.true_clock)
        self.recollection = Recollection()
        self.invocations = 0
        self.troubles: list[str] = []

    @property
    def ports(self) -> Ports:
        return Ports(self.cluster, self.cloud, self.store, self.sink, self.clock)

    @property
    def state(self) -> State:
        """What is stored now; empty when it is unreadable."""
        try:
            return self.store.state
        except UnreadableState:
            return State()

    def add_pool(self, name: str, *, size: int, minimum: int = 1, maximum: int = 10) -> None:
        """A pool of old nodes of 4 cores that carry the label ``group=<name>``, with bounds."""
        self.cloud.add_pool(name, size=size, node=make_node(labels={"group": name}))
        self.policy = replace(self.policy, bounds=(*self.policy.bounds, NodeBounds(minimum, maximum, name)))

    def begin(self, ports: Ports | None = None) -> Invocation:
        """A new invocation."""
        self.invocations += 1
        return begin(f"call-{self.invocations}", ports or self.ports, self.policy)

    def invoke(self, function: FunctionName, wakeup: Wakeup = TICK, *, wiring: Wiring | None = None) -> Outcome | None:
        """Run one function as the service does; None when it could not finish. What then went wrong is kept."""
        invocation = self.begin(self.ports if wiring is None else wiring(self.ports))
        try:
            match function:
                case FunctionName.REFRESH:
                    return refresh(invocation)
                case FunctionName.EVALUATE:
                    return evaluate(invocation, wakeup, self.recollection)
                case FunctionName.SCALE_UP:
                    return scale_up(invocation)
                case FunctionName.SCALE_DOWN:
                    return scale_down(invocation)
        except (RemoteError, StateError, BudgetExhausted) as error:
            self.troubles.append(f"{function.value}: {error}")
        return None

    def tick(self, *functions: FunctionName, wiring: Wiring | None = None) -> None:
        """Wake the functions, one after the other; all of them unless some are named."""
        for function in functions or IN_ORDER:
            self.invoke(function, wiring=wiring)

    def pass_time(self, seconds: float, *, step: float = 10) -> None:
        """Let time go by; the cloud and the cluster live on meanwhile."""
        left = seconds
        while left > 0:
            self.true_clock.advance(min(step, left))
            left -= step
            self.settle()

    def settle(self) -> None:
        """Let the cloud and the cluster come to where they are at this time."""
        self.cloud.move_on()
        self.workloads.settle()

    def run(self, seconds: float, *, period: float = 20) -> None:
        """Let time go by, with a tick every so often."""
        left = seconds
        while left > 0:
            self.tick()
            self.pass_time(period)
            left -= period

    def heal(self) -> None:
        """Nothing fails any more that has not failed yet."""
        self.cloud.heal()
        self.cluster._failures.clear()
        self.store._failures.clear()

    # What it looks like.

    def size(self, name: str) -> int:
        """The target of a pool."""
        return self.cloud.pool(name).size

    def picture(self) -> Mapping[str, PoolPicture]:
        """Every pool as it stands."""
        prefix = self.cloud.provider_id_prefix
        pictures: dict[str, PoolPicture] = {}
        for pool in self.cloud.pools:
            nodes = [node for node in self.cluster.all_nodes if node.instance_id(prefix) in pool.instances]
            marked = sum(1 for node in nodes if node.deletion_taint is not None or node.unschedulable)
            pictures[pool.name] = PoolPicture(pool.size, len(pool.members), len(nodes), marked)
        return pictures

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way: no operation, no change in the cloud, no pod without a node or on its way."""
        operations = self.state.operations
        pods_rest = all(pod.is_bound and not pod.is_terminating for pod in self.cluster.all_pods)
        return self.cloud.is_quiet and pods_rest and not (operations.growing or operations.shrinking)
