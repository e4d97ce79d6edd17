"""Watches every change that is asked of the cloud and checks the invariants at that very moment."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.model import Node
from exoscaler.core.operations.drain import pods_to_move
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from tests.app.world import World
from tests.fakes.pools import FakePool, Mutation, Removal, SizeChange


class Auditor:
    """Raises `AssertionError` out of the call that breaks an invariant; `checked` counts the calls it has seen.

    Nodes have been watched since `watched_since`, by default since now, so that none may go before its time is up.
    """

    def __init__(self, world: World, watched_since: datetime | None = None) -> None:
        self._world = world
        self._bounds = {bounds.name: bounds for bounds in world.policy.bounds}
        self._nothing_known_since = watched_since or world.clock.now()
        self._about_to_be_sent: dict[str, ShrinkOperation] = {}
        self.checked = 0
        world.cloud.watchers.append(self.check)

    def state_is_lost_now(self) -> None:
        """From now on every timer must run anew (I6).

        What an invocation was just about to send it has recorded and proved a moment ago; it may still send that.
        """
        self._nothing_known_since = self._world.clock.now()
        in_flight = self._world.state.operations.shrinking
        self._about_to_be_sent = {op.instance_id: op for op in in_flight if op.phase is ShrinkPhase.EVICTING}

    def clock_was_set(self, by: timedelta) -> None:
        """Time that never was, or was twice: as far as it looks like time that has passed, nobody can tell."""
        if by < timedelta(0):
            self._nothing_known_since += by

    def check(self, mutation: Mutation) -> None:
        self.checked += 1
        pool = next(p for p in self._world.cloud.pools if p.id == mutation.group_id)
        assert not pool.changing, f"I3: {mutation} while {pool.changing} is under way"
        match mutation:
            case SizeChange(size=size):
                self._check_growth(pool, size)
            case Removal(instance_ids=instances):
                self._check_removal(pool, instances)

    def _check_growth(self, pool: FakePool, size: int) -> None:
        assert size > pool.size, f"I3: {pool.name} of size {pool.size} was asked to have {size}"
        assert size <= self._bounds[pool.name].max_size, f"I1: {size} is above the maximum of {pool.name}"
        quota = self._world.cloud.quota_limit
        assert quota < 0 or self._world.cloud.usage + size - pool.size <= quota, "I1: above the quota"

    def _check_removal(self, pool: FakePool, instances: tuple[str, ...]) -> None:
        left = pool.size - len(instances)
        assert left >= self._bounds[pool.name].min_size, f"I1: {left} would be below the minimum of {pool.name}"
        assert len(set(instances)) == len(instances), f"I3: an instance twice in one call: {instances}"
        again = set(instances) & self._removed
        assert not again, f"I3: {again} were accepted for removal before"
        operations = {op.instance_id: op for op in self._world.state.operations.shrinking}
        for instance in instances:
            known = operations.get(instance)
            operation = known or self._about_to_be_sent.get(instance)
            assert operation is not None, f"I2: no operation intends the removal of {instance}"
            self._check_victim(operation)
            assert known is None or operation.mode is ShrinkMode.NEVER_REGISTERED or self._has_been_watched, (
                f"I6: {operation.node_name} goes too soon after a fresh start"
            )

    @property
    def _has_been_watched(self) -> bool:
        watched = self._world.clock.now() - self._nothing_known_since
        return watched > self._world.policy.shrink.unneeded_time

    @property
    def _removed(self) -> set[str]:
        removals = [mutation for mutation in self._world.cloud.accepted if isinstance(mutation, Removal)]
        return {instance for removal in removals for instance in removal.instance_ids}

    def _check_victim(self, operation: ShrinkOperation) -> None:
        assert operation.phase is ShrinkPhase.EVICTING, f"I2: {operation.id} was sent as {operation.phase}"
        node = self._node_of(operation.instance_id)
        if operation.mode is ShrinkMode.NEVER_REGISTERED:
            assert node is None, f"I2: {operation.instance_id} is node {node}"
            return
        assert node is not None, f"I2: the node of {operation.instance_id} is gone"
        taint = node.deletion_taint
        assert taint is not None, f"I2: {node.name} is not tainted"
        assert taint.value == operation.taint_value, f"I2: the taint of {node.name} is not that of {operation.id}"
        on_it = [pod for pod in self._world.cluster.all_pods if pod.node_name == node.name]
        moving = pods_to_move(on_it, self._world.clock.now())
        assert not moving, f"I2: {node.name} is not drained: {[pod.key for pod in moving]}"

    def _node_of(self, instance_id: str) -> Node | None:
        prefix = self._world.policy.provider_id_prefix
        return next((n for n in self._world.cluster.all_nodes if n.instance_id(prefix) == instance_id), None)
