from __future__ import annotations

from typing import Any

import pytest

from exoscaler.core.model import TaintEffect
from exoscaler.core.policy import Policy, StartupTaints
from exoscaler.core.scheduling import can_take_pods, is_example, is_starting
from tests.builders import NOW, make_node, resources, taint

_POLICY = Policy(taints=StartupTaints(keys=frozenset({"agent-not-ready"})))
_TO_BE_DELETED = taint("ToBeDeletedByClusterAutoscaler", "1")
_GPU = resources(cpu="4", memory="16Gi", pods=110, nvidia_com__gpu=1)


@pytest.mark.parametrize(
    ("node", "example"),
    [  # R62
        ({}, True),
        ({"ready_since": 61}, True),
        ({"ready_since": 60}, False),
        ({"ready": False}, False),
        ({"unschedulable": True}, False),
        ({"taints": [_TO_BE_DELETED]}, False),
        ({"taints": [taint("mine")]}, True),
        ({"taints": [taint("agent-not-ready")]}, False),  # R21
        ({"taints": [taint("startup-taint.cluster-autoscaler.kubernetes.io/x")]}, False),
        ({"taints": [taint("ignore-taint.cluster-autoscaler.kubernetes.io/x")]}, False),
        ({"taints": [taint("status-taint.cluster-autoscaler.kubernetes.io/x")]}, True),
    ],
)
def test_an_example_is_ready_and_has_been_so_for_more_than_a_minute(node: dict[str, Any], example: bool) -> None:
    assert is_example(make_node(**node), _POLICY, NOW) is example


@pytest.mark.parametrize(
    ("node", "starting"),
    [  # R20, R21, R32
        ({"age": 899, "ready": False}, True),
        ({"age": 900, "ready": False}, False),
        ({"age": 60}, False),
        ({"age": 60, "taints": [taint("agent-not-ready")]}, True),
        ({"age": 60, "taints": [taint("agent-not-ready", effect=TaintEffect.PREFER_NO_SCHEDULE)]}, True),
        ({"age": 60, "taints": [taint("node.kubernetes.io/not-ready")]}, True),
        ({"age": 60, "taints": [taint("mine")]}, False),
        ({"age": 7200, "taints": [taint("agent-not-ready")]}, False),
        ({"age": 60, "ready": False, "unschedulable": True}, False),
        ({"age": 60, "ready": False, "taints": [_TO_BE_DELETED]}, False),
    ],
)
def test_only_a_young_node_that_is_not_ready_for_pods_is_starting(node: dict[str, Any], starting: bool) -> None:
    assert is_starting(make_node(**node), None, _POLICY, NOW) is starting


@pytest.mark.parametrize(("age", "starting"), [(60, True), (7200, False)])
def test_a_young_node_that_has_not_published_its_devices_yet_is_starting(age: float, starting: bool) -> None:
    # R20
    assert is_starting(make_node(age=age), _GPU, _POLICY, NOW) is starting
    assert not is_starting(make_node(age=age, allocatable=_GPU), _GPU, _POLICY, NOW)


def test_no_pods_are_sent_to_a_node_that_is_cordoned_unready_or_going() -> None:
    assert can_take_pods(make_node(taints=[taint("mine")]))
    assert not can_take_pods(make_node(unschedulable=True))
    assert not can_take_pods(make_node(ready=False))
    assert not can_take_pods(make_node(taints=[_TO_BE_DELETED]))
