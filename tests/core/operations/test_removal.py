from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.model import Pool, PoolState
from exoscaler.core.operations.effects import DeleteNode, RemoveInstances
from exoscaler.core.operations.model import CloudOperationState, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.removal import NODE_OBJECT_POLLS, begin_removal, removal_accepted, removal_refused
from exoscaler.core.operations.shrink import advance
from exoscaler.core.reasons import RollbackReason
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
from tests.builders import NOW, instance_id, make_group
from tests.core.operations.builders import POLICY, change, pool, shrink_world, shrinking, tainted_node

POLL = POLICY.pace.operation_poll_interval
WITHOUT_VICTIM = pool("b", "c")
WITH_VICTIM = pool(instance_id("victim"), "b", "c")


def drained(*nodes: str) -> tuple[ShrinkOperation, ...]:
    return tuple(shrinking(ShrinkPhase.DRAINED, node=node) for node in nodes)


def members(*nodes: str) -> Pool:
    return pool(*(instance_id(node) for node in nodes))


def test_drained_nodes_of_one_pool_go_in_one_call() -> None:
    decided, call = begin_removal(drained("n2", "n1"), make_group(), members("n1", "n2", "n3"), POLICY, NOW)

    assert call == RemoveInstances("id-of-pool", (instance_id("n1"), instance_id("n2")))
    assert {op.phase for op in decided} == {ShrinkPhase.EVICTING}
    assert {op.size_before for op in decided} == {3}


def test_pool_never_falls_below_its_minimum() -> None:  # I1
    group = make_group(min_size=2)
    decided, call = begin_removal(drained("n1", "n2"), group, members("n1", "n2", "n3"), POLICY, NOW)

    assert call == RemoveInstances("id-of-pool", (instance_id("n1"),))
    assert [op.rollback for op in decided] == [None, RollbackReason.GROUP_MIN_SIZE_REACHED]


def test_last_node_stays_unless_scale_to_zero_is_on() -> None:
    lonely = make_group(min_size=0)

    assert begin_removal(drained("n1"), lonely, members("n1"), POLICY, NOW)[1] is None
    to_zero = replace(POLICY, scale_to_zero=True)
    assert begin_removal(drained("n1"), lonely, members("n1"), to_zero, NOW)[1] is not None


def test_member_that_left_the_pool_by_itself_needs_no_call() -> None:
    decided, call = begin_removal(drained("n1"), make_group(), members("n2", "n3"), POLICY, NOW)

    assert call is None
    assert decided[0].phase is ShrinkPhase.EVICTING


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Denied("evict"), RollbackReason.DENIED),
        (Rejected("evict"), RollbackReason.REJECTED),
        (QuotaExceeded("evict"), RollbackReason.REJECTED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, RemoteError) else "",
)
def test_refusal_for_good_undoes_the_removal(error: RemoteError, reason: RollbackReason) -> None:
    operation = removal_refused(shrinking(ShrinkPhase.EVICTING), error, POLICY, NOW)

    assert (operation.phase, operation.rollback) == (ShrinkPhase.ROLLING_BACK, reason)


@pytest.mark.parametrize("error", [Conflict("evict"), NotFound("evict"), RateLimited("evict")], ids=str)
def test_refusal_for_now_is_tried_again_after_another_look(error: RemoteError) -> None:
    operation = removal_refused(shrinking(ShrinkPhase.EVICTING), error, POLICY, NOW)

    assert (operation.phase, operation.look_at) == (ShrinkPhase.DRAINED, NOW + POLL)


@pytest.mark.parametrize("error", [TimedOut("evict"), Unavailable("evict")], ids=str)
def test_lost_answer_is_not_taken_for_a_refusal(error: RemoteError) -> None:
    assert removal_refused(shrinking(ShrinkPhase.EVICTING), error, POLICY, NOW).phase is ShrinkPhase.EVICTING


def test_request_that_certainly_never_left_is_tried_again() -> None:
    refused_connection = Unavailable("evict")
    refused_connection.took_effect = False
    operation = removal_refused(shrinking(ShrinkPhase.EVICTING), refused_connection, POLICY, NOW)

    assert operation.phase is ShrinkPhase.DRAINED


def evicting(*, sent: timedelta = timedelta(0), followed: bool = False) -> ShrinkOperation:
    operation = shrinking(ShrinkPhase.EVICTING, evict_sent_at=NOW - sent, size_before=3)
    return removal_accepted(operation, change(CloudOperationState.PENDING), POLICY, NOW) if followed else operation


