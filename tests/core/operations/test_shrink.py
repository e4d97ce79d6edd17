from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.model import Node, PoolState
from exoscaler.core.operations.effects import EvictPod, TaintNode, UntaintNode
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.shrink import advance, advance_without_cloud
from exoscaler.core.operations.shrink_step import Refusal, ShrinkStep, ShrinkWorld
from exoscaler.core.policy import Policy, ShrinkPolicy
from exoscaler.core.reasons import RollbackReason
from tests.builders import NOW, instance_id, make_daemonset_pod, make_node, make_pod
from tests.core.operations.builders import POLICY, TAINT_VALUE, pool, shrink_world, shrinking, tainted_node

UNDECIDED = [ShrinkPhase.TAINTED, ShrinkPhase.DRAINING, ShrinkPhase.DRAINED]
AFTER_TAINT = NOW + POLICY.shrink.delay_after_taint


def test_planned_removal_records_its_exact_taint_before_it_taints() -> None:
    step = advance(shrinking(), shrink_world(make_node("victim")), POLICY, NOW)

    assert step.effects == (TaintNode("victim", "uid-of-victim", TAINT_VALUE, True, "shrink-victim"),)
    assert (step.operation.phase, step.operation.taint_value) == (ShrinkPhase.PLANNED, TAINT_VALUE)
    assert step.operation.cordons


def test_node_that_a_person_cordoned_is_not_ours_to_uncordon() -> None:
    step = advance(shrinking(), shrink_world(make_node("victim", unschedulable=True)), POLICY, NOW)

    assert not step.operation.cordons
    assert [effect.cordon for effect in step.effects if isinstance(effect, TaintNode)] == [False]


def test_cordoning_can_be_switched_off() -> None:  # F98
    policy = Policy(shrink=ShrinkPolicy(cordon=False))

    assert not advance(shrinking(), shrink_world(make_node("victim")), policy, NOW).operation.cordons


def test_taint_that_a_killed_invocation_left_is_recognised_as_ours() -> None:  # I5
    intended = shrinking(taint_value=TAINT_VALUE, cordons=True)
    step = advance(intended, shrink_world(tainted_node()), POLICY, NOW)

    assert step.operation.phase is ShrinkPhase.TAINTED
    assert step.effects == ()


def test_taint_of_somebody_else_ends_the_removal_and_stays() -> None:
    step = advance(shrinking(), shrink_world(tainted_node(value="123")), POLICY, NOW)

    assert (step.operation.phase, step.operation.rollback) == (
        ShrinkPhase.ROLLED_BACK,
        RollbackReason.TAINTED_BY_OTHERS,
    )
    assert step.effects == ()


def test_removal_waits_after_the_taint_until_everybody_has_seen_it() -> None:  # R141
    step = advance(shrinking(ShrinkPhase.TAINTED), shrink_world(tainted_node()), POLICY, NOW)

    assert (step.operation.phase, step.operation.look_at) == (ShrinkPhase.TAINTED, AFTER_TAINT)


@pytest.mark.parametrize("phase", UNDECIDED, ids=str)
@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (None, RollbackReason.NODE_GONE),
        (replace(tainted_node(), uid="another"), RollbackReason.NODE_REPLACED),
        (make_node("victim", unschedulable=True), RollbackReason.TAINT_REMOVED),
        (tainted_node(cordoned=False), RollbackReason.UNCORDONED),
        (tainted_node(value="5"), RollbackReason.TAINTED_BY_OTHERS),
    ],
    ids=lambda value: value.value if isinstance(value, RollbackReason) else "",
)
def test_what_a_person_or_another_tool_did_to_the_node_ends_the_removal(
    phase: ShrinkPhase, node: Node | None, reason: RollbackReason
) -> None:
    step = advance(shrinking(phase), shrink_world(node), POLICY, AFTER_TAINT)

    assert (step.operation.phase, step.operation.rollback) == (ShrinkPhase.ROLLING_BACK, reason)
    assert not step.ready


@pytest.mark.parametrize("phase", [ShrinkPhase.PLANNED, *UNDECIDED], ids=str)
def test_plan_that_no_longer_holds_ends_the_removal_before_the_point_of_no_return(phase: ShrinkPhase) -> None:  # I2
    node = make_node("victim") if phase is ShrinkPhase.PLANNED else tainted_node()
    refusal = Refusal(RollbackReason.NO_LONGER_UNNEEDED, "90% used")
    step = advance(shrinking(phase), shrink_world(node, refusal=refusal), POLICY, AFTER_TAINT)

    assert step.operation.rollback is RollbackReason.NO_LONGER_UNNEEDED
    assert not step.ready


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        (shrink_world(tainted_node(), managed=False), RollbackReason.GROUP_UNMANAGED),
        (shrink_world(tainted_node(), gone_pool=True), RollbackReason.POOL_GONE),
        (shrink_world(tainted_node(), seen=pool("a", state=PoolState.BLOCKED)), RollbackReason.POOL_BLOCKED),
    ],
    ids=["unmanaged", "gone", "blocked"],
)
def test_pool_that_is_not_ours_to_change_ends_the_removal(world: ShrinkWorld, reason: RollbackReason) -> None:
    assert advance(shrinking(ShrinkPhase.DRAINED), world, POLICY, NOW).operation.rollback is reason


