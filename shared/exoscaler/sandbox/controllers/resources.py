"""The resources that controllers read and write, each as the two words that `ObjectClient` takes."""

from __future__ import annotations

from typing import NamedTuple


class Resource(NamedTuple):
    """An API group with version, and a resource name."""

    group: str
    plural: str


PODS = Resource("v1", "pods")
NODES = Resource("v1", "nodes")
NAMESPACES = Resource("v1", "namespaces")
EVENTS = Resource("v1", "events")
LEASES = Resource("coordination.k8s.io/v1", "leases")
DEPLOYMENTS = Resource("apps/v1", "deployments")
REPLICA_SETS = Resource("apps/v1", "replicasets")
STATEFUL_SETS = Resource("apps/v1", "statefulsets")
DAEMON_SETS = Resource("apps/v1", "daemonsets")
JOBS = Resource("batch/v1", "jobs")
BUDGETS = Resource("policy/v1", "poddisruptionbudgets")
CONFIG_MAPS = Resource("v1", "configmaps")
SECRETS = Resource("v1", "secrets")
SERVICES = Resource("v1", "services")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts")
CLAIMS = Resource("v1", "persistentvolumeclaims")
REPLICATION_CONTROLLERS = Resource("v1", "replicationcontrollers")

KINDS = {
    PODS: "Pod",
    NODES: "Node",
    NAMESPACES: "Namespace",
    DEPLOYMENTS: "Deployment",
    REPLICA_SETS: "ReplicaSet",
    STATEFUL_SETS: "StatefulSet",
    DAEMON_SETS: "DaemonSet",
    JOBS: "Job",
    BUDGETS: "PodDisruptionBudget",
    REPLICATION_CONTROLLERS: "ReplicationController",
}
"""Items of a list carry neither kind nor apiVersion, so whoever refers to one takes them from here."""
