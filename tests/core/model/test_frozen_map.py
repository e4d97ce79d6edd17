from __future__ import annotations

from pydantic import TypeAdapter

from exoscaler.core.model import FrozenMap


def test_equal_entries_make_equal_maps_and_hashes_in_any_order() -> None:
    one, other = FrozenMap({"a": "1", "b": "2"}), FrozenMap({"b": "2", "a": "1"})

    assert one == other
    assert hash(one) == hash(other)
    assert one == {"a": "1", "b": "2"}
    assert len({one, other}) == 1


def test_changed_maps_are_new_ones() -> None:
    one = FrozenMap({"a": "1"})

    assert one.with_entry("b", "2") == {"a": "1", "b": "2"}
    assert one.with_entry("a", "2") == {"a": "2"}
    assert one.without("a", "c") == {}
    assert one == {"a": "1"}


def test_the_dict_it_was_made_from_may_change_afterwards() -> None:
    source = {"a": 1}
    frozen = FrozenMap(source)
    source["a"] = 2

    assert frozen["a"] == 1


def test_in_a_document_it_is_a_plain_object() -> None:
    adapter = TypeAdapter(FrozenMap[int])
    frozen = FrozenMap({"a": 1})

    assert adapter.dump_json(frozen) == b'{"a":1}'
    assert adapter.validate_json(b'{"a":1}') == frozen
    assert adapter.validate_python(frozen) is frozen
