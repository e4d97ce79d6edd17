"""What every state store keeps to: the one in a ConfigMap, and the one in memory that other tests rely on."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from exoscaler.core.reasons import Unremovable
from exoscaler.core.state import ObservationsDocument, Payload, State, StayingNode, decode, encode
from exoscaler.errors import StateConflict, StateTooLarge
from tests.contracts.harness import StoreHarness
from tests.core.state.states import big_state, simple_state


def counted(state: State) -> State:
    observations = state.observations
    return state.model_copy(
        update={"observations": observations.model_copy(update={"evaluations": observations.evaluations + 1})}
    )


def count(state: State) -> int:
    return state.observations.evaluations


def unreadable() -> Payload:
    return Payload(text={**encode(simple_state()).text, "operations.json": "{"})


def test_state_that_is_not_there_is_empty_and_reading_creates_nothing(place: StoreHarness) -> None:
    assert place.store().load().state == State()
    assert place.stored() is None


def test_what_is_committed_is_loaded(place: StoreHarness) -> None:
    store = place.store()
    first = store.commit(simple_state(1), store.load().version)
    assert store.load() == first
    second = store.commit(simple_state(2), first.version)
    assert second.version != first.version
    assert store.load() == second
    assert count(second.state) == 2


def test_large_state_is_committed_and_loaded(place: StoreHarness) -> None:
    store = place.store()
    state = big_state(nodes=1500)
    store.commit(state, store.load().version)
    assert store.load().state == state
    grown_small = store.commit(simple_state(), store.load().version)
    assert store.load() == grown_small


def test_commit_against_an_older_version_is_refused(place: StoreHarness) -> None:
    store = place.store()
    old = store.commit(simple_state(1), store.load().version)
    store.commit(simple_state(2), old.version)
    with pytest.raises(StateConflict):
        store.commit(simple_state(3), old.version)
    assert count(store.load().state) == 2


def test_of_two_first_writers_one_is_refused(place: StoreHarness) -> None:
    one, other = place.store(), place.store()
    seen_by_one, seen_by_other = one.load(), other.load()
    one.commit(simple_state(1), seen_by_one.version)
    with pytest.raises(StateConflict):
        other.commit(simple_state(2), seen_by_other.version)
    assert count(one.load().state) == 1


def test_update_changes_what_is_there(place: StoreHarness) -> None:
    store = place.store()
    assert count(store.update(counted).state) == 1
    assert count(store.update(counted).state) == 2
    assert count(store.load().state) == 2


def test_update_that_changes_nothing_writes_nothing(place: StoreHarness) -> None:
    store = place.store()
    assert store.update(lambda state: state).state == State()
    assert place.stored() is None
    before = store.update(counted)
    assert store.update(lambda state: state.model_copy()) == before


def test_update_begins_anew_when_others_write_meanwhile(place: StoreHarness) -> None:
    store, other = place.store(), place.store()
    store.update(counted)
    seen: list[int] = []

    def change(state: State) -> State:
        seen.append(count(state))
        if len(seen) < 3:
            other.update(counted)
        return counted(state)

    assert count(store.update(change).state) == 4
    assert seen == [1, 2, 3]


def test_update_gives_up_when_others_keep_writing(place: StoreHarness) -> None:
    store, other = place.store(), place.store()
    seen: list[int] = []

    def change(state: State) -> State:
        seen.append(count(state))
        other.update(counted)
        return simple_state(1000)

    with pytest.raises(StateConflict):
        store.update(change)
    assert len(seen) == 8
    assert count(store.load().state) == 8


def test_update_whose_change_fails_writes_nothing(place: StoreHarness) -> None:
    store = place.store()
    before = store.update(counted)

    def change(_: State) -> State:
        raise LookupError("no such operation")

    with pytest.raises(LookupError, match="no such operation"):
        store.update(change)
    assert store.load() == before


def test_state_removed_by_others_is_a_conflict_and_then_empty(place: StoreHarness) -> None:
    store = place.store()
    loaded = store.update(counted)
    place.remove()
    with pytest.raises(StateConflict):
        store.commit(counted(loaded.state), loaded.version)
    assert place.stored() is None
    assert store.load().state == State()
    assert count(store.update(counted).state) == 1


def test_unreadable_state_is_put_aside_before_it_is_replaced(place: StoreHarness) -> None:
    place.put(unreadable())
    store = place.store()
    loaded = store.load()
    assert loaded.state == State()
    assert place.quarantined() == [unreadable()]
    assert place.stored() == unreadable()
    store.commit(simple_state(), loaded.version)
    assert store.load().state == simple_state()
    assert place.quarantined() == [unreadable()]


def test_unreadable_state_is_put_aside_once_however_often_it_is_seen(place: StoreHarness) -> None:
    place.put(unreadable())
    for _ in range(3):
        place.store().load()
    assert len(place.quarantined()) == 1
    place.put(Payload(text={**unreadable().text, "observations.json": "["}))
    place.store().load()
    assert len(place.quarantined()) == 2


def test_state_that_does_not_fit_is_not_written(place: StoreHarness) -> None:
    store = place.store()
    before = store.update(counted)
    with pytest.raises(StateTooLarge, match=r"observations\.staying"):
        store.commit(endless_state(), before.version)
    with pytest.raises(StateTooLarge):
        store.update(lambda _: endless_state())
    assert store.load() == before


def endless_state() -> State:
    chance = random.Random(1)
    details = [chance.randbytes(1000).hex() for _ in range(1200)]
    staying = {
        f"uid-{number}": StayingNode(name="node", reason=Unremovable.BLOCKED_BY_POD, detail=detail)
        for number, detail in enumerate(details)
    }
    return State(observations=ObservationsDocument(staying=staying))


def test_eight_writers_at_once_lose_nothing(place: StoreHarness) -> None:
    # A writer fails an attempt only because another one succeeded, so eight attempts are enough for eight writers.
    writers, rounds = 8, 5
    together = Barrier(writers)

    def write() -> None:
        store = place.store()
        for _ in range(rounds):
            together.wait(timeout=30)
            store.update(counted)

    with ThreadPoolExecutor(writers) as pool:
        for done in [pool.submit(write) for _ in range(writers)]:
            done.result(timeout=60)
    stored = place.stored()
    assert stored is not None
    assert count(decode(stored)) == writers * rounds
