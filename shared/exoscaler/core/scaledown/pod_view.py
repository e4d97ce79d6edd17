"""Whether the list of pods can be trusted for a removal.

A list that was cut, or that comes from a view not filled yet, makes full nodes look empty. Reading fails when the list
does not arrive whole; here it is held against what others report independently.
"""

from __future__ import annotations

from exoscaler.core.model import ClusterSnapshot, PodView
from exoscaler.core.scene import Scene

TOLERATED_SHARE = 10
"""A DaemonSet's report may be ahead of the list by one pod in this many, and by at least one: pods change between two
calls, and a controller's report lags behind."""


def pod_view(scene: Scene) -> PodView:
    """The first contradiction that is found.

    - A DaemonSet reports clearly more ready pods than the list holds of it.
    - Nodes are ready, but there is not a single pod bound to any node although the last evaluation knew of removals
      that had to move pods: an empty list of a cluster that works is more likely wrong than true.
    """
    snapshot = scene.snapshot
    return _against_daemonsets(snapshot) or _against_emptiness(scene) or PodView()


def _against_daemonsets(snapshot: ClusterSnapshot) -> PodView | None:
    seen: dict[str, int] = {}
    for pod in snapshot.pods:
        if pod.is_bound and pod.owner is not None and pod.owner.kind == "DaemonSet":
            seen[pod.owner.uid] = seen.get(pod.owner.uid, 0) + 1
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
    evicting = any(op.evictions_from is not None for op in scene.state.operations.shrinking)
    return PodView("the list holds no pod of any node, although pods are being moved") if evicting else None