@pytest.mark.parametrize("state", [CloudOperationState.PENDING, CloudOperationState.SUCCESS], ids=str)
def test_accepted_removal_is_never_sent_again_while_its_member_is_listed(state: CloudOperationState) -> None:
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, cloud_operation=change(state))
    step = advance(evicting(sent=timedelta(hours=1), followed=True), world, POLICY, NOW)

    assert (step.operation.phase, step.effects, step.ready) == (ShrinkPhase.EVICTING, (), False)


@pytest.mark.parametrize(
    "seen",
    [
        pool(instance_id("victim"), "b", "c", state=PoolState.SCALING_DOWN),
        pool(instance_id("victim"), "b", "c", size=2),
    ],
    ids=["scaling down", "size lowered"],
)
def test_removal_without_an_answer_that_the_pool_shows_is_not_sent_again(seen: Pool) -> None:
    world = shrink_world(tainted_node(), seen=seen, leaving=False)

    assert advance(evicting(sent=POLL * 2), world, POLICY, NOW).operation.phase is ShrinkPhase.EVICTING


def test_removal_without_an_answer_whose_instance_is_leaving_is_not_sent_again() -> None:
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, leaving=True)

    assert advance(evicting(sent=timedelta(hours=1)), world, POLICY, NOW).operation.phase is ShrinkPhase.EVICTING


def test_removal_without_an_answer_is_given_time_to_show() -> None:
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, leaving=False)

    assert advance(evicting(), world, POLICY, NOW).operation.phase is ShrinkPhase.EVICTING


def test_removal_that_nothing_shows_was_not_done_and_is_looked_at_again() -> None:
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, leaving=False)

    assert advance(evicting(sent=POLL), world, POLICY, NOW).operation.phase is ShrinkPhase.DRAINED


def test_removal_that_failed_in_the_cloud_is_undone() -> None:
    failed = change(CloudOperationState.FAILURE, detail="fault")
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, cloud_operation=failed, leaving=False)
    operation = advance(evicting(followed=True), world, POLICY, NOW).operation

    assert (operation.phase, operation.rollback) == (ShrinkPhase.ROLLING_BACK, RollbackReason.CLOUD_FAILURE)


def test_removal_that_failed_because_the_pool_was_busy_is_tried_again() -> None:
    busy = change(CloudOperationState.FAILURE, busy=True)
    world = shrink_world(tainted_node(), seen=WITH_VICTIM, cloud_operation=busy, leaving=False)

    assert advance(evicting(followed=True), world, POLICY, NOW).operation.phase is ShrinkPhase.DRAINED


def test_no_refusal_counts_after_the_point_of_no_return() -> None:
    uncordoned_by_a_person = tainted_node(cordoned=False)
    world = shrink_world(uncordoned_by_a_person, seen=WITH_VICTIM, cloud_operation=change(CloudOperationState.PENDING))

    assert advance(evicting(followed=True), world, POLICY, NOW).operation.phase is ShrinkPhase.EVICTING


def test_removal_is_done_when_neither_pool_nor_cluster_knows_the_node() -> None:
    world = shrink_world(None, seen=WITHOUT_VICTIM)

    assert advance(evicting(followed=True), world, POLICY, NOW).operation.phase is ShrinkPhase.REMOVED


def test_node_object_that_outlives_its_instance_is_deleted_in_the_end() -> None:
    world = shrink_world(tainted_node(), seen=WITHOUT_VICTIM, leaving=True)
    early = advance(evicting(followed=True), world, POLICY, NOW)
    late = advance(evicting(sent=NODE_OBJECT_POLLS * POLL, followed=True), world, POLICY, NOW)

    assert early.effects == ()
    assert late.effects == (DeleteNode("victim", "uid-of-victim"),)


def test_node_object_of_an_instance_that_still_lives_is_never_deleted() -> None:
    world = shrink_world(tainted_node(), seen=WITHOUT_VICTIM, leaving=False)

    assert advance(evicting(sent=timedelta(hours=1), followed=True), world, POLICY, NOW).effects == ()


@pytest.mark.parametrize(
    ("managed", "reason"),
    [(False, RollbackReason.GROUP_UNMANAGED), (True, RollbackReason.POOL_GONE)],
    ids=["unmanaged", "gone"],
)
def test_node_of_a_group_that_went_out_of_sight_is_given_back_when_its_instance_lives_on(
    managed: bool, reason: RollbackReason
) -> None:
    """Whether the removal was ever carried out, nobody can say but the instance."""
    world = shrink_world(tainted_node(), gone_pool=True, managed=managed, leaving=False)
    early = advance(evicting(sent=POLL), world, POLICY, NOW).operation
    late = advance(evicting(sent=POLICY.pace.operation_timeout), world, POLICY, NOW).operation

    assert early.phase is ShrinkPhase.EVICTING
    assert (late.phase, late.rollback) == (ShrinkPhase.ROLLING_BACK, reason)
