"""The four patch formats, over HTTP, since their media types tell them apart."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.kubernetes.patches.json_patch import apply_json_patch
from exoscaler.sandbox.kubernetes.patches.merge import apply_merge_patch
from exoscaler.sandbox.kubernetes.patches.strategic import apply_strategic_patch
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import budget, config_map, node, pod, workload

MERGE, STRATEGIC, JSON, APPLY = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
)
NODE = "/api/v1/nodes/n"
TAINT = {"key": "a", "value": "1", "effect": "NoSchedule"}


def _patch(http: httpx.Client, path: str, kind: str, patch: Any, **query: str) -> httpx.Response:
    return http.patch(path, json=patch, headers={"Content-Type": kind}, params=query)


def _patched(http: httpx.Client, path: str, kind: str, patch: Any, **query: str) -> Any:
    answer = _patch(http, path, kind, patch, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_merge_patch_merges_objects_replaces_lists_and_removes_nulls(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(labels={"a": "1", "b": "2"}, taints=[TAINT]))
    other = {"key": "b", "effect": "NoExecute"}
    patch = {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"taints": [other]}}
    patched = _patched(http, NODE, MERGE, patch)
    assert patched["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert patched["spec"]["taints"] == [other]


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        # Examples of RFC 7396, appendix A, whose results are objects.
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch_follows_its_rfc(target: JsonObject, patch: JsonObject, result: JsonObject) -> None:
    assert apply_merge_patch(target, patch) == result


def test_strategic_patch_replaces_taints_and_tolerations(http: httpx.Client, cluster: StoreClient) -> None:
    """They are atomic in the API, although they look like keyed lists."""
    cluster.create("v1", "nodes", node(taints=[TAINT]))
    other = {"key": "b", "effect": "NoExecute"}
    assert _patched(http, NODE, STRATEGIC, {"spec": {"taints": [other]}})["spec"]["taints"] == [other]


def test_strategic_patch_merges_conditions_by_type(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    pressure = {"type": "MemoryPressure", "status": "True"}
    patch = {"status": {"conditions": [pressure, {"type": "Ready", "status": "False"}]}}
    conditions = _patched(http, f"{NODE}/status", STRATEGIC, patch)["status"]["conditions"]
    assert [(one["type"], one["status"]) for one in conditions] == [("Ready", "False"), ("MemoryPressure", "True")]
    assert conditions[0]["reason"] == "KubeletReady"


def _containers() -> list[JsonObject]:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    return [{"name": "main", "image": "app:1", "env": env}, {"name": "side", "image": "side:1"}]


@pytest.fixture
def deployment(cluster: StoreClient) -> str:
    body = workload()
    body["spec"]["template"]["spec"]["containers"] = _containers()
    cluster.create("apps/v1", "deployments", body, namespace="default")
    return "/apis/apps/v1/namespaces/default/deployments/web"


def _template_patch(**spec: Any) -> JsonObject:
    return {"spec": {"template": {"spec": spec}}}


def test_strategic_patch_merges_containers_and_their_environment_by_name(http: httpx.Client, deployment: str) -> None:
    change = {"name": "main", "image": "app:2", "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]}
    patched = _patched(http, deployment, STRATEGIC, _template_patch(containers=[change]))
    main, side = patched["spec"]["template"]["spec"]["containers"]
    assert (main["image"], side["image"]) == ("app:2", "side:1")
    assert [(one["name"], one["value"]) for one in main["env"]] == [("A", "1"), ("B", "3"), ("C", "4")]


def test_strategic_patch_deletes_one_item_of_a_keyed_list(http: httpx.Client, deployment: str) -> None:
    patch = _template_patch(containers=[{"name": "side", "$patch": "delete"}])
    containers = _patched(http, deployment, STRATEGIC, patch)["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in containers] == ["main"]


def test_strategic_patch_replaces_a_keyed_list_on_demand(http: httpx.Client, deployment: str) -> None:
    patch = _template_patch(containers=[{"$patch": "replace"}, {"name": "new", "image": "new:1"}])
    containers = _patched(http, deployment, STRATEGIC, patch)["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in containers] == ["new"]


def test_strategic_patch_orders_a_keyed_list_on_demand(http: httpx.Client, deployment: str) -> None:
    order = [{"name": "first"}, {"name": "side"}, {"name": "main"}]
    patch = _template_patch(
        **{"$setElementOrder/containers": order, "containers": [{"name": "first", "image": "first:1"}]}
    )
    containers = _patched(http, deployment, STRATEGIC, patch)["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in containers] == ["first", "side", "main"]


def test_strategic_patch_without_a_merge_key_is_a_bad_request(http: httpx.Client, deployment: str) -> None:
    answer = _patch(http, deployment, STRATEGIC, _template_patch(containers=[{"image": "x"}]))
    assert answer.status_code == 400
    assert "merge key 'name'" in answer.json()["message"]


def test_strategic_patch_of_a_budget_replaces_its_selector(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("policy/v1", "poddisruptionbudgets", budget(), namespace="default")
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"
    patched = _patched(http, path, STRATEGIC, {"spec": {"selector": {"matchLabels": {"tier": "x"}}}})
    assert patched["spec"]["selector"] == {"matchLabels": {"tier": "x"}}


def test_strategic_patch_adds_finalizers_and_takes_them_off_by_value() -> None:
    target: JsonObject = {"metadata": {"finalizers": ["a", "b"]}}
    added = apply_strategic_patch(target, {"metadata": {"finalizers": ["b", "c"]}}, "Pod")
    assert added == {"metadata": {"finalizers": ["a", "b", "c"]}}
    removal = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "c"]}}
    assert apply_strategic_patch(added, removal, "Pod") == {"metadata": {"finalizers": ["b"]}}
    assert target == {"metadata": {"finalizers": ["a", "b"]}}


def test_strategic_patch_retains_named_keys_only() -> None:
    target: JsonObject = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert apply_strategic_patch(target, patch, "Deployment") == {"spec": {"strategy": {"type": "Recreate"}}}


def test_strategic_patch_that_retains_less_than_it_sets_is_refused() -> None:
    patch = {"strategy": {"$retainKeys": ["rollingUpdate"], "type": "Recreate"}}
    with pytest.raises(ObjectError, match="must list every field") as caught:
        apply_strategic_patch({"strategy": {}}, patch, "Deployment")
    assert caught.value.status == 422


def test_strategic_patch_replaces_and_deletes_objects_on_demand() -> None:
    target: JsonObject = {"metadata": {"labels": {"a": "1"}, "annotations": {"b": "2"}}}
    patch = {"metadata": {"labels": {"$patch": "replace", "c": "3"}, "annotations": {"$patch": "delete"}}}
    assert apply_strategic_patch(target, patch, "Pod") == {"metadata": {"labels": {"c": "3"}, "annotations": {}}}


@pytest.mark.parametrize("directive", [{"$patch": "mangle"}, {"$unheard": 1}])
def test_strategic_patch_with_an_unknown_directive_is_a_bad_request(directive: JsonObject) -> None:
    with pytest.raises(ObjectError, match="unknown patch directive") as caught:
        apply_strategic_patch({"metadata": {}}, {"metadata": directive}, "Pod")
    assert caught.value.status == 400


def test_json_patch_adds_replaces_moves_copies_and_removes(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(labels={"a": "1", "x/y": "2"}, taints=[TAINT]))
    operations = [
        {"op": "test", "path": "/spec/taints/0/key", "value": "a"},
        {"op": "add", "path": "/spec/taints/-", "value": {"key": "z", "effect": "NoExecute"}},
        {"op": "add", "path": "/spec/taints/0", "value": {"key": "first", "effect": "NoExecute"}},
        {"op": "replace", "path": "/metadata/labels/a", "value": "changed"},
        {"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/labels/b"},
        {"op": "move", "from": "/metadata/labels/x~1y", "path": "/metadata/labels/moved"},
        {"op": "remove", "path": "/spec/taints/1"},
    ]
    patched = _patched(http, NODE, JSON, operations)
    assert patched["metadata"]["labels"] == {"a": "changed", "b": "changed", "moved": "2"}
    assert [taint["key"] for taint in patched["spec"]["taints"]] == ["first", "z"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/metadata/name", "value": "other"},
        {"op": "remove", "path": "/spec/absent"},
        {"op": "replace", "path": "/spec/absent", "value": 1},
        {"op": "add", "path": "/spec/absent/deeper", "value": 1},
        {"op": "add", "path": "/spec/taints/9", "value": 1},
        {"op": "move", "from": "/absent", "path": "/spec/x"},
        {"op": "test", "path": "/spec/unschedulable", "value": 1},
    ],
)
def test_json_patch_that_cannot_be_applied_changes_nothing(
    http: httpx.Client, cluster: StoreClient, operation: JsonObject
) -> None:
    before = cluster.create("v1", "nodes", node(taints=[TAINT], unschedulable=True))
    first = {"op": "add", "path": "/metadata/labels", "value": {"half": "done"}}
    answer = _patch(http, NODE, JSON, [first, operation])
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert cluster.get("v1", "nodes", "n") == before


@pytest.mark.parametrize(
    "patch", [{"op": "add"}, [{"op": "add", "path": "/a"}], [{"op": "jump", "path": ""}], [{"op": "test", "path": "a"}]]
)
def test_malformed_json_patch_is_a_bad_request(http: httpx.Client, cluster: StoreClient, patch: Any) -> None:
    cluster.create("v1", "nodes", node())
    assert _patch(http, NODE, JSON, patch).status_code == 400


_scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~", max_size=2)
_values: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
)
_documents = st.dictionaries(st.text("ab/~", min_size=1, max_size=2), _values, max_size=4)


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


@given(document=_documents, name=st.text("ab/~", min_size=1, max_size=2), value=_values)
def test_what_a_json_patch_adds_it_finds_and_can_take_away(document: JsonObject, name: str, value: Any) -> None:
    added = apply_json_patch(document, [{"op": "add", "path": _pointer(name), "value": value}])
    assert added == {**document, name: value}
    assert apply_json_patch(added, [{"op": "test", "path": _pointer(name), "value": value}]) == added
    removed = apply_json_patch(added, [{"op": "remove", "path": _pointer(name)}])
    assert removed == {key: item for key, item in document.items() if key != name}


@given(target=_documents, patch=_documents)
def test_merge_patch_is_idempotent_and_keeps_its_target(target: JsonObject, patch: JsonObject) -> None:
    before = repr(target)
    once = apply_merge_patch(target, patch)
    assert apply_merge_patch(once, patch) == once
    assert repr(target) == before


def test_apply_creates_then_merges(http: httpx.Client, cluster: StoreClient) -> None:
    path = "/api/v1/namespaces/default/configmaps/c"
    answer = _patch(http, path, APPLY, config_map(a="1"), fieldManager="me")
    assert answer.status_code == 201
    assert _patched(http, path, APPLY, config_map(b="2"), fieldManager="me")["data"] == {"a": "1", "b": "2"}
    assert cluster.get("v1", "configmaps", "c", namespace="default")["data"] == {"a": "1", "b": "2"}


def test_apply_takes_yaml_and_needs_a_field_manager(http: httpx.Client) -> None:
    path, headers = "/api/v1/namespaces/default/configmaps/c", {"Content-Type": APPLY}
    content = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {since: '2026-01-01'}\n"
    assert http.patch(path, content=content, headers=headers).status_code == 422
    made = http.patch(path, content=content, headers=headers, params={"fieldManager": "me"}).json()
    assert made["data"] == {"since": "2026-01-01"}


def test_unknown_patch_format_is_an_unsupported_media_type(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    answer = _patch(http, NODE, "application/json", {"spec": {}})
    assert (answer.status_code, answer.json()["reason"]) == (415, "UnsupportedMediaType")
    assert MERGE in answer.json()["message"]


def test_dry_run_of_a_patch_shows_the_result_and_keeps_the_object(http: httpx.Client, cluster: StoreClient) -> None:
    before = cluster.create("v1", "nodes", node())
    shown = _patched(http, NODE, STRATEGIC, {"spec": {"unschedulable": True}}, dryRun="All")
    assert shown["spec"]["unschedulable"] is True
    assert cluster.get("v1", "nodes", "n") == before


def test_patch_cannot_rename_an_object(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    answer = _patch(http, "/api/v1/namespaces/default/pods/p", MERGE, {"metadata": {"name": "q"}})
    assert answer.status_code == 400


def test_patch_that_breaks_a_rule_is_refused(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(providerID="exoscale://one"))
    answer = _patch(http, NODE, MERGE, {"spec": {"providerID": "exoscale://two"}})
    assert answer.status_code == 422
    assert answer.json()["details"]["causes"][0]["field"] == "spec.providerID"
