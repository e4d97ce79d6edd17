"""The Exoscale adapter against the sandbox's API over real HTTP: what was written from the same description apart.

Simulated time stands still until a test moves it on, so that every state in between can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.exoscale import ExoscaleCloud, provider
from exoscaler.core.model import CloudReading, GroupKind, GroupReading, NodeGroup, PoolState, Quota, TroubleKind
from exoscaler.core.operations.model import CloudOperation, CloudOperationState
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
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from exoscaler.ports.provider import CloudConnection
from exoscaler.sandbox.exoscale import (
    DropFault,
    ExoscaleSandbox,
    HangFault,
    InstanceSpec,
    LostResponseFault,
    MalformedFault,
    OperationFailsFault,
    OperationId,
    QuotaFault,
    QuotaSurface,
    Scenario,
    StatusFault,
    Taint,
)
from exoscaler.sandbox.exoscale.operations import OperationReason
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import KEY, LONG, NOBODY, SECRET, ManualClock, nodepool_spec, pool_spec, scenario


class QuickClock(SystemClock):
    """Pauses between attempts are not waited for."""

    def pause(self, duration: timedelta) -> None:
        assert duration >= timedelta(0)


@dataclass
class Stage:
    """A sandbox, the adapter on it, and the hands of time."""

    sandbox: ExoscaleSandbox
    clock: ManualClock
    cloud: ExoscaleCloud

    def nodes(self) -> list[NodeIdentity]:
        """What the cluster would say of the machines that are there."""
        return [NodeIdentity(m.name, m.id, m.nodepool_id) for m in self.sandbox.cloud.machines()]

    def read(self, *known: NodeGroup, unmanaged: Sequence[str] = ()) -> CloudReading:
        return self.cloud.read_groups(self.nodes(), KnownCloud(known, tuple(unmanaged)))

    def group(self, name: str) -> NodeGroup:
        """The group as the cache would know it. Looks at the model, so that faults do not strike it."""
        with self.sandbox.cloud.at_present() as account:
            faults = list(self.sandbox.faults.status())
            assert account.pools
        assert not faults, "groups are read before faults are set"
        return cached(next(group for group in self.read().groups if group.name == name))

    def pass_time(self) -> None:
        self.clock.advance(LONG)

    def ended(self, operation: CloudOperation) -> CloudOperation:
        self.pass_time()
        return self.cloud.read_operation(operation.id)

    def counts(self) -> dict[OperationId, int]:
        return self.sandbox.calls.counts()


def cached(reading: GroupReading) -> NodeGroup:
    return NodeGroup(
        id=reading.id,
        kind=reading.kind,
        name=reading.name,
        pool=reading.pool,
        min_size=1,
        max_size=10,
        read_at=datetime(2026, 12, 1, tzinfo=UTC),
        nodepool_id=reading.nodepool_id,
        cluster_id=reading.cluster_id,
    )


ACCOUNT = scenario(
    nodepool_spec("general", 2, labels={"tier": "web", "owner": "a/b"}, min_available=1),
    nodepool_spec("tainted", 0, taints={"dedicated": Taint(value="gpu", effect="NoExecute")}, kubelet_max_pods=60),
    nodepool_spec("spread", 1, anti_affinity_groups=("apart",)),
    pools=(pool_spec("batch", 1),),
    instances=(InstanceSpec(name="bastion", instance_type="standard.small"),),
    quotas={"instance": 20},
)


@contextmanager
def staged(
    account: Scenario = ACCOUNT,
    *,
    secret: str = SECRET,
    allowed: Sequence[OperationId] | None = None,
    **connection: Any,
) -> Iterator[Stage]:
    clock = ManualClock()
    sandbox = ExoscaleSandbox(clock, key=KEY, secret=SECRET, scenario=account, allowed_operations=allowed)
    with HttpServer(sandbox.app) as server:
        link = CloudConnection(f"{server.url}/v2", SecretStr(KEY), SecretStr(secret), **connection)
        cloud = provider(link, QuickClock(), lambda _: None)
        try:
            yield Stage(sandbox, clock, cloud)
        finally:
            cloud.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as each:
        yield each


CHANGES: dict[str, Callable[[Stage, NodeGroup], CloudOperation]] = {
    "grow": lambda stage, group: stage.cloud.set_size(group, group.pool.size + 2),
    "evict": lambda stage, group: stage.cloud.remove_instances(group, group.pool.members[:1]),
}
both_kinds = pytest.mark.parametrize("name", ["general", "batch"])
both_changes = pytest.mark.parametrize("change", CHANGES)


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


@both_changes
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (409, Conflict),
        (429, RateLimited),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
def test_refused_change_is_sent_once_and_changes_nothing(
    stage: Stage, change: str, status: int, expected: type[RemoteError]
) -> None:
    group = stage.group("general")
    stage.sandbox.faults.add(StatusFault(status=status, retry_after=7, pool=group.nodepool_id))
    stage.sandbox.calls.reset()

    with pytest.raises(expected) as caught:
        CHANGES[change](stage, group)

    assert sum(stage.counts().values()) == 1
    assert not isinstance(caught.value, RateLimited) or caught.value.retry_after == timedelta(seconds=7)
    stage.sandbox.faults.clear()
    assert stage.cloud.read_pool(group) == group.pool


@both_changes
@both_kinds
def test_change_whose_answer_is_lost_may_have_happened_and_is_not_sent_again(
    stage: Stage, name: str, change: str
) -> None:
    group = stage.group(name)
    stage.sandbox.faults.add(LostResponseFault(pool=group.id, count=1))
    stage.sandbox.calls.reset()

    with pytest.raises(Unavailable) as caught:
        CHANGES[change](stage, group)

    assert caught.value.took_effect
    assert sum(stage.counts().values()) == 1
    assert stage.cloud.read_pool(group).size == group.pool.size + (2 if change == "grow" else -1)


@both_changes
@pytest.mark.parametrize(
    "fault", [DropFault(), MalformedFault(), LostResponseFault(status=502)], ids=["drop", "malformed", "bad gateway"]
)
def test_change_without_a_sound_answer_may_have_happened(
    stage: Stage, change: str, fault: DropFault | MalformedFault | LostResponseFault
) -> None:
    group = stage.group("general")
    stage.sandbox.faults.add(fault)

    with pytest.raises(Unavailable) as caught:
        CHANGES[change](stage, group)

    assert caught.value.took_effect


def test_change_that_hangs_times_out_and_takes_effect_later() -> None:
    with staged(request_timeout=timedelta(seconds=0.3)) as stage:
        group = stage.group("general")
        stage.sandbox.faults.add(HangFault(seconds=0.6, operation=OperationId.SCALE_SKS_NODEPOOL, count=1))

        with pytest.raises(TimedOut) as caught:
            stage.cloud.set_size(group, 3)

        assert caught.value.took_effect
        deadline = datetime.now(UTC) + timedelta(seconds=20)
        while stage.cloud.read_pool(group).size != 3:
            assert datetime.now(UTC) < deadline, "the change that hung did not take effect"


@pytest.mark.parametrize(
    "fault",
    [
        StatusFault(status=500, count=2),
        StatusFault(status=429, retry_after=1, count=2),
        DropFault(count=2),
    ],
    ids=["500", "429", "drop"],
)
def test_look_survives_trouble_that_passes(stage: Stage, fault: StatusFault | DropFault) -> None:
    group = stage.group("batch")
    stage.sandbox.faults.add(fault)

    assert stage.cloud.read_pool(group) == group.pool


def test_hanging_pool_hides_no_other() -> None:
    with staged(request_timeout=timedelta(seconds=0.3), max_attempts=1) as stage:
        first = stage.read()
        batch = next(group for group in first.groups if group.name == "batch")
        stage.sandbox.faults.add(HangFault(seconds=1.5, operation=OperationId.GET_INSTANCE_POOL, pool=batch.id))

        reading = stage.read(*map(cached, first.groups), unmanaged=first.unmanaged)

        assert [group.name for group in reading.groups if group.id != batch.id] == [g.name for g in reading.groups]
        assert len(reading.groups) == 3
        assert reading.unread == (batch.id,)
        assert [(t.kind, t.subject) for t in reading.troubles] == [(TroubleKind.GROUP_UNREADABLE, batch.id)]


@pytest.mark.parametrize("status", [403, 500])
def test_list_that_cannot_be_read_keeps_what_was_known(stage: Stage, status: int) -> None:
    first = stage.read()
    stage.sandbox.faults.add(StatusFault(status=status, operation=OperationId.LIST_SKS_CLUSTERS))

    reading = stage.read(*map(cached, first.groups), unmanaged=first.unmanaged)

    assert [group.name for group in reading.groups] == ["batch"]
    assert set(reading.unread) == {group.id for group in first.groups if group.kind is GroupKind.SKS_NODEPOOL}
    assert reading.gone == ()


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
