"""The rules an object must keep, and what an update of it must not change."""

from __future__ import annotations

from collections.abc import Callable

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.json_values import section
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.validation import cluster_objects, workloads
from exoscaler.sandbox.kubernetes.validation.names import metadata_problems
from exoscaler.sandbox.kubernetes.validation.pods import pod_spec_problems, pod_update_problems
from exoscaler.sandbox.objects import JsonObject


def _pod_problems(obj: JsonObject) -> list[FieldProblem]:
    return pod_spec_problems(section(obj, "spec"), "spec")


_RULES: dict[str, Callable[[JsonObject], list[FieldProblem]]] = {
    "ConfigMap": cluster_objects.config_map_problems,
    "CronJob": workloads.cron_job_problems,
    "DaemonSet": workloads.workload_problems,
    "Deployment": workloads.workload_problems,
    "Event": cluster_objects.event_problems,
    "Job": workloads.job_problems,
    "Lease": cluster_objects.lease_problems,
    "Node": cluster_objects.node_problems,
    "Pod": _pod_problems,
    "PodDisruptionBudget": cluster_objects.budget_problems,
    "ReplicaSet": workloads.workload_problems,
    "ReplicationController": workloads.workload_problems,
    "Secret": cluster_objects.secret_problems,
    "Service": cluster_objects.service_problems,
    "StatefulSet": workloads.workload_problems,
}

_CHANGE_RULES: dict[str, Callable[[JsonObject, JsonObject], list[FieldProblem]]] = {
    "ConfigMap": cluster_objects.content_change_problems,
    "DaemonSet": workloads.selector_change_problems,
    "Deployment": workloads.selector_change_problems,
    "Job": workloads.job_change_problems,
    "Node": cluster_objects.node_change_problems,
    "Pod": pod_update_problems,
    "PriorityClass": cluster_objects.priority_class_change_problems,
    "ReplicaSet": workloads.selector_change_problems,
    "Secret": cluster_objects.content_change_problems,
    "StatefulSet": workloads.stateful_set_change_problems,
}


def creation_problems(resource: Resource, obj: JsonObject) -> list[FieldProblem]:
    """What is wrong with a new object that has its defaults."""
    problems = metadata_problems(resource, obj)
    rules = _RULES.get(resource.kind)
    return problems + (rules(obj) if rules is not None else [])


def update_problems(resource: Resource, old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """What is wrong with the new state of an object, or with the way there."""
    problems = creation_problems(resource, new)
    rules = _CHANGE_RULES.get(resource.kind)
    return problems + (rules(old, new) if rules is not None else [])
