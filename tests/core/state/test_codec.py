from __future__ import annotations

import json
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from exoscaler.core.state import ObservationsDocument, Payload, State, UnneededNode, UnreadableState, decode, encode
from exoscaler.core.state.codec import SIZE_LIMIT, TEXT_LIMIT
from exoscaler.core.state.payload import EXPANDED_LIMIT, PACKED_KEYS, TEXT_KEYS
from exoscaler.errors import StateTooLarge
from tests.builders import NOW, make_group
from tests.core.state.states import big_state, simple_state, small_states


def stored(state: State) -> dict[str, Any]:
    """The documents as parsed JSON, by key."""
    return {key: json.loads(text) for key, text in encode(state).text.items()}


def payload_of(documents: dict[str, Any]) -> Payload:
    return Payload(text={key: json.dumps(document) for key, document in documents.items()})


@given(small_states)
@settings(max_examples=60, deadline=None)
def test_state_survives_being_stored(state: State) -> None:
    assert decode(encode(state)) == state
    assert decode(encode(state, text_limit=0)) == state


@given(small_states)
@settings(max_examples=30, deadline=None)
def test_storing_what_was_read_gives_the_same_bytes(state: State) -> None:
    for limit in (TEXT_LIMIT, 0):
        payload = encode(state, text_limit=limit)
        assert encode(decode(payload), text_limit=limit) == payload


def test_order_of_entries_does_not_show_in_the_bytes() -> None:
    nodes = {f"uid-{n}": UnneededNode(name=f"node-{n}", since=NOW) for n in range(20)}
    forwards = State(observations=ObservationsDocument(unneeded=nodes))
    backwards = State(observations=ObservationsDocument(unneeded=dict(reversed(nodes.items()))))
    assert forwards == backwards
    assert encode(forwards) == encode(backwards)


def test_small_state_is_text_that_people_can_read() -> None:
    payload = encode(simple_state())
    assert set(payload.text) == set(TEXT_KEYS)
    assert not payload.binary
    assert json.loads(payload.text["observations.json"])["evaluations"] == 1


def test_large_state_is_compressed_the_same_way_every_time() -> None:
    state = big_state(nodes=2000)
    payload = encode(state)
    assert set(payload.binary) == set(PACKED_KEYS)
    assert not payload.text
    assert encode(state) == payload
    assert decode(payload) == state


def test_state_of_five_thousand_nodes_fits_a_config_map() -> None:
    payload = encode(big_state(nodes=5000, groups=20, operations=10))
    assert payload.size < SIZE_LIMIT < 1024 * 1024
    assert payload.size > 100_000, "the state is too easy to compress to show anything"


def test_state_that_does_not_fit_is_refused_with_what_takes_the_room() -> None:
    with pytest.raises(StateTooLarge, match=r"observations\.staying \(1,000 entries, [\d,]+ bytes\)") as refusal:
        encode(big_state(nodes=2000), size_limit=50_000)
    assert "50,000 are allowed" in str(refusal.value)


def test_size_counts_keys_and_bytes_as_a_config_map_does() -> None:
    payload = Payload(text={"a.json": "ö"}, binary={"b.json.gz": b"123"})
    assert payload.size == (len("a.json") + 2) + (len("b.json.gz") + 3)


def test_nothing_stored_is_an_empty_state() -> None:
    assert decode(Payload()) == State()
    assert decode(Payload(text={"notes": "somebody else's"})) == State()


def test_half_a_surrogate_pair_does_not_keep_the_state_from_being_stored() -> None:
    waiting = {"uid": UnneededNode(name="node-\ud800", since=NOW)}
    state = decode(encode(State(observations=ObservationsDocument(unneeded=waiting))))
    assert state.observations.unneeded["uid"].name == "node-?"


def broken(**changes: object) -> Payload:
    """The stored form of a simple state with one document replaced; None takes it away."""
    text = dict(encode(simple_state()).text)
    for name, content in changes.items():
        key = name.replace("_", "-") + ".json"
        del text[key]
        if content is not None:
            text[key] = content if isinstance(content, str) else json.dumps(content)
    return Payload(text=text)


