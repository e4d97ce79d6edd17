"""Looking at the cluster and deciding what to do: the only use case that plans.

The order of things is what makes it safe to run twice at once: state first, then the snapshot, then a commit against
the version that was loaded. When that version is gone, somebody else may have planned for the same pods, so everything
is looked at anew, the snapshot too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler import logs
from exoscaler.app.invocation import Invocation
from exoscaler.app.outcome import Outcome, Told, come_again, done, dropped
from exoscaler.app.refresh import cache_is_old, refresh_groups
from exoscaler.app.telling import of_plan, publish_all
from exoscaler.core.plan import Plan
from exoscaler.core.planner import evaluate as decide
from exoscaler.core.recording import with_counter
from exoscaler.core.scene import Scene
from exoscaler.core.state import CounterName, State
from exoscaler.errors import RemoteError, StateConflict
from exoscaler.ports.events import OperationKind, OperationPlanned, Wakeup
from exoscaler.ports.state import LoadedState

MOST_ATTEMPTS = 4
"""How often one invocation plans anew when others keep writing; after that the sender may come again."""

ALREADY_EVALUATED = "an evaluation has begun since"

log = logs.get("exoscaler.app.evaluate")


@dataclass(slots=True)
class Recollection:
    """What a warm instance remembers; forgetting it changes nothing but time.

    Attributes:
        evaluated_at: when the last evaluation that this process committed began.
    """

    evaluated_at: datetime | None = None


def evaluate(invocation: Invocation, wakeup: Wakeup, recollection: Recollection) -> Outcome:
    """Decide what to do now, and record it.

    Raises:
        RemoteError: the cluster or the state could not be read or written; nothing was recorded.
        StateError: the state does not fit any more; nothing was recorded.
        BudgetExhausted: the time ran out before a plan was committed; nothing was recorded.
    """
    asked_at = min(wakeup.occurred_at or invocation.started_at, invocation.started_at)
    if _covered(invocation, recollection.evaluated_at, asked_at):
        return dropped(ALREADY_EVALUATED)
    loaded = invocation.ports.store.load()
    if _covered(invocation, loaded.state.last_evaluation_at, asked_at):
        return dropped(ALREADY_EVALUATED)
    if _wait_for_interval(invocation, loaded.state):
        loaded = invocation.ports.store.load()
        if _covered(invocation, loaded.state.last_evaluation_at, asked_at):
            return dropped(ALREADY_EVALUATED)
    for conflicts in range(MOST_ATTEMPTS):
        invocation.check_budget()
        try:
            plan, before = _plan_and_commit(invocation, loaded, conflicts)
        except StateConflict:
            log.info("somebody else wrote first; looking again", decision_id=invocation.id)
            loaded = invocation.ports.store.load()
            if _covered(invocation, loaded.state.last_evaluation_at, asked_at):
                return dropped(ALREADY_EVALUATED)
            continue
        recollection.evaluated_at = plan.state.last_evaluation_at
        _announce(invocation, plan, before)
        return done(**_told(plan))
    return come_again("others kept writing the state", invocation.policy.pace.min_evaluation_interval)


def _covered(invocation: Invocation, evaluated_at: datetime | None, asked_at: datetime) -> bool:
    """Whether an evaluation began after the event happened, and so has seen what it is about.

    One that began in the future was stamped by a clock that has been set back since: it says nothing, or nobody would
    evaluate until the clock has caught up. Clocks of two machines may differ by as much as the minimum interval.
    """
    if evaluated_at is None:
        return False
    latest = invocation.now + invocation.policy.pace.min_evaluation_interval
    return asked_at < evaluated_at <= latest


def _wait_for_interval(invocation: Invocation, state: State) -> bool:
    """Wait until evaluations may follow each other again; whether there was anything to wait for."""
    last = state.last_evaluation_at
    if last is None:
        return False
    interval = invocation.policy.pace.min_evaluation_interval
    # A last evaluation in the future was stamped by another clock: never wait longer than the interval itself.
    pause = min(last + interval - invocation.now, interval, invocation.time_left())
    if pause <= timedelta(0):
        return False
    invocation.ports.clock.pause(pause)
    return True


def _plan_and_commit(invocation: Invocation, loaded: LoadedState, conflicts: int) -> tuple[Plan, State]:
    """One attempt, after so many that came too late: make sure of the cloud view, look, decide, commit.

    Raises:
        StateConflict: this one came too late as well.
    """
    pace = invocation.policy.pace
    loaded = _with_cloud_view(invocation, loaded, pace.cache_ttl)
    plan = _decide(invocation, loaded)
    if plan.changes_something and _needs_fresh_view(invocation, loaded.state, pace.decision_max_age):
        loaded = _with_cloud_view(invocation, loaded, pace.decision_max_age)
        plan = _decide(invocation, loaded)
    state = with_counter(plan.state, CounterName.EVALUATION_CONFLICTS, conflicts) if conflicts else plan.state
    invocation.ports.store.commit(state, loaded.version)
    return plan, loaded.state


def _needs_fresh_view(invocation: Invocation, state: State, max_age: timedelta) -> bool:
    return cache_is_old(state, invocation.now, max_age)


def _with_cloud_view(invocation: Invocation, loaded: LoadedState, max_age: timedelta) -> LoadedState:
    if not _needs_fresh_view(invocation, loaded.state, max_age):
        return loaded
    return refresh_groups(invocation, loaded)


def _decide(invocation: Invocation, loaded: LoadedState) -> Plan:
    began_at = invocation.now
    snapshot = invocation.ports.cluster.snapshot()
    # The evaluation counts from before the snapshot: what happened after it began may not have been seen.
    return decide(Scene(snapshot, loaded.state, invocation.policy, began_at, invocation.id))


def _announce(invocation: Invocation, plan: Plan, before: State) -> None:
    """Tell the actuators, the logs and the users; the plan is committed, so none of it may fail the invocation."""
    for grow in plan.growth.operations:
        _send(invocation, grow.id, grow.group_id, grow.group_name, OperationKind.GROW, plan)
        log.info(
            "growth planned",
            decision_id=plan.decision_id,
            operation_id=grow.id,
            node_group=grow.group_name,
            size=grow.base_size,
            target=grow.target_size,
        )
    for shrink in plan.shrink.operations:
        _send(invocation, shrink.id, shrink.group_id, shrink.group_name, OperationKind.SHRINK, plan)
        log.info(
            "removal to be undone" if shrink.rollback else "removal planned",
            decision_id=plan.decision_id,
            operation_id=shrink.id,
            node_group=shrink.group_name,
            node=shrink.node_name,
            mode=shrink.mode.value,
            reason=shrink.rollback.value if shrink.rollback else None,
        )
    log.info(
        "evaluated",
        decision_id=plan.decision_id,
        growths=len(plan.growth.operations),
        removals=len(plan.shrink.operations),
        pods_helped=len(plan.growth.helped),
        pods_unhelped=len(plan.growth.unhelped),
        nodes_unneeded=len(plan.shrink.unneeded),
        removals_held=plan.shrink.held or None,
    )
    publish_all(invocation, of_plan(plan, before))


def _send(
    invocation: Invocation, operation_id: str, group_id: str, group_name: str, kind: OperationKind, plan: Plan
) -> None:
    event = OperationPlanned(operation_id, group_id, group_name, kind, plan.decision_id, invocation.started_at)
    if invocation.time_left() <= timedelta(0):
        log.warning("no time was left to send the event; the next tick finds it", operation_id=operation_id)
        return
    try:
        invocation.ports.sink.operation_planned(event)
    except RemoteError as error:
        log.warning("the event was not delivered; the next tick finds it", operation_id=operation_id, detail=str(error))


def _told(plan: Plan) -> dict[str, Told]:
    """The decision, short: who grows, who goes, who comes back, and how many wait or stay for which reason."""
    staying: dict[str, int] = {}
    for verdict in plan.shrink.staying:
        staying[verdict.reason.value] = staying.get(verdict.reason.value, 0) + 1
    return {
        "decision": plan.decision_id,
        "grow": [
            {"group": op.group_name, "from": op.base_size, "to": op.target_size, "operation": op.id}
            for op in plan.growth.operations
        ],
        "remove": [
            {"group": op.group_name, "node": op.node_name, "mode": op.mode.value, "operation": op.id}
            for op in plan.shrink.operations
            if op.rollback is None
        ],
        "undo": [
            {"group": op.group_name, "node": op.node_name, "reason": op.rollback.value, "operation": op.id}
            for op in plan.shrink.operations
            if op.rollback is not None
        ],
        "pods_helped": len(plan.growth.helped),
        "pods_unhelped": len(plan.growth.unhelped),
        "nodes_unneeded": len(plan.shrink.unneeded),
        "nodes_staying": staying,
        "removals_held": plan.shrink.held,
    }
