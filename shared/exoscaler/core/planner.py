"""One evaluation: look at everything, plan growth, then removal, and say what to remember."""

from __future__ import annotations

from exoscaler.core.health import cluster_health
from exoscaler.core.observing import observed
from exoscaler.core.plan import GrowthPlan, Plan, ShrinkPlan
from exoscaler.core.scaledown import plan_shrink
from exoscaler.core.scaleup import ledger_for, plan_growth
from exoscaler.core.scene import Scene

NO_GROUPS = "exoscaler is disabled: no node groups found"


def evaluate(scene: Scene) -> Plan:
    """Decide what to do now, with a reason for everything done and not done.

    Growth comes first: what it promises to pending pods is taken before anything is judged removable, in one ledger of
    promised capacity. An unwell cluster is not changed, and its timers stand still (R39).
    """
    if not scene.groups:
        return _plan(scene, GrowthPlan(), ShrinkPlan(held=NO_GROUPS), healthy=True)
    health = cluster_health(scene)
    if not health.healthy:
        held = f"the cluster is unhealthy: {health.unready} of {health.registered} nodes are not ready"
        return _plan(scene, GrowthPlan(), ShrinkPlan(held=held), healthy=False)
    ledger = ledger_for(scene)
    growth = plan_growth(scene, ledger)
    return _plan(scene, growth, plan_shrink(scene, ledger, growth), healthy=True)


def _plan(scene: Scene, growth: GrowthPlan, shrink: ShrinkPlan, *, healthy: bool) -> Plan:
    operations = scene.state.operations
    recorded = operations.model_copy(
        update={
            "growing": (*operations.growing, *growth.operations),
            "shrinking": (*operations.shrinking, *shrink.operations),
        }
    )
    state = scene.state.model_copy(
        update={"operations": recorded, "observations": observed(scene, growth, shrink, healthy=healthy)}
    )
    return Plan(scene.decision_id, growth, shrink, state)
