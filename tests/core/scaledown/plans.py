"""Plans of removal, and how to ask them about one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exoscaler.core.model import Node, NodeGroup, Pod
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation
from exoscaler.core.plan import NodeVerdict, ShrinkPlan
from exoscaler.core.policy import Policy, ShrinkPolicy
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown import plan_shrink
from exoscaler.core.scaleup import ledger_for, plan_growth
from exoscaler.core.scene import Scene
from tests.builders import make_group, make_node, make_scene
from tests.core.scenes import remembering

LONG = 100_000.0
"""For how many seconds nodes have been unneeded when their time plays no role."""

AT_ONCE = ShrinkPolicy(max_drain_parallelism=10)
"""Many nodes may go at a time."""


def shrinking(settings: ShrinkPolicy = AT_ONCE) -> Policy:
    """A policy with these settings of scale-down."""
    return Policy(shrink=settings)


def cluster(
    nodes: Sequence[Node],
    pods: Sequence[Pod] = (),
    *,
    group: NodeGroup | None = None,
    policy: Policy | None = None,
    unneeded_for: float = LONG,
) -> Scene:
    """One group of nodes that may lose all but one, all of them unneeded for as long as one likes."""
    scene = make_scene(group or make_group(nodes=nodes), nodes=nodes, pods=pods, policy=policy or shrinking())
    return remembering(scene, unneeded={node.name: unneeded_for for node in nodes})


def keep(cpu: str = "64") -> Node:
    """A large node of no group: it stays, whatever happens, and has room."""
    return make_node("keep", cpu=cpu, memory="256Gi")


def planned(scene: Scene) -> ShrinkPlan:
    """The removals that an evaluation of the scene plans."""
    ledger = ledger_for(scene)
    return plan_shrink(scene, ledger, plan_growth(scene, ledger))


def going(plan: ShrinkPlan) -> dict[str, ShrinkMode]:
    """The nodes whose removal is planned, and how they go."""
    return {op.node_name: op.mode for op in plan.operations}


def unneeded(plan: ShrinkPlan) -> list[str]:
    return sorted(name for _, name in plan.unneeded)


def verdict(plan: ShrinkPlan, node_name: str) -> NodeVerdict:
    """Why a node stays."""
    (found,) = [verdict for verdict in plan.staying if verdict.node_name == node_name]
    return found


def reasons(plan: ShrinkPlan) -> dict[str, Unremovable]:
    return {verdict.node_name: verdict.reason for verdict in plan.staying}


def operation_for(plan: ShrinkPlan, node_name: str) -> ShrinkOperation:
    (found,) = [op for op in plan.operations if op.node_name == node_name]
    return found


def in_flight(scene: Scene, *operations: ShrinkOperation) -> Scene:
    document = scene.state.operations.model_copy(update={"shrinking": operations})
    return replace(scene, state=scene.state.model_copy(update={"operations": document}))
