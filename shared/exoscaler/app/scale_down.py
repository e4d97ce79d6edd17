"""Carrying out recorded removals: taint, prove, drain, remove, or undo; one short step each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from exoscaler import logs
from exoscaler.app.claiming import Claimed, claimed
from exoscaler.app.effects import carry_out
from exoscaler.app.invocation import Invocation
from exoscaler.app.outcome import Outcome, Told, come_again, done
from exoscaler.app.scale_up import other_change, read_change, read_pool
from exoscaler.app.telling import of_removal, publish_all
from exoscaler.core.model import Node, Pod, Pool
from exoscaler.core.operations import removal, shrink
from exoscaler.core.operations.due import is_due
from exoscaler.core.operations.model import (
    CloudOperation,
    CloudOperationState,
    ShrinkMode,
    ShrinkOperation,
    ShrinkPhase,
)
from exoscaler.core.operations.shrink_step import Refusal, ShrinkStep, ShrinkWorld
from exoscaler.core.recording import with_counter, with_shrinks
from exoscaler.core.scaledown import recheck_node, recheck_plan
from exoscaler.core.scene import Scene
from exoscaler.core.state import CounterName, State
from exoscaler.errors import BudgetExhausted, ClaimLost, NotFound, RemoteError
from exoscaler.ports.state import Change

log = logs.get("exoscaler.app.scale_down")


def scale_down(invocation: Invocation) -> Outcome:
    """Advance every removal that is due, pool by pool.

    One pool that cannot be read, or that another invocation works on, does not hold up the others.

    Raises:
        RemoteError, StateError: the state could not be read or written; what was done is recorded, or will be
            recognised.
    """
    state = invocation.ports.store.load().state
    due = {op.group_id for op in state.operations.shrinking if _is_due(op, invocation)}
    told: list[Told] = []
    for group_id in sorted(due):
        try:
            invocation.check_budget()
            with claimed(invocation, group_id) as claim:
                told += [] if claim is None else _PoolRound(invocation, claim).run()
        except BudgetExhausted:
            return come_again(
                "the time ran out; what was done is saved", invocation.policy.pace.operation_poll_interval
            )
        except (RemoteError, ClaimLost) as error:
            log.warning("removals were left for the next tick", pool=group_id, detail=str(error))
            told.append({"pool": group_id, "left": str(error)})
    return done(operations=told)


def _is_due(operation: ShrinkOperation, invocation: Invocation) -> bool:
    return is_due(operation.look_at, invocation.policy, invocation.now)


class _PoolRound:
    """One round over the removals of one pool: observe, advance, save the intent, act, save what happened."""

    def __init__(self, invocation: Invocation, claim: Claimed) -> None:
        self._invocation = invocation
        self._claim = claim
        self._counts: Counter[CounterName] = Counter()

    def run(self) -> list[Told]:
        operations = [op for op in self._claim.state.operations.shrinking if self._is_mine(op)]
        group = self._claim.state.node_groups.groups.get(self._claim.group_id)
        try:
            pool = read_pool(self._invocation, group)
        except RemoteError as error:
            log.warning("the pool cannot be read; nothing is removed", pool=self._claim.group_id, detail=str(error))
            pool = None
            steps = [self._advance_without_cloud(operation, str(error)) for operation in operations]
        else:
            steps = [self._advance(operation, pool) for operation in operations]
        advanced = self._save([step.operation for step in steps])
        acted = [self._act(step) for step in steps]
        # Only what changed: one that ended has left the operations in flight with the first save.
        changed = [after for before, after in zip(advanced, acted, strict=True) if after != before]
        if changed or self._counts:
            self._save(changed)
        ready = {step.operation.id for step in steps if step.ready}
        ended = self._remove([op for op in acted if op.id in ready], pool)
        final = [ended.get(op.id, op) for op in acted]
        for before, after in zip(operations, final, strict=True):
            self._tell(before, after)
        return [{"operation": op.id, "node": op.node_name, "phase": op.phase.value} for op in final]

    def _is_mine(self, operation: ShrinkOperation) -> bool:
        return operation.group_id == self._claim.group_id and _is_due(operation, self._invocation)

    def _advance(self, operation: ShrinkOperation, pool: Pool | None) -> ShrinkStep:
        world = self._observe(operation, pool)
        return shrink.advance(operation, world, self._invocation.policy, self._invocation.now)

    def _advance_without_cloud(self, operation: ShrinkOperation, trouble: str) -> ShrinkStep:
        invocation = self._invocation
        node = self._node(operation) if operation.phase is ShrinkPhase.ROLLING_BACK else None
        return shrink.advance_without_cloud(operation, node, trouble, invocation.policy, invocation.now)

    def _save(self, operations: Sequence[ShrinkOperation]) -> list[ShrinkOperation]:
        self._claim.save(_recording(self._invocation, operations, dict(self._counts)))
        self._counts.clear()
        return list(operations)

    def _act(self, step: ShrinkStep) -> ShrinkOperation:
        operation = step.operation
        for effect in step.effects:
            self._claim.before_effect()
            carried = carry_out(self._invocation, operation, effect)
            operation = carried.operation
            if carried.counted is not None:
                self._counts[carried.counted] += 1
        return operation

    def _remove(self, ready: Sequence[ShrinkOperation], pool: Pool | None) -> dict[str, ShrinkOperation]:
        """Send the drained ones in one call. The intent is saved first, so that it is never sent twice (I3)."""
        invocation = self._invocation
        group = self._claim.state.node_groups.groups.get(self._claim.group_id)
        if not ready or pool is None or group is None:
            return {}
        begun, call = removal.begin_removal(ready, group, pool, invocation.policy, invocation.now)
        self._save(begun)
        if call is None:
            return {op.id: op for op in begun}
        self._claim.before_effect()
        sent = [op for op in begun if op.instance_id in call.instance_ids]
        try:
            change = invocation.ports.cloud.remove_instances(group, call.instance_ids)
        except RemoteError as error:
            log.warning("the cloud did not take the removal", node_group=group.name, detail=str(error))
            after = [removal.removal_refused(op, error, invocation.policy, invocation.now) for op in sent]
        else:
            log.info("removal submitted", node_group=group.name, instances=len(call.instance_ids))
            after = [removal.removal_accepted(op, change, invocation.policy, invocation.now) for op in sent]
        self._save(after)
        return {op.id: op for op in (*begun, *after)}

    def _observe(self, operation: ShrinkOperation, pool: Pool | None) -> ShrinkWorld:
        invocation, state = self._invocation, self._claim.state
        node = self._node(operation)
        pods = invocation.ports.cluster.pods_on(node.name) if node is not None else ()
        change = self._follow(operation)
        sent = operation.phase is ShrinkPhase.EVICTING
        return ShrinkWorld(
            node=node,
            pods=pods,
            group=state.node_groups.groups.get(operation.group_id),
            pool=pool,
            other_change=other_change(state, operation.id, operation.group_id),
            cloud_operation=change,
            instance_leaving=self._is_leaving(operation, node, pool, change) if sent else None,
            refusal=None if sent or node is None else self._refusal(operation, node, pods),
        )

    def _node(self, operation: ShrinkOperation) -> Node | None:
        cluster = self._invocation.ports.cluster
        if operation.mode is ShrinkMode.NEVER_REGISTERED:
            prefix = self._invocation.policy.provider_id_prefix
            return next((n for n in cluster.nodes() if n.instance_id(prefix) == operation.instance_id), None)
        try:
            return cluster.node(operation.node_name)
        except NotFound:
            return None

    def _follow(self, operation: ShrinkOperation) -> CloudOperation | None:
        if operation.phase is not ShrinkPhase.EVICTING or not operation.cloud_operation_id:
            return None
        return read_change(self._invocation, operation.cloud_operation_id)

    def _is_leaving(
        self, operation: ShrinkOperation, node: Node | None, pool: Pool | None, change: CloudOperation | None
    ) -> bool | None:
        """Ask for the instance itself only where pool and operation leave a doubt; None when they do not."""
        listed = pool is not None and operation.instance_id in pool.members
        under_way = change is not None and change.state in (CloudOperationState.PENDING, CloudOperationState.SUCCESS)
        if (listed and under_way) or (not listed and node is None):
            return None
        return self._invocation.ports.cloud.instance_is_leaving(operation.instance_id)

    def _refusal(self, operation: ShrinkOperation, node: Node, pods: tuple[Pod, ...]) -> Refusal | None:
        """Whether the plan still holds: on the whole cluster before pods are moved, on the node alone afterwards."""
        if operation.phase in (ShrinkPhase.PLANNED, ShrinkPhase.TAINTED):
            return recheck_plan(self._scene, operation, node, pods)
        group = self._claim.state.node_groups.groups.get(operation.group_id)
        return recheck_node(node, pods, group, self._invocation.policy, self._invocation.now)

    @cached_property
    def _scene(self) -> Scene:
        """The cluster as a whole, read once in this round, after the claim."""
        invocation = self._invocation
        snapshot = invocation.ports.cluster.snapshot()
        return Scene(snapshot, self._claim.state, invocation.policy, invocation.now, invocation.id)

    def _tell(self, before: ShrinkOperation, after: ShrinkOperation) -> None:
        if before.phase is after.phase:
            return
        log.info(
            "removal advanced",
            operation_id=after.id,
            node_group=after.group_name,
            node=after.node_name,
            phase=after.phase.value,
            reason=after.rollback.value if after.rollback else None,
            detail=after.detail or None,
        )
        publish_all(self._invocation, of_removal(before, after))


def _recording(
    invocation: Invocation, operations: Sequence[ShrinkOperation], counts: Mapping[CounterName, int]
) -> Change:
    def record(state: State) -> State:
        for name, count in counts.items():
            state = with_counter(state, name, count)
        return with_shrinks(state, operations, invocation.policy, invocation.now)

    return record
