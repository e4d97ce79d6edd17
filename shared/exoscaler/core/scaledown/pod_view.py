"""Whether the list of pods can be trusted for a removal.

A list that was cut, or that comes from a view not filled yet, makes full nodes look empty. Reading fails when the list
does not arrive whole; here it is held against what others report independently.
"""

from __future__ import annotations

from exoscaler.core.model import ClusterSnapshot, PodView
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.scene import Scene

TOLERATED_SHARE = 10
"""A DaemonSet's report may be ahead of the list by one pod in this many, and by at least one: pods change between two
calls, and a controller's report lags behind."""


def pod_view(scene: Scene) -> PodView:
    """The first contradiction that is found.

    - DaemonSets report ready pods, but the list holds no pod of any DaemonSet.
    - A DaemonSet reports clearly more ready pods than the list holds of it.
    - Pods are being moved off nodes, but there is not a single pod bound to any node.

    A doubt costs one look, as if the evaluation had not taken place: the next one judges anew, and the unneeded times
    survive as long as not more than `observing.MISSED_EVALUATIONS` are missed. So pods that changed between two calls
    stop nothing for long. A cluster without any DaemonSet has nobody to ask: there an empty list is believed.
    """
    snapshot = scene.snapshot
    return _against_daemonsets(snapshot) or _against_emptiness(scene) or PodView()


def _against_daemonsets(snapshot: ClusterSnapshot) -> PodView | None:
    seen: dict[str, int] = {}
    for pod in snapshot.pods:
        if pod.is_bound and pod.owner is not None and pod.owner.kind == "DaemonSet":
            seen[pod.owner.uid] = seen.get(pod.owner.uid, 0) + 1
    ready = sum(daemonset.ready for daemonset in snapshot.daemonsets)
    if ready and not seen:
        return PodView(f"DaemonSets report {ready} ready pods, and the list holds none of any DaemonSet")
    for daemonset in sorted(snapshot.daemonsets, key=lambda d: (d.namespace, d.name)):
        missing = daemonset.ready - seen.get(daemonset.uid, 0)
        if missing > max(1, daemonset.ready // TOLERATED_SHARE):
            name = f"{daemonset.namespace}/{daemonset.name}"
            return PodView(
                f"DaemonSet {name} reports {daemonset.ready} ready pods, {missing} of them are not in the list"
            )
    return None


def _against_emptiness(scene: Scene) -> PodView | None:
    if any(pod.is_bound for pod in scene.snapshot.pods):
        return None
    moving = any(op.phase is ShrinkPhase.DRAINING for op in scene.state.operations.shrinking)
    return PodView("the list holds no pod of any node, although pods are being moved") if moving else None
