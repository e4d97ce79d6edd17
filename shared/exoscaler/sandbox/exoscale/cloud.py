"""The simulated cloud: one account, moved on lazily to the present whenever somebody looks or asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale.account import Account
from exoscaler.sandbox.exoscale.errors import Invalid, NotFound
from exoscaler.sandbox.exoscale.faults import Faults
from exoscaler.sandbox.exoscale.lifecycle import Lifecycle
from exoscaler.sandbox.exoscale.naming import Names
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.operations import Operation
from exoscaler.sandbox.exoscale.quotas import Quotas
from exoscaler.sandbox.exoscale.records import Records
from exoscaler.sandbox.exoscale.resources import Cluster, Instance, Nodepool, Pool
from exoscaler.sandbox.exoscale.room import Room
from exoscaler.sandbox.exoscale.scaling import Scaling
from exoscaler.sandbox.exoscale.scenario import (
    ClusterSpec,
    InstanceSpec,
    NodepoolSpec,
    PoolSpec,
    QuotaSurface,
    Scenario,
)
from exoscaler.sandbox.exoscale.timeline import Timeline
from exoscaler.sandbox.machines.view import Machine, MachineState

KUBELET_MAX_PODS = 110
"""What a kubelet takes that was told nothing else."""

MAX_NODEPOOLS = 16
"""Per cluster: a limit of the API."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What has happened so far. `machine_seconds` is in simulated time, over all instances that ever existed."""

    instances_created: int
    instances_destroyed: int
    machine_seconds: float