OPERATIONS: dict[str, object] = {
    "version": 1,
    "growing": [],
    "shrinking": [],
    "claims": [],
    "ended_growing": [],
    "ended_shrinking": [],
}


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (broken(operations="{"), "operations: document: Invalid JSON"),
        (broken(operations=""), "operations: document: Invalid JSON"),
        (broken(operations="[]"), "operations: document"),
        (broken(operations=None), "operations is missing while other documents are there"),
        (broken(operations={"growing": []}), "operations: version: Field required"),
        (broken(operations={**OPERATIONS, "version": 2}), "documents are of different versions: .*operations 2"),
        (broken(operations={**OPERATIONS, "version": "1"}), "operations: version: Input should be a valid integer"),
        (broken(operations={**OPERATIONS, "version": True}), "operations: version"),
        (broken(operations={**OPERATIONS, "new": 1}), "operations: new: Extra inputs are not permitted"),
        (broken(operations={**OPERATIONS, "growing": [{}]}), r"operations: growing\.0.*and \d+ more"),
        (broken(observations={"version": 1, "evaluations": "7"}), "observations: evaluations: .*valid integer"),
        (broken(observations={"version": 1, "counters": {"nonsense": 1}}), "observations: counters.nonsense"),
        (broken(observations={"version": 1, "unhealthy_since": "2026-12-01T12:00:00"}), "timezone"),
        (broken(observations={"version": 1, "unhealthy_since": 1764590400}), "observations: unhealthy_since"),
    ],
)
def test_state_that_is_not_what_it_should_be_is_unreadable(payload: Payload, reason: str) -> None:
    with pytest.raises(UnreadableState, match=reason):
        decode(payload)


def test_time_without_zone_inside_a_group_is_unreadable() -> None:
    group = make_group()
    documents = stored(
        State().model_copy(update={"node_groups": State().node_groups.model_copy(update={"groups": {group.id: group}})})
    )
    documents["node-groups.json"]["groups"][group.id]["read_at"] = "2026-12-01T12:00:00"
    with pytest.raises(UnreadableState, match="read_at of a NodeGroup has no time zone"):
        decode(payload_of(documents))


def test_document_stored_in_both_forms_is_unreadable() -> None:
    text = encode(simple_state())
    binary = encode(simple_state(), text_limit=0)
    with pytest.raises(UnreadableState, match="node-groups is there twice"):
        decode(replace(text, binary=binary.binary))


def test_message_of_an_unreadable_state_does_not_repeat_its_content() -> None:
    with pytest.raises(UnreadableState) as refusal:
        decode(broken(operations={**OPERATIONS, "growing": "a-secret-value"}))
    assert "a-secret-value" not in str(refusal.value)


def packed_with(content: bytes) -> Payload:
    return Payload(binary={**encode(simple_state(), text_limit=0).binary, "observations.json.gz": content})


def test_damaged_compression_is_unreadable() -> None:
    good = encode(simple_state(), text_limit=0).binary["observations.json.gz"]
    wrong_checksum = good[:-8] + bytes(4) + good[-4:]
    for content, reason in [
        (b"plain text", "observations.json.gz is damaged"),
        (good[:-10], "observations.json.gz is cut off"),
        (b"", "observations.json.gz is cut off"),
        (wrong_checksum, "observations.json.gz is damaged"),
        (good + b"more", "observations.json.gz is followed by something else"),
    ]:
        with pytest.raises(UnreadableState, match=reason):
            decode(packed_with(content))


def bomb_parts(size: int) -> Iterator[bytes]:
    chunk = 1024 * 1024
    compressor = zlib.compressobj(wbits=31)
    for _ in range(size // chunk):
        yield compressor.compress(bytes(chunk))
    yield compressor.flush()


def test_content_that_expands_without_end_is_refused_before_it_fills_memory() -> None:
    bomb = b"".join(bomb_parts(size=4 * EXPANDED_LIMIT))
    assert len(bomb) < SIZE_LIMIT
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableState, match="expands to more than"):
            decode(packed_with(bomb))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * EXPANDED_LIMIT
