"""Which groups are found, and what is said of nodes without one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.adapters.exoscale.lookups import Absentees
from exoscaler.core.model import GroupKind, Quota, TroubleKind
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from tests.adapters.exoscale.api import (
    NOW,
    Api,
    FakeClock,
    cloud_on,
    cluster_json,
    known_group,
    managed_by,
    node,
    nodepool_json,
    pool_json,
    sks_pool_json,
    uid,
)
from tests.adapters.exoscale.readings import POOL_2, kinds, names, one_cluster, read


def test_every_nodepool_of_a_node_s_cluster_is_a_group_also_an_empty_one() -> None:
    reading = read(one_cluster(), [node(1, nodepool=1)])

    assert names(reading) == ["nodepool-1", "nodepool-2"]
    assert [group.kind for group in reading.groups] == [GroupKind.SKS_NODEPOOL] * 2
    assert [group.pool.members for group in reading.groups] == [(uid("instance", 1),), ()]
    assert reading.quota == Quota(20, 3)
    assert (reading.unread, reading.gone, reading.troubles, reading.unmanaged) == ((), (), (), ())


def test_clusters_without_a_node_of_ours_are_left_alone() -> None:
    api = one_cluster()
    other = cluster_json(nodepool_json(3), number=2)
    api.has_clusters(cluster_json(nodepool_json(1)), other).has_pools(sks_pool_json(3))

    assert names(read(api, [node(1, nodepool=1)])) == ["nodepool-1"]
    assert f"GET /instance-pool/{uid('pool', 3)}" not in api.routes


def test_configured_cluster_is_read_without_any_node() -> None:
    assert names(read(one_cluster(), cluster_id=uid("cluster").upper())) == ["nodepool-1", "nodepool-2"]


def test_cluster_of_a_known_group_stays_ours_when_its_last_node_is_gone() -> None:
    assert names(read(one_cluster(), [], known_group(1))) == ["nodepool-1", "nodepool-2"]


def test_configured_cluster_excludes_nodes_and_groups_of_another() -> None:
    api = one_cluster().has_clusters(cluster_json(nodepool_json(1)), cluster_json(nodepool_json(2), number=2))

    reading = read(api, [node(2, nodepool=2)], known_group(2, cluster=2), cluster_id=uid("cluster", 1))

    assert names(reading) == ["nodepool-1"]
    assert reading.gone == (uid("pool", 2),)
    assert POOL_2 not in api.routes


def test_configured_cluster_that_does_not_exist_is_reported() -> None:
    reading = read(one_cluster(), [], cluster_id=uid("cluster", 9))

    assert not reading.groups
    assert [(trouble.kind, trouble.subject) for trouble in reading.troubles] == [
        (TroubleKind.CLUSTERS_UNREADABLE, uid("cluster", 9))
    ]


def test_pool_of_an_unlabelled_node_is_found_by_its_instance() -> None:
    api = Api().has_clusters().has_quota().has_pools(pool_json(7, (1, 2)))
    api.has_instance(uid("instance", 1), **managed_by(uid("pool", 7)))

    reading = read(api, [node(1), node(2)])

    assert [(group.kind, group.id, group.name) for group in reading.groups] == [
        (GroupKind.INSTANCE_POOL, uid("pool", 7), "pool-7")
    ]
    # The pool's own list of members covers the second node.
    assert [route for route in api.routes if route.startswith("GET /instance/")] == [
        f"GET /instance/{uid('instance', 1)}"
    ]


def test_instance_of_a_listed_nodepool_makes_its_cluster_ours() -> None:
    api = one_cluster().has_instance(uid("instance", 1), **managed_by(uid("pool", 1)))

    reading = read(api, [node(1)])

    assert names(reading) == ["nodepool-1", "nodepool-2"]
    assert reading.groups[0].cluster_id == uid("cluster")
    assert not reading.troubles


def test_instance_of_another_cluster_than_the_configured_one_is_left_alone() -> None:
    api = one_cluster().has_clusters(cluster_json(), cluster_json(nodepool_json(1), number=2))
    api.has_instance(uid("instance", 1), **managed_by(uid("pool", 1)))

    reading = read(api, [node(1)], cluster_id=uid("cluster", 1))

    assert not reading.groups
    assert reading.unmanaged == (uid("instance", 1),)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"manager": None},
        {"manager": {"id": uid("nodepool"), "type": "sks-nodepool"}},
        {"manager": {"type": "instance-pool"}},
    ],
    ids=["none", "null", "another kind", "no id"],
)
def test_instance_that_no_pool_manages_is_left_alone_and_remembered(fields: dict[str, object]) -> None:
    api = Api().has_clusters().has_quota().has_instance(uid("instance", 1), **fields)

    first = read(api, [node(1)])
    again = read(api, [node(1)], unmanaged=first.unmanaged)

    assert (first.groups, first.troubles) == ((), ())
    assert first.unmanaged == again.unmanaged == (uid("instance", 1),)
    assert api.routes.count(f"GET /instance/{uid('instance', 1)}") == 1


def test_unmanaged_instance_is_forgotten_with_its_node() -> None:
    api = Api().has_clusters().has_quota()

    assert read(api, [], unmanaged=[uid("instance", 1)]).unmanaged == ()


def test_known_standalone_pool_is_read_again_without_any_node() -> None:
    api = Api().has_clusters().has_quota().has_pools(pool_json(7, (), size=0))

    assert names(read(api, [], known_group(7, (1,), standalone=True))) == ["pool-7"]


def test_pool_that_is_gone_leaves() -> None:
    api = Api().has_clusters(cluster_json()).has_quota()

    reading = read(api, [], known_group(1), known_group(7, standalone=True))

    assert (reading.groups, reading.unread) == ((), ())
    assert reading.gone == (uid("pool", 1), uid("pool", 7))
    assert not reading.troubles


# What is said of nodes


def test_node_without_instance_is_reported_and_one_of_the_control_plane_is_not() -> None:
    nodes = [
        NodeIdentity("worker", None),
        NodeIdentity("master", None, control_plane=True),
        NodeIdentity("master-2", uid("instance", 8), control_plane=True),
        NodeIdentity("on-premises", "external-0a1b2c"),
        NodeIdentity("odd", "i-0123456789"),
    ]
    api = Api().has_clusters().has_quota()

    reading = read(api, nodes)

    assert [(trouble.kind, trouble.subject) for trouble in reading.troubles] == [
        (TroubleKind.NODE_WITHOUT_INSTANCE, "worker"),
        (TroubleKind.NODE_WITHOUT_INSTANCE, "odd"),
    ]
    assert "'i-0123456789'" in reading.troubles[1].detail
    assert sorted(api.routes) == ["GET /quota/instance", "GET /sks-cluster"]


def test_node_whose_instance_is_gone_is_reported_but_not_written_off() -> None:
    api = Api().has_clusters().has_quota()

    reading = read(api, [node(1)])

    assert kinds(reading) == [TroubleKind.INSTANCE_UNREADABLE]
    assert "node-1" in reading.troubles[0].detail
    assert reading.unmanaged == ()


def test_absent_instance_is_asked_for_again_after_a_while_only() -> None:
    api, clock = Api().has_clusters().has_quota(), FakeClock()
    cloud = cloud_on(api, clock)
    look_up = f"GET /instance/{uid('instance', 1)}"

    readings = [cloud.read_groups([node(1)], KnownCloud()) for _ in range(3)]
    assert [kinds(reading) for reading in readings] == [[TroubleKind.INSTANCE_UNREADABLE]] * 3
    assert api.routes.count(look_up) == 1

    clock.advance(Absentees.KEPT)
    api.has_instance(uid("instance", 1), **managed_by(uid("pool", 7))).has_pools(pool_json(7))
    assert names(cloud.read_groups([node(1)], KnownCloud())) == ["pool-7"]


def test_absence_does_not_last_longer_when_the_clock_is_set_back() -> None:
    absentees = Absentees()
    absentees.note("a", NOW)

    assert absentees.includes("a", NOW + timedelta(minutes=9))
    assert not absentees.includes("a", NOW + timedelta(minutes=10))
    assert not absentees.includes("a", NOW - timedelta(days=1))
