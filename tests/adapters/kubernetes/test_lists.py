"""Long lists, read in pages, and what the API server is asked for."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from exoscaler.adapters.kubernetes import KubernetesCluster, lists
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.errors import Denied, Unavailable
from exoscaler.sandbox.kubernetes import FaultKind, FaultRule
from tests.adapters.kubernetes.manifests import node_manifest, pod_manifest
from tests.adapters.kubernetes.pages import JsonObject, node_with
from tests.adapters.kubernetes.stub import Stub, failure, success
from tests.adapters.kubernetes.worlds import Host, World, open_world
from tests.builders import make_node, make_pod

NODES = 7
PODS = 25


def fill(world: World) -> None:
    for number in range(NODES):
        world.api.create("v1", "nodes", node_manifest(make_node(f"node-{number}")))
    for number in range(PODS):
        pod = make_pod(f"pod-{number:02}", namespace=f"ns-{number % 3}", node=f"node-{number % NODES}")
        if number < 3:
            world.api.create("v1", "namespaces", {"metadata": {"name": pod.namespace}})
        world.api.create("v1", "pods", pod_manifest(pod), namespace=pod.namespace)


@pytest.mark.parametrize("page_size", [1, 4, 7, 24, 25, 26])
def test_pages_together_are_the_whole(world: World, page_size: int) -> None:
    fill(world)
    whole = world.cluster.snapshot()
    assert (len(whole.nodes), len(whole.pods)) == (NODES, PODS)
    in_pages = world.connect(page_size=page_size).cluster.snapshot()
    assert in_pages.nodes == whole.nodes
    assert in_pages.pods == whole.pods


def test_every_page_shows_the_same_moment(world: World) -> None:
    fill(world)

    cluster = world.connect(page_size=10).cluster
    before = {pod.key for pod in world.cluster.snapshot().pods}
    seen: list[str] = []
    original = world.sandbox.calls.add

    def meddle(call: Any) -> None:
        original(call)
        if call.operation == "list pods" and not seen:
            seen.append(call.operation)
            world.api.delete("v1", "pods", "pod-24", namespace="ns-0", grace_seconds=0)
            world.api.create("v1", "pods", pod_manifest(make_pod("zzz", namespace="ns-2")), namespace="ns-2")

    world.sandbox.calls.add = meddle  # type: ignore[method-assign]  # the moment between two pages
    assert {pod.key for pod in cluster.snapshot().pods} == before
    assert seen


def list_page(*manifests: JsonObject, kind: str = "NodeList", token: str = "") -> JsonObject:
    return {"kind": kind, "apiVersion": "v1", "metadata": {"continue": token}, "items": list(manifests)}


A, B, C = (node_with(name=name) for name in "abc")
EXPIRED = failure(410, "The provided continue parameter is too old", reason="Expired")


def queries(stub: Stub) -> list[str]:
    return [request.path.partition("?")[2] for request in stub.requests]


def test_list_that_expires_between_pages_is_read_from_the_start(stub: Stub, access: Access) -> None:
    stub.answers(
        success(list_page(A, token="one")),
        EXPIRED,
        success(list_page(B, token="two")),
        success(list_page(C)),
    )
    nodes = KubernetesCluster(access, page_size=1).nodes()
    assert [node.name for node in nodes] == ["b", "c"], "nothing of the expired list is left in"
    assert queries(stub) == ["limit=1", "limit=1&continue=one", "limit=1", "limit=1&continue=two"]


def test_list_that_keeps_expiring_is_asked_for_in_one_piece(stub: Stub, access: Access) -> None:
    stub.answers(*[success(list_page(A, token="t")), EXPIRED] * lists.PAGED_READINGS, success(list_page(A, B, C)))
    assert len(KubernetesCluster(access, page_size=1).nodes()) == 3
    assert queries(stub)[-1] == ""


def test_list_that_expires_even_in_one_piece_is_unavailable(stub: Stub, access: Access) -> None:
    stub.answers(EXPIRED)
    with pytest.raises(Unavailable, match="list nodes"):
        KubernetesCluster(access).nodes()
    assert len(stub.requests) == lists.PAGED_READINGS + 1


def test_expiry_is_met_for_real(host: Host, tmp_path: Path) -> None:
    with open_world(host, tmp_path, page_size=3, history=5) as world:
        fill(world)
        pages: list[str] = []
        original = world.sandbox.calls.add

        def churn(call: Any) -> None:
            original(call)
            if call.operation == "list nodes" and len(pages) < 2:
                pages.append(call.operation)
                for number in range(8):
                    world.api.patch("v1", "nodes", "node-0", {"metadata": {"labels": {"n": f"{len(pages)}-{number}"}}})

        world.sandbox.calls.add = churn  # type: ignore[method-assign]  # the moment between two pages
        nodes = world.cluster.nodes()
        assert [node.name for node in nodes] == [f"node-{number}" for number in range(NODES)]
        assert 410 in [call.status for call in world.sandbox.calls.calls()]


def test_failing_page_is_asked_for_again(world: World) -> None:
    fill(world)
    world.fault(FaultRule(verb="list", resource="pods", status=503, after=1, times=2))
    world.fault(FaultRule(kind=FaultKind.DROP, verb="list", resource="nodes", after=1))
    snapshot = world.connect(page_size=5).cluster.snapshot()
    assert (len(snapshot.nodes), len(snapshot.pods)) == (NODES, PODS)
    assert len(world.clock.pauses) == 3


@pytest.mark.parametrize("resource", ["nodes", "pods", "poddisruptionbudgets", "daemonsets"])
def test_snapshot_is_whole_or_not_at_all(world: World, resource: str) -> None:
    fill(world)
    world.fault(FaultRule(verb="list", resource=resource, status=403, times=0))
    with pytest.raises(Denied, match=f'RBAC must allow verb "list" on resource "{resource}"'):
        world.cluster.snapshot()


def test_page_that_fails_for_good_leaves_no_partial_list(world: World) -> None:
    fill(world)
    world.fault(FaultRule(verb="list", resource="pods", status=503, after=2, times=0))
    with pytest.raises(Unavailable, match="list pods"):
        world.connect(page_size=5).cluster.snapshot()


def test_nodes_are_read_before_pods_and_nothing_from_a_cache(stub: Stub, access: Access) -> None:
    stub.answers(
        success(list_page(A)),
        success(list_page(kind="PodList")),
        success(list_page(kind="PodDisruptionBudgetList")),
        success(list_page(kind="DaemonSetList")),
    )
    KubernetesCluster(access).snapshot()
    assert [request.path.partition("?")[0] for request in stub.requests] == [
        "/api/v1/nodes",
        "/api/v1/pods",
        "/apis/policy/v1/poddisruptionbudgets",
        "/apis/apps/v1/daemonsets",
    ]
    assert "resourceVersion" not in "".join(queries(stub)), "without a version the server asks its store, not its cache"


def test_time_of_the_snapshot_is_when_reading_began(world: World) -> None:
    began = world.clock.now()
    world.fault(FaultRule(verb="list", resource="nodes", status=503))
    assert world.cluster.snapshot().taken_at == began < world.clock.now()


def test_objects_that_are_not_understood_are_contained_and_logged(
    stub: Stub, access: Access, logged: list[logging.LogRecord]
) -> None:
    odd = [node_with({"status": {"allocatable": {"cpu": "much"}}}, name=f"odd-{number}") for number in range(8)]
    stub.answers(success(list_page(A, *odd[:4], token="t")), success(list_page(*odd[4:], B)))
    nodes = KubernetesCluster(access).nodes()
    assert len(nodes) == 10
    (record,) = [record for record in logged if "not understood" in record.message]
    facts = getattr(record, "exoscaler_facts", {})
    assert facts["count"] == 8
    assert facts["names"] == "odd-0, odd-1, odd-2, odd-3, odd-4"
    assert "much" in facts["why"]


def test_single_node_that_is_not_understood_is_contained_and_logged(
    stub: Stub, access: Access, logged: list[logging.LogRecord]
) -> None:
    stub.answers(success(node_with({"status": {"allocatable": {"cpu": "much"}}}, name="odd")))
    assert not KubernetesCluster(access).node("odd").is_ready
    assert ["not understood" in record.message for record in logged] == [True]
