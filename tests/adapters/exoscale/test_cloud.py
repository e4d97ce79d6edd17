from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx
import pytest

from exoscaler.core.model import NodeGroup, PoolState
from exoscaler.core.operations.model import CloudOperationState
from exoscaler.errors import Conflict, Denied, NotFound, Rejected, RemoteError, Unavailable
from exoscaler.ports.cloud import Cloud
from tests.adapters.exoscale.api import (
    Api,
    answer,
    cloud_on,
    cluster_json,
    known_group,
    nodepool_json,
    pool_json,
    refusal,
    sks_pool_json,
    uid,
)

SKS = known_group(1, (1, 2))
STANDALONE = known_group(1, (1, 2), standalone=True)
SCALE_SKS = f"PUT /sks-cluster/{uid('cluster')}/nodepool/{uid('nodepool')}:scale"
EVICT_SKS = f"PUT /sks-cluster/{uid('cluster')}/nodepool/{uid('nodepool')}:evict"
SCALE_POOL = f"PUT /instance-pool/{uid('pool')}:scale"
EVICT_POOL = f"PUT /instance-pool/{uid('pool')}:evict"
POOL = f"GET /instance-pool/{uid('pool')}"
OPERATION = f"GET /operation/{uid('operation')}"
PENDING = answer({"id": uid("operation").upper(), "state": "pending", "reference": {"link": "/v2/sks-cluster/x"}})


def test_adapter_is_a_cloud() -> None:
    cloud: Cloud = cloud_on(Api())

    assert (cloud.provider_id_prefix, cloud.nodepool_label) == ("exoscale://", "node.exoscale.net/nodepool-id")


# A pool under a nodepool cannot be changed directly, and a standalone one has no nodepool.
@pytest.mark.parametrize(("group", "route"), [(SKS, SCALE_SKS), (STANDALONE, SCALE_POOL)], ids=["sks", "standalone"])
@pytest.mark.parametrize("size", [0, 7])
def test_size_is_set_through_what_manages_the_pool(group: NodeGroup, route: str, size: int) -> None:
    api = Api().on(route, PENDING)

    operation = cloud_on(api).set_size(group, size)

    assert (operation.id, operation.state) == (uid("operation"), CloudOperationState.PENDING)
    assert api.routes == [route]
    assert api.bodies() == [{"size": size}]


@pytest.mark.parametrize(("group", "route"), [(SKS, EVICT_SKS), (STANDALONE, EVICT_POOL)], ids=["sks", "standalone"])
def test_instances_are_removed_in_one_call_through_what_manages_the_pool(group: NodeGroup, route: str) -> None:
    api = Api().on(route, PENDING)

    operation = cloud_on(api).remove_instances(group, [uid("instance", 2).upper(), uid("instance", 1)])

    assert operation.state is CloudOperationState.PENDING
    assert api.routes == [route]
    assert api.bodies() == [{"instances": [uid("instance", 2), uid("instance", 1)]}]


@pytest.mark.parametrize("instances", [[], [uid("instance"), uid("instance").upper()]], ids=["none", "one twice"])
def test_removal_of_none_or_of_one_twice_is_a_mistake_of_the_caller(instances: Sequence[str]) -> None:
    api = Api()

    with pytest.raises(ValueError, match="group-1"):
        cloud_on(api).remove_instances(SKS, instances)

    assert not api.requests


def test_negative_size_is_a_mistake_of_the_caller() -> None:
    api = Api()

    with pytest.raises(ValueError, match="-1 members"):
        cloud_on(api).set_size(SKS, -1)

    assert not api.requests


def test_group_without_its_nodepool_is_not_sent_anywhere() -> None:
    api = Api()

    with pytest.raises(Rejected, match="nothing was sent"):
        cloud_on(api).set_size(replace(SKS, nodepool_id=""), 3)

    assert not api.requests


