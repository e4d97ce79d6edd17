from __future__ import annotations

from typing import Any

import pytest

from exoscaler.core.model import Constraint, NodeSelectorTerm, Toleration, TolerationOperator, Volume, VolumeKind
from exoscaler.core.scheduling import likeness
from tests.builders import make_pod


@pytest.mark.parametrize(
    "difference",
    [
        {"name": "other"},
        {"owner": "other"},
        {"owner": None},
        {"owner_kind": "Job"},
        {"age": 5},
        {"annotations": {"a": "b"}},
        {"grace_seconds": 5},
        {"volumes": [Volume("kube-api-access-x7v2q", VolumeKind.PROJECTED)]},
    ],
)
def test_pods_are_alike_whatever_a_scheduler_does_not_read(difference: dict[str, Any]) -> None:
    assert likeness(make_pod(**difference)) == likeness(make_pod())  # R50


@pytest.mark.parametrize(
    "difference",
    [
        {"namespace": "other"},
        {"labels": {"a": "b"}},
        {"cpu": "101m"},
        {"node_selector": {"a": "b"}},
        {"node_affinity": []},
        {"node_affinity": [NodeSelectorTerm()]},
        {"tolerations": [Toleration("a", TolerationOperator.EXISTS)]},
        {"priority": 1},
        {"unmodelled": [Constraint.HOST_PORT]},
        {"volumes": [Volume("store", VolumeKind.CLAIM)]},
    ],
)
def test_pods_differ_in_whatever_a_constraint_reads(difference: dict[str, Any]) -> None:
    assert likeness(make_pod(**difference)) != likeness(make_pod())
