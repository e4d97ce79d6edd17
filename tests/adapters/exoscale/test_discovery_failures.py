"""What a failure hides, and what it does not."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model import TroubleKind
from exoscaler.errors import Denied
from exoscaler.ports.cloud import KnownCloud
from tests.adapters.exoscale.api import (
    Api,
    answer,
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
from tests.adapters.exoscale.readings import POOL_1, POOL_2, kinds, names, one_cluster, read

BROKEN: dict[str, httpx.Response | Exception] = {
    "500": refusal(500),
    "403": refusal(403),
    "429": refusal(429),
    "not json": httpx.Response(200, text="<html>"),
    "wrong shape": answer({"id": uid("pool", 1), "instances": 7}),
    "no size": answer(sks_pool_json(1, size=None) | {"size": None}),
    "reset": httpx.ReadError("reset"),
    "slow": httpx.ReadTimeout("slow"),
}


@pytest.mark.parametrize("trouble", BROKEN)
def test_broken_pool_hides_no_other_and_stays_known(trouble: str) -> None:
    nodepool = nodepool_json(1) | ({"size": None} if trouble == "no size" else {})
    api = one_cluster().has_clusters(cluster_json(nodepool, nodepool_json(2, size=0))).on(POOL_1, BROKEN[trouble])

    reading = read(api, [node(1, nodepool=1)], known_group(1), known_group(2, ()))

    assert names(reading) == ["nodepool-2"]
    assert (reading.unread, reading.gone) == ((uid("pool", 1),), ())
    # The subject is the group's id: by it the cache tells why the group is stale.
    assert [(t.kind, t.subject) for t in reading.troubles] == [(TroubleKind.GROUP_UNREADABLE, uid("pool", 1))]
    assert "nodepool-1" in reading.troubles[0].detail
    assert reading.quota is not None


def test_broken_pool_that_was_never_known_is_reported() -> None:
    reading = read(one_cluster().on(POOL_1, refusal(500)), [node(1, nodepool=1)])

    assert names(reading) == ["nodepool-2"]
    assert reading.unread == ()
    assert kinds(reading) == [TroubleKind.GROUP_UNREADABLE]


def test_broken_standalone_pool_explains_its_nodes_by_what_was_known() -> None:
    api = Api().has_clusters().has_quota().on(f"GET /instance-pool/{uid('pool', 7)}", refusal(500))

    reading = read(api, [node(1), node(2)], known_group(7, (1, 2), standalone=True))

    assert reading.unread == (uid("pool", 7),)
    assert len(api.requests) == 3


def test_unreadable_nodepool_hides_no_other_and_stays_known() -> None:
    api = one_cluster().has_clusters(cluster_json(nodepool_json(1, size="many"), nodepool_json(2, size=0)))

    reading = read(api, [node(1, nodepool=1)], known_group(1), known_group(2, ()))

    assert names(reading) == ["nodepool-2"]
    assert reading.unread == (uid("pool", 1),)
    assert [(t.kind, t.subject) for t in reading.troubles] == [(TroubleKind.GROUP_UNREADABLE, uid("pool", 1))]
    assert "$.size" in reading.troubles[0].detail


def test_unreadable_cluster_hides_no_other() -> None:
    odd: Any = {"id": uid("cluster", 2), "name": "odd", "nodepools": "none"}
    api = one_cluster().has_clusters(odd, cluster_json(nodepool_json(1)))

    reading = read(api, [node(1, nodepool=1)])

    assert names(reading) == ["nodepool-1"]
    assert [(t.kind, t.subject) for t in reading.troubles] == [(TroubleKind.CLUSTERS_UNREADABLE, uid("cluster", 2))]


def test_nodepool_without_a_pool_yet_is_skipped_and_reported() -> None:
    young = nodepool_json(3, state="creating") | {"instance-pool": None}

    reading = read(one_cluster(young), [node(1, nodepool=1)])

    assert names(reading) == ["nodepool-1", "nodepool-2"]
    assert [(t.kind, t.subject) for t in reading.troubles] == [(TroubleKind.GROUP_UNREADABLE, uid("nodepool", 3))]
    assert "no Instance Pool yet (state creating)" in reading.troubles[0].detail


def test_group_missing_in_the_list_is_not_gone_while_its_pool_exists() -> None:
    api = one_cluster().has_clusters(cluster_json(nodepool_json(2, size=0)))

    reading = read(api, [node(1, nodepool=1)], known_group(1), known_group(2, ()))

    assert names(reading) == ["nodepool-2"]
    assert (reading.unread, reading.gone) == ((uid("pool", 1),), ())
    assert kinds(reading) == [TroubleKind.GROUP_UNREADABLE]


def test_nodepool_being_deleted_may_have_lost_its_pool() -> None:
    api = one_cluster().has_clusters(cluster_json(nodepool_json(1), nodepool_json(3, state="deleting")))

    assert read(api, [node(1, nodepool=1)]).troubles == ()


def test_listed_nodepool_whose_pool_is_not_found_is_reported() -> None:
    api = one_cluster().has_clusters(cluster_json(nodepool_json(1), nodepool_json(3)))

    reading = read(api, [node(1, nodepool=1)], known_group(3))

    assert reading.gone == (uid("pool", 3),)
    assert kinds(reading) == [TroubleKind.GROUP_UNREADABLE]


@pytest.mark.parametrize("reply", [refusal(500), httpx.ReadError("reset"), answer({}), refusal(401), refusal(404)])
def test_unreadable_list_keeps_sks_groups_and_reads_the_others(reply: httpx.Response | Exception) -> None:
    api = one_cluster().on("GET /sks-cluster", reply).has_pools(pool_json(7, (5,)))

    reading = read(api, [node(1, nodepool=1), node(5)], known_group(1), known_group(7, (5,), standalone=True))

    assert names(reading) == ["pool-7"]
    assert reading.unread == (uid("pool", 1),)
    assert kinds(reading) == [TroubleKind.CLUSTERS_UNREADABLE]
    assert len(api.requests) == 3


def test_key_for_standalone_pools_means_no_sks_groups_here() -> None:
    api = Api().on("GET /sks-cluster", refusal(403)).has_quota().has_pools(pool_json(7))
    api.has_instance(uid("instance", 1), **managed_by(uid("pool", 7)))

    reading = read(api, [node(1)])

    assert names(reading) == ["pool-7"]
    assert kinds(reading) == [TroubleKind.CLUSTERS_DENIED]
    assert "no SKS groups here" in reading.troubles[0].detail
    assert reading.unread == ()


def test_key_that_may_not_list_clusters_is_told_so_when_nodes_need_it() -> None:
    api = one_cluster().on("GET /sks-cluster", refusal(403))

    reading = read(api, [node(1, nodepool=1)], known_group(1))

    assert kinds(reading) == [TroubleKind.CLUSTERS_DENIED]
    assert "1 nodes name an SKS nodepool: allow list-sks-clusters" in reading.troubles[0].detail
    assert reading.unread == (uid("pool", 1),)
    # The label tells that a look-up would lead to a pool that cannot be changed.
    assert api.routes == ["GET /sks-cluster", "GET /quota/instance"]


def test_sks_pool_whose_cluster_cannot_be_told_is_reported_once_for_all_its_nodes() -> None:
    api = Api().on("GET /sks-cluster", refusal(403)).has_quota().has_pools(sks_pool_json(1, (1, 2, 3)))
    for number in (1, 2, 3):
        api.has_instance(uid("instance", number), **managed_by(uid("pool", 1)))

    reading = read(api, [node(1), node(2), node(3)])

    assert reading.groups == ()
    assert kinds(reading) == [TroubleKind.CLUSTERS_DENIED, TroubleKind.GROUP_UNREADABLE]
    assert reading.unmanaged == ()
    assert len(api.requests) == 2 + 1 + 1


@pytest.mark.parametrize(
    "reply", [refusal(500), refusal(403), refusal(404), answer({"resource": "instance", "limit": 3})]
)
def test_unreadable_quota_hides_nothing_else(reply: httpx.Response) -> None:
    reading = read(one_cluster().on("GET /quota/instance", reply), [node(1, nodepool=1)])

    assert len(reading.groups) == 2
    assert reading.quota is None
    assert kinds(reading) == [TroubleKind.QUOTA_UNREADABLE]


@pytest.mark.parametrize("status", [401, 403])
def test_credentials_refused_as_a_whole_are_an_error(status: int) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return refusal(status, "signature mismatch")

    cloud = cloud_on(refuse)

    with pytest.raises(Denied, match="signature mismatch"):
        cloud.read_groups([node(1)], KnownCloud((known_group(1), known_group(7, standalone=True))))


def test_api_that_is_down_leaves_everything_known_and_raises_nothing() -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    reading = cloud_on(fail, max_attempts=1).read_groups(
        [node(1, nodepool=1), node(5)], KnownCloud((known_group(1), known_group(7, (5,), standalone=True)))
    )

    assert reading.groups == ()
    assert reading.unread == (uid("pool", 1), uid("pool", 7))
    assert kinds(reading) == [
        TroubleKind.CLUSTERS_UNREADABLE,
        TroubleKind.GROUP_UNREADABLE,
        TroubleKind.QUOTA_UNREADABLE,
    ]


def test_no_time_left_leaves_everything_known() -> None:
    reading = read(one_cluster(), [node(1, nodepool=1)], known_group(1), time_left=lambda: timedelta(0))

    assert reading.unread == (uid("pool", 1),)
    assert TroubleKind.CLUSTERS_UNREADABLE in kinds(reading)


def test_calls_side_by_side_know_the_time_of_their_own_invocation() -> None:
    left = ContextVar("left", default=timedelta(0))
    token = left.set(timedelta(seconds=20))
    try:
        reading = read(one_cluster(), [node(1, nodepool=1)], time_left=left.get)
    finally:
        left.reset(token)

    assert names(reading) == ["nodepool-1", "nodepool-2"]
    assert reading.troubles == ()


ANSWERS = st.sampled_from(
    [
        None,
        refusal(403),
        refusal(404),
        refusal(429),
        refusal(500),
        httpx.Response(200, text="{"),
        answer({}),
        answer([]),
    ]
)


@given(st.lists(ANSWERS, min_size=6, max_size=6))
def test_no_known_group_is_ever_lost_between_read_unread_and_gone(answers: list[httpx.Response | None]) -> None:
    api = one_cluster().has_pools(pool_json(7, (5,)))
    api.has_instance(uid("instance", 9), **managed_by(uid("pool", 8)))
    routes = [POOL_1, POOL_2, f"GET /instance-pool/{uid('pool', 7)}", "GET /sks-cluster", "GET /quota/instance"]
    for route, reply in zip([*routes, f"GET /instance/{uid('instance', 9)}"], answers, strict=True):
        if reply is not None:
            api.on(route, reply)
    known = (known_group(1), known_group(2, ()), known_group(7, (5,), standalone=True))

    try:
        reading = read(api, [node(1, nodepool=1), node(5), node(9)], *known)
    except Denied:
        assert all(reply is not None and reply.status_code == 403 for reply in answers[2:])
        return

    where = [*(group.id for group in reading.groups), *reading.unread, *reading.gone]
    assert sorted(where) == [uid("pool", 1), uid("pool", 2), uid("pool", 7)]
    # Nodes of a pool that turns out to be gone are looked up like any other.
    assert len(api.requests) <= 2 + 4 + 2