def test_empty_node_with_a_pod_that_arrived_meanwhile_stays() -> None:  # R141
    empty = shrinking(ShrinkPhase.TAINTED, mode=ShrinkMode.EMPTY)
    world = shrink_world(tainted_node(), make_pod("late", node="victim"))
    step = advance(empty, world, POLICY, AFTER_TAINT)

    assert step.operation.rollback is RollbackReason.POD_ARRIVED
    assert step.operation.detail == "default/late"


def test_empty_node_with_daemonset_pods_only_is_drained_at_once() -> None:
    empty = shrinking(ShrinkPhase.TAINTED, mode=ShrinkMode.EMPTY)
    step = advance(empty, shrink_world(tainted_node(), make_daemonset_pod("agent", node="victim")), POLICY, AFTER_TAINT)

    assert (step.operation.phase, step.effects) == (ShrinkPhase.DRAINED, ())


def test_drain_asks_each_pod_to_leave_with_a_bounded_grace_period() -> None:  # R146
    patient = make_pod("patient", node="victim", grace_seconds=3600)
    quick = make_pod("quick", node="victim", grace_seconds=5)
    step = advance(shrinking(ShrinkPhase.TAINTED), shrink_world(tainted_node(), patient, quick), POLICY, AFTER_TAINT)

    assert step.operation.phase is ShrinkPhase.DRAINING
    assert step.effects == (
        EvictPod("default", "patient", patient.uid, 600),
        EvictPod("default", "quick", quick.uid, 5),
    )


def test_drain_asks_daemonset_pods_once_and_as_a_courtesy() -> None:  # R149
    agent, app = make_daemonset_pod("agent", node="victim"), make_pod("app", node="victim")
    world = shrink_world(tainted_node(), agent, app)
    first = advance(shrinking(ShrinkPhase.DRAINING), world, POLICY, NOW)
    again = advance(first.operation, world, POLICY, NOW + POLICY.pace.operation_poll_interval)

    assert [(e.name, e.best_effort) for e in first.effects if isinstance(e, EvictPod)] == [
        ("app", False),
        ("agent", True),
    ]
    assert [e.name for e in again.effects if isinstance(e, EvictPod)] == ["app"]


def test_pods_are_not_asked_again_before_the_next_round() -> None:  # R146
    operation = shrinking(ShrinkPhase.DRAINING, evictions_from=NOW, last_eviction_round=NOW)
    step = advance(operation, shrink_world(tainted_node(), make_pod(node="victim")), POLICY, NOW + timedelta(seconds=1))

    assert step.effects == ()
    assert step.operation.phase is ShrinkPhase.DRAINING


def test_pod_that_is_leaving_is_waited_for_and_not_asked_again() -> None:  # R147
    leaving = make_pod("leaving", node="victim", deleted_ago=-20)
    step = advance(shrinking(ShrinkPhase.DRAINING), shrink_world(tainted_node(), leaving), POLICY, NOW)

    assert (step.operation.phase, step.effects) == (ShrinkPhase.DRAINING, ())


def test_budget_that_says_no_for_too_long_ends_the_drain_and_names_the_pod() -> None:  # R146, R155
    started = NOW - POLICY.shrink.max_pod_eviction_time
    operation = shrinking(ShrinkPhase.DRAINING, evictions_from=started, last_eviction_round=started)
    step = advance(operation, shrink_world(tainted_node(), make_pod("stubborn", node="victim")), POLICY, NOW)

    assert step.operation.rollback is RollbackReason.EVICTION_REFUSED
    assert step.operation.detail == "default/stubborn"


def test_pod_that_does_not_end_keeps_its_node() -> None:  # R147
    shrink = POLICY.shrink
    started = NOW - shrink.max_pod_eviction_time - shrink.max_graceful_termination - timedelta(seconds=30)
    operation = shrinking(ShrinkPhase.DRAINING, evictions_from=started, last_eviction_round=started)
    endless = make_pod("endless", node="victim", deleted_ago=10)
    step = advance(operation, shrink_world(tainted_node(), endless), POLICY, NOW)

    assert step.operation.rollback is RollbackReason.PODS_DID_NOT_END


def test_pod_stuck_long_after_its_grace_period_no_longer_holds_the_node() -> None:  # R131-2
    stuck = make_pod("stuck", node="victim", deleted_ago=31)
    step = advance(shrinking(ShrinkPhase.DRAINING), shrink_world(tainted_node(), stuck), POLICY, NOW)

    assert step.operation.phase is ShrinkPhase.DRAINED


def test_drained_node_of_a_free_pool_is_ready_for_removal() -> None:
    assert advance(shrinking(ShrinkPhase.DRAINED), shrink_world(tainted_node()), POLICY, NOW).ready


