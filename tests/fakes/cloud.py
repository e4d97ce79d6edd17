"""A cloud of instance pools in memory: changes take time, instances become nodes, evicted ones take theirs along."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from exoscaler.core.model import (
    CloudReading,
    GroupKind,
    Node,
    NodeGroup,
    Pool,
    PoolState,
    Quota,
    Trouble,
    TroubleKind,
)
from exoscaler.core.model.groups import UNLIMITED
from exoscaler.core.operations.model import CloudOperation, CloudOperationState
from exoscaler.errors import Conflict, NotFound, QuotaExceeded, Rejected, RemoteError
from exoscaler.ports.clock import Clock
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from tests.builders import make_node
from tests.fakes.cluster import FakeCluster
from tests.fakes.pools import (
    NODEPOOL_LABEL,
    PROVIDER_ID_PREFIX,
    Course,
    FakePool,
    Instance,
    Mutation,
    Removal,
    SizeChange,
    Standing,
    Timing,
)

Watcher: TypeAlias = Callable[[Mutation], None]


@dataclass(frozen=True, slots=True)
class _Due:
    at: datetime
    number: int
    happen: Callable[[], None]


class FakeCloud:
    """Implements `exoscaler.ports.cloud.Cloud`. Its world moves on to the clock's time whenever it is looked at.

    Attributes:
        mutations: every mutating call, in order, whatever became of it.
        accepted: those that took effect.
        watchers: told of every mutating call before anything is decided about it.
        calls: how often each method was called.
        quota_limit: of instances, `UNLIMITED` for none.
        unreadable: ids of pools whose description cannot be read now.
        quota_unreadable: whether the quota cannot be read now.
        dead_on_arrival: how many of the instances created next will never become nodes.
    """

    provider_id_prefix = PROVIDER_ID_PREFIX
    nodepool_label = NODEPOOL_LABEL

    def __init__(self, clock: Clock, cluster: FakeCluster, timing: Timing | None = None) -> None:
        self._clock = clock
        self._cluster = cluster
        self.timing = timing or Timing()
        self._pools: dict[str, FakePool] = {}
        self._operations: dict[str, CloudOperation] = {}
        self._timeline: list[_Due] = []
        self._numbers = 0
        self._failures: dict[str, list[tuple[RemoteError, bool]]] = {}
        self._courses: list[Course] = []
        self.mutations: list[Mutation] = []
        self.accepted: list[Mutation] = []
        self.watchers: list[Watcher] = []
        self.calls: Counter[str] = Counter()
        self.quota_limit = UNLIMITED
        self.unreadable: set[str] = set()
        self.quota_unreadable = False
        self.dead_on_arrival = 0

    # What a test does to the cloud.

    def add_pool(
        self,
        name: str,
        *,
        size: int,
        node: Node | None = None,
        kind: GroupKind = GroupKind.SKS_NODEPOOL,
        min_available: int = 0,
    ) -> FakePool:
        """A running pool whose members are old, ready nodes like `node`; its id is ``id-of-<name>``."""
        pool = FakePool(f"id-of-{name}", name, node or make_node(), size, kind, min_available)
        self._pools[pool.id] = pool
        for _ in range(size):
            instance = self._new_instance(pool)
            instance.standing, instance.has_joined = Standing.ALIVE, True
            self._cluster.put_node(pool.node_of(instance))
        return pool

    def pool(self, name: str) -> FakePool:
        """A pool as it is now."""
        self.move_on()
        return self._pools[f"id-of-{name}"]

    @property
    def pools(self) -> tuple[FakePool, ...]:
        """Every pool as it is now."""
        self.move_on()
        return tuple(self._pools.values())

    def delete_pool(self, name: str) -> None:
        """The pool is gone at once; its nodes stay until somebody takes them away."""
        del self._pools[f"id-of-{name}"]

    def fail(self, method: str, *errors: RemoteError, after: bool = False) -> None:
        """Let the next calls of a method fail with these errors, one each; `after` lets a change take effect first."""
        self._failures.setdefault(method, []).extend((error, after) for error in errors)

    def run_next_change(self, course: Course) -> None:
        """How the next accepted change runs."""
        self._courses.append(course)

    def heal(self) -> None:
        """Nothing fails any more that has not failed yet."""
        self._failures.clear()
        self._courses.clear()
        self.unreadable = set()
        self.quota_unreadable = False
        self.dead_on_arrival = 0

    def forget_operations(self) -> None:
        """No operation is known any more; what they do goes on."""
        self._operations.clear()

    def lose_instance(self, pool_name: str, instance_id: str) -> None:
        """A member dies by itself; the pool keeps its target and does not make up for it."""
        pool = self.pool(pool_name)
        self._take_node(pool.instances.pop(instance_id))

    @property
    def usage(self) -> int:
        """How many instances count against the quota."""
        return sum(len(pool.instances) for pool in self._pools.values())

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way any more."""
        self.move_on()
        return not self._timeline

    def instance(self, instance_id: str) -> Instance | None:
        """An instance that has not left yet."""
        self.move_on()
        return next((p.instances[instance_id] for p in self._pools.values() if instance_id in p.instances), None)

    def move_on(self) -> None:
        """Let happen what is due by now."""
        now = self._clock.now()
        while due := [entry for entry in self._timeline if entry.at <= now]:
            first = min(due, key=lambda entry: (entry.at, entry.number))
            self._timeline.remove(first)
            first.happen()

    # The port.

    def read_groups(self, nodes: Sequence[NodeIdentity], known: KnownCloud) -> CloudReading:
        self._look("read_groups")
        unread = tuple(group.id for group in known.groups if group.id in self.unreadable and group.id in self._pools)
        troubles = [Trouble(TroubleKind.GROUP_UNREADABLE, i, f"{i}: unavailable (HTTP 503)") for i in unread]
        if self.quota_unreadable:
            troubles.append(Trouble(TroubleKind.QUOTA_UNREADABLE, "", "get-quota: unavailable (HTTP 503)"))
        return CloudReading(
            groups=tuple(p.reading for p in self._pools.values() if p.id not in self.unreadable),
            unread=unread,
            gone=tuple(group.id for group in known.groups if group.id not in self._pools),
            quota=None if self.quota_unreadable else Quota(self.quota_limit, self.usage),
            troubles=tuple(troubles),
        )

    def read_pool(self, group: NodeGroup) -> Pool:
        self._look("read_pool")
        return self._known("get-instance-pool", group.id).view

    def set_size(self, group: NodeGroup, size: int) -> CloudOperation:
        failure = self._begin("set_size", SizeChange(group.id, size))
        pool = self._known("scale-sks-nodepool", group.id)
        if pool.changing:
            raise Conflict("scale-sks-nodepool", pool.id, status=409, detail="The nodepool is already being updated.")
        missing = size - pool.staying
        if missing < 0:
            raise AssertionError(f"{size} is below the {pool.staying} members: the cloud would pick victims")
        if self.quota_limit != UNLIMITED and self.usage + missing > self.quota_limit:
            raise QuotaExceeded("scale-sks-nodepool", pool.id, status=403, detail="instance quota exceeded")
        course = self._accept(pool, PoolState.SCALING_UP, SizeChange(group.id, size))
        if course.effective:
            pool.size = size
            for _ in range(missing):
                self._plan_arrival(pool, self._new_instance(pool))
        return self._answer(pool, failure)

    def remove_instances(self, group: NodeGroup, instance_ids: Sequence[str]) -> CloudOperation:
        call = Removal(group.id, tuple(instance_ids))
        failure = self._begin("remove_instances", call)
        pool = self._known("evict-sks-nodepool-members", group.id)
        if pool.changing:
            raise Conflict("evict-sks-nodepool-members", pool.id, status=409, detail="already being updated")
        if not instance_ids or len(set(instance_ids)) != len(instance_ids):
            raise Rejected("evict-sks-nodepool-members", pool.id, status=400)
        for instance_id in instance_ids:
            if instance_id not in pool.members:
                raise NotFound("evict-sks-nodepool-members", instance_id, status=404)
        course = self._accept(pool, PoolState.SCALING_DOWN, call)
        if course.effective:
            pool.size -= len(instance_ids)
            for instance_id in instance_ids:
                self._plan_departure(pool, pool.instances[instance_id])
        return self._answer(pool, failure)

    def read_operation(self, operation_id: str) -> CloudOperation:
        self._look("read_operation")
        return self._operations.get(operation_id, CloudOperation(operation_id, CloudOperationState.FORGOTTEN))

    def instance_is_leaving(self, instance_id: str) -> bool:
        self._look("instance_is_leaving")
        found = self.instance(instance_id)
        return found is None or found.standing is Standing.LEAVING

    def close(self) -> None:
        self.calls["close"] += 1

    # How a change runs.

    def _look(self, method: str) -> None:
        self.calls[method] += 1
        self.move_on()
        failures = self._failures.get(method)
        if failures:
            raise failures.pop(0)[0]

    def _begin(self, method: str, mutation: Mutation) -> RemoteError | None:
        """Note the call; the error to raise once it has taken effect, if one was asked for."""
        self.calls[method] += 1
        self.move_on()
        self.mutations.append(mutation)
        for watcher in self.watchers:
            watcher(mutation)
        failures = self._failures.get(method)
        if not failures:
            return None
        error, after = failures.pop(0)
        if not after:
            raise error
        return error

    def _known(self, operation: str, group_id: str) -> FakePool:
        if group_id not in self._pools:
            raise NotFound(operation, group_id, status=404)
        return self._pools[group_id]

    def _accept(self, pool: FakePool, state: PoolState, mutation: Mutation) -> Course:
        self._numbers += 1
        pool.state, pool.changing = state, f"operation-{self._numbers}"
        course = self._courses.pop(0) if self._courses else Course()
        if course.effective:
            self.accepted.append(mutation)
        pending = CloudOperation(pool.changing, CloudOperationState.PENDING)
        self._operations[pending.id] = pending
        if course.ends is not CloudOperationState.PENDING:
            self._later(self.timing.operation, lambda: self._end_operation(pending, course))
        self._later(self.timing.settles, lambda: self._settle(pool))
        return course

    def _answer(self, pool: FakePool, failure: RemoteError | None) -> CloudOperation:
        if failure is not None:
            raise failure
        return self._operations[pool.changing]

    def _end_operation(self, operation: CloudOperation, course: Course) -> None:
        if operation.id in self._operations:
            ended = replace(operation, state=course.ends, detail=course.detail, busy=course.busy, quota=course.quota)
            self._operations[operation.id] = ended

    def _settle(self, pool: FakePool) -> None:
        pool.state, pool.changing = PoolState.RUNNING, ""

    def _new_instance(self, pool: FakePool) -> Instance:
        pool.made += 1
        name = f"{pool.name}-{pool.made:02d}"
        instance = Instance(str(uuid.uuid5(uuid.NAMESPACE_DNS, name)), name)
        pool.instances[instance.id] = instance
        return instance

    def _plan_arrival(self, pool: FakePool, instance: Instance) -> None:
        instance.boots = self.dead_on_arrival <= 0
        self.dead_on_arrival = max(0, self.dead_on_arrival - 1)
        self._later(self.timing.appears, lambda: self._appear(instance))
        if instance.boots:
            self._later(self.timing.registers, lambda: self._join(pool, instance, ready=False))
            self._later(self.timing.ready, lambda: self._join(pool, instance, ready=True))

    def _appear(self, instance: Instance) -> None:
        if instance.standing is Standing.COMING:
            instance.standing = Standing.ALIVE

    def _join(self, pool: FakePool, instance: Instance, *, ready: bool) -> None:
        if instance.standing is Standing.ALIVE and instance.id in pool.instances:
            instance.has_joined = True
            known = {node.name: node for node in self._cluster.all_nodes}.get(instance.name)
            fresh = pool.node_of(instance, born=self._clock.now(), ready=ready)
            self._cluster.put_node(fresh if known is None else replace(known, conditions=fresh.conditions))

    def _plan_departure(self, pool: FakePool, instance: Instance) -> None:
        instance.standing = Standing.LEAVING
        self._later(self.timing.leaves, lambda: self._leave(pool, instance))
        if self.timing.node_gone is not None:
            self._later(self.timing.node_gone, lambda: self._take_node(instance))

    def _leave(self, pool: FakePool, instance: Instance) -> None:
        pool.instances.pop(instance.id, None)

    def _take_node(self, instance: Instance) -> None:
        if any(node.name == instance.name for node in self._cluster.all_nodes):
            self._cluster.remove_node(instance.name)

    def _later(self, seconds: float, happen: Callable[[], None]) -> None:
        self._numbers += 1
        self._timeline.append(_Due(self._clock.now() + timedelta(seconds=seconds), self._numbers, happen))
