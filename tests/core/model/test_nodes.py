from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.core.model import ConditionStatus, NodeCondition
from tests.builders import ago, make_node, taint

_TRUE, _FALSE, _UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [  # R19
        ({"Ready": _TRUE}, True),
        ({"Ready": _FALSE}, False),
        ({"Ready": _UNKNOWN}, False),
        ({}, False),
        ({"Ready": _TRUE, "DiskPressure": _TRUE}, False),
        ({"Ready": _TRUE, "DiskPressure": _UNKNOWN}, True),
        ({"Ready": _TRUE, "NetworkUnavailable": _TRUE}, False),
        ({"Ready": _TRUE, "MemoryPressure": _TRUE}, True),
    ],
)
def test_readiness_follows_the_conditions(conditions: dict[str, ConditionStatus], ready: bool) -> None:
    node = replace(make_node(), conditions=tuple(NodeCondition(name, status) for name, status in conditions.items()))

    assert node.is_ready is ready


@pytest.mark.parametrize(
    ("key", "ready"),
    [  # R19
        ("node.kubernetes.io/not-ready", False),
        ("node.kubernetes.io/disk-pressure", False),
        ("node.kubernetes.io/network-unavailable", False),
        ("node.kubernetes.io/memory-pressure", True),
        ("mine", True),
    ],
)
def test_some_taints_make_a_node_not_ready(key: str, ready: bool) -> None:
    assert make_node(taints=[taint(key)]).is_ready is ready


def test_readiness_changed_with_the_latest_condition_that_it_depends_on() -> None:
    conditions = (
        NodeCondition("Ready", _TRUE, ago(500)),
        NodeCondition("DiskPressure", _FALSE, ago(100)),
        NodeCondition("MemoryPressure", _FALSE, ago(1)),
        NodeCondition("NetworkUnavailable", _FALSE),
    )

    assert replace(make_node(), conditions=conditions).readiness_changed_at == ago(100)


def test_readiness_of_a_node_that_never_reported_dates_from_its_creation() -> None:
    assert replace(make_node(age=900), conditions=()).readiness_changed_at == ago(900)


@pytest.mark.parametrize("key", ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"])
def test_control_plane_is_known_by_label_or_taint(key: str) -> None:
    assert make_node(labels={key: ""}).is_control_plane
    assert make_node(taints=[taint(key)]).is_control_plane
    assert not make_node().is_control_plane


@pytest.mark.parametrize(
    ("provider_id", "uuid", "instance"),
    [
        ("exoscale://ABC-1", "other", "abc-1"),
        ("", "DEF-2", "def-2"),
        ("", "", None),
        ("aws:///i-1", "def-2", None),
        ("exoscale://", "def-2", None),
    ],
)
def test_the_instance_is_read_from_the_provider_id_and_only_without_one_from_the_machine(
    provider_id: str, uuid: str, instance: str | None
) -> None:
    node = replace(make_node(provider_id=provider_id), system_uuid=uuid)

    assert node.instance_id("exoscale://") == instance


def test_the_deletion_taint_is_told_from_the_mark_of_a_candidate() -> None:
    candidate = taint("DeletionCandidateOfClusterAutoscaler")
    deletion = taint("ToBeDeletedByClusterAutoscaler", "1700000000")

    assert make_node(taints=[candidate]).deletion_taint is None
    assert make_node(taints=[candidate, deletion]).deletion_taint == deletion
