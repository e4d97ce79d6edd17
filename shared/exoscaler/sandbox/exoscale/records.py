"""Turns a scenario's descriptions into the records of an account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from exoscaler.sandbox.exoscale import instance_types
from exoscaler.sandbox.exoscale.naming import Names
from exoscaler.sandbox.exoscale.resources import Cluster, Instance, Launch, Nodepool, Pool
from exoscaler.sandbox.exoscale.scenario import ClusterSpec, InstanceSpec, NodepoolSpec, PoolSpec, Taint
from exoscaler.sandbox.machines.view import MachineState, MachineTaint


class Records:
    """Makes records; gives ids to what has none, and the same anti-affinity group to all that name it."""

    def __init__(self, names: Names, zone: str) -> None:
        self._names = names
        self._zone = zone
        self._groups: dict[str, str] = {}

    def cluster(self, spec: ClusterSpec, now: datetime) -> Cluster:
        """A cluster without its nodepools."""
        return Cluster(
            id=spec.id or self._names.uuid(),
            name=spec.name,
            version=spec.version,
            level=spec.level,
            cni=spec.cni,
            addons=spec.addons,
            created_at=now,
        )

    def nodepool(self, spec: NodepoolSpec, cluster: Cluster, now: datetime) -> Nodepool:
        """A nodepool and its pool, of the right size but without members."""
        nodepool_id = spec.id or self._names.uuid()
        taints = _taints(spec.taints)
        launch = Launch(
            instance_type=self._offered(spec.instance_type),
            disk_gib=spec.disk_size,
            node_labels=dict(spec.labels),
            node_taints=taints,
            max_pods=spec.kubelet_max_pods,
            boot_seconds=spec.boot_seconds,
        )
        pool = self._pool(spec, launch, self._names.uuid(), nodepool_id)
        return Nodepool(
            id=nodepool_id,
            name=spec.name,
            cluster_id=cluster.id,
            pool=pool,
            labels=dict(spec.labels),
            taints=taints,
            max_pods=spec.kubelet_max_pods,
            addons=spec.addons,
            version=cluster.version,
            created_at=now,
        )

    def standalone(self, spec: PoolSpec) -> Pool:
        """A standalone pool of the right size but without members."""
        launch = Launch(
            instance_type=self._offered(spec.instance_type),
            disk_gib=spec.disk_size,
            node_labels=dict(spec.node_labels),
            node_taints=_taints(spec.node_taints),
            boot_seconds=spec.boot_seconds,
        )
        return self._pool(spec, launch, spec.id or self._names.uuid(), "")

    def instance(self, spec: InstanceSpec, now: datetime, moment: float) -> Instance:
        """A running instance that no pool manages."""
        return Instance(
            id=spec.id or self._names.uuid(),
            name=spec.name,
            state=MachineState.RUNNING,
            pool_id="",
            launch=Launch(
                instance_type=self._offered(spec.instance_type),
                disk_gib=spec.disk_size,
                node_labels=dict(spec.node_labels),
                node_taints=_taints(spec.node_taints),
            ),
            created_at=now,
            appeared=moment,
            address=self._names.address(),
            mac=self._names.mac(),
            labels=dict(spec.labels),
            registers=spec.registers,
        )

    def _pool(self, spec: NodepoolSpec | PoolSpec, launch: Launch, pool_id: str, nodepool_id: str) -> Pool:
        managed = bool(nodepool_id)
        return Pool(
            id=pool_id,
            name=f"nodepool-{spec.name}-{nodepool_id}" if managed else spec.name,
            prefix=spec.instance_prefix,
            launch=launch,
            size=spec.size,
            description=spec.description,
            labels={} if managed else dict(spec.labels),
            anti_affinity_groups=tuple(self._group(name) for name in spec.anti_affinity_groups),
            min_available=spec.min_available,
            nodepool_id=nodepool_id,
        )

    def _group(self, name: str) -> str:
        return self._groups.setdefault(name, self._names.uuid())

    def _offered(self, type_name: str) -> instance_types.InstanceType:
        found = instance_types.by_name(type_name)
        if self._zone in instance_types.ZONES and self._zone not in found.zones:
            message = f"instance type {type_name} is not offered in zone {self._zone}, only in {', '.join(found.zones)}"
            raise ValueError(message)
        return found


def _taints(taints: Mapping[str, Taint]) -> tuple[MachineTaint, ...]:
    return tuple(MachineTaint(key, taint.value, taint.effect) for key, taint in sorted(taints.items()))
