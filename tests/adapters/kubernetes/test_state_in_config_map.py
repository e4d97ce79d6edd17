"""The ConfigMap behind the state; what a state store comes to is in its contract."""

from __future__ import annotations

import base64
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.kubernetes import ConfigMapStateStore
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.core.state import State, UnreadableState, decode, encode
from exoscaler.core.state.payload import PACKED_KEYS, TEXT_KEYS
from exoscaler.errors import Conflict, Denied, NotFound, Rejected, StateConflict, StateError, TimedOut, Unavailable
from exoscaler.sandbox.kubernetes import FaultKind, FaultRule
from tests.adapters.kubernetes.manifests import JsonObject
from tests.adapters.kubernetes.stub import Reply, Stub, failure, success
from tests.adapters.kubernetes.worlds import NAMESPACE, World
from tests.core.state.states import big_state, simple_state

NAME = "exoscaler-state"


@pytest.fixture
def store(world: World) -> ConfigMapStateStore:
    return world.connection.state_store(NAMESPACE)


def raw(world: World, name: str = NAME) -> JsonObject:
    return world.api.get("v1", "configmaps", name, namespace=NAMESPACE)


def patch(world: World, **changes: Any) -> None:
    world.api.patch("v1", "configmaps", NAME, changes, namespace=NAMESPACE)


def counted(state: State) -> State:
    return simple_state(state.observations.evaluations + 1)


def writes(world: World) -> list[str]:
    return [operation for operation in world.operations() if operation.split()[0] not in ("get", "list")]


