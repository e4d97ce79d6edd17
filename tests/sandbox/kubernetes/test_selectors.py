"""Label and field selectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.kubernetes.label_selectors import parse_label_selector, selector_of
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import event, node, pod

LABELS = {"app": "web", "tier": "front", "size": "7", "example.com/zone": "a"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app!=web", False),
        ("missing!=web", True),
        ("app", True),
        ("missing", False),
        ("!missing", True),
        ("!app", False),
        ("app in (web, api)", True),
        ("app in (api)", False),
        ("app notin (api)", True),
        ("missing notin (api)", True),
        ("missing in (api)", False),
        ("size>6", True),
        ("size<7", False),
        ("app>6", False),
        ("example.com/zone=a", True),
        ("app=web,tier=back", False),
        (" app = web , tier in ( front,back ) ,!gone", True),
        ("missing=", False),
        ("app=", False),
        ("app in (,web)", True),
    ],
)
def test_label_selector_means_what_kubernetes_says(selector: str, matches: bool) -> None:
    assert parse_label_selector(selector).matches(LABELS) is matches


@pytest.mark.parametrize(
    "selector", ["=", "app in", "app in (", "app in (a", "app=a b", "a=b=c", "app,", "size>x", "-a"]
)
def test_malformed_label_selector_is_a_bad_request(cluster: StoreClient, selector: str) -> None:
    with pytest.raises(ObjectError, match="unable to parse requirement") as caught:
        cluster.list("v1", "pods", labels=selector)
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")


_names = st.sampled_from(["a", "b", "c"])
_values = st.sampled_from(["x", "y", "z"])
_label_sets = st.dictionaries(_names, _values)


@given(labels=_label_sets, key=_names, values=st.sets(_values, min_size=1))
def test_text_and_object_form_of_a_selector_agree(labels: dict[str, str], key: str, values: set[str]) -> None:
    listed = ",".join(sorted(values))
    for text, operator in (
        (f"{key} in ({listed})", "In"),
        (f"{key} notin ({listed})", "NotIn"),
        (key, "Exists"),
        (f"!{key}", "DoesNotExist"),
    ):
        expression: JsonObject = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = sorted(values)
        selector = selector_of({"matchExpressions": [expression]})
        assert selector is not None
        assert parse_label_selector(text).matches(labels) is selector.matches(labels)


@given(labels=_label_sets, key=_names, values=st.sets(_values, min_size=1))
def test_in_and_notin_exclude_each_other(labels: dict[str, str], key: str, values: set[str]) -> None:
    listed = ",".join(values)
    inside = parse_label_selector(f"{key} in ({listed})").matches(labels)
    assert inside is not parse_label_selector(f"{key} notin ({listed})").matches(labels)
    assert inside is any(parse_label_selector(f"{key}={value}").matches(labels) for value in values)


def _names_of(found: list[JsonObject]) -> list[str]:
    return [obj["metadata"]["name"] for obj in found]


def test_pods_are_selected_by_node_phase_and_scheduler(cluster: StoreClient) -> None:
    for name in ("a", "b", "c"):
        cluster.create("v1", "pods", pod(name), namespace="default")
    cluster.create("v1", "pods", pod("d", schedulerName="other", restartPolicy="Never"), namespace="default")
    cluster.bind("default", "a", "n1")
    cluster.bind("default", "b", "n2")
    cluster.patch("v1", "pods", "b", {"status": {"phase": "Failed"}}, namespace="default", subresource="status")
    for fields, expected in (
        ("spec.nodeName=n1", ["a"]),
        ("spec.nodeName=", ["c", "d"]),
        ("spec.nodeName!=,status.phase!=Failed", ["a"]),
        ("status.phase==Failed", ["b"]),
        ("spec.schedulerName=other", ["d"]),
        ("spec.restartPolicy=Never", ["d"]),
        ("metadata.name=c", ["c"]),
        ("metadata.namespace=kube-system", []),
    ):
        assert _names_of(cluster.list("v1", "pods", fields=fields)) == expected, fields


def test_nodes_are_selected_by_cordon(cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("open"))
    cluster.create("v1", "nodes", node("shut", unschedulable=True))
    assert _names_of(cluster.list("v1", "nodes", fields="spec.unschedulable=false")) == ["open"]
    assert _names_of(cluster.list("v1", "nodes", fields="spec.unschedulable=true")) == ["shut"]


def test_events_are_selected_by_what_they_are_about(cluster: StoreClient) -> None:
    cluster.create("v1", "events", event("warning"), namespace="default")
    cluster.create("v1", "events", event("normal", type="Normal", reason="Scheduled"), namespace="default")
    for fields, expected in (
        ("involvedObject.name=p,involvedObject.kind=Pod", ["normal", "warning"]),
        ("involvedObject.uid=u,type=Warning", ["warning"]),
        ("reason=Scheduled", ["normal"]),
        ("source=default-scheduler,involvedObject.namespace=default", ["normal", "warning"]),
        ("involvedObject.name=other", []),
    ):
        assert _names_of(cluster.list("v1", "events", fields=fields)) == expected, fields


@pytest.mark.parametrize(
    ("plural", "fields"), [("pods", "spec.hostname=x"), ("nodes", "spec.providerID=x"), ("configmaps", "data.a=b")]
)
def test_field_that_a_real_server_does_not_index_is_a_bad_request(
    cluster: StoreClient, plural: str, fields: str
) -> None:
    with pytest.raises(ObjectError, match="field label not supported") as caught:
        cluster.list("v1", plural, fields=fields)
    assert caught.value.status == 400


def test_malformed_field_selector_is_a_bad_request(cluster: StoreClient) -> None:
    with pytest.raises(ObjectError, match="invalid selector") as caught:
        cluster.list("v1", "pods", fields="spec.nodeName")
    assert caught.value.status == 400


def test_namespace_and_selectors_narrow_together(cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod("a", labels={"app": "x"}), namespace="default")
    cluster.create("v1", "pods", pod("b", labels={"app": "x"}, namespace="kube-system"), namespace="kube-system")
    cluster.create("v1", "pods", pod("c", labels={"app": "y"}), namespace="default")
    assert _names_of(cluster.list("v1", "pods", labels="app=x")) == ["a", "b"]
    assert _names_of(cluster.list("v1", "pods", labels="app=x", namespace="default")) == ["a"]
