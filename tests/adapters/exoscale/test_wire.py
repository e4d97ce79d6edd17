from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.adapters.exoscale import wire
from exoscaler.adapters.exoscale.clusters import ClusterIndex
from exoscaler.errors import RemoteError, Unavailable
from tests.adapters.exoscale.api import Api, answer, client_on, cluster_json, nodepool_json, uid

POOL = f"GET /instance-pool/{uid('pool')}"


def test_names_are_read_in_kebab_case_and_unknown_fields_ignored() -> None:
    found = wire.read(b'{"min-available": 2, "degraded-reasons": {"a": [1]}, "instance-type": null}', wire.InstancePool)

    assert (found.min_available, found.instance_type, found.size) == (2, None, None)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "truncated"),
        (b"<html>Bad gateway</html>", "malformed"),
        (b"[]", "Expected `object`"),
        (b"null", "Expected `object`"),
        (b'{"size": "three"}', r"\$.size"),
        (b'{"instances": [7]}', r"\$.instances\[0\]"),
        (b'{"state": "\xff"}', "UTF-8"),
        (b"[" * 100_000, "not understood"),
        (b"{}", "no id at all"),
        (b'{"id": "aaaaaaaa-0000-0000-0000-000000000000"}', "it is about aaaaaaaa"),
    ],
    ids=[
        "empty",
        "html",
        "list",
        "null",
        "text for a number",
        "number for an object",
        "not UTF-8",
        "deep",
        "no id",
        "other",
    ],
)
def test_accepted_answer_that_makes_no_sense_is_a_transient_failure(body: bytes, complaint: str) -> None:
    client = client_on(Api().on(POOL, httpx.Response(200, content=body)))

    with pytest.raises(Unavailable, match=complaint) as caught:
        client.get_instance_pool(uid("pool"))

    assert (caught.value.operation, caught.value.target, caught.value.status) == ("get-instance-pool", uid("pool"), 200)


def test_list_without_its_items_is_not_an_empty_list() -> None:
    client = client_on(Api().on("GET /sks-cluster", answer({})))

    with pytest.raises(Unavailable, match="sks-clusters"):
        client.list_sks_clusters()


def test_answer_to_a_change_without_a_state_may_have_taken_effect() -> None:
    client = client_on(Api().on(f"PUT /instance-pool/{uid('pool')}:scale", answer({"id": uid("operation")})))

    with pytest.raises(Unavailable, match="no state") as caught:
        client.scale_instance_pool(uid("pool"), 3)

    assert caught.value.took_effect


KEYS = st.text(max_size=8).filter(lambda key: key != "id")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["id", "state", "size", "instances", "manager", "nodepools", "labels", "taints", "instance-pool", "limit"]


@given(
    st.binary(max_size=60)
    | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6).map(lambda d: json.dumps(d).encode())
)
def test_no_answer_whatever_raises_anything_but_the_error_tree(body: bytes) -> None:
    client = client_on(lambda _: httpx.Response(200, content=body))
    looks: list[Any] = [
        lambda: client.get_instance_pool(uid("pool")),
        lambda: client.get_instance(uid("instance")),
        lambda: client.get_quota("instance"),
        lambda: client.get_operation(uid("operation")),
        lambda: ClusterIndex.of(client.list_sks_clusters()),
    ]
    for look in looks:
        try:
            look()
        except RemoteError as error:
            assert isinstance(error, Unavailable)  # noqa: PT017 # that nothing else is raised is the point


@given(st.lists(JSON, max_size=4), JSON)
def test_odd_clusters_and_nodepools_hide_no_other(odd_clusters: list[Any], odd_nodepool: Any) -> None:
    good = cluster_json(odd_nodepool, nodepool_json(1))
    listed = wire.read(json.dumps({"sks-clusters": [*odd_clusters, good]}).encode(), wire.ClusterList)

    index = ClusterIndex.of(listed.sks_clusters)

    assert uid("nodepool") in index.nodepools
    assert len(index.unreadable_nodepools) == 1
    assert len(index.unreadable_clusters) == len(odd_clusters)


def test_unreadable_nodepool_keeps_its_name() -> None:
    listed = wire.read(
        json.dumps({"sks-clusters": [cluster_json(nodepool_json(1, size="x"))]}).encode(), wire.ClusterList
    )

    [item] = ClusterIndex.of(listed.sks_clusters).unreadable_nodepools

    assert (item.id, item.name, item.cluster_id) == (uid("nodepool"), "nodepool-1", uid("cluster"))
    assert "size" in item.why
