from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.core.model import PoolState
from exoscaler.core.operations.effects import SetPoolSize
from exoscaler.core.operations.grow import accepted, advance, refused
from exoscaler.core.operations.model import CloudOperation, CloudOperationState, GrowPhase
from exoscaler.core.reasons import GrowFailure
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)
from tests.builders import NOW, ago, make_group
from tests.core.operations.builders import POLICY, change, grow_world, growth, pool

POLL = POLICY.pace.operation_poll_interval


def test_planned_growth_of_a_running_pool_asks_for_the_absolute_target() -> None:
    step = advance(growth(target=3), grow_world(pool("a")), POLICY, NOW)

    assert step.effects == (SetPoolSize("id-of-pool", 3),)
    assert step.operation.phase is GrowPhase.PLANNED


@pytest.mark.parametrize("size", [3, 4])
def test_pool_at_or_above_its_target_counts_as_submitted_and_nothing_is_sent(size: int) -> None:
    step = advance(growth(target=3), grow_world(pool("a", size=size)), POLICY, NOW)

    assert step.effects == ()
    assert step.operation.phase is GrowPhase.SUBMITTED


def test_pool_that_shrank_after_the_plan_grows_by_as_many_nodes_as_planned() -> None:
    step = advance(growth(base=("a", "b", "c"), target=5), grow_world(pool("a", "b")), POLICY, NOW)

    assert step.effects == (SetPoolSize("id-of-pool", 4),)
    assert (step.operation.base_size, step.operation.target_size) == (2, 4)  # saved before it is sent


@pytest.mark.parametrize(
    "state", [PoolState.SCALING_UP, PoolState.SCALING_DOWN, PoolState.BUSY, PoolState.UNKNOWN], ids=str
)
def test_pool_that_is_being_changed_is_waited_for(state: PoolState) -> None:
    step = advance(growth(), grow_world(pool("a", state=state)), POLICY, NOW)

    assert step.effects == ()
    assert (step.operation.phase, step.operation.look_at) == (GrowPhase.PLANNED, NOW + POLL)


def test_another_change_of_the_same_pool_is_waited_for() -> None:  # I3
    step = advance(growth(), grow_world(pool("a"), other_change=True), POLICY, NOW)

    assert step.effects == ()
    assert step.operation.phase is GrowPhase.PLANNED


@pytest.mark.parametrize("state", [PoolState.BLOCKED, PoolState.GOING], ids=str)
def test_pool_that_a_person_must_look_at_fails_the_growth(state: PoolState) -> None:
    step = advance(growth(), grow_world(pool("a", state=state)), POLICY, NOW)

    assert step.operation.failure is GrowFailure.POOL_BLOCKED
    assert step.effects == ()


def test_pool_that_stays_busy_beyond_the_limit_fails_the_growth() -> None:
    old = growth(planned_at=NOW - POLICY.pace.operation_timeout)
    step = advance(old, grow_world(pool("a", state=PoolState.BUSY)), POLICY, NOW)

    assert step.operation.failure is GrowFailure.POOL_BUSY_TOO_LONG


def test_plan_that_nobody_carried_out_in_time_is_dropped_without_blame() -> None:
    old = growth(planned_at=NOW - POLICY.pace.operation_timeout)
    step = advance(old, grow_world(pool("a")), POLICY, NOW)

    assert step.operation.failure is GrowFailure.SUPERSEDED
    assert step.effects == ()


@pytest.mark.parametrize("phase", [GrowPhase.PLANNED, GrowPhase.SUBMITTED, GrowPhase.PROVISIONING], ids=str)
def test_pool_that_is_gone_fails_the_growth_in_any_phase(phase: GrowPhase) -> None:
    assert advance(growth(phase), grow_world(None), POLICY, NOW).operation.failure is GrowFailure.POOL_GONE


def test_target_above_the_maximum_by_now_is_not_sent() -> None:  # I1
    lowered = grow_world(pool("a"), group=make_group("pool", max_size=2))
    step = advance(growth(target=3), lowered, POLICY, NOW)

    assert step.operation.failure is GrowFailure.SUPERSEDED
    assert step.effects == ()


def test_growth_of_a_group_that_is_no_longer_managed_is_not_sent() -> None:
    step = advance(growth(), grow_world(pool("a"), managed=False), POLICY, NOW)

    assert step.operation.failure is GrowFailure.SUPERSEDED


