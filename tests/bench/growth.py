"""How long a whole growth decision takes: many nodes, thirty pods on each, as many pods waiting as there are nodes.

Run with ``python -m tests.bench.growth``. Times start from decoded records and include tying nodes to groups, the
templates, the ledger and the plan. Two waiting pods fill a new node, so half as many nodes as there are are ordered.
"""

from __future__ import annotations

import gc
import sys
import time

from exoscaler.core.model import Resources
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.policy import GrowthPolicy, Policy, ResourceLimits
from exoscaler.core.scaleup import ledger_for, look_ahead, plan_growth
from exoscaler.core.scene import Scene
from tests.bench.workload import TEMPLATE_ALLOCATABLE
from tests.builders import make_group, make_node, make_pod, make_scene

_MIB = 2**20
_RUNNING = Resources(cpu=100, memory=384 * _MIB)
_WAITING = Resources(cpu=1500, memory=4096 * _MIB)
_SIZES = (100, 1000, 5000)
_ROUNDS = 3
_NO_LIMITS = GrowthPolicy(max_nodes_per_scaleup=20_000, cores=ResourceLimits(0, 2**60), memory=ResourceLimits(0, 2**60))


def scene_of(size: int) -> Scene:
    """A cluster of `size` nodes, three quarters full, on none of which a waiting pod fits."""
    nodes = [make_node(f"node-{i}", allocatable=TEMPLATE_ALLOCATABLE) for i in range(size)]
    pods = [
        make_pod(
            f"pod-{i}",
            requests=_RUNNING,
            node=nodes[i % size].name,
            owner=f"app-{i % 100}",
            labels={"app": f"app-{i % 100}"},
        )
        for i in range(30 * size)
    ]
    pods += [
        make_pod(f"pend-{i}", requests=_WAITING, owner=f"pend-{i % 10}", labels={"app": f"pend-{i % 10}"})
        for i in range(size)
    ]
    group = make_group("ng1", nodes=nodes, min_size=0, max_size=20_000)
    return make_scene(group, nodes=nodes, pods=pods, policy=Policy(growth=_NO_LIMITS))


def decide(scene: Scene) -> GrowthPlan:
    """One decision, nothing remembered from an earlier one."""
    fresh = make_scene(*scene.groups, nodes=scene.snapshot.nodes, pods=scene.snapshot.pods, policy=scene.policy)
    outlook = look_ahead(fresh)
    return plan_growth(fresh, ledger_for(fresh, outlook), outlook)


def main() -> int:
    """Write one line a size; 1 when a plan orders another number of nodes than half as many as there are."""
    sys.stdout.write(f"{'nodes':>6} {'pods':>7} {'waiting':>8} {'ordered':>8} {'ms':>8}\n")
    wrong = 0
    for size in _SIZES:
        scene = scene_of(size)
        best, ordered = float("inf"), 0
        for _ in range(_ROUNDS):
            gc.collect()
            start = time.perf_counter()
            plan = decide(scene)
            best = min(best, time.perf_counter() - start)
            ordered = sum(op.target_size - op.base_size for op in plan.operations)
        wrong += ordered != size // 2
        sys.stdout.write(f"{size:>6} {30 * size:>7} {size:>8} {ordered:>8} {best * 1000:>8.1f}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
