"""What users read in ``kubectl get events``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.app.telling import (
    MOST_POD_EVENTS,
    STATUS_CONFIG_MAP,
    of_growth_end,
    of_plan,
    of_removal,
    publish_all,
)
from exoscaler.core.model import NodeGroup, Pod
from exoscaler.core.operations.model import GrowPhase, ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.plan import GroupVerdict, GrowthPlan, HelpedPod, Plan, ShrinkPlan, UnhelpedPod
from exoscaler.core.reasons import GroupSkip, GrowFailure, Obstacle, RollbackReason, WhyNot
from exoscaler.core.state import NodeGroupsDocument, ObservationsDocument, State, WaitingPod
from exoscaler.errors import Conflict, Denied, NotFound, RemoteError, Unavailable
from exoscaler.ports.cluster import EventType, SubjectKind
from tests.app.world import World
from tests.builders import NOW, make_group, make_growth, make_node, make_pod, make_removal

WEB = make_group("web", members=("a",), max_size=5)
BATCH = make_group("batch", members=("b",))
NODE = make_node("victim")
GROUP_OF_VICTIM = make_group("web", nodes=[NODE])


def plan(growth: GrowthPlan, *groups: NodeGroup) -> Plan:
    known = NodeGroupsDocument(groups={group.id: group for group in groups or (WEB, BATCH)})
    return Plan("decision", growth, ShrinkPlan(), State(node_groups=known))


def at_max(pod: Pod, *groups: NodeGroup) -> UnhelpedPod:
    return UnhelpedPod(pod, tuple(GroupVerdict(g.id, g.name, skip=GroupSkip.AT_MAX) for g in groups))


def waiting(pod: str, **reasons: str) -> State:
    return State(observations=ObservationsDocument(waiting=(WaitingPod(name=pod, reasons=reasons),)))


# What an evaluation tells


def test_growth_is_told_of_the_cluster_with_both_sizes() -> None:
    (event,) = of_plan(plan(GrowthPlan(operations=(make_growth(WEB, to=3),))), State())

    assert (event.subject_kind, event.subject_name) == (SubjectKind.CONFIG_MAP, STATUS_CONFIG_MAP)
    assert (event.reason, event.type) == ("ScaledUpGroup", EventType.NORMAL)
    assert event.message == "Scale-up: setting group web size to 3 instead of 1 (max: 5)"


def test_pod_that_gets_room_is_told_which_group_grows() -> None:  # R101
    pod = make_pod("hopeful")
    growth = GrowthPlan(operations=(make_growth(WEB, to=3),), helped=(HelpedPod(pod, WEB.id),))
    event = of_plan(plan(growth), State())[-1]

    assert (event.subject_kind, event.subject_namespace, event.subject_name) == (SubjectKind.POD, "default", "hopeful")
    assert event.subject_uid == pod.uid
    assert (event.reason, event.message) == ("TriggeredScaleUp", "pod triggered scale-up: [{web 1->3 (max: 5)}]")


def test_pod_that_room_under_way_will_help_is_not_told_of_a_growth_of_today() -> None:
    growth = GrowthPlan(operations=(make_growth(WEB, to=3),), helped=(HelpedPod(make_pod(), BATCH.id),))

    assert [event.reason for event in of_plan(plan(growth), State())] == ["ScaledUpGroup"]


def test_pod_that_nothing_helps_is_told_each_reason_with_its_count() -> None:  # R101
    short = WhyNot(Obstacle.INSUFFICIENT, "cpu", 500)
    verdicts = (
        GroupVerdict("1", "one", rejections=(short,)),
        GroupVerdict("2", "two", rejections=(short,)),
        GroupVerdict("3", "three", skip=GroupSkip.AT_MAX),
    )
    (event,) = of_plan(plan(GrowthPlan(unhelped=(UnhelpedPod(make_pod(), verdicts),))), State())

    assert event.reason == "NotTriggerScaleUp"
    assert event.message == "pod didn't trigger scale-up: 2 Insufficient cpu, 1 max node group size reached"


def test_pod_that_nothing_helps_without_any_group_is_told_so() -> None:
    (event,) = of_plan(plan(GrowthPlan(unhelped=(UnhelpedPod(make_pod(), ()),))), State())

    assert event.message == "pod didn't trigger scale-up"


def test_pod_whose_reasons_stay_the_same_is_not_told_again() -> None:
    unhelped = plan(GrowthPlan(unhelped=(at_max(make_pod("pod"), WEB),)))

    assert of_plan(unhelped, waiting("default/pod", web=GroupSkip.AT_MAX.value)) == ()
    assert len(of_plan(unhelped, waiting("default/pod", web=GroupSkip.QUOTA.value))) == 1
    assert len(of_plan(unhelped, waiting("default/another", web=GroupSkip.AT_MAX.value))) == 1


def test_flood_of_pods_is_told_to_the_first_ones_only() -> None:
    pods = [make_pod(f"pod-{number}") for number in range(MOST_POD_EVENTS + 20)]
    helped = GrowthPlan((make_growth(WEB, to=3),), helped=tuple(HelpedPod(pod, WEB.id) for pod in pods))
    unhelped = GrowthPlan(unhelped=tuple(at_max(pod, WEB) for pod in pods))

    assert len(of_plan(plan(helped), State())) == 1 + MOST_POD_EVENTS
    assert len(of_plan(plan(unhelped), State())) == MOST_POD_EVENTS


# How a growth ends


def test_growth_that_is_done_tells_nothing_more() -> None:
    assert of_growth_end(make_growth(WEB, to=3, phase=GrowPhase.DONE)) == ()


@pytest.mark.parametrize("failure", [f for f in GrowFailure if f is not GrowFailure.SUPERSEDED], ids=str)
def test_growth_that_failed_is_a_warning_with_its_cause_and_its_remedy(failure: GrowFailure) -> None:  # I7
    ended = replace(make_growth(WEB, to=3, phase=GrowPhase.FAILED), failure=failure, detail="the cloud's own words")
    (event,) = of_growth_end(ended)

    assert (event.reason, event.type) == ("FailedToScaleUpGroup", EventType.WARNING)
    assert event.message == (
        f"Scale-up of group web to 3 failed: {failure.value}: the cloud's own words; {failure.remedy}"
    )


def test_growth_that_timed_out_has_a_reason_of_its_own() -> None:
    ended = replace(make_growth(WEB, to=3, phase=GrowPhase.TIMED_OUT), failure=GrowFailure.NEVER_READY)

    assert [event.reason for event in of_growth_end(ended)] == ["ScaleUpTimedOut"]


def test_growth_whose_plan_no_longer_held_alarms_nobody() -> None:
    ended = replace(make_growth(WEB, to=3, phase=GrowPhase.FAILED), failure=GrowFailure.SUPERSEDED)

    assert of_growth_end(ended) == ()


# How a removal goes


def removal(phase: ShrinkPhase, mode: ShrinkMode = ShrinkMode.DRAIN) -> ShrinkOperation:
    made = make_removal(GROUP_OF_VICTIM, NODE, phase=phase, mode=mode)
    if mode is ShrinkMode.NEVER_REGISTERED:
        return replace(made, node_name="", node_uid="")
    return replace(made, taint_value="" if phase is ShrinkPhase.PLANNED else "17")


def test_marked_node_is_told_as_upstream_does() -> None:  # R139
    (event,) = of_removal(removal(ShrinkPhase.PLANNED), removal(ShrinkPhase.TAINTED))

    assert (event.subject_kind, event.subject_name, event.subject_uid) == (SubjectKind.NODE, "victim", NODE.uid)
    assert (event.reason, event.message) == ("ScaleDown", "marked the node as toBeDeleted/unschedulable")


@pytest.mark.parametrize(
    ("mode", "reason", "message"),
    [
        (ShrinkMode.EMPTY, "ScaleDownEmpty", "Scale-down: node victim of web removed"),
        (ShrinkMode.DRAIN, "ScaleDown", "Scale-down: node victim of web removed with drain"),
        (
            ShrinkMode.NEVER_REGISTERED,
            "DeleteUnregistered",
            "removed instance instance-of-victim of web: it never became a node",
        ),
    ],
    ids=["empty", "drain", "never registered"],
)
def test_removed_node_is_told_of_the_cluster_with_how(mode: ShrinkMode, reason: str, message: str) -> None:  # R154
    (event,) = of_removal(removal(ShrinkPhase.EVICTING, mode), removal(ShrinkPhase.REMOVED, mode))

    assert (event.subject_kind, event.reason, event.message) == (SubjectKind.CONFIG_MAP, reason, message)


def test_phase_that_stays_the_same_tells_nothing() -> None:
    draining = removal(ShrinkPhase.DRAINING)

    assert of_removal(draining, replace(draining, detail="eviction of default/pod: refused")) == ()


def test_node_that_stays_after_all_is_a_warning_with_the_reason() -> None:  # R155
    back = replace(removal(ShrinkPhase.ROLLED_BACK), rollback=RollbackReason.EVICTION_REFUSED, detail="default/pod")
    (event,) = of_removal(removal(ShrinkPhase.ROLLING_BACK), back)

    assert (event.subject_kind, event.type) == (SubjectKind.NODE, EventType.WARNING)
    assert (event.reason, event.message) == ("ScaleDownFailed", "the node stays: eviction-refused default/pod")


def test_plan_that_was_dropped_before_the_node_was_touched_tells_nothing() -> None:
    back = replace(removal(ShrinkPhase.ROLLED_BACK), taint_value="", rollback=RollbackReason.NO_LONGER_UNNEEDED)

    assert of_removal(removal(ShrinkPhase.PLANNED), back) == ()


def test_instance_that_may_not_be_removed_is_told_although_it_has_no_node() -> None:  # I7
    """Nobody else would say that the key lacks the permission."""
    back = replace(
        removal(ShrinkPhase.ROLLED_BACK, ShrinkMode.NEVER_REGISTERED),
        rollback=RollbackReason.DENIED,
        evict_sent_at=NOW,
        detail="evict-sks-nodepool-members: not allowed with these credentials (HTTP 403)",
    )
    (event,) = of_removal(removal(ShrinkPhase.EVICTING, ShrinkMode.NEVER_REGISTERED), back)

    assert (event.subject_kind, event.type, event.reason) == (
        SubjectKind.CONFIG_MAP,
        EventType.WARNING,
        "ScaleDownFailed",
    )
    assert "instance-of-victim" in event.message
    assert "evict-sks-nodepool-members" in event.message


def test_instance_that_became_a_node_after_all_alarms_nobody() -> None:
    back = replace(
        removal(ShrinkPhase.ROLLED_BACK, ShrinkMode.NEVER_REGISTERED), rollback=RollbackReason.NODE_REGISTERED
    )

    assert of_removal(removal(ShrinkPhase.DRAINED, ShrinkMode.NEVER_REGISTERED), back) == ()


# Writing them


@pytest.mark.parametrize(
    "error",
    [Unavailable("create events"), Denied("create events", status=403), Conflict("create"), NotFound("create")],
    ids=lambda error: type(error).__name__,
)
def test_event_that_cannot_be_written_leaves_the_others(error: RemoteError) -> None:
    world = World()
    world.cluster.fail("publish", error)
    events = of_plan(plan(GrowthPlan(operations=(make_growth(WEB, to=3), make_growth(BATCH, to=2)))), State())
    publish_all(world.begin(), events)

    assert world.cluster.events == [events[1]]
