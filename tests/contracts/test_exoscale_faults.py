"""The Exoscale adapter against a sandbox that refuses, hangs, breaks off and forgets to answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from exoscaler.core.model import GroupKind, TroubleKind
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    RemoteError,
    TimedOut,
    Unavailable,
)
from exoscaler.sandbox.exoscale import (
    DropFault,
    HangFault,
    LostResponseFault,
    MalformedFault,
    OperationId,
    StatusFault,
)
from tests.contracts.exoscale_stage import CHANGES, Stage, both_changes, both_kinds, cached, staged


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as each:
        yield each


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

        assert sorted(group.name for group in reading.groups) == ["general", "spread", "tainted"]
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
