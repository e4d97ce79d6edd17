"""What is read straight from the bytes, against the official client's own models, on objects of a real API server."""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exoscaler.core.model import Node, Pod, VolumeKind
from exoscaler.core.model.quantity import milli, whole
from tests.adapters.kubernetes.pages import JsonObject, merged, read_nodes, read_pods

RECORDED = Path(__file__).parents[2] / "recorded"
IDENTITY: JsonObject = {"metadata": {"uid": "uid", "creationTimestamp": "2026-12-01T12:00:00Z"}}


def _recorded_events() -> Iterator[JsonObject]:
    for line in (RECORDED / "knative-events.jsonl").read_text().splitlines():
        body = json.loads(json.loads(line)["body"] or "{}")
        yield body.get("data", body) if isinstance(body, dict) else {}


def _scheduler_cases() -> Iterator[JsonObject]:
    with gzip.open(RECORDED / "scheduler-cases.jsonl.gz", "rt") as lines:
        for number, line in enumerate(lines):
            if number % 5 == 0:
                yield json.loads(line)


def recorded(kind: str) -> list[JsonObject]:
    """Whole objects as a real API server sent them; where a recording left out uid and creation, made-up ones."""
    events = [found for found in _recorded_events() if found.get("kind") == kind and "spec" in found]
    assert events
    cases = [
        merged(IDENTITY, found)
        for case in _scheduler_cases()
        for found in (case["nodes"] if kind == "Node" else [*case["pods"], case["pod"]])
    ]
    return [*events, *cases]


@pytest.fixture(scope="module")
def models() -> Any:
    # The official models take most of a second to import, so only these tests pay for it.
    return importlib.import_module("kubernetes.client")


def typed_requirements(found: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(r.key, r.operator, tuple(r.values or ())) for r in found or ()]


def typed_terms(pod: Any) -> list[Any] | None:
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity and affinity.required_during_scheduling_ignored_during_execution
    if not required:
        return None
    return [
        (typed_requirements(term.match_expressions), typed_requirements(term.match_fields))
        for term in required.node_selector_terms
    ]


def terms(pod: Pod) -> list[Any] | None:
    if pod.spec.node_affinity is None:
        return None
    return [
        (
            [(r.key, r.operator.value, r.values) for r in term.expressions],
            [(r.key, r.operator.value, r.values) for r in term.fields],
        )
        for term in pod.spec.node_affinity
    ]


def typed_owner(pod: Any) -> tuple[str, str, str] | None:
    controllers = [r for r in pod.metadata.owner_references or () if r.controller]
    return (controllers[0].kind, controllers[0].name, controllers[0].uid) if controllers else None


def typed_tolerations(pod: Any) -> list[tuple[str, str, str, str | None]]:
    return [(t.key or "", t.operator or "Equal", t.value or "", t.effect or None) for t in pod.spec.tolerations or ()]


def as_typed(pod: Pod) -> JsonObject:
    return {
        "name": (pod.namespace, pod.name, pod.uid),
        "created": pod.created_at,
        "deleted": pod.deleted_at,
        "labels": dict(pod.labels),
        "annotations": dict(pod.annotations),
        "owner": (pod.owner.kind, pod.owner.name, pod.owner.uid) if pod.owner else None,
        "phase": pod.phase.value,
        "node": pod.node_name,
        "selector": dict(pod.spec.node_selector),
        "terms": terms(pod),
        "tolerations": [
            (t.key, t.operator.value, t.value, t.effect.value if t.effect else None) for t in pod.spec.tolerations
        ],
        "claims": [v.name for v in pod.spec.volumes if v.kind is VolumeKind.CLAIM],
        "priority": pod.spec.priority,
        "grace": pod.spec.grace_seconds,
        "restart": pod.spec.restart_policy.value,
    }


def projected(pod: Any) -> JsonObject:
    grace = pod.spec.termination_grace_period_seconds
    return {
        "name": (pod.metadata.namespace, pod.metadata.name, pod.metadata.uid),
        "created": pod.metadata.creation_timestamp,
        "deleted": pod.metadata.deletion_timestamp,
        "labels": pod.metadata.labels or {},
        "annotations": pod.metadata.annotations or {},
        "owner": typed_owner(pod),
        "phase": pod.status.phase or "Pending",
        "node": pod.spec.node_name or "",
        "selector": pod.spec.node_selector or {},
        "terms": typed_terms(pod),
        "tolerations": typed_tolerations(pod),
        "claims": [v.name for v in pod.spec.volumes or () if v.persistent_volume_claim],
        "priority": pod.spec.priority,
        "grace": 30 if grace is None else grace,
        "restart": pod.spec.restart_policy or "Always",
    }


def test_pods_say_the_same_as_in_the_official_client(models: Any) -> None:
    manifests = recorded("Pod")
    pods = read_pods(*manifests)
    assert len(pods) == len(manifests) > 500
    for pod, manifest in zip(pods, manifests, strict=True):
        assert as_typed(pod) == projected(models.V1Pod.from_dict(manifest))


def test_nodes_say_the_same_as_in_the_official_client(models: Any) -> None:
    manifests = recorded("Node")
    nodes = read_nodes(*manifests)
    assert len(nodes) == len(manifests) > 300
    for node, manifest in zip(nodes, manifests, strict=True):
        check_node(node, models.V1Node.from_dict(manifest))


def check_node(node: Node, typed: Any) -> None:
    assert (node.name, node.uid) == (typed.metadata.name, typed.metadata.uid)
    assert node.created_at == typed.metadata.creation_timestamp
    assert node.labels == (typed.metadata.labels or {})
    assert node.annotations == (typed.metadata.annotations or {})
    assert node.provider_id == (typed.spec.provider_id or "")
    assert node.unschedulable == bool(typed.spec.unschedulable)
    assert [(t.key, t.value, t.effect.value) for t in node.taints] == [
        (t.key, t.value or "", t.effect) for t in typed.spec.taints or ()
    ]
    assert [(c.type, c.status.value, c.since) for c in node.conditions] == [
        (c.type, c.status, c.last_transition_time) for c in typed.status.conditions or ()
    ]
    for ours, theirs in ((node.allocatable, typed.status.allocatable), (node.capacity, typed.status.capacity)):
        stated = {name: milli(text) if name == "cpu" else whole(text) for name, text in (theirs or {}).items()}
        assert {name: amount for name, amount in ours.items() if name in stated} == stated
        assert all(amount == 0 for name, amount in ours.items() if name not in stated)
