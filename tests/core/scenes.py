"""Scenes with a past: what earlier evaluations have observed, and what is in flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypedDict, Unpack

from exoscaler.core.model import DaemonSet, DisruptionBudget, Node, Pod
from exoscaler.core.scene import Scene
from exoscaler.core.state import Backoff, ObservationsDocument, StayingNode, UnneededNode, WaitingPod
from tests.builders import ago, make_node, make_pod, taint


class Observed(TypedDict, total=False):
    staying: dict[str, StayingNode]
    unregistered: dict[str, datetime]
    backoffs: dict[str, Backoff]
    grown_at: dict[str, datetime]
    shrunk_at: dict[str, datetime]
    shrink_failed_at: dict[str, datetime]
    waiting: tuple[WaitingPod, ...]
    unhealthy_since: datetime | None
    evaluations: int


def remembering(
    scene: Scene, *, unneeded: Mapping[str, float] | None = None, looked: float = 10, **observed: Unpack[Observed]
) -> Scene:
    """The scene after an evaluation `looked` seconds ago; `unneeded` says for how many seconds nodes have been so."""
    times = {f"uid-of-{name}": UnneededNode(name=name, since=ago(s)) for name, s in (unneeded or {}).items()}
    observations = ObservationsDocument(
        unneeded=times, evaluation_started_at=ago(looked), evaluation_ended_at=ago(looked), **observed
    )
    return replace(scene, state=scene.state.model_copy(update={"observations": observations}))


def with_objects(
    scene: Scene,
    *,
    budgets: Sequence[DisruptionBudget] = (),
    daemonsets: Sequence[DaemonSet] = (),
    pods: Sequence[Pod] = (),
) -> Scene:
    """The scene with more in its snapshot."""
    seen = scene.snapshot
    snapshot = replace(
        seen, pods=(*seen.pods, *pods), budgets=(*seen.budgets, *budgets), daemonsets=(*seen.daemonsets, *daemonsets)
    )
    return replace(scene, snapshot=snapshot)


def report(ready: int, name: str = "agent") -> DaemonSet:
    """What a DaemonSet of `make_daemonset_pod` says of its pods."""
    return DaemonSet("kube-system", name, f"uid-of-DaemonSet-{name}", ready)


def busy(name: str, *, cpu: str = "2500m") -> tuple[Node, Pod]:
    """A node that is used too much to go, with room for a core and a half."""
    return make_node(name), make_pod(f"busy-on-{name}", node=name, cpu=cpu, owner=f"busy-{name}")


def marked(node: Node, *, since: float = 60, cordoned: bool = False, by: str = "") -> Node:
    """The node with a deletion taint of that age; `by` names the operation of ours that set it."""
    annotations = node.annotations
    if by:
        annotations = annotations.with_entry("exoscaler.dev/scale-down", by)
        if cordoned:
            annotations = annotations.with_entry("exoscaler.dev/cordoned", "true")
    value = str(int(ago(since).timestamp()))
    taints = (*node.taints, taint("ToBeDeletedByClusterAutoscaler", value))
    return replace(node, taints=taints, annotations=annotations, unschedulable=cordoned or node.unschedulable)
