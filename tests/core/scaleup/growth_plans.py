"""Planning growth in tests: a plan from groups, nodes and pods, and short forms of what it says."""

from __future__ import annotations

from typing import Any

from exoscaler.core.model import Node, NodeGroup, Pod
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.policy import GrowthPolicy, Policy
from exoscaler.core.reasons import GrowFailure, PodSkip
from exoscaler.core.scaleup import ledger_for, plan_growth
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger
from exoscaler.core.state import Backoff
from tests.builders import (
    NOW,
    ago,
    make_group,
    make_node,
    make_pod,
    make_scene,
)


def planned(scene: Scene) -> tuple[GrowthPlan, Ledger]:
    ledger = ledger_for(scene)
    return plan_growth(scene, ledger), ledger


def plan_of(*groups: NodeGroup, **scene: Any) -> GrowthPlan:
    return planned(make_scene(*groups, **scene))[0]


def targets(plan: GrowthPlan) -> dict[str, int]:
    return {op.group_name: op.target_size for op in plan.operations}


def why_skipped(plan: GrowthPlan) -> dict[str, PodSkip]:
    return {skipped.pod.name: skipped.reason for skipped in plan.skipped}


def verdicts(plan: GrowthPlan, pod: str = "pod") -> dict[str, str]:
    return {v.group_name: v.text for entry in plan.unhelped if entry.pod.name == pod for v in entry.verdicts}


def full_node(name: str, **node: Any) -> tuple[Node, Pod]:
    """A node without any CPU left, and the pod that took it."""
    return make_node(name, **node), make_pod(f"filler-of-{name}", node=name, cpu="4")


def growth_policy(**growth: Any) -> Policy:
    return Policy(growth=GrowthPolicy(**growth))


def backoff_now() -> Backoff:
    return Backoff(seconds=300, until=ago(-60), failed_at=NOW, failure=GrowFailure.CLOUD_FAILURE)


def two_groups(**second: Any) -> tuple[list[NodeGroup], list[Node], list[Pod]]:
    a, filler_a = full_node("a", labels={"pool": "a"})
    b, filler_b = full_node("b", labels={"pool": "b"})
    return [make_group("a", nodes=[a]), make_group("b", nodes=[b], **second)], [a, b], [filler_a, filler_b]