class Cloud:
    """One account in one zone, built from a scenario. Thread-safe; implements `MachineView`.

    Methods raise `ApiError` for what the API refuses. Ids and names follow from `seed`.
    """

    def __init__(self, clock: SandboxClock, faults: Faults, scenario: Scenario, *, seed: int = 0) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._timeline = Timeline()
        self._account = Account(scenario.zone, Quotas(scenario.quotas))
        self._names = Names(seed)
        self._records = Records(self._names, scenario.zone)
        timing = scenario.timing
        self._lifecycle = Lifecycle(self._account, self._timeline, self._names, faults, timing, self._wall)
        self._room = Room(self._account, faults, scenario.quota_surface)
        self._scaling = Scaling(self._account, self._timeline, self._names, faults, timing, self._lifecycle, self._room)
        self._populate(scenario)

    @contextmanager
    def at_present(self) -> Iterator[Account]:
        """The account as it is now; nothing changes it within the block."""
        with self._lock:
            self._advance()
            yield self._account

    # What the API's changes call

    def scale_nodepool(self, cluster_id: str, nodepool_id: str, size: int) -> Operation:
        """Set a nodepool's size; see `Scaling.resize` for what may be refused."""
        with self._changing() as now:
            pool = self._account.nodepool(cluster_id, nodepool_id).pool
            return self._scaling.resize(pool, size, OperationId.SCALE_SKS_NODEPOOL, now)

    def evict_nodepool_members(self, cluster_id: str, nodepool_id: str, instance_ids: tuple[str, ...]) -> Operation:
        """Remove members of a nodepool; see `Scaling.evict` for what may be refused."""
        with self._changing() as now:
            pool = self._account.nodepool(cluster_id, nodepool_id).pool
            return self._scaling.evict(pool, instance_ids, OperationId.EVICT_SKS_NODEPOOL_MEMBERS, now)

    def scale_pool(self, pool_id: str, size: int) -> Operation:
        """Set a standalone pool's size; Invalid (400) for a pool that a nodepool manages."""
        with self._changing() as now:
            pool = self._standalone(pool_id)
            return self._scaling.resize(pool, size, OperationId.SCALE_INSTANCE_POOL, now)

    def evict_pool_members(self, pool_id: str, instance_ids: tuple[str, ...]) -> Operation:
        """Remove members of a standalone pool; Invalid (400) for a pool that a nodepool manages."""
        with self._changing() as now:
            pool = self._standalone(pool_id)
            return self._scaling.evict(pool, instance_ids, OperationId.EVICT_INSTANCE_POOL_MEMBERS, now)

    # What people do by hand, past the API

    def add_cluster(self, spec: ClusterSpec) -> str:
        """Add a cluster with its nodepools; their members are running at once. Returns the cluster's id."""
        with self._changing() as now:
            cluster = self._records.cluster(spec, self._clock.now())
            _refuse_known(cluster.id, self._account.clusters)
            nodepools = [self._records.nodepool(each, cluster, self._clock.now()) for each in spec.nodepools]
            self._account.clusters[cluster.id] = cluster
            for nodepool in nodepools:
                self._place(nodepool, cluster, now)
            return cluster.id

    def add_nodepool(self, cluster_id: str, spec: NodepoolSpec) -> str:
        """Add a nodepool whose members are running at once. Returns the nodepool's id."""
        with self._changing() as now:
            cluster = self._account.cluster(cluster_id)
            nodepool = self._records.nodepool(spec, cluster, self._clock.now())
            self._place(nodepool, cluster, now)
            return nodepool.id

    def add_instance_pool(self, spec: PoolSpec) -> str:
        """Add a standalone pool whose members are running at once. Returns its id."""
        with self._changing() as now:
            pool = self._records.standalone(spec)
            self._add_pool(pool, now)
            return pool.id

    def add_instance(self, spec: InstanceSpec) -> str:
        """Add a running instance that no pool manages. Returns its id."""
        with self._changing() as now:
            instance = self._records.instance(spec, self._clock.now(), now)
            _refuse_known(instance.id, self._account.instances)
            self._lifecycle.add(instance)
            return instance.id

    def resize(self, any_pool_id: str, size: int) -> Operation:
        """Set a size as a person does in the portal, by pool id or nodepool id."""
        if size < 0:
            raise Invalid.because(f"size must be 0 or more, not {size}")
        with self._changing() as now:
            return self._scaling.resize(self._account.pool_by_any_id(any_pool_id), size, None, now)

    def destroy_instance(self, instance_id: str) -> None:
        """Destroy an instance as a person does in the portal. Its pool, if any, replaces it once it is gone."""
        with self._changing() as now:
            instance = self._account.instance(instance_id)
            if instance.leaving:
                raise Invalid.because(f"Instance {instance_id} is being removed already")
            pool = self._account.pools.get(instance.pool_id)
            self._lifecycle.remove(instance, now, None if pool is None else self._heal_later(pool))

    def set_quota(self, resource: str, limit: int) -> None:
        """Change a quota's limit (-1: unlimited); pools that lack members get them as far as there is room now."""
        with self._changing() as now:
            self._account.quotas.set(resource, limit)
            for pool in self._account.pools.values():
                if not pool.busy:
                    self._scaling.heal(pool, now)

    @property
    def quota_surface(self) -> QuotaSurface:
        """How a scale beyond the quota shows."""
        return self._room.surface

    @quota_surface.setter
    def quota_surface(self, surface: QuotaSurface) -> None:
        self._room.surface = surface

    # What tests and demos look at

    def counters(self) -> Counters:
        """What has happened so far."""
        with self._changing() as now:
            return Counters(self._lifecycle.created, self._lifecycle.destroyed, self._lifecycle.machine_seconds(now))

    def pool_keys(self, any_pool_id: str) -> frozenset[str]:
        """All ids of the pool that has this pool id or nodepool id; empty when there is none."""
        with self._lock:
            try:
                return self._account.pool_by_any_id(any_pool_id).keys
            except NotFound:
                return frozenset()

    def machines(self) -> tuple[Machine, ...]:
        """The instances that exist now, sorted by name."""
        with self.at_present() as account:
            machines = [_machine(each, account) for each in account.instances.values()]
        return tuple(sorted(machines, key=lambda machine: machine.name))

    def _advance(self) -> float:
        now = self._clock.monotonic()
        self._timeline.run_until(now)
        return now

    @contextmanager
    def _changing(self) -> Iterator[float]:
        with self._lock:
            yield self._advance()

    def _wall(self, moment: float) -> datetime:
        """The wall-clock time of a moment in the past: the world may have moved on later than it happened."""
        ago = (self._clock.monotonic() - moment) / self._clock.speed
        return self._clock.now() - timedelta(seconds=ago)

    def _standalone(self, pool_id: str) -> Pool:
        pool = self._account.pool(pool_id)
        if pool.nodepool_id:
            # A 400, not a 409: it stays refused however often it is repeated.
            raise Invalid(f"Instance Pool {pool_id} is managed by SKS Nodepool {pool.nodepool_id}: change that instead")
        return pool

    def _populate(self, scenario: Scenario) -> None:
        for cluster in scenario.clusters:
            self.add_cluster(cluster)
        for pool in scenario.pools:
            self.add_instance_pool(pool)
        for instance in scenario.instances:
            self.add_instance(instance)

    def _place(self, nodepool: Nodepool, cluster: Cluster, now: float) -> None:
        _refuse_known(nodepool.id, {each.id for each in cluster.nodepools})
        if len(cluster.nodepools) == MAX_NODEPOOLS:
            message = f"cluster {cluster.name} has {MAX_NODEPOOLS} nodepools already, the most there can be"
            raise ValueError(message)
        self._add_pool(nodepool.pool, now)
        cluster.nodepools.append(nodepool)

    def _add_pool(self, pool: Pool, now: float) -> None:
        _refuse_known(pool.id, self._account.pools)
        self._account.pools[pool.id] = pool
        for _ in range(pool.size):
            self._lifecycle.add(self._lifecycle.new_member(pool, now, MachineState.RUNNING))

    def _heal_later(self, pool: Pool) -> Callable[[float], None]:
        return lambda moment: self._scaling.heal(pool, moment)


def _refuse_known(new_id: str, known: Container[str]) -> None:
    if new_id in known:
        message = f"the id {new_id} is used twice"
        raise ValueError(message)


def _machine(instance: Instance, account: Account) -> Machine:
    launch = instance.launch
    pool = account.pools.get(instance.pool_id)
    return Machine(
        id=instance.id,
        name=instance.name,
        state=instance.state,
        pool_id=instance.pool_id,
        nodepool_id="" if pool is None else pool.nodepool_id,
        zone=account.zone,
        type_name=launch.instance_type.name,
        cpus=launch.instance_type.cpus,
        memory_bytes=launch.instance_type.memory_bytes,
        disk_gib=launch.disk_gib,
        gpus=launch.instance_type.gpus,
        address=instance.address,
        labels=dict(launch.node_labels),
        taints=launch.node_taints,
        registers=instance.registers,
        max_pods=launch.max_pods or KUBELET_MAX_PODS,
    )
