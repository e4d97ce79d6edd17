"""Lists as the API sends them."""

from __future__ import annotations

import json
from typing import Any

from exoscaler.adapters.kubernetes.decoding import node_reader, pod_reader
from exoscaler.core.model import Node, Pod
from tests.adapters.kubernetes.manifests import node_manifest, pod_manifest
from tests.builders import make_node, make_pod

JsonObject = dict[str, Any]


def page(*items: JsonObject, next_page: str = "") -> bytes:
    return json.dumps({"kind": "List", "metadata": {"continue": next_page}, "items": items}).encode()


def read_pods(*manifests: JsonObject) -> tuple[Pod, ...]:
    found = pod_reader().page(page(*manifests))
    assert not found.contained, found.contained
    return found.records


def read_nodes(*manifests: JsonObject) -> tuple[Node, ...]:
    found = node_reader().page(page(*manifests))
    assert not found.contained, found.contained
    return found.records


def merged(base: JsonObject, changes: JsonObject) -> JsonObject:
    """`base` with `changes` merged in, deeply; other values replace."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def pod_with(changes: JsonObject | None = None, **options: Any) -> JsonObject:
    return merged(pod_manifest(make_pod(**options)), changes or {})


def node_with(changes: JsonObject | None = None, **options: Any) -> JsonObject:
    return merged(node_manifest(make_node(**options)), changes or {})
