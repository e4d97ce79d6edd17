"""One object that is not understood must not hide the others, and must not lead to a node being removed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exoscaler.adapters.kubernetes.decoding import budget_reader, daemonset_reader, node_reader, pod_reader
from exoscaler.core.model import Constraint, DaemonSet, Owner, PodPhase, Resources, SchedulerVerdict
from tests.adapters.kubernetes.manifests import budget_manifest, daemonset_manifest, owner_manifest
from tests.adapters.kubernetes.pages import JsonObject, merged, node_with, page, pod_with
from tests.builders import make_budget, make_node, make_pod, taint

MOVABLE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true", "kubernetes.io/config.mirror": "x"}

BAD_PODS: dict[str, JsonObject] = {
    "amount": {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "much"}}}]}},
    "amount of the wrong type": {"spec": {"overhead": {"cpu": []}}},
    "creation time": {"metadata": {"creationTimestamp": "yesterday"}},
    "no creation time": {"metadata": {"creationTimestamp": None}},
    "time without zone": {"metadata": {"deletionTimestamp": "2026-12-01T12:00:00"}},
    "labels": {"metadata": {"labels": {"app": "web", "version": 2}}},
    "operator of an affinity": {
        "spec": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Near"}]}]
                    }
                }
            }
        }
    },
    "containers": {"spec": {"containers": "none"}},
    "spec": {"spec": {"tolerations": {}}},
    "status": {"status": {"conditions": "fine"}},
}
BAD_NODES: dict[str, JsonObject] = {
    "amount": {"status": {"allocatable": {"memory": "plenty"}}},
    "capacity": {"status": {"capacity": {"memory": {}}}},
    "creation time": {"metadata": {"creationTimestamp": None}},
    "time of a condition": {"status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "x"}]}},
    "taints": {"spec": {"taints": [{"effect": "NoSchedule"}]}},
    "labels": {"metadata": {"labels": {"zone": 1, "pool": "a"}}},
}


@pytest.mark.parametrize("bad", BAD_PODS.values(), ids=BAD_PODS)
def test_pod_that_is_not_understood_stays_where_it_is_and_cannot_be_moved(bad: JsonObject) -> None:
    good = [pod_with(name=name, node="a") for name in ("one", "two")]
    manifest = pod_with(bad, name="odd", node="a", annotations=MOVABLE)
    found = pod_reader().page(page(good[0], manifest, good[1]))
    first, odd, second = found.records
    assert (first, second) == (make_pod("one", node="a"), make_pod("two", node="a"))
    assert (odd.key, odd.node_name, odd.phase) == ("default/odd", "a", PodPhase.RUNNING)
    assert odd.uid == "uid-of-default-odd"
    assert odd.owner is None, "no controller would make it again, so nobody moves it"
    assert not odd.annotations, "no annotation allows it to be moved or left out"
    assert odd.spec.unmodelled == (Constraint.UNREADABLE,)
    assert odd.spec.requests == Resources()
    assert not any([odd.is_finished, odd.is_terminating, odd.is_daemonset, odd.is_mirror])
    assert [contained.name for contained in found.contained] == ["default/odd"]
    assert found.contained[0].why


def test_pod_that_is_not_understood_and_has_no_node_orders_none() -> None:
    (odd,) = pod_reader().page(page(pod_with(BAD_PODS["amount"], name="odd"))).records
    assert not odd.is_bound
    assert odd.verdict is SchedulerVerdict.NOT_SEEN


def test_pod_that_is_not_understood_is_still_covered_by_budgets() -> None:
    manifest = pod_with(BAD_PODS["amount"], labels={"app": "web"})
    (odd,) = pod_reader().page(page(manifest)).records
    assert make_budget(labels={"app": "web"}).covers(odd)


@pytest.mark.parametrize("bad", BAD_NODES.values(), ids=BAD_NODES)
def test_node_that_is_not_understood_is_there_but_of_no_use(bad: JsonObject) -> None:
    manifest = node_with(bad, name="odd", annotations={"note": "x"}, taints=[taint("dedicated")])
    found = node_reader().page(page(node_with(name="good"), manifest))
    good, odd = found.records
    assert good == make_node("good")
    assert (odd.name, odd.uid) == ("odd", "uid-of-odd")
    assert odd.instance_id("exoscale://") == "instance-of-odd", "its instance is not taken for one that never joined"
    assert not odd.is_ready
    assert odd.unschedulable
    assert odd.allocatable == Resources(), "without amounts there is no utilisation, and without that no removal"
    assert odd.annotations == {"note": "x"}
    assert [contained.name for contained in found.contained] == ["odd"]


def test_single_node_is_read_like_one_of_a_list() -> None:
    reader = node_reader()
    whole, trouble = reader.one(json.dumps(node_with(name="a")).encode())
    assert (whole, trouble) == (make_node("a"), None)
    odd, trouble = reader.one(json.dumps(node_with(BAD_NODES["amount"], name="odd")).encode())
    assert odd is not None
    assert odd.name == "odd"
    assert trouble is not None
    assert "plenty" in trouble.why


def test_budget_that_is_not_understood_allows_nothing_in_its_namespace() -> None:
    bad = {"spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}}}
    good = budget_manifest(make_budget("good", labels={"app": "web"}))
    found = budget_reader().page(page(good, merged(budget_manifest(make_budget("odd", allowed=5)), bad)))
    _, odd = found.records
    assert odd.covers(make_pod(labels={"any": "thing"}))
    assert not odd.covers(make_pod(namespace="elsewhere"))
    assert odd.disruptions_allowed == 0


def test_daemonset_that_is_not_understood_is_left_out() -> None:
    good = daemonset_manifest(DaemonSet("kube-system", "good", "uid", 1))
    bad = merged(daemonset_manifest(DaemonSet("kube-system", "odd", "uid", 1)), {"status": {"numberReady": "all"}})
    found = daemonset_reader().page(page(bad, good))
    assert [record.name for record in found.records] == ["good"]
    assert [contained.name for contained in found.contained] == ["kube-system/odd"]


def uncertain(kind: str) -> list[bytes]:
    """Objects of which not even that little is certain which a contained one needs."""
    make: Any = pod_with if kind == "pods" else node_with
    changes: list[JsonObject] = [
        {"metadata": {"name": None}},
        {"metadata": {"name": 5}},
        {"metadata": {"uid": ["x"]}},
        {"metadata": "none"},
        {"metadata": {"uid": ""}},
    ]
    changes += [{"spec": {"nodeName": 5}}] if kind == "pods" else [{"spec": {"providerID": 5}}]
    return [page(make(change)) for change in changes]


@pytest.mark.parametrize("content", uncertain("pods"))
def test_pod_that_cannot_be_told_apart_spoils_the_whole_list(content: bytes) -> None:
    with pytest.raises(ValueError, match="an object of the list has no"):
        pod_reader().page(content)


@pytest.mark.parametrize("content", uncertain("nodes"))
def test_node_that_cannot_be_tied_to_its_instance_spoils_the_whole_list(content: bytes) -> None:
    with pytest.raises(ValueError, match="an object of the list has no"):
        node_reader().page(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"items": []}',
        b'{"kind": "PodList", "metadata": {}}',
        b'{"kind": "Status", "metadata": {}, "items": []}',
        b'{"metadata": {}, "items": []}',
        b'{"kind": "PodList", "metadata": {}, "items": {}}',
        b"<html>",
        b"\xff\xfe",
        b'{"kind": "PodList", "metadata": {}, "items": [5]}',
        b'{"kind": "PodList", "metadata": {}, "items": [[]]}',
        b'{"kind": "PodList", "metadata": {"continue": 1}, "items": []}',
    ],
)
def test_answer_that_is_no_list_is_refused(content: bytes) -> None:
    for reader in (pod_reader(), node_reader(), budget_reader(), daemonset_reader()):
        with pytest.raises(ValueError, match=r"\S"):
            reader.page(content)


def test_list_without_items_is_empty() -> None:
    assert pod_reader().page(b'{"kind": "PodList", "metadata": {}, "items": null}').records == ()
    content = b'{"kind": "PodList", "metadata": {"continue": null, "resourceVersion": "7"}, "items": []}'
    assert pod_reader().page(content).next == ""


def test_reference_of_an_owner_that_is_not_understood_contains_the_pod() -> None:
    reference = {**owner_manifest(Owner("ReplicaSet", "web", "uid")), "uid": None}
    found = pod_reader().page(page(pod_with({"metadata": {"ownerReferences": [reference]}}, node="a")))
    assert found.records[0].spec.unmodelled == (Constraint.UNREADABLE,)
