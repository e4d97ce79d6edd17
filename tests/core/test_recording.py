"""Writing the progress of operations into the state, and what follows from how they end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.operations.model import Claim, GrowPhase, ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import PacePolicy, Policy
from exoscaler.core.reasons import GrowFailure, RollbackReason
from exoscaler.core.recording import check_claim, with_counter, with_grow, with_never_registered, with_shrinks
from exoscaler.core.state import CounterName, ObservationsDocument, OperationsDocument, State, UnneededNode
from exoscaler.errors import ClaimLost
from tests.builders import NOW, ago, make_group, make_growth, make_node, make_removal

POLICY = Policy()
A, B = make_node("a"), make_node("b")
GROUP = make_group(nodes=[A, B])
GROWTH = make_growth(GROUP, to=4)
REMOVAL = make_removal(GROUP, A)


def state(*operations: ShrinkOperation, growing: bool = False, **observed: object) -> State:
    return State(
        operations=OperationsDocument(growing=(GROWTH,) if growing else (), shrinking=operations),
        observations=ObservationsDocument.model_validate(observed),
    )


def ending(phase: ShrinkPhase, reason: RollbackReason | None = None) -> ShrinkOperation:
    return replace(REMOVAL, phase=phase, rollback=reason)


# Claims


@pytest.mark.parametrize(
    ("claim", "may_act"),
    [
        (Claim(GROUP.id, "me", NOW + timedelta(seconds=1)), True),
        (Claim(GROUP.id, "me", NOW), False),
        (Claim(GROUP.id, "another", NOW + timedelta(seconds=1)), False),
        (Claim("another pool", "me", NOW + timedelta(seconds=1)), False),
    ],
)
def test_only_the_holder_of_a_live_claim_may_write(claim: Claim, may_act: bool) -> None:
    held = State(operations=OperationsDocument(claims=(claim,)))
    if may_act:
        check_claim(held, GROUP.id, "me", NOW)
        return
    with pytest.raises(ClaimLost, match="id-of-pool"):
        check_claim(held, GROUP.id, "me", NOW)


# Growths


def test_progress_of_a_growth_replaces_what_was_known_of_it() -> None:
    other = replace(GROWTH, id="other", group_id="other")
    before = State(operations=OperationsDocument(growing=(GROWTH, other)))
    submitted = replace(GROWTH, phase=GrowPhase.SUBMITTED)
    after = with_grow(before, submitted, POLICY, NOW)

    assert after.operations.growing == (submitted, other)
    assert after.observations == before.observations


def test_growth_that_was_lost_meanwhile_is_not_written_back() -> None:
    with pytest.raises(ClaimLost, match="earlier-grow-1"):
        with_grow(State(), GROWTH, POLICY, NOW)


def test_growth_that_succeeded_starts_the_cool_down_and_counts_its_nodes() -> None:  # R97
    after = with_grow(state(growing=True), replace(GROWTH, phase=GrowPhase.DONE), POLICY, NOW)

    assert after.observations.grown_at == {GROUP.id: NOW}
    assert after.observations.counters == {CounterName.NODES_ADDED: 2}
    assert after.operations.growing == ()
    assert [op.id for op in after.operations.ended_growing] == [GROWTH.id]


@pytest.mark.parametrize("phase", [GrowPhase.FAILED, GrowPhase.TIMED_OUT])
def test_growth_that_failed_backs_the_group_off(phase: GrowPhase) -> None:  # R45
    failed = replace(GROWTH, phase=phase, failure=GrowFailure.NEVER_READY, detail="2 instances")
    seen = with_grow(state(growing=True), failed, POLICY, NOW).observations

    backoff = seen.backoffs[GROUP.id]
    assert (backoff.failure, backoff.detail) == (GrowFailure.NEVER_READY, "2 instances")
    assert backoff.until == NOW + POLICY.growth.initial_backoff
    assert seen.grown_at == {}
    assert seen.counters == {CounterName.GROWTHS_FAILED: 1}


def test_growth_whose_plan_no_longer_holds_is_nobodys_fault() -> None:
    dropped = replace(GROWTH, phase=GrowPhase.FAILED, failure=GrowFailure.SUPERSEDED)
    seen = with_grow(state(growing=True), dropped, POLICY, NOW).observations
    assert seen.backoffs == {}


# Removals


def test_progress_of_removals_replaces_what_was_known_of_them() -> None:
    other = make_removal(GROUP, B)
    drained = replace(REMOVAL, phase=ShrinkPhase.DRAINED)
    after = with_shrinks(state(REMOVAL, other), [drained], POLICY, NOW)
    assert after.operations.shrinking == (drained, other)


def test_removal_that_was_lost_meanwhile_is_not_written_back() -> None:
    with pytest.raises(ClaimLost, match="earlier-shrink-a"):
        with_shrinks(State(), [REMOVAL], POLICY, NOW)


@pytest.mark.parametrize(
    ("mode", "counter"),
    [
        (ShrinkMode.EMPTY, CounterName.NODES_REMOVED_EMPTY),
        (ShrinkMode.DRAIN, CounterName.NODES_REMOVED_DRAINED),
        (ShrinkMode.NEVER_REGISTERED, CounterName.INSTANCES_REMOVED_UNREGISTERED),
    ],
)
def test_removed_node_is_counted_by_how_it_went(mode: ShrinkMode, counter: CounterName) -> None:  # R154
    removal = replace(REMOVAL, mode=mode)
    seen = with_shrinks(state(removal), [replace(removal, phase=ShrinkPhase.REMOVED)], POLICY, NOW).observations
    assert seen.counters == {counter: 1}
    assert seen.shrunk_at == {GROUP.id: NOW}
    assert seen.shrink_failed_at == {}


def test_node_that_stays_starts_its_time_anew() -> None:  # R155, K8
    times = {uid: UnneededNode(name=uid, since=ago(900)) for uid in (A.uid, B.uid)}
    rolled_back = ending(ShrinkPhase.ROLLED_BACK, RollbackReason.POD_ARRIVED)
    seen = with_shrinks(state(REMOVAL, unneeded=times), [rolled_back], POLICY, NOW).observations

    assert seen.unneeded.keys() == {B.uid}
    assert seen.counters == {CounterName.REMOVALS_ROLLED_BACK: 1}
    assert seen.shrunk_at == {}


@pytest.mark.parametrize(
    "reason",
    [
        RollbackReason.DENIED,
        RollbackReason.REJECTED,
        RollbackReason.CLOUD_FAILURE,
        RollbackReason.CLUSTER_REFUSED,
        RollbackReason.POOL_BUSY_TOO_LONG,
        RollbackReason.EVICTION_REFUSED,
        RollbackReason.PODS_DID_NOT_END,
    ],
)
def test_failure_that_would_repeat_itself_cools_the_group_down(reason: RollbackReason) -> None:  # R107
    after = with_shrinks(state(REMOVAL), [ending(ShrinkPhase.ROLLED_BACK, reason)], POLICY, NOW)
    assert after.observations.shrink_failed_at == {GROUP.id: NOW}


@pytest.mark.parametrize(
    "reason",
    [
        RollbackReason.NO_LONGER_UNNEEDED,
        RollbackReason.POD_ARRIVED,
        RollbackReason.PODS_PENDING,
        RollbackReason.POD_VIEW_INCOMPLETE,
        RollbackReason.GROUP_MIN_SIZE_REACHED,
        RollbackReason.SCALE_DOWN_DISABLED,
        RollbackReason.TAINT_REMOVED,
        RollbackReason.STATE_LOST,
    ],
)
def test_plan_that_no_longer_held_is_no_failure(reason: RollbackReason) -> None:
    after = with_shrinks(state(REMOVAL), [ending(ShrinkPhase.ROLLED_BACK, reason)], POLICY, NOW)
    assert after.observations.shrink_failed_at == {}


def test_undoing_is_not_ended_before_it_is_undone() -> None:
    undoing = ending(ShrinkPhase.ROLLING_BACK, RollbackReason.EVICTION_REFUSED)
    after = with_shrinks(state(REMOVAL), [undoing], POLICY, NOW)
    assert after.operations.shrinking == (undoing,)
    assert after.observations == state(REMOVAL).observations


@pytest.mark.parametrize(("kept", "expected"), [(0, []), (1, ["b"]), (2, ["a", "b"]), (9, ["x", "a", "b"])])
def test_only_the_last_ended_operations_are_kept(kept: int, expected: list[str]) -> None:
    policy = replace(POLICY, pace=PacePolicy(ended_operations_kept=kept))
    old = make_removal(GROUP, make_node("x"), phase=ShrinkPhase.REMOVED)
    removals = [make_removal(GROUP, node) for node in (A, B)]
    before = State(operations=OperationsDocument(shrinking=tuple(removals), ended_shrinking=(old,)))
    ended = [replace(op, phase=ShrinkPhase.REMOVED) for op in removals]

    after = with_shrinks(before, ended, policy, NOW)
    assert [op.node_name for op in after.operations.ended_shrinking] == expected
    assert after.operations.shrinking == ()


def test_no_ended_growth_is_kept_when_none_is_to_be() -> None:
    policy = replace(POLICY, pace=PacePolicy(ended_operations_kept=0))
    after = with_grow(state(growing=True), replace(GROWTH, phase=GrowPhase.DONE), policy, NOW)
    assert after.operations.ended_growing == ()


# Instances that never became nodes


def test_each_instance_that_never_registered_gets_a_removal_of_its_own() -> None:  # R42
    group = make_group(members=["instance-1", "instance-2", "instance-3"])
    after = with_never_registered(State(), make_growth(group, to=3), ["instance-2", "instance-1"], group, NOW)

    removals = after.operations.shrinking
    assert [op.instance_id for op in removals] == ["instance-1", "instance-2"]
    assert len({op.id for op in removals}) == 2
    assert {(op.mode, op.phase) for op in removals} == {(ShrinkMode.NEVER_REGISTERED, ShrinkPhase.DRAINED)}


def test_minimum_holds_for_instances_that_never_registered_too() -> None:  # R42, I1
    group = make_group(members=["x", "y", "z"], min_size=2)
    after = with_never_registered(State(), make_growth(group, to=3), ["x", "y", "z"], group, NOW)
    assert [op.instance_id for op in after.operations.shrinking] == ["x"]


def test_removals_in_flight_count_against_the_minimum() -> None:
    group = make_group(members=["instance-of-a", "x", "y"], min_size=2)
    before = State(operations=OperationsDocument(shrinking=(make_removal(group, A),)))
    after = with_never_registered(before, make_growth(group, to=3), ["x"], group, NOW)
    assert after.operations.shrinking == before.operations.shrinking


def test_instance_that_is_being_removed_gets_no_second_removal() -> None:
    group = make_group(members=["x", "y", "z"])
    once = with_never_registered(State(), make_growth(group, to=3), ["x"], group, NOW)
    assert with_never_registered(once, make_growth(group, to=3), ["x"], group, NOW) == once


def test_counters_add_up() -> None:
    once = with_counter(State(), CounterName.PODS_EVICTED, 2)
    assert with_counter(once, CounterName.PODS_EVICTED).observations.counters == {CounterName.PODS_EVICTED: 3}
