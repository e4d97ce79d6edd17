"""Trouble on demand: what strikes where, and what each kind does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from pydantic import ValidationError

from exoscaler.sandbox.exoscale import (
    DropFault,
    Fault,
    Faults,
    HangFault,
    LostResponseFault,
    MalformedFault,
    NeverBootsFault,
    NeverRegistersFault,
    OperationFailsFault,
    OperationId,
    OperationStaysPendingFault,
    OperationTimesOutFault,
    QuotaFault,
    QuotaSurface,
    StatusFault,
)
from exoscaler.sandbox.exoscale.errors import Busy, QuotaReached
from exoscaler.sandbox.exoscale.operations import OperationReason, OperationState
from exoscaler.sandbox.machines.view import MachineState
from tests.sandbox.exoscale.worlds import (
    NOBODY,
    QUICK,
    ManualClock,
    Served,
    World,
    eventually,
    nodepool_spec,
    pool_spec,
    scenario,
    served,
)

SCALE = OperationId.SCALE_SKS_NODEPOOL
POOL, OTHER_POOL = frozenset({"11111111-1111-4111-8111-111111111111"}), frozenset({NOBODY})


@pytest.fixture
def sandbox() -> Iterator[Served]:
    with served(scenario(nodepool_spec(size=2), nodepool_spec("other"), timing=QUICK)) as world:
        yield world


def struck(faults: Faults, *, operation: OperationId = SCALE, pool: frozenset[str] = POOL) -> bool:
    return faults.take((DropFault,), operation, pool) is not None


@pytest.mark.parametrize(
    ("fault", "pattern"),
    [
        (DropFault(), "xxxxxx"),
        (DropFault(count=2), "xx...."),
        (DropFault(skip=2), "..xxxx"),
        (DropFault(skip=1, count=2), ".xx..."),
        (DropFault(operation=SCALE, pool=next(iter(POOL)), count=1), "x....."),
        (DropFault(operation=OperationId.GET_QUOTA), "......"),
        (DropFault(pool=NOBODY), "......"),
        (StatusFault(status=500), "......"),
    ],
)
def test_fault_strikes_as_often_as_it_says(fault: Fault, pattern: str) -> None:
    faults = Faults(ManualClock())
    faults.add(fault)

    assert "".join("x" if struck(faults) else "." for _ in range(6)) == pattern


def test_fault_of_limited_duration_ends_with_simulated_time() -> None:
    clock = ManualClock()
    faults = Faults(clock)
    faults.add(DropFault(duration=60))

    assert struck(faults)
    clock.advance(59)
    assert struck(faults)
    clock.advance(1)
    assert not struck(faults)
    assert [(status.strikes, status.active) for status in faults.status()] == [(2, False)]


def test_matches_elsewhere_use_nothing_up() -> None:
    faults = Faults(ManualClock())
    faults.add(DropFault(pool=next(iter(POOL)), operation=SCALE, count=1))

    assert not struck(faults, pool=OTHER_POOL)
    assert not struck(faults, operation=OperationId.GET_QUOTA)
    assert struck(faults)


def test_fault_added_first_strikes_first_and_removed_ones_never() -> None:
    faults = Faults(ManualClock())
    first = faults.add(StatusFault(status=500))
    faults.add(StatusFault(status=503, count=1))

    def status() -> int | None:
        fault = faults.take((StatusFault,), SCALE, POOL)
        return None if fault is None else fault.status

    assert status() == 500
    assert faults.remove(first)
    assert not faults.remove(first)
    assert (status(), status()) == (503, None)
    faults.add(StatusFault(status=418))
    faults.clear()
    assert status() is None


def test_fault_that_could_never_strike_is_refused() -> None:
    with pytest.raises(ValidationError, match="cannot strike get-quota"):
        QuotaFault(operation=OperationId.GET_QUOTA)
    with pytest.raises(ValidationError, match="status"):
        StatusFault(status=200)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 429, 500, 502, 503, 504, 507])
def test_status_is_answered_without_an_effect(status: int, sandbox: Served) -> None:
    sandbox.sandbox.faults.add(StatusFault(status=status, operation=SCALE, count=1))
    path = f"{sandbox.nodepool_path()}:scale"

    refused = sandbox.call("PUT", path, json={"size": 5})

    assert refused.status_code == status
    assert refused.json()["message"]
    assert "retry-after" not in refused.headers
    assert sandbox.nodepool()["size"] == 2
    assert sandbox.call("PUT", path, json={"size": 5}).status_code == 200


def test_rate_limit_names_when_to_come_back_and_can_say_why(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(StatusFault(status=429, retry_after=7, message="slow down"))

    response = sandbox.call("GET", "/quota")

    assert (response.headers["retry-after"], response.json()) == ("7", {"message": "slow down"})


def test_fault_of_one_pool_spares_the_others(sandbox: Served) -> None:
    by_nodepool, by_pool = sandbox.nodepool()["id"], sandbox.nodepool("other")["instance-pool"]["id"]
    sandbox.sandbox.faults.add(StatusFault(status=503, pool=by_nodepool))
    assert sandbox.call("GET", f"/instance-pool/{by_pool}").status_code == 200
    assert sandbox.call("GET", sandbox.nodepool_path()).status_code == 503

    sandbox.sandbox.faults.clear()
    sandbox.sandbox.faults.add(StatusFault(status=503, pool=by_pool))
    assert sandbox.call("GET", sandbox.nodepool_path("other")).status_code == 503
    assert sandbox.call("GET", f"/instance-pool/{by_pool}").status_code == 503
    assert sandbox.call("GET", sandbox.nodepool_path()).status_code == 200


def test_hanging_request_takes_effect_even_though_the_client_has_gone(sandbox: Served) -> None:
    path = f"{sandbox.nodepool_path()}:scale"
    sandbox.sandbox.faults.add(HangFault(seconds=0.3, operation=SCALE, count=1))

    with pytest.raises(requests.Timeout):
        sandbox.call("PUT", path, json={"size": 5}, timeout=0.1)

    eventually(lambda: sandbox.nodepool()["size"] == 5)


def test_hanging_request_leaves_others_alone_and_is_answered_in_the_end(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(HangFault(seconds=1.5, operation=OperationId.LIST_QUOTAS))
    client = sandbox.http
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(lambda: client.get(f"{sandbox.url}/v2/quota", timeout=10))
        eventually(lambda: OperationId.LIST_QUOTAS in sandbox.sandbox.calls.counts())
        assert sandbox.call("GET", "/quota/instance").status_code == 200
        assert not slow.done()
        assert slow.result().status_code == 200


def test_dropped_connection_has_no_effect(sandbox: Served) -> None:
    path = f"{sandbox.nodepool_path()}:scale"
    sandbox.sandbox.faults.add(DropFault(operation=SCALE, count=1))

    with pytest.raises(requests.ConnectionError):
        sandbox.call("PUT", path, json={"size": 5})

    assert sandbox.nodepool()["size"] == 2
    assert sandbox.sandbox.calls.records()[-2].status is None


@pytest.mark.parametrize("status", [None, 500, 504])
def test_lost_response_has_taken_effect(status: int | None, sandbox: Served) -> None:
    path = f"{sandbox.nodepool_path()}:scale"
    sandbox.sandbox.faults.add(LostResponseFault(status=status, operation=SCALE, count=1))

    if status is None:
        with pytest.raises(requests.ConnectionError):
            sandbox.call("PUT", path, json={"size": 5})
    else:
        assert sandbox.call("PUT", path, json={"size": 5}).status_code == status

    assert (sandbox.nodepool()["size"], sandbox.nodepool()["state"]) == (5, "scaling")


def test_malformed_answer_has_taken_effect(sandbox: Served) -> None:
    path = f"{sandbox.nodepool_path()}:scale"
    sandbox.sandbox.faults.add(MalformedFault(operation=SCALE))

    response = sandbox.call("PUT", path, json={"size": 5})

    assert response.status_code == 200
    with pytest.raises(requests.exceptions.JSONDecodeError):
        response.json()
    assert sandbox.nodepool()["size"] == 5
    sandbox.sandbox.faults.add(MalformedFault(operation=OperationId.GET_QUOTA, body="<html>"))
    assert sandbox.call("GET", "/quota/instance").text == "<html>"


def test_signature_is_checked_before_any_fault(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(StatusFault(status=500, count=1))

    assert requests.get(f"{sandbox.url}/v2/quota", timeout=10).status_code == 403
    assert sandbox.call("GET", "/quota").status_code == 500


@pytest.mark.parametrize("surface", [None, *QuotaSurface])
def test_exhausted_quota_shows_in_the_ways_of_the_real_one(surface: QuotaSurface | None) -> None:
    world = World(scenario(nodepool_spec(size=2)), QuotaFault(surface=surface, count=1))

    if surface is QuotaSurface.REJECT:
        with pytest.raises(QuotaReached):
            world.scale(4)
        return
    operation = world.scale(4)
    world.pass_time()

    assert len(world.members()) == 2
    failed = surface in (None, QuotaSurface.FAIL_OPERATION, QuotaSurface.PARTIAL)
    assert world.operation(operation).state is (OperationState.FAILURE if failed else OperationState.SUCCESS)
    world.scale(5)
    world.pass_time()
    assert len(world.members()) == 5


@pytest.mark.parametrize("takes_effect", [True, False])
@pytest.mark.parametrize("change", ["grow", "evict"])
def test_failing_operation_takes_effect_only_when_told_so(change: str, takes_effect: bool) -> None:
    fault = OperationFailsFault(
        reason=OperationReason.FAULT, message="disk on fire", takes_effect=takes_effect, count=1
    )
    world = World(scenario(nodepool_spec(size=2)), fault)

    operation = world.scale(3) if change == "grow" else world.evict(world.members()[0].id)
    assert world.nodepool_state() == "scaling"
    world.pass_time()

    ended = world.operation(operation)
    assert (ended.state, ended.reason, ended.message) == (OperationState.FAILURE, OperationReason.FAULT, "disk on fire")
    expected = {"grow": 3, "evict": 1}[change] if takes_effect else 2
    assert (world.pool().size, len(world.members()), world.nodepool_state()) == (expected, expected, "running")


@pytest.mark.parametrize("takes_effect", [True, False])
def test_operation_that_times_out_may_have_taken_effect(takes_effect: bool) -> None:
    world = World(scenario(nodepool_spec(size=2)), OperationTimesOutFault(takes_effect=takes_effect))

    operation = world.scale(3)
    world.pass_time()

    ended = world.operation(operation)
    assert (ended.state, ended.reason) == (OperationState.TIMEOUT, OperationReason.UNKNOWN)
    assert len(world.members()) == (3 if takes_effect else 2)


@pytest.mark.parametrize("for_seconds", [300.0, None])
def test_operation_can_stay_pending_while_its_change_goes_on(for_seconds: float | None) -> None:
    world = World(scenario(nodepool_spec(size=2)), OperationStaysPendingFault(for_seconds=for_seconds))

    operation = world.scale(3)
    world.pass_time(200)

    assert world.operation(operation).state is OperationState.PENDING
    assert (len(world.members()), world.nodepool_state()) == (3, "running")
    world.pass_time(200)
    assert world.operation(operation).state is (OperationState.SUCCESS if for_seconds else OperationState.PENDING)


@pytest.mark.parametrize("for_seconds", [300.0, None])
def test_operation_that_stays_pending_can_hold_its_pool(for_seconds: float | None) -> None:
    fault = OperationStaysPendingFault(for_seconds=for_seconds, holds_pool=True, count=1)
    world = World(scenario(nodepool_spec(size=2)), fault)

    operation = world.scale(3)
    world.pass_time(299)
    assert (world.pool().size, len(world.members()), world.nodepool_state()) == (3, 2, "scaling")
    with pytest.raises(Busy):
        world.scale(4)
    world.pass_time()

    held = for_seconds is None
    assert len(world.members()) == (2 if held else 3)
    assert world.operation(operation).state is (OperationState.PENDING if held else OperationState.SUCCESS)


@pytest.mark.parametrize("state", [MachineState.STARTING, MachineState.ERROR])
def test_instance_that_never_boots_stays_or_fails(state: MachineState) -> None:
    world = World(scenario(nodepool_spec(size=1)), NeverBootsFault(state=state, count=1))

    world.scale(3)
    world.pass_time()

    assert world.states() == [MachineState.RUNNING, state, MachineState.RUNNING]
    world.evict(world.members()[1].id)
    world.pass_time()
    assert world.states() == [MachineState.RUNNING] * 2


def test_instance_that_never_registers_runs_all_the_same() -> None:
    world = World(scenario(nodepool_spec(size=1), nodepool_spec("other")))
    world.faults.add(NeverRegistersFault(pool=world.nodepool().id, skip=1))

    world.scale(4)
    world.scale(2, "other")
    world.pass_time()

    assert {member.state for member in world.members()} == {MachineState.RUNNING}
    assert [member.registers for member in world.members()] == [True, True, False, False]
    assert all(member.registers for member in world.members("other"))
    assert sum(not machine.registers for machine in world.cloud.machines()) == 2


def test_fault_bound_to_an_operation_spares_changes_by_hand() -> None:
    world = World(scenario(pools=(pool_spec(size=1),)))
    world.faults.add(NeverBootsFault(operation=OperationId.SCALE_INSTANCE_POOL))

    world.cloud.resize(world.pool("batch").id, 2)
    world.pass_time()
    world.cloud.scale_pool(world.pool("batch").id, 3)
    world.pass_time()

    assert world.states("batch") == [MachineState.RUNNING, MachineState.RUNNING, MachineState.STARTING]


def test_replacement_waits_while_the_quota_is_exhausted() -> None:
    world = World(scenario(nodepool_spec(size=2)))
    fault = world.faults.add(QuotaFault())
    world.cloud.destroy_instance(world.members()[0].id)
    world.pass_time()
    assert (len(world.members()), world.nodepool_state()) == (1, "degraded")

    world.faults.remove(fault)
    world.scale(2)
    world.pass_time()

    assert len(world.members()) == 2


def test_answers_after_a_fault_come_over_the_same_session(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(DropFault(operation=OperationId.LIST_QUOTAS, count=1))
    with pytest.raises(requests.ConnectionError):
        sandbox.call("GET", "/quota")

    assert sandbox.call("GET", "/quota").status_code == 200
