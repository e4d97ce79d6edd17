"""Steps of a random schedule: wake-ups in any order, time that passes or jumps, faults, and what users do."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from hypothesis import strategies as st

from exoscaler.core.operations.model import CloudOperationState
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Rejected,
    RemoteError,
    StateConflict,
    TimedOut,
    Unavailable,
)
from exoscaler.ports.events import FunctionName, OperationKind, Wakeup, WakeupKind
from tests.app.auditor import Auditor
from tests.app.crashing import Killed, KillSwitch, Moment, Switch
from tests.app.interleaving import Interleaver
from tests.app.wired import through
from tests.app.world import IN_ORDER, World
from tests.fakes.pools import Course

_PASSING = (Unavailable, TimedOut, Conflict, RateLimited, Denied)
_CHANGES = (*_PASSING, QuotaExceeded, Rejected, NotFound)
_MAY_HAVE_HAPPENED = (Unavailable, TimedOut)
_CLOUD_LOOKS = ("read_pool", "read_operation", "instance_is_leaving")
_CLOUD_CHANGES = ("set_size", "remove_instances")
_CLUSTER = ("snapshot", "nodes", "node", "pods_on", "taint", "untaint", "evict", "delete_node", "publish")


@dataclass
class LostAnswer(Switch):
    """The call times out, whether or not it took effect; the process lives on."""

    def happen(self) -> None:
        raise TimedOut(self.visited[-1])


@dataclass
class Run:
    """A world on its way through a schedule; `switch` is what the next invocation meets."""

    world: World
    auditor: Auditor = field(init=False)
    switch: Switch = field(default_factory=Switch)

    def __post_init__(self) -> None:
        self.auditor = Auditor(self.world)

    def wake(self, function: FunctionName, wakeup: Wakeup) -> None:
        """One invocation, which meets what was asked for."""
        switch, self.switch = self.switch, Switch()
        try:
            self.world.invoke(function, wakeup, wiring=through(switch))
        except Killed:
            self.world.troubles.append(f"{function.value}: killed")


class Step(Protocol):
    """Something that happens."""

    def do(self, run: Run) -> None: ...


@dataclass(frozen=True)
class Wake:
    """A tick, or an event that is as old as it says."""

    function: FunctionName
    seconds_old: int

    def do(self, run: Run) -> None:
        occurred_at = run.world.clock.now() - timedelta(seconds=self.seconds_old)
        run.wake(self.function, Wakeup(WakeupKind.OTHER, occurred_at=occurred_at))


@dataclass(frozen=True)
class WakeAll:
    """A tick for every function, several times over."""

    times: int

    def do(self, run: Run) -> None:
        for _ in range(self.times):
            for function in IN_ORDER:
                run.wake(function, Wakeup(WakeupKind.TICK))
            run.world.pass_time(20)


@dataclass(frozen=True)
class Deliver:
    """One of the events that were sent: late, out of order, as often as it likes; what is never delivered is lost."""

    which: int
    times: int

    def do(self, run: Run) -> None:
        sent = run.world.sink.sent
        for _ in range(self.times if sent else 0):
            event = sent[self.which % len(sent)]
            grows = event.kind is OperationKind.GROW
            function = FunctionName.SCALE_UP if grows else FunctionName.SCALE_DOWN
            run.wake(function, Wakeup(WakeupKind.OPERATION_PLANNED, operation_id=event.operation_id))


@dataclass(frozen=True)
class TwoAtOnce:
    """A whole invocation in the middle of another."""

    first: FunctionName
    second: FunctionName
    at: int

    def do(self, run: Run) -> None:
        interleaver = Interleaver(self.at, lambda: run.world.invoke(self.second), after=True)
        run.world.invoke(self.first, wiring=through(interleaver))


@dataclass(frozen=True)
class PassTime:
    seconds: int

    def do(self, run: Run) -> None:
        run.world.pass_time(self.seconds)


@dataclass(frozen=True)
class JumpClock:
    """The functions' clock is set; the world's goes on as ever."""

    seconds: int

    def do(self, run: Run) -> None:
        before = run.world.clock.skew
        run.world.clock.skew = timedelta(seconds=self.seconds)
        run.auditor.clock_was_set(run.world.clock.skew - before)


@dataclass(frozen=True)
class Scale:
    """A user wants another number of pods."""

    deployment: str
    replicas: int

    def do(self, run: Run) -> None:
        run.world.workloads.run(self.deployment, self.replicas, group=self.deployment)
        run.world.settle()


@dataclass(frozen=True)
class FailCloud:
    method: str
    error: type[RemoteError]
    after: bool

    def do(self, run: Run) -> None:
        after = self.after and self.error in _MAY_HAVE_HAPPENED and self.method in _CLOUD_CHANGES
        run.world.cloud.fail(self.method, self.error(self.method), after=after)


@dataclass(frozen=True)
class FailCluster:
    method: str
    error: type[RemoteError]

    def do(self, run: Run) -> None:
        run.world.cluster.fail(self.method, self.error(self.method))


@dataclass(frozen=True)
class FailStore:
    conflict: bool

    def do(self, run: Run) -> None:
        run.world.store.fail(StateConflict("written by others") if self.conflict else Unavailable("put configmap"))


@dataclass(frozen=True)
class RunNextChange:
    """The next change in the cloud runs like this."""

    course: Course

    def do(self, run: Run) -> None:
        run.world.cloud.run_next_change(self.course)


@dataclass(frozen=True)
class DeadInstance:
    """The next instance that is bought never becomes a node."""

    def do(self, run: Run) -> None:
        run.world.cloud.dead_on_arrival += 1


@dataclass(frozen=True)
class Unreadable:
    """A pool cannot be described from now on, or again."""

    pool_id: str
    unreadable: bool

    def do(self, run: Run) -> None:
        run.world.cloud.unreadable = {self.pool_id} if self.unreadable else set()


@dataclass(frozen=True)
class Kill:
    """The next invocation dies at this call."""

    at: int
    moment: Moment

    def do(self, run: Run) -> None:
        run.switch = KillSwitch(self.at, self.moment)


@dataclass(frozen=True)
class LoseAnswer:
    """A call of the next invocation that has an effect times out: a write of the state, a taint, an eviction, all."""

    at: int
    moment: Moment

    def do(self, run: Run) -> None:
        run.switch = LostAnswer(self.at, self.moment)


@dataclass(frozen=True)
class ForgetOperations:
    """The cloud knows none of its operations any more."""

    def do(self, run: Run) -> None:
        run.world.cloud.forget_operations()


@dataclass(frozen=True)
class GiveNodesBack:
    """A person takes every deletion taint off, and the cordons too or not."""

    uncordon: bool

    def do(self, run: Run) -> None:
        for node in run.world.cluster.all_nodes:
            if node.deletion_taint is not None:
                kept = tuple(taint for taint in node.taints if taint != node.deletion_taint)
                run.world.cluster.change_node(
                    node.name, taints=kept, unschedulable=node.unschedulable and not self.uncordon
                )


@dataclass(frozen=True)
class LoseState:
    def do(self, run: Run) -> None:
        run.auditor.state_is_lost_now()
        run.world.store.put(None)


@dataclass(frozen=True)
class Round:
    """Something happens, one function wakes to it, and then all of them tick for a while."""

    disturbance: Step
    first: FunctionName
    ticks: int

    def do(self, run: Run) -> None:
        self.disturbance.do(run)
        run.wake(self.first, Wakeup(WakeupKind.TICK))
        WakeAll(self.ticks).do(run)


def schedules(names: tuple[str, ...]) -> st.SearchStrategy[list[Round]]:
    """Schedules for pools of these names, each with a deployment of the same name."""
    functions = st.sampled_from(IN_ORDER)
    name = st.sampled_from(names)
    courses = st.sampled_from(
        [
            Course(effective=False, ends=CloudOperationState.FAILURE, detail="fault"),
            Course(effective=False, ends=CloudOperationState.FAILURE, busy=True),
            Course(effective=False, ends=CloudOperationState.FAILURE, quota=True),
            Course(effective=False, ends=CloudOperationState.TIMEOUT),
            Course(effective=True, ends=CloudOperationState.PENDING),
        ]
    )
    scale = st.builds(Scale, name, st.integers(0, 9))
    change_fails = st.builds(FailCloud, st.sampled_from(_CLOUD_CHANGES), st.sampled_from(_CHANGES), st.booleans())
    disturbances: list[st.SearchStrategy[Step]] = [
        # What moves things comes up more often than what goes wrong with them.
        scale,
        scale,
        scale,
        st.builds(Wake, functions, st.integers(0, 30)),
        st.builds(TwoAtOnce, functions, functions, st.integers(1, 15)),
        st.builds(Deliver, st.integers(0, 5), st.integers(1, 2)),
        st.builds(PassTime, st.integers(1, 120)),
        st.builds(JumpClock, st.integers(-300, 300)),
        st.builds(FailCloud, st.sampled_from(_CLOUD_LOOKS), st.sampled_from(_PASSING), st.just(value=False)),
        change_fails,
        change_fails,
        st.builds(FailCluster, st.sampled_from(_CLUSTER), st.sampled_from(_PASSING)),
        st.builds(FailStore, st.booleans()),
        st.builds(RunNextChange, courses),
        st.builds(DeadInstance),
        st.builds(DeadInstance),
        st.builds(Unreadable, name.map(lambda n: f"id-of-{n}"), st.booleans()),
        st.builds(Kill, st.integers(1, 12), st.sampled_from(Moment)),
        st.builds(LoseAnswer, st.integers(1, 12), st.sampled_from(Moment)),
        st.builds(LoseState),
        st.builds(ForgetOperations),
        st.builds(GiveNodesBack, st.booleans()),
    ]
    return st.lists(st.builds(Round, st.one_of(*disturbances), functions, st.integers(1, 6)), min_size=12, max_size=25)
