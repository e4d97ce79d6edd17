"""Core records as the API would show them: what the decoders turn back into the same records."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from exoscaler.core.model import (
    Constraint,
    DaemonSet,
    DisruptionBudget,
    LabelSelector,
    Node,
    NodeSelectorTerm,
    Owner,
    Pod,
    PodPhase,
    PodSpec,
    Requirement,
    Resources,
    SchedulerVerdict,
    Taint,
    Toleration,
    Volume,
    VolumeKind,
)

JsonObject = dict[str, Any]


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def amounts(found: Resources) -> JsonObject:
    named = {
        "cpu": f"{found.cpu}m",
        "memory": str(found.memory),
        "ephemeral-storage": str(found.ephemeral_storage),
        "pods": str(found.pods),
    }
    present = {name: text for name, text in named.items() if text.rstrip("m") != "0"}
    return {**present, **{name: str(amount) for name, amount in found.extended.items()}}


def taint_manifest(taint: Taint) -> JsonObject:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect.value}


def node_manifest(node: Node) -> JsonObject:
    conditions = [
        {"type": c.type, "status": c.status.value, **({"lastTransitionTime": stamp(c.since)} if c.since else {})}
        for c in node.conditions
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.name,
            "uid": node.uid,
            "creationTimestamp": stamp(node.created_at),
            "labels": dict(node.labels),
            "annotations": dict(node.annotations),
        },
        "spec": {
            **({"providerID": node.provider_id} if node.provider_id else {}),
            **({"unschedulable": True} if node.unschedulable else {}),
            "taints": [taint_manifest(taint) for taint in node.taints],
        },
        "status": {
            "capacity": amounts(node.capacity),
            "allocatable": amounts(node.allocatable),
            "conditions": conditions,
            "nodeInfo": {"systemUUID": node.system_uuid},
        },
    }


def requirement_manifest(requirement: Requirement) -> JsonObject:
    return {"key": requirement.key, "operator": requirement.operator.value, "values": list(requirement.values)}


def selector_manifest(selector: LabelSelector) -> JsonObject:
    return (
        {"matchExpressions": [requirement_manifest(r) for r in selector.requirements]} if selector.requirements else {}
    )


def _term(term: NodeSelectorTerm) -> JsonObject:
    return {
        "matchExpressions": [requirement_manifest(r) for r in term.expressions],
        "matchFields": [requirement_manifest(r) for r in term.fields],
    }


def _toleration(toleration: Toleration) -> JsonObject:
    return {
        "key": toleration.key,
        "operator": toleration.operator.value,
        "value": toleration.value,
        "effect": toleration.effect.value if toleration.effect else "",
    }


_SOURCES: dict[VolumeKind, JsonObject] = {
    VolumeKind.EMPTY_DIR: {"emptyDir": {}},
    VolumeKind.EMPTY_DIR_MEMORY: {"emptyDir": {"medium": "Memory"}},
    VolumeKind.HOST_PATH: {"hostPath": {"path": "/var/log"}},
    VolumeKind.CLAIM: {"persistentVolumeClaim": {"claimName": "claim"}},
    VolumeKind.EPHEMERAL_CLAIM: {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    VolumeKind.PROJECTED: {"projected": {"sources": []}},
    VolumeKind.OTHER: {"nfs": {"server": "nas", "path": "/"}},
}


def _volume(volume: Volume) -> JsonObject:
    return {"name": volume.name, **_SOURCES[volume.kind]}


def _affinity(spec: PodSpec) -> JsonObject:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity: JsonObject = {}
    if spec.node_affinity is not None:
        affinity["nodeAffinity"] = {required: {"nodeSelectorTerms": [_term(term) for term in spec.node_affinity]}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "other"}}}
    if Constraint.POD_AFFINITY in spec.unmodelled:
        affinity["podAffinity"] = {required: [term]}
    if Constraint.POD_ANTI_AFFINITY in spec.unmodelled:
        affinity["podAntiAffinity"] = {required: [term]}
    return affinity


def spec_manifest(spec: PodSpec) -> JsonObject:
    container: JsonObject = {
        "name": "app",
        "image": "registry.example/app:1",
        "resources": {"requests": amounts(spec.requests)},
    }
    if Constraint.HOST_PORT in spec.unmodelled:
        container["ports"] = [{"containerPort": 80, "hostPort": 80}]
    found: JsonObject = {
        "containers": [container],
        "nodeSelector": dict(spec.node_selector),
        "tolerations": [_toleration(toleration) for toleration in spec.tolerations],
        "volumes": [_volume(volume) for volume in spec.volumes],
        "schedulerName": spec.scheduler_name,
        "restartPolicy": spec.restart_policy.value,
        "terminationGracePeriodSeconds": spec.grace_seconds,
    }
    if affinity := _affinity(spec):
        found["affinity"] = affinity
    if spec.priority is not None:
        found["priority"] = spec.priority
    if Constraint.TOPOLOGY_SPREAD in spec.unmodelled:
        found["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        ]
    if Constraint.RESOURCE_CLAIM in spec.unmodelled:
        found["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    return found


def owner_manifest(owner: Owner) -> JsonObject:
    return {"apiVersion": "apps/v1", "kind": owner.kind, "name": owner.name, "uid": owner.uid, "controller": True}


_CONDITIONS: dict[SchedulerVerdict, list[JsonObject]] = {
    SchedulerVerdict.SCHEDULED: [{"type": "PodScheduled", "status": "True"}],
    SchedulerVerdict.UNSCHEDULABLE: [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
    SchedulerVerdict.GATED: [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
    SchedulerVerdict.NOT_SEEN: [],
}


def pod_manifest(pod: Pod) -> JsonObject:
    metadata: JsonObject = {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.uid,
        "creationTimestamp": stamp(pod.created_at),
        "labels": dict(pod.labels),
        "annotations": dict(pod.annotations),
    }
    if pod.owner is not None:
        metadata["ownerReferences"] = [owner_manifest(pod.owner)]
    if pod.deleted_at is not None:
        metadata["deletionTimestamp"] = stamp(pod.deleted_at)
    spec = spec_manifest(pod.spec)
    if pod.node_name:
        spec["nodeName"] = pod.node_name
    ready = {"type": "Ready", "status": "True" if pod.phase is PodPhase.RUNNING else "False"}
    status: JsonObject = {"phase": pod.phase.value, "conditions": [ready, *_CONDITIONS[pod.verdict]]}
    if pod.nominated_node:
        status["nominatedNodeName"] = pod.nominated_node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def budget_manifest(budget: DisruptionBudget) -> JsonObject:
    spec = {} if budget.selector is None else {"selector": selector_manifest(budget.selector)}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": budget.name, "namespace": budget.namespace},
        "spec": {"maxUnavailable": 1, **spec},
        "status": {
            "disruptionsAllowed": budget.disruptions_allowed,
            "currentHealthy": budget.disruptions_allowed,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 1,
        },
    }


def daemonset_manifest(daemonset: DaemonSet) -> JsonObject:
    labels = {"app": daemonset.name}
    container = {"name": "agent", "image": "registry.example/agent:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": daemonset.name, "namespace": daemonset.namespace, "uid": daemonset.uid},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
        "status": {"numberReady": daemonset.ready},
    }
