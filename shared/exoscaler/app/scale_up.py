"""Carrying out recorded growths: submit the size, follow the change, wait for the nodes; one short step each time."""

from __future__ import annotations

from dataclasses import replace

from exoscaler import logs
from exoscaler.app.claiming import Claimed, claimed
from exoscaler.app.invocation import Invocation
from exoscaler.app.outcome import Outcome, Told, come_again, done
from exoscaler.app.telling import of_growth_end, publish_all
from exoscaler.core.model import Node, NodeGroup, Pool
from exoscaler.core.operations import grow
from exoscaler.core.operations.due import is_due
from exoscaler.core.operations.effects import SetPoolSize
from exoscaler.core.operations.grow import GrowWorld
from exoscaler.core.operations.model import CloudOperation, GrowOperation, GrowPhase, ShrinkOperation
from exoscaler.core.recording import with_grow, with_never_registered
from exoscaler.core.state import State
from exoscaler.errors import BudgetExhausted, ClaimLost, Denied, NotFound, RemoteError
from exoscaler.ports.state import Change

log = logs.get("exoscaler.app.scale_up")


def scale_up(invocation: Invocation) -> Outcome:
    """Advance every growth that is due.

    One pool that cannot be read, or that another invocation works on, does not hold up the others.

    Raises:
        RemoteError, StateError: the state could not be read or written; what was done is recorded, or will be
            recognised.
    """
    state = invocation.ports.store.load().state
    due = [
        operation
        for operation in state.operations.growing
        if is_due(operation.look_at, invocation.policy, invocation.now)
    ]
    told: list[Told] = []
    nodes: tuple[Node, ...] | None = None
    for operation in sorted(due, key=lambda op: (op.planned_at, op.id)):
        try:
            invocation.check_budget()
            if nodes is None:
                nodes = invocation.ports.cluster.nodes()
            told.append(_advance(invocation, operation.id, operation.group_id, nodes))
        except BudgetExhausted:
            return come_again(
                "the time ran out; what was done is saved", invocation.policy.pace.operation_poll_interval
            )
        except (RemoteError, ClaimLost) as error:
            log.warning("a growth was left for the next tick", operation_id=operation.id, detail=str(error))
            told.append({"operation": operation.id, "left": str(error)})
    return done(operations=told)


def _advance(invocation: Invocation, operation_id: str, group_id: str, nodes: tuple[Node, ...]) -> Told:
    with claimed(invocation, group_id) as claim:
        if claim is None:
            return {"operation": operation_id, "left": "another invocation works on the pool"}
        operation = next((op for op in claim.state.operations.growing if op.id == operation_id), None)
        if operation is None:
            return {"operation": operation_id, "left": "it ended meanwhile"}
        return _step(invocation, claim, operation, nodes)


def _step(invocation: Invocation, claim: Claimed, operation: GrowOperation, nodes: tuple[Node, ...]) -> Told:
    policy = invocation.policy
    world = _observe(invocation, claim.state, operation, nodes)
    step = grow.advance(operation, world, policy, invocation.now)

    def record(state: State) -> State:
        changed = with_grow(state, step.operation, policy, invocation.now)
        if step.never_registered and world.group is not None and world.pool is not None:
            # As the pool is now: the cache may be from before it grew.
            group = replace(world.group, pool=world.pool)
            return with_never_registered(changed, step.operation, step.never_registered, group, invocation.now)
        return changed

    current = step.operation
    if current != operation:
        claim.save(record)
    for effect in step.effects:
        current = _submit(invocation, claim, current, effect)
        claim.save(_recording(invocation, current))
    _tell(invocation, operation, current)
    return {"operation": current.id, "group": current.group_name, "phase": current.phase.value}


def _recording(invocation: Invocation, operation: GrowOperation) -> Change:
    return lambda state: with_grow(state, operation, invocation.policy, invocation.now)


def _submit(invocation: Invocation, claim: Claimed, operation: GrowOperation, effect: SetPoolSize) -> GrowOperation:
    group = claim.state.node_groups.groups[effect.group_id]
    claim.before_effect()
    try:
        change = invocation.ports.cloud.set_size(group, effect.size)
    except RemoteError as error:
        log.warning("the cloud did not take the size", operation_id=operation.id, detail=str(error))
        return grow.refused(operation, error, invocation.policy, invocation.now)
    log.info("size submitted", operation_id=operation.id, node_group=group.name, size=effect.size)
    return grow.accepted(operation, change, invocation.now)


def _observe(invocation: Invocation, state: State, operation: GrowOperation, nodes: tuple[Node, ...]) -> GrowWorld:
    group = state.node_groups.groups.get(operation.group_id)
    prefix = invocation.policy.provider_id_prefix
    identified = [(node.instance_id(prefix), node) for node in nodes]
    return GrowWorld(
        group=group,
        pool=read_pool(invocation, group),
        other_change=other_change(state, operation.id, operation.group_id),
        cloud_operation=_follow(invocation, operation),
        registered=frozenset(instance for instance, _ in identified if instance),
        ready=frozenset(instance for instance, node in identified if instance and node.is_ready),
    )


def read_pool(invocation: Invocation, group: NodeGroup | None) -> Pool | None:
    """The pool now; None when it is gone, or when the group is not known any more."""
    if group is None:
        return None
    try:
        return invocation.ports.cloud.read_pool(group)
    except NotFound:
        return None


def other_change(state: State, operation_id: str, group_id: str) -> bool:
    """Whether another operation of the pool has a change under way in the cloud (I3)."""
    operations: tuple[GrowOperation | ShrinkOperation, ...] = (*state.operations.growing, *state.operations.shrinking)
    return any(op.changes_pool and op.group_id == group_id and op.id != operation_id for op in operations)


def _follow(invocation: Invocation, operation: GrowOperation) -> CloudOperation | None:
    if operation.phase is not GrowPhase.SUBMITTED or not operation.cloud_operation_id:
        return None
    return read_change(invocation, operation.cloud_operation_id)


def read_change(invocation: Invocation, cloud_operation_id: str) -> CloudOperation | None:
    """A change's progress; None when the credentials do not allow to ask: then the pool itself must tell."""
    try:
        return invocation.ports.cloud.read_operation(cloud_operation_id)
    except Denied as error:
        log.warning("a change is followed by its pool alone", cloud_operation_id=cloud_operation_id, detail=str(error))
        return None


def _tell(invocation: Invocation, before: GrowOperation, after: GrowOperation) -> None:
    if before.phase is after.phase:
        return
    log.info(
        "growth advanced",
        operation_id=after.id,
        node_group=after.group_name,
        phase=after.phase.value,
        failure=after.failure.value if after.failure else None,
        detail=after.detail or None,
    )
    if after.ended:
        publish_all(invocation, of_growth_end(after))