@pytest.mark.parametrize(
    ("reply", "expected", "may_have_happened"),
    [
        (refusal(409), Conflict, False),
        (refusal(404), NotFound, False),
        (refusal(403), Denied, False),
        (refusal(500), Unavailable, True),
        (httpx.Response(200, text=""), Unavailable, True),
    ],
    ids=["409", "404", "403", "500", "empty"],
)
def test_refused_removal_says_whether_it_may_have_happened(
    reply: httpx.Response, expected: type[RemoteError], may_have_happened: bool
) -> None:
    with pytest.raises(expected) as caught:
        cloud_on(Api().on(EVICT_SKS, reply)).remove_instances(SKS, [uid("instance")])

    assert (caught.value.operation, caught.value.target) == ("evict-sks-nodepool-members", uid("nodepool"))
    assert caught.value.took_effect is may_have_happened


@pytest.mark.parametrize(
    ("content", "state", "busy", "quota"),
    [
        ({"state": "success"}, CloudOperationState.SUCCESS, False, False),
        ({"state": "failure", "reason": "busy"}, CloudOperationState.FAILURE, True, False),
        (
            {"state": "failure", "reason": "partial", "message": "quota reached"},
            CloudOperationState.FAILURE,
            False,
            True,
        ),
    ],
)
def test_progress_of_a_change_is_read(
    content: dict[str, object], state: CloudOperationState, busy: bool, quota: bool
) -> None:
    api = Api().on(OPERATION, answer({"id": uid("operation")} | content))

    operation = cloud_on(api).read_operation(uid("operation"))

    assert (operation.id, operation.state, operation.busy, operation.quota) == (uid("operation"), state, busy, quota)


def test_change_that_the_cloud_does_not_know_is_forgotten() -> None:
    operation = cloud_on(Api()).read_operation(uid("operation"))

    assert (operation.id, operation.state) == (uid("operation"), CloudOperationState.FORGOTTEN)


def test_failing_look_at_a_change_is_not_mistaken_for_its_end() -> None:
    with pytest.raises(Unavailable):
        cloud_on(Api().on(OPERATION, refusal(503))).read_operation(uid("operation"))


@pytest.mark.parametrize(("state", "leaving"), [("running", False), ("stopping", True), ("destroyed", True)])
def test_instance_on_its_way_out_is_leaving(state: str, leaving: bool) -> None:
    api = Api().has_instance(uid("instance"), state=state)

    assert cloud_on(api).instance_is_leaving(uid("instance").upper()) is leaving


def test_instance_that_is_gone_is_leaving() -> None:
    assert cloud_on(Api()).instance_is_leaving(uid("instance"))


def test_what_is_no_instance_is_not_mistaken_for_one_that_is_gone() -> None:
    with pytest.raises(Rejected):
        cloud_on(Api()).instance_is_leaving("external-0a1b")


def test_standalone_pool_is_read_in_one_call() -> None:
    api = Api().has_pools(pool_json(1, (1, 2), size=3, state="scaling-up"))

    pool = cloud_on(api).read_pool(STANDALONE)

    assert (pool.size, pool.state, len(pool.members)) == (3, PoolState.SCALING_UP, 2)
    assert api.routes == [POOL]


def test_sks_pool_is_read_with_the_state_of_its_nodepool() -> None:
    api = Api().has_pools(sks_pool_json(1)).has_clusters(cluster_json(nodepool_json(1, state="updating")))

    pool = cloud_on(api).read_pool(SKS)

    assert (pool.state, pool.state_text) == (PoolState.BUSY, "nodepool updating, pool running")
    assert api.routes == ["GET /sks-cluster", POOL]


@pytest.mark.parametrize("nodepools", [[], [nodepool_json(1, size="x")]], ids=["not listed", "unreadable"])
def test_pool_whose_nodepool_cannot_be_seen_accepts_no_change(nodepools: list[dict[str, object]]) -> None:
    api = Api().has_pools(sks_pool_json(1)).has_clusters(cluster_json(*nodepools))

    pool = cloud_on(api).read_pool(SKS)

    assert pool.state is PoolState.UNKNOWN
    assert not pool.state.accepts_changes


def test_pool_that_is_gone_is_not_found() -> None:
    api = Api().has_clusters(cluster_json())

    for group in (SKS, STANDALONE):
        with pytest.raises(NotFound):
            cloud_on(api).read_pool(group)
