"""Whether a pod tolerates what a node's taints say (R204)."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import Pod, PodSpec, Taint
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling.place import Place


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:
    """The first taint that keeps the pod away, as the scheduler reports it; a preference keeps nobody away."""
    if not place.node.taints:
        return ()
    taint = untolerated(pod.spec, place.node.taints)
    return () if taint is None else (WhyNot(Obstacle.TAINT, in_words(taint)),)


def untolerated(spec: PodSpec, taints: Iterable[Taint]) -> Taint | None:
    """The first taint that repels a pod of this spec, None when it tolerates all of them."""
    for taint in taints:
        if taint.repels and not any(toleration.tolerates(taint) for toleration in spec.tolerations):
            return taint
    return None


def in_words(taint: Taint) -> str:
    """A taint the way kubectl writes it: ``key=value:Effect``, ``key:Effect`` without a value."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect.value}"
