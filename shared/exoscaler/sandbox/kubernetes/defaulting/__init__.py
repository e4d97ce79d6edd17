"""The defaults of the API: what a real server fills in, so that clients read back what they would read there.

Quantities stay as they were sent; a real server writes them in canonical form.
"""

from __future__ import annotations

from collections.abc import Callable

from exoscaler.sandbox.kubernetes.defaulting import cluster_objects, pods, workloads
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject

_BY_KIND: dict[str, Callable[[JsonObject], None]] = {
    "ClusterRoleBinding": cluster_objects.default_role_binding,
    "CronJob": workloads.default_cron_job,
    "CSIDriver": cluster_objects.default_csi_driver,
    "DaemonSet": workloads.default_daemon_set,
    "Deployment": workloads.default_deployment,
    "Endpoints": cluster_objects.default_endpoints,
    "HorizontalPodAutoscaler": cluster_objects.default_autoscaler,
    "Job": workloads.default_job,
    "Namespace": cluster_objects.default_namespace,
    "Node": cluster_objects.default_node,
    "PersistentVolume": cluster_objects.default_volume,
    "PersistentVolumeClaim": cluster_objects.default_volume_claim,
    "Pod": pods.default_pod,
    "PriorityClass": cluster_objects.default_priority_class,
    "ReplicaSet": workloads.default_replica_set,
    "ReplicationController": workloads.default_replication_controller,
    "RoleBinding": cluster_objects.default_role_binding,
    "Secret": cluster_objects.default_secret,
    "Service": cluster_objects.default_service,
    "StatefulSet": workloads.default_stateful_set,
    "StorageClass": cluster_objects.default_storage_class,
}


def apply_defaults(resource: Resource, obj: JsonObject) -> None:
    """Fill in what the object leaves out; does nothing to a complete one."""
    fill = _BY_KIND.get(resource.kind)
    if fill is not None:
        fill(obj)
