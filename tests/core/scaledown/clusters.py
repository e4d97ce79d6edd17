"""Random small clusters in which some nodes could go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from exoscaler.core.model import DisruptionBudget, Node, NodeGroup, Pod, PoolState
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import Policy, ShrinkPolicy
from exoscaler.core.scene import Scene
from tests.builders import (
    make_budget,
    make_daemonset_pod,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
    taint,
)
from tests.core.scenes import marked, remembering, with_objects

APPS = ("web", "db", "queue")
LONG = 10_000.0
_DEDICATED = taint("dedicated", "db")


@dataclass(frozen=True)
class _Machine:
    """A node and what runs on it."""

    node: Node
    pods: tuple[Pod, ...]


def _pod(node: str, number: int, app: str, cpu: int, special: str) -> Pod:
    pod = make_pod(f"{app}-{node}-{number}", node=node, cpu=f"{cpu}m", memory="64Mi", labels={"app": app}, owner=app)
    match special:
        case "bare":
            return replace(pod, owner=None)
        case "kept":
            return replace(pod, annotations=pod.annotations.with_entry(SAFE_TO_EVICT, "false"))
        case "safe":
            return replace(pod, annotations=pod.annotations.with_entry(SAFE_TO_EVICT, "true"))
        case "cheap":
            return replace(pod, spec=replace(pod.spec, priority=-50))
        case "leaving":
            return make_pod(pod.name, node=node, cpu=f"{cpu}m", labels={"app": app}, owner=app, deleted_ago=-10)
        case "system":
            return make_daemonset_pod(pod.name, node=node)
        case _:
            return pod


_SPECIALS = st.sampled_from([*["ordinary"] * 12, "bare", "kept", "safe", "cheap", "leaving", "system"])
_NODES = st.sampled_from([*["ordinary"] * 10, "tainted", "cordoned", "unready", "forbidden", "marked"])


@st.composite
def _machines(draw: st.DrawFn, name: str) -> _Machine:
    node = make_node(name, cpu=draw(st.sampled_from(["1", "2", "4"])))
    match draw(_NODES):
        case "tainted":
            node = replace(node, taints=(_DEDICATED,))
        case "cordoned":
            node = replace(node, unschedulable=True)
        case "unready":
            node = replace(node, conditions=make_node(name, ready=False).conditions)
        case "forbidden":
            node = replace(node, annotations=node.annotations.with_entry(SCALE_DOWN_DISABLED, "true"))
        case "marked":
            node = marked(node, since=draw(st.sampled_from([60.0, 900.0])), by=draw(st.sampled_from(["", "lost"])))
    count = draw(st.integers(0, 3))
    pods = tuple(
        _pod(name, i, draw(st.sampled_from(APPS)), draw(st.sampled_from([50, 200, 400, 900, 900])), draw(_SPECIALS))
        for i in range(count)
    )
    return _Machine(node, pods)


@st.composite
def _groups(draw: st.DrawFn, name: str) -> tuple[NodeGroup, list[_Machine]]:
    machines = [draw(_machines(f"{name}-{i}")) for i in range(draw(st.integers(1, 4)))]
    nodes = [machine.node for machine in machines]
    state = draw(st.sampled_from([*[PoolState.RUNNING] * 6, PoolState.DEGRADED, PoolState.BUSY, PoolState.BLOCKED]))
    stale = draw(st.sampled_from(["", "", "", "", "HTTP 503"]))
    group = make_group(name, nodes=nodes, min_size=draw(st.sampled_from([0, 1, 1, 2])), state=state, stale=stale)
    return replace(group, pool=replace(group.pool, size=len(nodes) + draw(st.sampled_from([0, 0, 0, 1])))), machines


def _removals(
    draw: st.DrawFn, groups: Sequence[NodeGroup], machines: Sequence[Sequence[_Machine]]
) -> list[ShrinkOperation]:
    phases = st.sampled_from([p for p in ShrinkPhase if not p.ended])
    found: list[ShrinkOperation] = []
    for group, members in zip(groups, machines, strict=True):
        for machine in members:
            if draw(st.integers(0, 7)) == 0:
                mode = draw(st.sampled_from([ShrinkMode.EMPTY, ShrinkMode.DRAIN]))
                found.append(make_removal(group, machine.node, phase=draw(phases), mode=mode))
    return found


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A cluster of up to three groups and two nodes of none; nodes have been unneeded for long, or for no time."""
    drawn = [draw(_groups(name)) for name in ("alpha", "beta", "gamma")[: draw(st.integers(1, 3))]]
    strangers = [draw(_machines(f"stranger-{i}")) for i in range(draw(st.integers(0, 2)))]
    groups = [group for group, _ in drawn]
    members = [machines for _, machines in drawn]
    everything = [*(machine for machines in members for machine in machines), *strangers]
    waiting = [make_pod(f"waiting-{i}", cpu="400m", labels={"app": "web"}) for i in range(draw(st.integers(0, 2)))]
    scene = make_scene(
        *groups,
        nodes=[machine.node for machine in everything],
        pods=[*(pod for machine in everything for pod in machine.pods), *waiting],
        shrinking=_removals(draw, groups, members),
        policy=draw(_policies),
    )
    scene = with_objects(scene, budgets=draw(st.lists(_budgets, max_size=3, unique_by=lambda budget: budget.name)))
    known = {m.node.name: draw(st.sampled_from([LONG, LONG, 60.0])) for m in everything if draw(st.integers(0, 5))}
    return remembering(scene, unneeded=known)


_policies = st.builds(
    lambda total, drains, to_zero: Policy(
        scale_to_zero=to_zero,
        # Groups that grow for the waiting pods hold only themselves.
        shrink=ShrinkPolicy(max_parallelism=total, max_drain_parallelism=drains, delay_is_local=True),
    ),
    st.integers(1, 6),
    st.integers(1, 4),
    st.booleans(),
)
_budgets: st.SearchStrategy[DisruptionBudget] = st.builds(
    lambda app, allowed: make_budget(f"budget-of-{app or 'all'}", labels={"app": app} if app else {}, allowed=allowed),
    st.sampled_from([*APPS, *APPS, ""]),
    st.integers(0, 3),
)
