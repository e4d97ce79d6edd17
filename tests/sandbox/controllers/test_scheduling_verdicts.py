"""The sandbox's scheduler against verdicts that a real kube-scheduler (v1.36.2) gave."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from exoscaler.sandbox.controllers.scheduling.filters import judge
from exoscaler.sandbox.controllers.scheduling.placement import Board, Candidate

CASES = Path(__file__).parents[2] / "recorded" / "scheduler-cases.jsonl.gz"
AREAS = (
    "gates-etc",
    "host-ports",
    "mixed",
    "node-affinity",
    "pod-affinity",
    "pod-anti-affinity",
    "resources",
    "taints",
    "topology-spread",
)


def _is_covered(case: dict[str, Any]) -> bool:
    """The sandbox has no volumes, resizes no pods, and does what is documented where this kube-scheduler does not."""
    resized = any(
        "resources" in status for pod in case["pods"] for status in pod["status"].get("containerStatuses") or ()
    )
    return not (case["pod"]["spec"].get("volumes") or case.get("quirks") or resized) and (
        case["verdict"]["method"] != "gated"
    )


@cache
def _cases() -> dict[str, list[dict[str, Any]]]:
    by_area: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if _is_covered(case):
                by_area[case["area"]].append(case)
    return by_area


@pytest.mark.parametrize("area", AREAS)
def test_scheduler_accepts_the_nodes_that_kube_scheduler_accepts(area: str) -> None:  # R200-R209
    wrong = []
    for case in _cases()[area]:
        verdict = judge(Candidate(case["pod"]), Board(case["nodes"], case["pods"], case["namespaces"]))
        if sorted(slot.name for slot in verdict.feasible) != case["verdict"]["feasible_nodes"]:
            wrong.append(case["id"])
    assert len(_cases()[area]) > 10
    assert wrong == []


@pytest.mark.parametrize("area", AREAS)
def test_scheduler_counts_the_reasons_that_kube_scheduler_counts(area: str) -> None:
    wrong = []
    for case in _cases()[area]:
        verdict = judge(Candidate(case["pod"]), Board(case["nodes"], case["pods"], case["namespaces"]))
        reasons = Counter(verdict.reasons)
        if verdict.feasible:
            # What the recording extender called the nodes that it was asked about.
            reasons["passed all filters"] = len(verdict.feasible)
        counted = sorted(f"{count} {reason}" for reason, count in reasons.items())
        if f"0/{verdict.nodes} nodes are available: {', '.join(counted)}." != case["verdict"]["message"]:
            wrong.append(case["id"])
    assert wrong == []
