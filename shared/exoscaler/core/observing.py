"""What an evaluation leaves behind for the next one: timers, verdicts, counters."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.plan import GrowthPlan, ShrinkPlan, UnhelpedPod
from exoscaler.core.policy import Policy
from exoscaler.core.scaleup.backoff import forget_old
from exoscaler.core.scene import Scene
from exoscaler.core.state import (
    CounterName,
    ObservationsDocument,
    StayingNode,
    UnneededNode,
    WaitingPod,
)

MISSED_EVALUATIONS = 3
"""How many periods may pass without a look before a timer starts anew: a node may have been busy meanwhile."""

WAITING_PODS_KEPT = 100
"""How many waiting pods the state names; their number is not limited, only this list."""


def unneeded_since(scene: Scene) -> dict[str, datetime]:
    """Since when each node has been unneeded, as far as that is still known: node uid -> time.

    Empty after a gap between two looks (H.2-3), and after a clock that was set back by as much; a little is what the
    clocks of two machines differ by anyway. While the cluster is unwell the timers stand still: the time of the pause
    is added when it ends.
    """
    observations = scene.state.observations
    last = observations.evaluation_ended_at
    gap_limit = MISSED_EVALUATIONS * scene.policy.pace.evaluation_period
    if last is None or abs(scene.now - last) > gap_limit:
        return {}
    paused_from = observations.unhealthy_since
    pause = max(scene.now - paused_from, timedelta(0)) if paused_from is not None else timedelta(0)
    return {uid: min(node.since + pause, scene.now) for uid, node in observations.unneeded.items()}


def observed(scene: Scene, growth: GrowthPlan, shrink: ShrinkPlan, *, healthy: bool) -> ObservationsDocument:
    """The observations after an evaluation.

    One that could not judge the nodes, because the list of pods is in doubt, counts as missed: the timers go on as long
    as few are missed in a row, and start anew after that.
    """
    before = scene.state.observations
    now = scene.now
    judged = healthy and shrink.judged
    return before.model_copy(
        update={
            "unneeded": _unneeded(scene, shrink) if judged else _kept(scene, healthy=healthy),
            "staying": _staying(scene, shrink) if judged else before.staying,
            "unregistered": _unregistered(scene),
            "backoffs": forget_old(before.backoffs, now, scene.policy.growth),
            "waiting": _all_waiting(growth, now, before) if healthy else before.waiting,
            "evaluation_started_at": now,
            "evaluation_ended_at": now if shrink.judged else before.evaluation_ended_at,
            "evaluations": before.evaluations + 1,
            "unhealthy_since": None if healthy else before.unhealthy_since or now,
            "counters": counted(before.counters, CounterName.EVALUATIONS),
        }
    )


def counted(counters: dict[CounterName, int], name: CounterName, by: int = 1) -> dict[CounterName, int]:
    """The counters with one raised."""
    return {**counters, name: counters.get(name, 0) + by}


def _unneeded(scene: Scene, shrink: ShrinkPlan) -> dict[str, UnneededNode]:
    """A node that was not found removable at this look loses its time (R124)."""
    since = unneeded_since(scene)
    return {uid: UnneededNode(name=name, since=since.get(uid, scene.now)) for uid, name in shrink.unneeded}


def _kept(scene: Scene, *, healthy: bool) -> dict[str, UnneededNode]:
    """The timers of an evaluation that did not judge the nodes.

    Where it ends a pause it moves them by the pause, for the next one will not know of it any more.
    """
    before = scene.state.observations.unneeded
    if not healthy:
        return before
    return {uid: UnneededNode(name=before[uid].name, since=since) for uid, since in unneeded_since(scene).items()}


def _staying(scene: Scene, shrink: ShrinkPlan) -> dict[str, StayingNode]:
    before = scene.state.observations.staying
    kept: dict[str, StayingNode] = {}
    for verdict in shrink.staying:
        until = None
        if verdict.node_uid in shrink.cached:
            known = before.get(verdict.node_uid)
            running = known is not None and known.until is not None and known.until > scene.now
            until = known.until if known is not None and running else _recheck_at(scene.now, scene.policy)
        kept[verdict.node_uid] = StayingNode(
            name=verdict.node_name, reason=verdict.reason, detail=verdict.detail, until=until
        )
    return kept


def _recheck_at(now: datetime, policy: Policy) -> datetime:
    return now + policy.shrink.unremovable_recheck


def _unregistered(scene: Scene) -> dict[str, datetime]:
    before = scene.state.observations.unregistered
    instances = (i for members in scene.membership.unregistered.values() for i in members)
    return {instance: min(before.get(instance, scene.now), scene.now) for instance in instances}


def _all_waiting(growth: GrowthPlan, now: datetime, before: ObservationsDocument) -> tuple[WaitingPod, ...]:
    known = {pod.name: pod.since for pod in before.waiting}
    return tuple(
        _waiting(unhelped, known.get(unhelped.pod.key) or now) for unhelped in growth.unhelped[:WAITING_PODS_KEPT]
    )


def _waiting(unhelped: UnhelpedPod, since: datetime) -> WaitingPod:
    reasons = {verdict.group_name: verdict.text for verdict in unhelped.verdicts}
    return WaitingPod(name=unhelped.pod.key, reasons=reasons, since=since)
