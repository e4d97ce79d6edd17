from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.membership import tie
from tests.builders import instance_id, make_group, make_node

_PREFIX = "exoscale://"


def test_a_node_belongs_to_the_pool_that_lists_its_instance() -> None:
    a, b = make_node("a"), make_node("b")
    membership = tie([b, a], [make_group("one", nodes=[a]), make_group("two", nodes=[b])], _PREFIX)

    assert membership.group_of("a") == "id-of-one"
    assert membership.group_of("b") == "id-of-two"
    assert membership.nodes_by_group == {"id-of-one": (a,), "id-of-two": (b,)}
    assert membership.unregistered == {"id-of-one": (), "id-of-two": ()}


def test_a_label_ties_no_node_to_a_pool_that_does_not_list_it() -> None:
    node = make_node("left", labels={"node.exoscale.net/nodepool-id": "nodepool-of-one"})
    membership = tie([node], [make_group("one", members=["another"])], _PREFIX)

    assert membership.group_of("left") is None
    assert membership.unregistered == {"id-of-one": ("another",)}


def test_a_member_without_a_node_is_unregistered() -> None:
    a = make_node("a")
    group = make_group("one", members=[instance_id("a"), "z-booting", "b-booting"])

    assert tie([a], [group], _PREFIX).unregistered == {group.id: ("b-booting", "z-booting")}


def test_two_nodes_that_claim_one_instance_both_stand_for_it() -> None:
    old, new = make_node("old"), replace(make_node("new"), provider_id=f"{_PREFIX}{instance_id('old')}")
    group = make_group("one", nodes=[old])
    membership = tie([old, new], [group], _PREFIX)

    assert membership.nodes_by_group[group.id] == (new, old)
    assert membership.unregistered[group.id] == ()


def test_a_node_of_another_provider_or_without_any_identity_belongs_nowhere() -> None:
    other = make_node("other", provider_id="aws:///i-1")
    nobody = replace(make_node("nobody", provider_id=""), system_uuid="")
    group = make_group("one", members=[instance_id("other")])
    membership = tie([other, nobody], [group], _PREFIX)

    assert membership.group_by_node == {}
    assert membership.unregistered[group.id] == (instance_id("other"),)


def test_a_young_node_without_provider_id_is_known_by_its_machine() -> None:
    young = make_node("young", provider_id="")
    group = make_group("one", nodes=[young])

    assert tie([young], [group], _PREFIX).group_of("young") == group.id


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12))
def test_every_member_is_a_node_or_unregistered_whatever_the_order(spec: list[tuple[int, bool]]) -> None:
    nodes = [make_node(f"n{i}") for i, (_, registered) in enumerate(spec) if registered]
    groups = [
        make_group(f"g{k}", members=[instance_id(f"n{i}") for i, (group, _) in enumerate(spec) if group == k])
        for k in range(4)
    ]
    membership = tie(nodes, groups, _PREFIX)

    assert tie(list(reversed(nodes)), list(reversed(groups)), _PREFIX) == membership
    for group in groups:
        registered = {node.instance_id(_PREFIX) for node in membership.nodes_by_group[group.id]}
        assert registered | set(membership.unregistered[group.id]) == set(group.pool.members)
        assert not registered & set(membership.unregistered[group.id])