def test_pod_that_lands_on_a_drained_node_keeps_it() -> None:  # I2
    world = shrink_world(tainted_node(), make_pod("late", node="victim"))
    step = advance(shrinking(ShrinkPhase.DRAINED), world, POLICY, NOW)

    assert step.operation.rollback is RollbackReason.POD_ARRIVED
    assert not step.ready


@pytest.mark.parametrize(
    "world",
    [
        shrink_world(tainted_node(), other_change=True),
        shrink_world(tainted_node(), seen=pool(instance_id("victim"), "b", state=PoolState.SCALING_UP)),
    ],
    ids=["other change", "busy"],
)
def test_drained_node_waits_while_its_pool_is_being_changed(world: ShrinkWorld) -> None:  # I3
    step = advance(shrinking(ShrinkPhase.DRAINED), world, POLICY, NOW)

    assert not step.ready
    assert step.operation.look_at == NOW + POLICY.pace.operation_poll_interval


def test_delay_deletion_annotation_holds_the_node_for_a_limited_time() -> None:  # R151
    annotated = replace(
        tainted_node(),
        annotations=make_node(
            annotations={"delay-deletion.cluster-autoscaler.kubernetes.io/backup": "true"}
        ).annotations,
    )
    limit = POLICY.shrink.node_deletion_delay_timeout

    assert not advance(shrinking(ShrinkPhase.DRAINED), shrink_world(annotated), POLICY, NOW).ready
    assert advance(shrinking(ShrinkPhase.DRAINED), shrink_world(annotated), POLICY, NOW + limit).ready


def test_rolling_back_takes_off_our_taint_and_our_cordon() -> None:
    operation = shrinking(ShrinkPhase.ROLLING_BACK)
    step = advance(operation, shrink_world(tainted_node()), POLICY, NOW)

    assert step.effects == (UntaintNode("victim", "uid-of-victim", TAINT_VALUE, uncordon=True),)


@pytest.mark.parametrize(
    "node",
    [None, make_node("victim"), replace(tainted_node(), uid="another"), tainted_node(value="5", cordoned=False)],
    ids=["gone", "clean", "replaced", "tainted by others"],
)
def test_nothing_of_ours_left_on_the_node_ends_the_rollback(node: Node | None) -> None:
    step = advance(shrinking(ShrinkPhase.ROLLING_BACK), shrink_world(node), POLICY, NOW)

    assert (step.operation.phase, step.effects) == (ShrinkPhase.ROLLED_BACK, ())


def test_rolling_back_needs_no_cloud() -> None:
    step = advance_without_cloud(shrinking(ShrinkPhase.ROLLING_BACK), tainted_node(), "HTTP 503", POLICY, NOW)

    assert step.effects == (UntaintNode("victim", "uid-of-victim", TAINT_VALUE, uncordon=True),)


@pytest.mark.parametrize("phase", [ShrinkPhase.PLANNED, *UNDECIDED, ShrinkPhase.EVICTING], ids=str)
def test_nothing_goes_forward_while_the_pool_cannot_be_read(phase: ShrinkPhase) -> None:  # I2
    step = advance_without_cloud(shrinking(phase), tainted_node(), "HTTP 503", POLICY, NOW)

    assert step == ShrinkStep(shrinking(phase))


@pytest.mark.parametrize("phase", UNDECIDED, ids=str)
def test_node_is_not_held_for_ever_by_a_cloud_that_does_not_answer(phase: ShrinkPhase) -> None:
    long_ago = NOW - timedelta(minutes=30)
    held = shrinking(phase, planned_at=long_ago, phase_since=long_ago)
    step = advance_without_cloud(held, tainted_node(), "HTTP 503", POLICY, NOW)

    assert (step.operation.phase, step.operation.rollback) == (ShrinkPhase.ROLLING_BACK, RollbackReason.CLOUD_FAILURE)
    assert step.operation.detail == "HTTP 503"


def test_removal_that_was_sent_is_not_undone_by_a_cloud_that_does_not_answer() -> None:  # I3
    long_ago = NOW - timedelta(hours=3)
    sent = shrinking(ShrinkPhase.EVICTING, planned_at=long_ago, phase_since=long_ago)

    assert advance_without_cloud(sent, tainted_node(), "HTTP 503", POLICY, NOW).operation == sent


def never_registered() -> ShrinkOperation:
    return replace(
        shrinking(ShrinkPhase.DRAINED, mode=ShrinkMode.NEVER_REGISTERED, node="victim"),
        node_name="",
        node_uid="",
        taint_value="",
        cordons=False,
    )


def test_instance_without_a_node_is_ready_for_removal() -> None:  # R42
    assert advance(never_registered(), shrink_world(None), POLICY, NOW).ready


def test_instance_that_became_a_node_after_all_stays() -> None:
    step = advance(never_registered(), shrink_world(make_node("victim")), POLICY, NOW)

    assert (step.operation.phase, step.operation.rollback) == (ShrinkPhase.ROLLED_BACK, RollbackReason.NODE_REGISTERED)
