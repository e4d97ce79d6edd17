"""Bringing the node-group cache up to date with a reading of the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypedDict, Unpack

import pytest

from exoscaler.core.group_cache import NO_MAXIMUM, new_troubles, renewed
from exoscaler.core.model import (
    CloudReading,
    GroupKind,
    GroupReading,
    NodeBounds,
    NodeGroup,
    Pool,
    PoolState,
    Quota,
    Trouble,
    TroubleKind,
)
from exoscaler.core.policy import Policy
from exoscaler.core.state import NodeGroupsDocument
from tests.builders import NOW, ago

EMPTY = NodeGroupsDocument()
POLICY = Policy()


def group(
    name: str = "web",
    *,
    size: int = 2,
    kind: GroupKind = GroupKind.SKS_NODEPOOL,
    group_id: str = "",
    min_available: int = 0,
    anti_affinity_limit: int | None = None,
) -> GroupReading:
    members = tuple(f"{name}-{i}" for i in range(size))
    return GroupReading(
        id=group_id or f"id-of-{name}",
        kind=kind,
        name=name,
        pool=Pool(size, members, PoolState.RUNNING),
        nodepool_id=f"nodepool-of-{name}" if kind is GroupKind.SKS_NODEPOOL else "",
        min_available=min_available,
        anti_affinity_limit=anti_affinity_limit,
    )


TWENTY = Quota(20, 5)


class Rest(TypedDict, total=False):
    unread: tuple[str, ...]
    gone: tuple[str, ...]
    unmanaged: tuple[str, ...]
    troubles: tuple[Trouble, ...]


def reading(*groups: GroupReading, quota: Quota | None = TWENTY, **rest: Unpack[Rest]) -> CloudReading:
    return CloudReading(groups, quota=quota, **rest)


def bounded(*bounds: tuple[int, int, str], to_zero: bool = False) -> Policy:
    return Policy(bounds=tuple(NodeBounds(*entry) for entry in bounds), scale_to_zero=to_zero)


def cached(*groups: GroupReading, policy: Policy = POLICY, quota: Quota | None = TWENTY) -> NodeGroupsDocument:
    return renewed(EMPTY, reading(*groups, quota=quota), policy, ago(60))


def only(cache: NodeGroupsDocument) -> NodeGroup:
    (found,) = cache.groups.values()
    return found


def troubles(cache: NodeGroupsDocument) -> Sequence[tuple[TroubleKind, str]]:
    return [(trouble.kind, trouble.subject) for trouble in cache.troubles]


# Bounds


def test_group_that_nobody_named_keeps_one_node_and_grows_to_the_quota() -> None:
    found = only(cached(group()))
    assert (found.min_size, found.max_size) == (1, 20)


def test_group_that_nobody_named_keeps_one_node_even_where_others_may_be_empty() -> None:
    policy = bounded((0, 5, "batch"), to_zero=True)
    groups = cached(group("web"), group("batch"), policy=policy).groups
    assert (groups["id-of-web"].min_size, groups["id-of-batch"].min_size) == (1, 0)


def test_unlimited_quota_sets_no_maximum() -> None:
    assert only(cached(group(), quota=Quota(-1, 5))).max_size == NO_MAXIMUM


def test_group_does_not_grow_while_nobody_knows_the_quota() -> None:
    assert only(cached(group(size=3), quota=None)).max_size == 3


def test_quota_that_cannot_be_read_stays_as_it_was() -> None:
    before = cached(group(), quota=Quota(20, 5))
    after = renewed(before, reading(group(), quota=None), POLICY, NOW)
    assert (after.quota, only(after).max_size) == (Quota(20, 5), 20)


@pytest.mark.parametrize("name", ["web", "id-of-web", "nodepool-of-web"])
def test_bounds_name_a_group_by_name_or_id(name: str) -> None:
    found = only(cached(group(), policy=bounded((2, 7, name))))
    assert (found.min_size, found.max_size) == (2, 7)


@pytest.mark.parametrize("order", [1, -1])
def test_id_counts_before_the_name_of_the_same_group(order: int) -> None:
    entries = ((2, 7, "web"), (3, 9, "id-of-web"))
    found = only(cached(group(), policy=bounded(*entries[::order])))
    assert (found.min_size, found.max_size) == (3, 9)


def test_minimum_of_zero_counts_as_one_unless_groups_may_be_empty() -> None:
    assert only(cached(group(), policy=bounded((0, 5, "web")))).min_size == 1
    assert only(cached(group(), policy=bounded((0, 5, "web"), to_zero=True))).min_size == 0


def test_what_a_pool_must_keep_available_is_a_second_minimum() -> None:
    found = only(cached(group(min_available=3), policy=bounded((1, 9, "web"))))
    assert (found.min_size, found.min_available) == (3, 3)


def test_anti_affinity_is_a_second_maximum() -> None:
    found = only(cached(group(anti_affinity_limit=8), policy=bounded((1, 30, "web"))))
    assert (found.max_size, found.anti_affinity_limit) == (8, 8)
    assert only(cached(group(anti_affinity_limit=8), policy=bounded((1, 5, "web")))).max_size == 5


def test_minimum_never_exceeds_the_maximum() -> None:
    found = only(cached(group(anti_affinity_limit=8), policy=bounded((10, 30, "web"))))
    assert (found.min_size, found.max_size) == (8, 8)


def test_name_that_several_groups_have_is_an_error_that_lists_the_ids() -> None:
    twins = (group("web"), group("web", group_id="other", kind=GroupKind.INSTANCE_POOL))
    cache = cached(*twins, policy=bounded((1, 5, "web")))

    (trouble,) = cache.troubles
    assert (trouble.kind, trouble.subject) == (TroubleKind.NAME_AMBIGUOUS, "web")
    assert "nodepool-of-web" in trouble.detail
    assert "other" in trouble.detail


def test_groups_of_an_ambiguous_name_are_left_as_they_are() -> None:
    twins = (group("web"), group("web", group_id="other", kind=GroupKind.INSTANCE_POOL))
    cache = cached(*twins, group("batch"), policy=bounded((1, 5, "web")))

    assert [g.stale for g in cache.groups.values()] == [
        "",
        "--nodes is ambiguous about 'web'",
        "--nodes is ambiguous about 'web'",
    ]


def test_id_settles_an_ambiguous_name_for_the_group_it_names() -> None:
    twins = (group("web"), group("web", group_id="other", kind=GroupKind.INSTANCE_POOL))
    groups = cached(*twins, policy=bounded((1, 5, "other"), (1, 9, "web"))).groups

    assert (groups["other"].stale, groups["other"].max_size) == ("", 5)
    assert groups["id-of-web"].is_stale


def test_name_that_no_group_has_is_reported() -> None:
    cache = cached(group(), policy=bounded((1, 5, "web"), (1, 5, "wbe")))
    assert troubles(cache) == [(TroubleKind.NAME_UNMATCHED, "wbe")]


def test_name_of_a_group_that_cannot_be_read_now_is_not_unmatched() -> None:
    policy = bounded((1, 5, "web"))
    before = cached(group("web"), group("batch"), policy=policy)
    after = renewed(before, reading(group("batch"), unread=("id-of-web",)), policy, NOW)
    assert troubles(after) == []


# What was read and what was not


def test_group_that_was_read_replaces_its_entry() -> None:
    before = cached(group(size=2))
    after = only(renewed(before, reading(group(size=5)), POLICY, NOW))
    assert (after.pool.size, after.read_at, after.stale) == (5, NOW, "")


def test_group_that_could_not_be_read_stays_with_the_reason_why() -> None:
    before = cached(group("web"), group("batch"))
    trouble = Trouble(TroubleKind.GROUP_UNREADABLE, "id-of-web", "HTTP 503")
    after = renewed(before, reading(group("batch", size=4), unread=("id-of-web",), troubles=(trouble,)), POLICY, NOW)

    web, batch = after.groups["id-of-web"], after.groups["id-of-batch"]
    assert (web.pool, web.read_at, web.stale) == (before.groups["id-of-web"].pool, ago(60), "HTTP 503")
    assert (batch.pool.size, batch.stale) == (4, "")


def test_group_stays_stale_without_a_reason_of_its_own() -> None:
    before = cached(group())
    assert only(renewed(before, reading(unread=("id-of-web",)), POLICY, NOW)).is_stale


def test_group_is_no_longer_stale_once_it_was_read() -> None:
    stale = renewed(cached(group()), reading(unread=("id-of-web",)), POLICY, ago(30))
    assert not only(renewed(stale, reading(group()), POLICY, NOW)).is_stale


def test_group_that_is_gone_leaves() -> None:
    before = cached(group("web"), group("batch"))
    after = renewed(before, reading(group("batch"), gone=("id-of-web",)), POLICY, NOW)
    assert list(after.groups) == ["id-of-batch"]


def test_group_that_was_never_read_is_not_made_up() -> None:
    assert renewed(EMPTY, reading(unread=("id-of-web",)), POLICY, NOW).groups == {}


def test_only_a_whole_reading_counts_as_a_refresh() -> None:
    before = cached(group("web"), group("batch"))
    partial = renewed(before, reading(group("batch"), unread=("id-of-web",)), POLICY, NOW)
    assert (partial.refreshed_at, partial.attempted_at) == (ago(60), NOW)

    whole = renewed(before, reading(group("web"), group("batch")), POLICY, NOW)
    assert (whole.refreshed_at, whole.attempted_at) == (NOW, NOW)


def test_slow_reading_does_not_undo_a_quick_one() -> None:
    quick = renewed(EMPTY, reading(group(size=5)), POLICY, NOW)
    assert renewed(quick, reading(group(size=2)), POLICY, ago(20)) == quick


def test_reading_is_taken_although_the_clock_was_set_back() -> None:
    ahead = renewed(EMPTY, reading(group(size=5)), POLICY, NOW + timedelta(hours=1))
    assert only(renewed(ahead, reading(group(size=2)), POLICY, NOW)).pool.size == 2


def test_order_of_a_reading_does_not_show() -> None:
    one, other = cached(group("web"), group("batch")), cached(group("batch"), group("web"))
    assert list(one.groups) == list(other.groups) == ["id-of-batch", "id-of-web"]


def test_unmanaged_instances_are_remembered_in_order() -> None:
    assert renewed(EMPTY, reading(unmanaged=("y", "x")), POLICY, NOW).unmanaged == ("x", "y")


def test_trouble_is_new_only_at_its_first_attempt() -> None:
    denied = Trouble(TroubleKind.CLUSTERS_DENIED, "clusters", "403")
    unread = Trouble(TroubleKind.GROUP_UNREADABLE, "id-of-web", "HTTP 503")
    first = renewed(EMPTY, reading(troubles=(denied,)), POLICY, ago(60))
    second = renewed(first, reading(troubles=(replace(denied, detail="403 again"), unread)), POLICY, NOW)

    assert new_troubles(EMPTY, first) == (denied,)
    assert new_troubles(first, second) == (unread,)
