"""The Exoscale adapter against the sandbox: what was written from the same description, apart from each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exoscaler.core.model import GroupKind, NodeGroup, PoolState, Quota, TroubleKind
from exoscaler.core.operations.model import CloudOperationState
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    QuotaExceeded,
    Rejected,
)
from exoscaler.sandbox.exoscale import (
    OperationFailsFault,
    OperationId,
    QuotaFault,
    QuotaSurface,
)
from exoscaler.sandbox.exoscale.operations import OperationReason
from tests.contracts.exoscale_stage import ACCOUNT, CHANGES, Stage, both_kinds, cached, staged
from tests.sandbox.exoscale.worlds import NOBODY, nodepool_spec, pool_spec, scenario


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as each:
        yield each


def test_groups_are_found_with_all_that_is_known_of_them(stage: Stage) -> None:
    reading = stage.read()

    by_name = {group.name: group for group in reading.groups}
    assert sorted(by_name) == ["batch", "general", "spread", "tainted"]
    assert by_name["batch"].kind is GroupKind.INSTANCE_POOL
    general, tainted = by_name["general"], by_name["tainted"]
    assert (general.kind, general.cluster_name, general.min_available) == (GroupKind.SKS_NODEPOOL, "demo", 1)
    assert (general.pool.size, len(general.pool.members), general.pool.state) == (2, 2, PoolState.RUNNING)
    # "a/b" is a label of the nodepool that no node can have.
    assert dict(general.description.labels) == {"tier": "web", stage.cloud.nodepool_label: general.nodepool_id}
    assert (tainted.pool.size, tainted.pool.members, tainted.description.max_pods) == (0, (), 60)
    assert [(taint.key, taint.value) for taint in tainted.description.taints] == [("dedicated", "gpu")]
    assert by_name["spread"].anti_affinity_limit == 8
    assert general.description.instance_type_id
    assert reading.quota == Quota(20, 5)
    assert len(reading.unmanaged) == 1
    assert reading.troubles == ()


def test_steady_reading_takes_two_calls_and_one_for_each_pool(stage: Stage) -> None:
    first = stage.read()
    stage.sandbox.calls.reset()

    stage.read(*map(cached, first.groups), unmanaged=first.unmanaged)

    assert stage.counts() == {
        OperationId.LIST_SKS_CLUSTERS: 1,
        OperationId.GET_QUOTA: 1,
        OperationId.GET_INSTANCE_POOL: 4,
    }


@both_kinds
def test_pool_grows_step_by_step(stage: Stage, name: str) -> None:
    group = stage.group(name)

    operation = stage.cloud.set_size(group, 4)

    assert operation.state is CloudOperationState.PENDING
    during = stage.cloud.read_pool(group)
    assert (during.size, during.state) == (4, PoolState.SCALING_UP)
    assert not during.state.accepts_changes
    assert stage.ended(operation).state is CloudOperationState.SUCCESS
    after = stage.cloud.read_pool(group)
    assert (after.size, len(after.members), after.state) == (4, 4, PoolState.RUNNING)
    assert set(group.pool.members) < set(after.members)


@both_kinds
def test_chosen_instances_leave_and_the_size_sinks(stage: Stage, name: str) -> None:
    group = stage.group(name)
    stage.ended(stage.cloud.set_size(group, 4))
    before = stage.cloud.read_pool(group)
    chosen = before.members[1:3]

    operation = stage.cloud.remove_instances(group, chosen)

    assert stage.cloud.read_pool(group).state is PoolState.SCALING_DOWN
    stage.clock.advance(2)
    assert stage.cloud.instance_is_leaving(chosen[0])
    assert not stage.cloud.instance_is_leaving(before.members[0])
    assert stage.ended(operation).state is CloudOperationState.SUCCESS
    after = stage.cloud.read_pool(group)
    assert (after.size, set(after.members)) == (2, set(before.members) - set(chosen))
    assert stage.cloud.instance_is_leaving(chosen[0])


def test_pool_goes_to_zero_and_back(stage: Stage) -> None:
    group = stage.group("general")

    stage.ended(stage.cloud.remove_instances(group, group.pool.members))
    empty = stage.read(group)
    stage.ended(stage.cloud.set_size(group, 1))

    general = next(each for each in empty.groups if each.name == "general")
    assert (general.pool.size, general.pool.members) == (0, ())
    assert len(stage.cloud.read_pool(group).members) == 1


def test_second_change_of_a_busy_pool_is_a_conflict(stage: Stage) -> None:
    group = stage.group("general")
    stage.cloud.set_size(group, 3)

    for change in CHANGES.values():
        with pytest.raises(Conflict):
            change(stage, group)


def test_instance_that_is_no_member_makes_the_removal_invalid(stage: Stage) -> None:
    group = stage.group("general")

    with pytest.raises(Rejected, match=NOBODY):
        stage.cloud.remove_instances(group, [*group.pool.members[:1], NOBODY])

    assert stage.cloud.read_pool(group).members == group.pool.members


def test_pool_and_operation_that_do_not_exist(stage: Stage) -> None:
    group = stage.group("batch")
    ghost = NodeGroup(NOBODY, group.kind, "ghost", group.pool, 1, 1, group.read_at)

    with pytest.raises(NotFound):
        stage.cloud.read_pool(ghost)
    with pytest.raises(NotFound):
        stage.cloud.set_size(ghost, 2)
    assert stage.cloud.read_operation(NOBODY).state is CloudOperationState.FORGOTTEN
    assert stage.read(ghost).gone == (NOBODY,)


def test_key_for_standalone_pools_finds_them_alone() -> None:
    allowed = [
        OperationId.EVICT_INSTANCE_POOL_MEMBERS,
        OperationId.GET_INSTANCE,
        OperationId.GET_INSTANCE_POOL,
        OperationId.GET_OPERATION,
        OperationId.GET_QUOTA,
        OperationId.SCALE_INSTANCE_POOL,
    ]
    with staged(scenario(pools=(pool_spec("batch", 2),)), allowed=allowed) as stage:
        reading = stage.read()
        [group] = map(cached, reading.groups)

        assert [trouble.kind for trouble in reading.troubles] == [TroubleKind.CLUSTERS_DENIED]
        assert stage.ended(stage.cloud.set_size(group, 3)).state is CloudOperationState.SUCCESS


def test_operation_missing_in_the_role_is_named() -> None:
    allowed = [each for each in OperationId if each is not OperationId.EVICT_SKS_NODEPOOL_MEMBERS]
    with staged(allowed=allowed) as stage:
        group = stage.group("general")

        with pytest.raises(Denied, match="must allow evict-sks-nodepool-members"):
            stage.cloud.remove_instances(group, group.pool.members[:1])


def test_wrong_secret_is_refused_as_a_whole() -> None:
    with staged(secret="another") as stage, pytest.raises(Denied, match="signature does not match"):
        stage.read()


SURFACES: dict[QuotaSurface, tuple[bool, int]] = {
    # How it shows, and the size afterwards.
    QuotaSurface.FAIL_OPERATION: (True, 2),
    QuotaSurface.PARTIAL: (True, 4),
    QuotaSurface.STUCK: (False, 4),
}


@pytest.mark.parametrize("surface", SURFACES)
def test_want_of_quota_shows_in_the_operation_or_only_in_the_members(surface: QuotaSurface) -> None:
    with staged(ACCOUNT.model_copy(update={"quota_surface": surface})) as stage:
        group = stage.group("general")
        stage.sandbox.faults.add(QuotaFault(operation=OperationId.SCALE_SKS_NODEPOOL))

        operation = stage.ended(stage.cloud.set_size(group, 4))

        says_so, size = SURFACES[surface]
        assert operation.quota is says_so
        assert operation.state is (CloudOperationState.FAILURE if says_so else CloudOperationState.SUCCESS)
        pool = stage.cloud.read_pool(group)
        assert (pool.size, len(pool.members)) == (size, 2)


def test_want_of_quota_may_be_answered_at_once() -> None:
    with staged(ACCOUNT.model_copy(update={"quota_surface": QuotaSurface.REJECT})) as stage:
        group = stage.group("general")

        with pytest.raises(QuotaExceeded, match="room for 15 of 98"):
            stage.cloud.set_size(group, 100)

        assert stage.cloud.read_pool(group) == group.pool


@pytest.mark.parametrize(("reason", "busy"), [("busy", True), ("conflict", True), ("fault", False)])
def test_operation_that_fails_says_whether_the_pool_was_only_busy(stage: Stage, reason: str, busy: bool) -> None:
    group = stage.group("general")
    stage.sandbox.faults.add(OperationFailsFault(reason=OperationReason(reason), message="not now"))

    operation = stage.ended(stage.cloud.set_size(group, 4))

    assert (operation.state, operation.busy, operation.quota) == (CloudOperationState.FAILURE, busy, False)
    assert operation.detail == f"{reason}: not now"
    assert stage.cloud.read_pool(group).size == 2


def test_unlimited_quota_leaves_endless_headroom() -> None:
    with staged(scenario(nodepool_spec("general", 1), quotas={"instance": -1})) as stage:
        quota = stage.read().quota

        assert quota == Quota(-1, 1)
        assert quota.headroom is None
