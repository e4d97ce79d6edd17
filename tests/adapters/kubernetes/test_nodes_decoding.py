from __future__ import annotations

from typing import Any

import pytest

from exoscaler.adapters.kubernetes.decoding import budget_reader, daemonset_reader
from exoscaler.core.model import (
    ConditionStatus,
    DaemonSet,
    DisruptionBudget,
    LabelSelector,
    Operator,
    Requirement,
    TaintEffect,
)
from tests.adapters.kubernetes.manifests import budget_manifest, daemonset_manifest, node_manifest
from tests.adapters.kubernetes.pages import JsonObject, merged, node_with, page, read_nodes
from tests.builders import make_budget, make_node, make_pod, resources, taint


@pytest.mark.parametrize(
    "node",
    [
        make_node(),
        make_node("a", ready=False, unschedulable=True, provider_id=""),
        make_node("b", labels={"zone": "1"}, annotations={"note": "x"}),
        make_node(
            taints=[
                taint("dedicated", "db"),
                taint("node.kubernetes.io/not-ready", effect=TaintEffect.NO_EXECUTE),
                taint("soft", effect=TaintEffect.PREFER_NO_SCHEDULE),
            ]
        ),
        make_node(allocatable=resources(cpu="3920m", memory="13Gi", pods=58, storage="36Gi", nvidia_com__gpu=1)),
    ],
)
def test_node_is_read_as_it_is(node: Any) -> None:
    assert read_nodes(node_manifest(node)) == (node,)


def test_node_that_has_just_registered_is_read() -> None:
    metadata = {"name": "a", "uid": "u", "creationTimestamp": "2026-12-01T12:00:00Z"}
    fewest: list[JsonObject] = [{}, {"spec": {}, "status": {}}, {"spec": None, "status": None}]
    for rest in fewest:
        (node,) = read_nodes({"metadata": metadata, **rest})
        assert (node.name, node.provider_id, node.system_uuid) == ("a", "", "")
        assert node.allocatable == resources()
        assert not node.is_ready


def test_word_that_is_not_known_does_not_hide_the_node() -> None:
    words: JsonObject = {
        "spec": {
            "taints": [{"key": "a", "effect": "NoBreathe"}, {"key": "b", "effect": "NoExecute", "timeAdded": "x"}]
        },
        "status": {"conditions": [{"type": "Ready", "status": "Sleepy", "lastTransitionTime": None}]},
    }
    (node,) = read_nodes(node_with(words))
    assert [found.effect for found in node.taints] == [TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE]
    assert node.taints[0].repels, "an effect that is not known is taken for the strict one"
    assert node.conditions[0].status is ConditionStatus.UNKNOWN
    assert not node.is_ready


def test_amounts_are_integers_however_they_are_spelt() -> None:
    # R213
    spelt = {
        "cpu": "3.92",
        "memory": "16259Mi",
        "ephemeral-storage": "47093746742",
        "pods": "110",
        "hugepages-1Gi": "2Gi",
    }
    (node,) = read_nodes(node_with({"status": {"allocatable": spelt}}))
    assert node.allocatable.cpu == 3920
    assert node.allocatable.memory == 16259 * 2**20
    assert node.allocatable.ephemeral_storage == 47093746742
    assert node.allocatable.pods == 110
    assert node.allocatable.extended == {"hugepages-1Gi": 2 * 2**30}


@pytest.mark.parametrize("moment", ["2026-12-01T11:59:00Z", "2026-12-01T12:59:00+01:00", "2026-12-01T11:59:00.000000Z"])
def test_times_are_read_with_their_zone(moment: str) -> None:
    (node,) = read_nodes(node_with({"metadata": {"creationTimestamp": moment}}))
    assert node.created_at == make_node(age=60).created_at


def read_budget(manifest: JsonObject) -> DisruptionBudget:
    found = budget_reader().page(page(manifest))
    assert not found.contained
    return found.records[0]


def test_budget_is_read_as_it_is() -> None:
    for budget in [
        make_budget("web", labels={"app": "web", "tier": "front"}, allowed=2),
        DisruptionBudget("default", "nothing", None, 0),
        DisruptionBudget("default", "everything", LabelSelector(), 1),
    ]:
        assert read_budget(budget_manifest(budget)) == budget


def test_selector_of_a_budget_may_have_labels_and_expressions() -> None:
    selector = {
        "matchLabels": {"b": "2", "a": "1"},
        "matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["3"]}, {"key": "d", "operator": "Exists"}],
    }
    budget = read_budget(merged(budget_manifest(make_budget()), {"spec": {"selector": selector}}))
    assert budget.selector == LabelSelector(
        (
            Requirement("a", Operator.IN, ("1",)),
            Requirement("b", Operator.IN, ("2",)),
            Requirement("c", Operator.NOT_IN, ("3",)),
            Requirement("d", Operator.EXISTS),
        )
    )


def test_missing_selector_covers_nothing_and_an_empty_one_everything() -> None:
    pod = make_pod(labels={"app": "web"})
    manifest = budget_manifest(make_budget())
    without = {**manifest, "spec": {"minAvailable": 1}}
    null = {**manifest, "spec": {"selector": None}}
    empty = {**manifest, "spec": {"selector": {}}}
    assert [read_budget(m).covers(pod) for m in (without, null, empty)] == [False, False, True]


def test_budget_whose_status_is_not_computed_yet_allows_nothing() -> None:
    manifest = budget_manifest(make_budget(allowed=3))
    assert read_budget({**manifest, "status": None}).disruptions_allowed == 0
    assert read_budget({**manifest, "status": {}}).disruptions_allowed == 0


def test_daemonset_tells_how_many_of_its_pods_are_ready() -> None:
    daemonset = DaemonSet("kube-system", "agent", "uid", 4)
    manifest = daemonset_manifest(daemonset)
    found = daemonset_reader().page(page(manifest, {**manifest, "status": {}}))
    assert [record.ready for record in found.records] == [4, 0]
    assert found.records[0] == daemonset