def test_accepted_size_is_followed_by_its_cloud_operation() -> None:
    operation = accepted(growth(), change(CloudOperationState.PENDING), NOW)

    assert (operation.phase, operation.cloud_operation_id) == (GrowPhase.SUBMITTED, "change-1")
    assert operation.submitted_at == NOW


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (QuotaExceeded("scale"), GrowFailure.QUOTA_EXCEEDED),
        (Denied("scale"), GrowFailure.DENIED),
        (Rejected("scale"), GrowFailure.REJECTED),
        (NotFound("scale"), GrowFailure.POOL_GONE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refusal_that_repeating_cannot_help_fails_the_growth(error: RemoteError, failure: GrowFailure) -> None:
    assert refused(growth(), error, POLICY, NOW).failure is failure


@pytest.mark.parametrize(
    "error",
    [Conflict("scale"), Unavailable("scale"), TimedOut("scale"), RateLimited("scale")],
    ids=lambda value: type(value).__name__,
)
def test_passing_trouble_leaves_the_growth_planned_for_a_later_look(error: RemoteError) -> None:  # I7
    operation = refused(growth(), error, POLICY, NOW)

    assert (operation.phase, operation.look_at) == (GrowPhase.PLANNED, NOW + POLL)
    assert operation.detail


def test_rate_limit_is_waited_out_as_long_as_the_cloud_wishes() -> None:
    pause = timedelta(seconds=77)
    assert refused(growth(), RateLimited("scale", retry_after=pause), POLICY, NOW).look_at == NOW + pause


def test_size_that_took_effect_although_the_answer_was_lost_is_recognised() -> None:  # I3
    lost = refused(growth(target=3), TimedOut("scale"), POLICY, NOW)
    step = advance(lost, grow_world(pool("a", "b", "c")), POLICY, NOW + POLL)

    assert step.effects == ()
    assert step.operation.phase is GrowPhase.SUBMITTED


def test_size_that_may_have_been_sent_keeps_others_off_the_pool_until_it_is_known() -> None:  # I3, I5
    """A removal in between would lower the size, and the growth would look as if it had never been sent."""
    intent = advance(growth(target=3), grow_world(pool("a")), POLICY, NOW).operation

    assert intent.changes_pool  # saved before it is sent, for the process may die right after
    assert refused(intent, TimedOut("scale"), POLICY, NOW).changes_pool


@pytest.mark.parametrize(
    "error",
    [Conflict("scale"), RateLimited("scale"), RateLimited("scale", retry_after=POLL)],
    ids=["conflict", "rate limited", "rate limited for a while"],
)
def test_size_that_certainly_was_not_sent_keeps_nobody_off_the_pool(error: RemoteError) -> None:
    intent = advance(growth(target=3), grow_world(pool("a")), POLICY, NOW).operation

    assert not refused(intent, error, POLICY, NOW).changes_pool


def test_growth_that_never_got_an_answer_names_the_network_and_not_the_pool() -> None:
    lost = refused(growth(planned_at=NOW - POLICY.pace.operation_timeout), Unavailable("scale"), POLICY, NOW)

    assert advance(lost, grow_world(pool("a")), POLICY, NOW).operation.failure is GrowFailure.CLOUD_UNREACHABLE


def test_pending_change_is_waited_for() -> None:
    submitted = growth(GrowPhase.SUBMITTED, submitted_at=NOW, cloud_operation_id="change-1")
    world = grow_world(pool("a", size=3), cloud_operation=change(CloudOperationState.PENDING))

    assert advance(submitted, world, POLICY, NOW).operation.phase is GrowPhase.SUBMITTED


@pytest.mark.parametrize("state", [CloudOperationState.SUCCESS, CloudOperationState.FORGOTTEN], ids=str)
def test_change_that_the_pool_shows_goes_on_to_provisioning(state: CloudOperationState) -> None:
    submitted = growth(GrowPhase.SUBMITTED, submitted_at=NOW, cloud_operation_id="change-1")
    world = grow_world(pool("a", size=3), cloud_operation=change(state))

    assert advance(submitted, world, POLICY, NOW).operation.phase is GrowPhase.PROVISIONING


@pytest.mark.parametrize(
    ("ended", "failure"),
    [
        (change(CloudOperationState.FAILURE, detail="no capacity"), GrowFailure.CLOUD_FAILURE),
        (change(CloudOperationState.TIMEOUT), GrowFailure.CLOUD_FAILURE),
        (change(CloudOperationState.FAILURE, quota=True), GrowFailure.QUOTA_EXCEEDED),
    ],
    ids=["failure", "timeout", "quota"],
)
def test_change_that_failed_in_the_cloud_fails_the_growth(ended: CloudOperation, failure: GrowFailure) -> None:
    submitted = growth(GrowPhase.SUBMITTED, submitted_at=NOW, cloud_operation_id="change-1")
    operation = advance(submitted, grow_world(pool("a"), cloud_operation=ended), POLICY, NOW).operation

    assert operation.failure is failure
    assert operation.detail


def test_change_that_failed_because_the_pool_was_busy_is_planned_again() -> None:
    submitted = growth(GrowPhase.SUBMITTED, submitted_at=NOW, cloud_operation_id="change-1")
    busy = change(CloudOperationState.FAILURE, busy=True)
    operation = advance(submitted, grow_world(pool("a"), cloud_operation=busy), POLICY, NOW).operation

    assert (operation.phase, operation.cloud_operation_id) == (GrowPhase.PLANNED, "")


def test_submitted_size_that_the_pool_never_shows_fails_after_the_limit() -> None:
    submitted = growth(GrowPhase.SUBMITTED, submitted_at=NOW - POLICY.pace.operation_timeout)
    operation = advance(submitted, grow_world(pool("a")), POLICY, NOW).operation

    assert operation.failure is GrowFailure.CLOUD_FAILURE
    assert "size 1, not 3" in operation.detail


def test_growth_is_done_when_every_new_member_is_a_ready_node() -> None:
    provisioning = growth(GrowPhase.PROVISIONING, submitted_at=NOW)
    world = grow_world(pool("a", "b", "c"), ready=("a", "b", "c"))

    assert advance(provisioning, world, POLICY, NOW).operation.phase is GrowPhase.DONE


@pytest.mark.parametrize(
    ("members", "ready"), [(("a", "b"), ("a", "b")), (("a", "b", "c"), ("a", "b"))], ids=["missing", "not ready"]
)
def test_growth_waits_for_members_that_are_missing_or_not_ready(
    members: tuple[str, ...], ready: tuple[str, ...]
) -> None:
    provisioning = growth(GrowPhase.PROVISIONING, submitted_at=NOW)
    step = advance(provisioning, grow_world(pool(*members, size=3), ready=ready), POLICY, NOW)

    assert step.operation.phase is GrowPhase.PROVISIONING


def test_old_member_that_is_not_ready_does_not_hold_a_growth_up() -> None:
    provisioning = growth(GrowPhase.PROVISIONING, base=("a",), submitted_at=NOW)

    step = advance(provisioning, grow_world(pool("a", "b", "c"), ready=("b", "c")), POLICY, NOW)

    assert step.operation.phase is GrowPhase.DONE


def test_pool_made_smaller_by_hand_meanwhile_owes_only_what_it_has() -> None:
    provisioning = growth(GrowPhase.PROVISIONING, submitted_at=NOW)

    step = advance(provisioning, grow_world(pool("a", "b"), ready=("a", "b")), POLICY, NOW)

    assert step.operation.phase is GrowPhase.DONE


def test_growth_that_takes_too_long_names_instances_without_a_node_for_removal() -> None:  # R42
    late = growth(GrowPhase.PROVISIONING, submitted_at=NOW - POLICY.growth.max_node_provision_time)
    world = grow_world(pool("a", "b", "c"), registered=("b",), ready=("a",))
    step = advance(late, world, POLICY, NOW)

    assert step.operation.phase is GrowPhase.TIMED_OUT
    assert step.operation.failure is GrowFailure.NEVER_READY
    assert step.never_registered == ("c",)  # b has a node, a was there before


def test_growth_just_inside_its_limit_still_waits() -> None:
    young = growth(GrowPhase.PROVISIONING, submitted_at=ago(POLICY.growth.max_node_provision_time.total_seconds() - 1))

    assert advance(young, grow_world(pool("a", size=3)), POLICY, NOW).operation.phase is GrowPhase.PROVISIONING
