"""Objects as rows of a table, which is what ``kubectl get`` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from exoscaler.sandbox.kubernetes.event_forms import stored_resource, to_stored
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.tables import cluster_objects, nodes, pods, workloads
from exoscaler.sandbox.kubernetes.tables.columns import Cell, Column
from exoscaler.sandbox.objects import JsonObject

__all__ = ["Column", "Table", "table_of"]

_BY_KIND: dict[str, Sequence[Column]] = {
    "ConfigMap": cluster_objects.CONFIG_MAP,
    "CronJob": workloads.CRON_JOB,
    "CSINode": cluster_objects.CSI_NODE,
    "DaemonSet": workloads.DAEMON_SET,
    "Deployment": workloads.DEPLOYMENT,
    "Endpoints": cluster_objects.ENDPOINTS,
    "Event": cluster_objects.EVENT,
    "Job": workloads.JOB,
    "Lease": cluster_objects.LEASE,
    "Namespace": cluster_objects.NAMESPACE,
    "Node": nodes.COLUMNS,
    "PersistentVolume": cluster_objects.VOLUME,
    "PersistentVolumeClaim": cluster_objects.CLAIM,
    "Pod": pods.COLUMNS,
    "PodDisruptionBudget": cluster_objects.BUDGET,
    "PriorityClass": cluster_objects.PRIORITY_CLASS,
    "ReplicaSet": workloads.REPLICA_SET,
    "ReplicationController": workloads.REPLICA_SET,
    "Secret": cluster_objects.SECRET,
    "Service": cluster_objects.SERVICE,
    "ServiceAccount": cluster_objects.SERVICE_ACCOUNT,
    "StatefulSet": workloads.STATEFUL_SET,
    "StorageClass": cluster_objects.STORAGE_CLASS,
}


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and one row of cells for each object."""

    columns: Sequence[Column]
    rows: list[list[Cell]]


def table_of(resource: Resource, objects: Sequence[JsonObject], now: datetime) -> Table:
    """The table of objects of one resource; ages are measured at `now`."""
    columns = _BY_KIND.get(stored_resource(resource).kind, cluster_objects.OTHER)
    rows = [[column.read(to_stored(resource, obj), now) for column in columns] for obj in objects]
    return Table(columns, rows)
