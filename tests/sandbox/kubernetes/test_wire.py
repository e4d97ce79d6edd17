"""Protobuf bodies, the fields of each kind, and the fields that are always there."""

from __future__ import annotations

import struct
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from exoscaler.sandbox.kubernetes.wire import PROTOBUF, conform, decode_protobuf, fill_zero_values
from exoscaler.sandbox.kubernetes.wire.schema import json_fields, schema
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import pod


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def _field(number: int, value: int | str | bytes) -> bytes:
    """One field of a message, written by the rules of protobuf and not by the code under test."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _envelope(group_version: str, kind: str, message: bytes) -> bytes:
    names = _field(1, group_version) + _field(2, kind)
    return b"k8s\0" + _field(1, names) + _field(2, message) + _field(3, "") + _field(4, "")


def _pod_message(more: bytes = b"") -> bytes:
    meta = _field(1, "p") + _field(2, "") + _field(3, "default") + _field(8, b"")
    meta += _field(11, _field(1, "app") + _field(2, "web"))
    memory = _field(1, "memory") + _field(2, _field(1, "1Gi"))
    port = _field(1, "") + _field(2, 0) + _field(3, 8080)
    probe = _field(1, _field(2, _field(1, "/ok") + _field(2, _field(1, 1) + _field(3, "http")))) + _field(2, 5)
    container = _field(1, "main") + _field(2, "app:1") + _field(3, "sleep") + _field(3, "") + _field(6, port)
    container += _field(8, _field(2, memory)) + _field(10, probe)
    toleration = _field(1, "a") + _field(2, "Exists") + _field(5, 0)
    spec = _field(2, container) + _field(4, 0) + _field(11, 0) + _field(22, toleration) + more
    return _field(1, meta) + _field(2, spec) + _field(3, b"")


def test_protobuf_is_read_as_json_would_be() -> None:
    decoded = decode_protobuf(_envelope("v1", "Pod", _pod_message(_field(25, -7))))
    container = {
        "name": "main",
        "image": "app:1",
        "command": ["sleep", ""],
        "ports": [{"containerPort": 8080}],
        "resources": {"requests": {"memory": "1Gi"}},
        "livenessProbe": {"httpGet": {"path": "/ok", "port": "http"}, "initialDelaySeconds": 5},
    }
    toleration = {"key": "a", "operator": "Exists", "tolerationSeconds": 0}
    assert decoded == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
        # Zero where a field can be absent is a value; where it cannot, it is absence.
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": 0,
            "tolerations": [toleration],
            "priority": -7,
        },
    }


def test_times_and_numbers_keep_their_forms() -> None:
    micro = _field(1, 1_767_225_600) + _field(2, 250_000_000)
    spec = _field(1, "me") + _field(2, 40) + _field(4, micro)
    decoded = decode_protobuf(_envelope("coordination.k8s.io/v1", "Lease", _field(2, spec)))
    assert decoded["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 40,
        "renewTime": "2026-01-01T00:00:00.250000Z",
    }
    meta = _field(8, _field(1, 1_767_225_600))
    assert decode_protobuf(_envelope("v1", "Node", _field(1, meta)))["metadata"] == {
        "creationTimestamp": "2026-01-01T00:00:00Z"
    }


def test_fields_of_later_versions_are_skipped() -> None:
    later = _field(999, "x") + _varint(998 << 3 | 1) + struct.pack("<d", 1.0) + _varint(997 << 3 | 5) + b"1234"
    decoded = decode_protobuf(_envelope("v1", "ConfigMap", later + _field(1, _field(1, "c"))))
    assert decoded["metadata"] == {"name": "c"}


def test_protobuf_bodies_create_and_delete_over_http(http: httpx.Client, cluster: StoreClient) -> None:
    headers = {"Content-Type": PROTOBUF, "Accept": f"{PROTOBUF},application/json"}
    body = _envelope("v1", "Pod", _pod_message())
    created = http.post("/api/v1/namespaces/default/pods", content=body, headers=headers)
    assert created.status_code == 201
    assert created.json()["metadata"]["labels"] == {"app": "web"}
    cluster.bind("default", "p", "n")
    options = _envelope("v1", "DeleteOptions", _field(1, 5))
    http.request("DELETE", "/api/v1/namespaces/default/pods/p", content=options, headers=headers)
    assert cluster.get("v1", "pods", "p", namespace="default")["metadata"]["deletionGracePeriodSeconds"] == 5


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"k8s\0\xff",
        b"k8s\0\x0a\x7f",
        _envelope("v1", "Unicorn", b""),
        _envelope("v1", "Pod", b"\x0a\x05ab"),
        _envelope("v1", "Pod", _field(1, 5)),
        _envelope("v1", "Pod", b"\x0b"),
        _envelope("v1", "Pod", _field(1, _field(1, b"\xff\xfe"))),
    ],
)
def test_damaged_protobuf_is_a_bad_request(content: bytes) -> None:
    with pytest.raises(ObjectError) as caught:
        decode_protobuf(content)
    assert caught.value.status == 400


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """Nothing but a refusal comes of nonsense."""
    try:
        decoded = decode_protobuf(_envelope("v1", "Pod", content))
    except ObjectError as error:
        assert error.status == 400  # noqa: PT017 -- both outcomes are right
    else:
        assert decoded["kind"] == "Pod"


def test_every_resource_has_its_fields() -> None:
    for group_version, plural in RESOURCES:
        kind = RESOURCES[group_version, plural].kind
        found = schema().of_kind(group_version, kind)
        assert found is not None, kind
        assert "metadata" in json_fields(found.name), kind


def test_every_form_in_the_schema_is_known() -> None:
    basic = {
        "string",
        "int",
        "double",
        "bool",
        "bytes",
        "Time",
        "MicroTime",
        "Duration",
        "Quantity",
        "IntOrString",
        "Raw",
    }
    forms = {field.form for known in schema().types.values() for field in known.fields}
    assert forms <= basic | schema().types.keys()


def test_unknown_fields_are_named_by_their_paths() -> None:
    body = pod(containers=[{"name": "main", "imagee": "x", "resources": {"request": {}}}], hostnetwork=True)
    conformed = conform(body, "v1", "Pod")
    assert sorted(conformed.unknown) == [
        "spec.containers[0].imagee",
        "spec.containers[0].resources.request",
        "spec.hostnetwork",
    ]
    assert conformed.obj["spec"] == {"containers": [{"name": "main", "resources": {}}]}


def test_claim_templates_keep_their_kind() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}
    body = {"metadata": {"name": "s"}, "spec": {"volumeClaimTemplates": [claim]}}
    conformed = conform(body, "apps/v1", "StatefulSet")
    assert conformed.unknown == []
    assert conformed.obj == body


def test_always_present_fields_are_filled_and_nothing_is_overwritten() -> None:
    body: JsonObject = {"metadata": {"name": "n"}, "status": {"nodeInfo": {"kubeletVersion": "v1"}}}
    fill_zero_values(body, "v1", "Node")
    assert body["status"]["nodeInfo"]["kubeletVersion"] == "v1"
    assert body["status"]["nodeInfo"]["systemUUID"] == ""
    assert body["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert body["spec"] == {}


_scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
_json: st.SearchStrategy[Any] = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
_part = st.sampled_from(["metadata", "spec", "status"])
_name = st.sampled_from(["containers", "labels", "taints", "conditions", "tolerations", "replicas", "volumes", "x"])


@given(
    kind=st.sampled_from(["Pod", "Node"]),
    body=st.dictionaries(_part, _json | st.dictionaries(_name, _json, max_size=4)),
)
def test_any_object_conforms_or_is_refused(kind: str, body: JsonObject) -> None:
    try:
        conformed = conform(body, "v1", kind)
    except ObjectError as error:
        assert error.status == 400  # noqa: PT017 -- both outcomes are right
    else:
        again = conform(conformed.obj, "v1", kind)
        assert (again.obj, again.unknown) == (conformed.obj, [])