class TestConfigMap:
    def test_first_write_creates_it_with_the_mark_of_its_owner(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        found = raw(world)
        assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "exoscaler"}
        assert set(found["data"]) == set(TEXT_KEYS)

    def test_name_and_namespace_are_those_asked_for(self, world: World) -> None:
        world.connection.state_store("default", "another").update(counted)
        assert world.api.get("v1", "configmaps", "another", namespace="default")["data"]

    def test_config_map_that_was_made_beforehand_is_filled(self, world: World, store: ConfigMapStateStore) -> None:
        body = {"metadata": {"name": NAME, "labels": {"helm": "yes"}, "annotations": {"note": "mine"}}}
        world.api.create("v1", "configmaps", body, namespace=NAMESPACE)
        assert store.load().state == State()
        store.update(counted)
        assert store.load().state == simple_state(1)
        metadata = raw(world)["metadata"]
        assert metadata["labels"] == {"helm": "yes", "app.kubernetes.io/managed-by": "exoscaler"}
        assert metadata["annotations"] == {"note": "mine"}

    def test_what_others_keep_in_it_stays(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        blob = base64.b64encode(b"\x00\xff").decode()
        patch(world, data={"notes": "theirs"}, binaryData={"blob": blob}, metadata={"annotations": {"note": "mine"}})
        store.update(counted)
        loaded = store.load()
        store.commit(big_state(nodes=1500), loaded.version)
        found = raw(world)
        assert found["data"] == {"notes": "theirs"}
        assert found["binaryData"]["blob"] == blob
        assert found["metadata"]["annotations"] == {"note": "mine"}

    def test_state_is_there_in_one_form_only(self, world: World, store: ConfigMapStateStore) -> None:
        large = store.commit(big_state(nodes=1500), store.load().version)
        found = raw(world)
        assert set(found.get("data") or {}) == set()
        assert set(found["binaryData"]) == set(PACKED_KEYS)
        store.commit(simple_state(), large.version)
        found = raw(world)
        assert set(found["data"]) == set(TEXT_KEYS)
        assert set(found.get("binaryData") or {}) == set()

    def test_one_call_reads_and_one_writes(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        world.sandbox.calls.clear()
        store.update(counted)
        assert world.operations() == ["get configmaps", "patch configmaps"]


class TestCompareAndSwap:
    def test_write_is_bound_to_the_version_that_was_loaded(self, access: Access, stub: Stub) -> None:
        stub.answers(failure(409))
        with pytest.raises(StateConflict):
            ConfigMapStateStore(access, NAMESPACE, NAME).commit(simple_state(), "41")
        (request,) = stub.requests
        assert (request.method, request.path) == ("PATCH", f"/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}")
        assert request.body["metadata"]["resourceVersion"] == "41"

    def test_many_writers_at_once_lose_nothing(self, world: World) -> None:
        connection = world.connect(SystemClock())

        def write() -> int:
            done = 0
            for _ in range(6):
                with suppress(StateConflict):
                    connection.state_store(NAMESPACE).update(counted)
                    done += 1
            return done

        with ThreadPoolExecutor(8) as pool:
            done = sum(future.result(timeout=60) for future in [pool.submit(write) for _ in range(8)])
        assert connection.state_store(NAMESPACE).load().state.observations.evaluations == done
        assert done >= 8

    def test_losers_of_a_race_wait_before_they_try_again(self, world: World, store: ConfigMapStateStore) -> None:
        other = world.connection.state_store(NAMESPACE)
        calls: list[int] = []

        def change(state: State) -> State:
            calls.append(1)
            if len(calls) <= 3:
                other.update(counted)
            return counted(state)

        store.update(change)
        assert len(world.clock.pauses) == 3
        assert all(timedelta(0) < pause <= timedelta(seconds=2) for pause in world.clock.pauses)


class TestLostAnswers:
    """A write whose answer is lost may have arrived. It must not count as somebody else's, and not be lost."""

    @pytest.mark.parametrize("kind", [FaultKind.DROP, FaultKind.HANG])
    @pytest.mark.parametrize("first", [True, False])
    def test_lost_answer_to_a_write_is_made_good(self, world: World, kind: FaultKind, first: bool) -> None:
        store = world.connect(timeout=timedelta(seconds=0.3)).state_store(NAMESPACE)
        if not first:
            store.update(counted)
        loaded = store.load()
        world.fault(FaultRule(kind=kind, verb="create" if first else "patch", resource="configmaps"))
        written = store.commit(simple_state(41), loaded.version)
        assert store.load() == written
        assert written.state == simple_state(41)

    def test_others_write_after_a_lost_answer_is_a_conflict(
        self, world: World, store: ConfigMapStateStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded = store.update(counted)
        world.fault(FaultRule(kind=FaultKind.DROP, verb="patch", resource="configmaps"))
        other = world.connect().state_store(NAMESPACE)
        original = world.clock.pause

        def others_write(duration: timedelta) -> None:
            original(duration)
            other.update(counted)

        monkeypatch.setattr(world.clock, "pause", others_write)
        with pytest.raises(StateConflict):
            store.commit(simple_state(41), loaded.version)
        assert store.load().state == simple_state(42), "ours had arrived, and theirs was made from it"

    def test_answer_that_never_comes_is_raised(self, world: World) -> None:
        store = world.connect(timeout=timedelta(seconds=0.2)).state_store(NAMESPACE)
        world.fault(FaultRule(kind=FaultKind.HANG, verb="create", resource="configmaps", times=0))
        with pytest.raises(TimedOut) as lost:
            store.update(counted)
        assert lost.value.took_effect
        assert writes(world) == ["create configmaps"] * 3

    def test_refusal_without_a_lost_answer_is_never_taken_for_our_own_write(
        self, world: World, store: ConfigMapStateStore
    ) -> None:
        loaded = store.load()
        world.connect().state_store(NAMESPACE).commit(simple_state(5), loaded.version)
        with pytest.raises(StateConflict):
            store.commit(simple_state(5), loaded.version)


class TestFailures:
    @pytest.mark.parametrize(
        ("verb", "status", "error"),
        [("get", 403, Denied), ("create", 403, Denied), ("create", 422, Rejected), ("get", 401, Denied)],
    )
    def test_failure_that_will_not_pass_is_raised_at_once(
        self, world: World, store: ConfigMapStateStore, verb: str, status: int, error: type[Exception]
    ) -> None:
        world.fault(FaultRule(verb=verb, resource="configmaps", status=status, times=0))
        with pytest.raises(error):
            store.update(counted)
        assert world.clock.pauses == []

    def test_passing_failures_are_bridged(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        world.fault(FaultRule(verb="get", resource="configmaps", status=503, times=2))
        world.fault(FaultRule(verb="patch", resource="configmaps", status=429, retry_after=1, times=2))
        assert store.update(counted).state == simple_state(2)

    def test_lasting_failure_is_raised(self, world: World, store: ConfigMapStateStore) -> None:
        world.fault(FaultRule(verb="get", resource="configmaps", status=503, times=0))
        with pytest.raises(Unavailable):
            store.load()

    def test_namespace_that_does_not_exist_is_not_a_conflict(self, world: World) -> None:
        with pytest.raises(NotFound, match="create configmaps gone/exoscaler-state"):
            world.connection.state_store("gone").update(counted)

    def test_namespace_that_is_going_is_no_conflict_of_states(self, access: Access, stub: Stub) -> None:
        stub.answers(failure(404), failure(403, "being terminated", causes=("NamespaceTerminating",)))
        with pytest.raises(Conflict, match="being terminated"):
            ConfigMapStateStore(access, "going", NAME).update(counted)
        assert len(stub.requests) == 2

    @pytest.mark.parametrize("body", ["", "[]", "{}", '{"metadata": {"uid": "u", "resourceVersion": "1"}, "data": 5}'])
    def test_answer_that_is_no_config_map_is_not_an_unreadable_state(
        self, access: Access, stub: Stub, body: str
    ) -> None:
        stub.answers(Reply(200, body))
        with pytest.raises(Unavailable, match="not understood"):
            ConfigMapStateStore(access, NAMESPACE, NAME).load()
        assert {request.method for request in stub.requests} == {"GET"}


def quarantined(world: World) -> list[JsonObject]:
    found = world.api.list("v1", "configmaps", namespace=NAMESPACE)
    return [item for item in found if "-quarantine-" in item["metadata"]["name"]]


class TestUnreadableState:
    @pytest.fixture(autouse=True)
    def damaged(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        patch(world, data={"operations.json": '{"version": 99}'})
        world.sandbox.calls.clear()

    def test_copy_says_what_it_is_and_why(self, world: World, store: ConfigMapStateStore) -> None:
        damaged = raw(world)
        store.load()
        (copy,) = quarantined(world)
        assert copy["data"] == damaged["data"]
        annotations = copy["metadata"]["annotations"]
        assert "different versions" in annotations["exoscaler.dev/unreadable-because"]
        assert annotations["exoscaler.dev/copied-from"] == f"{NAME}@{damaged['metadata']['resourceVersion']}"
        assert copy["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "exoscaler"}
        assert raw(world) == damaged, "until the next commit the state itself is as it was"

    def test_compressed_state_is_kept_as_it_is(self, world: World, store: ConfigMapStateStore) -> None:
        blob = base64.b64encode(b"\x1f\x8b damaged").decode()
        patch(world, data={"operations.json": None}, binaryData={"operations.json.gz": blob})
        store.load()
        (copy,) = quarantined(world)
        assert copy["binaryData"] == {"operations.json.gz": blob}

    def test_event_and_log_tell_of_it(
        self, world: World, store: ConfigMapStateStore, logged: list[logging.LogRecord]
    ) -> None:
        store.load()
        store.load()
        (event,) = world.events(NAMESPACE)
        (copy,) = quarantined(world)
        assert (event["type"], event["reason"], event["count"]) == ("Warning", "StateUnreadable", 2)
        assert event["involvedObject"]["name"] == NAME
        assert event["involvedObject"]["uid"] == raw(world)["metadata"]["uid"]
        assert copy["metadata"]["name"] in event["message"]
        assert [record.levelname for record in logged] == ["ERROR", "ERROR"]

    def test_state_that_cannot_be_put_aside_is_not_given_up(self, world: World, store: ConfigMapStateStore) -> None:
        damaged = raw(world)
        world.fault(FaultRule(verb="create", resource="configmaps", status=403, times=0))
        with pytest.raises(Denied, match='verb "create" on resource "configmaps"'):
            store.load()
        with pytest.raises(Denied):
            store.update(counted)
        assert raw(world) == damaged

    def test_missing_right_to_write_events_does_not_stop_exoscaler(
        self, world: World, store: ConfigMapStateStore, logged: list[logging.LogRecord]
    ) -> None:
        world.fault(FaultRule(verb="create", resource="events", status=403, times=0))
        assert store.load().state == State()
        assert len(quarantined(world)) == 1
        assert any("could not be written" in record.message for record in logged)

    def test_copy_is_the_only_one_when_many_find_it_at_once(self, world: World) -> None:
        connection = world.connect(SystemClock())
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(connection.state_store(NAMESPACE).load) for _ in range(4)]:
                assert done.result(timeout=30).state == State()
        assert len(quarantined(world)) == 1

    def test_next_write_replaces_it(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        assert store.load().state == simple_state(1)
        assert len(quarantined(world)) == 1

    def test_long_reason_and_odd_characters_do_not_get_in_the_way(
        self, world: World, store: ConfigMapStateStore
    ) -> None:
        keys = ", ".join(f'"{"k" * 3000}-{number}": 1' for number in range(9))
        patch(world, data={"operations.json": f'{{"version": 1, "\\n\\u0000é": 1, {keys}}}'})
        assert store.load().state == State()
        assert len(quarantined(world)) == 1


class TestReadingOnly:
    def test_unreadable_state_is_raised_and_nothing_written(self, world: World, store: ConfigMapStateStore) -> None:
        store.update(counted)
        patch(world, data={"operations.json": "{"})
        world.sandbox.calls.clear()
        reader = world.connection.state_store(NAMESPACE, read_only=True)
        with pytest.raises(UnreadableState, match="operations"):
            reader.load()
        assert writes(world) == []

    def test_state_is_read_and_never_written(self, world: World, store: ConfigMapStateStore) -> None:
        reader = world.connection.state_store(NAMESPACE, read_only=True)
        assert reader.load().state == State()
        store.update(counted)
        loaded = reader.load()
        assert loaded.state == simple_state(1)
        with pytest.raises(StateError, match="only read here"):
            reader.commit(simple_state(2), loaded.version)
        with pytest.raises(StateError, match="only read here"):
            reader.update(counted)
        assert store.load() == loaded


def test_state_written_by_another_client_is_read(world: World) -> None:
    payload = encode(simple_state(3), text_limit=0)
    binary = {key: base64.b64encode(value).decode() for key, value in payload.binary.items()}
    world.api.create("v1", "configmaps", {"metadata": {"name": NAME}, "binaryData": binary}, namespace=NAMESPACE)
    assert world.connection.state_store(NAMESPACE).load().state == decode(payload) == simple_state(3)


def test_answers_of_success_are_understood_with_the_fewest_fields(access: Access, stub: Stub) -> None:
    stub.answers(success({"metadata": {"uid": "u", "resourceVersion": "5"}}))
    assert ConfigMapStateStore(access, NAMESPACE, NAME).load().version == "5"
