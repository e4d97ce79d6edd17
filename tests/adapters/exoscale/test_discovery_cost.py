"""How many calls a reading takes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.adapters.exoscale.lookups import MAX_FAILURES, MAX_LOOKUPS
from exoscaler.core.model import TroubleKind
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from tests.adapters.exoscale.api import (
    Api,
    FakeClock,
    cloud_on,
    cluster_json,
    known_group,
    managed_by,
    node,
    nodepool_json,
    pool_json,
    refusal,
    sks_pool_json,
    uid,
)
from tests.adapters.exoscale.readings import kinds, names, read


def many_nodes(pools: int, nodes: int, *, labelled: bool) -> tuple[Api, list[NodeIdentity]]:
    """Every third pool a standalone one, the nodes spread evenly."""
    members = {pool: [n for n in range(1, nodes + 1) if n % pools == pool - 1] for pool in range(1, pools + 1)}
    nodepools = [pool for pool in members if pool % 3]
    api = (
        Api()
        .has_clusters(cluster_json(*(nodepool_json(p, size=len(members[p])) for p in nodepools)))
        .has_quota(-1, nodes)
    )
    identities = []
    for pool, instances in members.items():
        api.has_pools(sks_pool_json(pool, instances) if pool in nodepools else pool_json(pool, instances))
        for n in instances:
            api.has_instance(uid("instance", n), **managed_by(uid("pool", pool)))
            identities.append(node(n, nodepool=pool if labelled and pool in nodepools else None))
    return api, identities


@pytest.mark.parametrize("nodes", [6, 300])
@pytest.mark.parametrize("labelled", [True, False])
def test_steady_state_takes_two_calls_and_one_for_each_pool(nodes: int, labelled: bool) -> None:
    api, identities = many_nodes(6, nodes, labelled=labelled)
    known = [known_group(pool, standalone=not pool % 3) for pool in range(1, 7)]

    reading = read(api, identities, *known)

    assert len(reading.groups) == 6
    assert sum(len(group.pool.members) for group in reading.groups) == nodes
    assert len(api.requests) == 2 + 6


def test_first_reading_of_many_nodes_takes_few_calls_more() -> None:
    api, identities = many_nodes(6, 300, labelled=True)

    reading = read(api, identities)

    assert len(reading.groups) == 6
    assert not reading.troubles
    # One look-up for each standalone pool.
    assert len(api.requests) == 2 + 6 + 2


def test_nodes_of_no_pool_are_looked_up_a_few_at_a_time_until_all_are_known() -> None:
    api, clock = Api().has_clusters().has_quota(), FakeClock()
    for number in range(1, 51):
        api.has_instance(uid("instance", number))
    cloud, known, calls = cloud_on(api, clock), KnownCloud(), []
    left = []

    for _ in range(4):
        before = len(api.requests)
        reading = cloud.read_groups([node(number) for number in range(1, 51)], known)
        known = KnownCloud(unmanaged=reading.unmanaged)
        calls.append(len(api.requests) - before)
        left.append(len(reading.troubles))
        clock.advance(timedelta(minutes=1))

    assert calls == [2 + MAX_LOOKUPS, 2 + MAX_LOOKUPS, 2 + 10, 2]
    assert left == [1, 1, 0, 0]
    assert len(known.unmanaged) == 50


def test_postponed_nodes_are_reported() -> None:
    api = Api().has_clusters().has_quota()
    for number in range(1, MAX_LOOKUPS + 4):
        api.has_instance(uid("instance", number))

    reading = read(api, [node(number) for number in range(1, MAX_LOOKUPS + 4)])

    assert kinds(reading) == [TroubleKind.INSTANCE_UNREADABLE]
    assert reading.troubles[0].detail.startswith("3 nodes ")


def test_instances_that_cannot_be_read_do_not_keep_the_others_waiting_for_ever() -> None:
    api, clock = Api().has_clusters().has_quota(), FakeClock()
    for number in range(1, 9):
        api.on(f"GET /instance/{uid('instance', number)}", refusal(500))
    api.has_instance(uid("instance", 9), **managed_by(uid("pool", 7))).has_pools(pool_json(7, (9,)))
    cloud = cloud_on(api, clock, max_attempts=1)
    found = []

    for _ in range(9):
        before = len(api.requests)
        found += names(cloud.read_groups([node(number) for number in range(1, 10)], KnownCloud()))
        assert len(api.requests) - before <= 2 + MAX_FAILURES + 2
        clock.advance(timedelta(minutes=1))

    assert "pool-7" in found


@pytest.mark.parametrize("status", [403, 429])
def test_look_ups_stop_at_once_when_they_are_not_allowed(status: int) -> None:
    api = Api().has_clusters().has_quota()
    for number in range(1, 9):
        api.on(f"GET /instance/{uid('instance', number)}", refusal(status))

    reading = read(api, [node(number) for number in range(1, 9)])

    assert len(api.requests) == 2 + 1
    assert kinds(reading) == [TroubleKind.INSTANCE_UNREADABLE] * 2
    assert status != 403 or "must allow get-instance" in reading.troubles[0].detail
