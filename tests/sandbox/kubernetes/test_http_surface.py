"""Discovery, formats, status objects: what a client sees before it sees objects."""

from __future__ import annotations

import httpx
import pytest

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from tests.sandbox.kubernetes.builders import config_map, node

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_is_told_in_plain_text(http: httpx.Client, path: str) -> None:
    assert http.get(path).text == "ok"


def test_version_says_which_kubernetes_this_is_like(http: httpx.Client) -> None:
    version = http.get("/version").json()
    assert (version["major"], version["minor"]) == ("1", "32")


def test_every_resource_is_discovered_with_its_verbs(http: httpx.Client) -> None:
    listed = [http.get("/api/v1").json()]
    for group in http.get("/apis").json()["groups"]:
        assert http.get(f"/apis/{group['name']}").json()["preferredVersion"] == group["preferredVersion"]
        listed += [http.get(f"/apis/{version['groupVersion']}").json() for version in group["versions"]]
    found = {
        (each["groupVersion"], entry["name"]): entry
        for each in listed
        for entry in each["resources"]
        if "/" not in entry["name"]
    }
    assert found.keys() == RESOURCES.keys()
    assert found["apps/v1", "deployments"]["shortNames"] == ["deploy"]
    assert "watch" in found["v1", "pods"]["verbs"]
    assert found["v1", "nodes"]["namespaced"] is False


def test_eviction_is_discovered_with_its_group(http: httpx.Client) -> None:
    """Drain looks for it here."""
    entries = {entry["name"]: entry for entry in http.get("/api/v1").json()["resources"]}
    eviction = entries["pods/eviction"]
    assert (eviction["kind"], eviction["group"], eviction["version"]) == ("Eviction", "policy", "v1")


def test_aggregated_discovery_agrees_with_the_plain_one(http: httpx.Client) -> None:
    names = set()
    for path in ("/api", "/apis"):
        answer = http.get(path, headers={"Accept": f"{AGGREGATED},application/json"})
        assert answer.headers["content-type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        for group in answer.json()["items"]:
            prefix = group["metadata"].get("name", "")
            for version in group["versions"]:
                full = f"{prefix}/{version['version']}" if prefix else version["version"]
                names |= {(full, resource["resource"]) for resource in version["resources"]}
    assert names == RESOURCES.keys()
    assert http.get("/api").json()["versions"] == ["v1"]


def test_openapi_names_the_options_of_writes(http: httpx.Client) -> None:
    for root, entry in http.get("/openapi/v3").json()["paths"].items():
        document = http.get(entry["serverRelativeURL"]).json()
        assert document["openapi"].startswith("3."), root
    patch = http.get("/openapi/v3/apis/apps/v1").json()["paths"][
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    ]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/api/v1/unicorns",
        "/api/v2",
        "/apis/nowhere.io",
        "/apis/apps/v9",
        "/apis/apps/v1/pods",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/nodes/n/scale",
        "/api/v1/pods/p",
        "/openapi/v2",
        "/openapi/v3/apis/nowhere/v1",
        "/api/v1/namespaces/default/pods/p/status/more",
    ],
)
def test_unknown_path_is_answered_with_a_status(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    status = answer.json()
    assert (answer.status_code, status["kind"], status["reason"], status["code"]) == (404, "Status", "NotFound", 404)


def test_status_of_a_missing_object_names_it(http: httpx.Client) -> None:
    status = http.get("/apis/apps/v1/namespaces/default/deployments/web").json()
    assert status["details"] == {"name": "web", "group": "apps", "kind": "deployments"}
    assert status["status"] == "Failure"
    assert status["metadata"] == {}


def test_items_of_a_list_do_not_repeat_kind_and_version(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    page = http.get("/api/v1/nodes").json()
    assert (page["kind"], page["apiVersion"]) == ("NodeList", "v1")
    assert "kind" not in page["items"][0]
    assert http.get("/api/v1/nodes/n").json()["kind"] == "Node"


def test_metadata_alone_can_be_asked_for(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(labels={"a": "b"}))
    one = http.get("/api/v1/nodes/n", headers={"Accept": METADATA}).json()
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert one["metadata"]["labels"] == {"a": "b"}
    assert "spec" not in one
    page = http.get("/api/v1/nodes", headers={"Accept": METADATA_LIST}).json()
    assert page["kind"] == "PartialObjectMetadataList"
    assert [item["metadata"]["name"] for item in page["items"]] == ["n"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "Node"),
        ("application/yaml, application/json;q=0.5", "Node"),
        ("application/vnd.kubernetes.protobuf,application/json", "Node"),
        (f"{TABLE},application/json", "Table"),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "Node"),
        ("application/json;q=0.1," + TABLE, "Table"),
        ("application/json;as=Unicorn;v=v1;g=meta.k8s.io,application/json", "Node"),
    ],
)
def test_first_acceptable_form_is_given(http: httpx.Client, cluster: StoreClient, accept: str, kind: str) -> None:
    cluster.create("v1", "nodes", node())
    assert http.get("/api/v1/nodes/n", headers={"Accept": accept}).json()["kind"] == kind


@pytest.mark.parametrize("accept", ["text/html", "application/vnd.kubernetes.protobuf", "application/json;q=0"])
def test_form_that_the_server_cannot_give_is_not_acceptable(
    http: httpx.Client, cluster: StoreClient, accept: str
) -> None:
    cluster.create("v1", "nodes", node())
    assert http.get("/api/v1/nodes/n", headers={"Accept": accept}).status_code == 406


def test_yaml_bodies_are_read(http: httpx.Client) -> None:
    content = "kind: ConfigMap\nmetadata:\n  name: c\ndata:\n  day: '2026-01-01'\n"
    answer = http.post(
        "/api/v1/namespaces/default/configmaps", content=content, headers={"Content-Type": "application/yaml"}
    )
    assert (answer.status_code, answer.json()["data"]) == (201, {"day": "2026-01-01"})


def test_body_in_another_format_is_unsupported(http: httpx.Client) -> None:
    answer = http.post("/api/v1/namespaces/default/configmaps", content="<x/>", headers={"Content-Type": "text/xml"})
    assert (answer.status_code, answer.json()["reason"]) == (415, "UnsupportedMediaType")


def test_deletion_answers_with_a_status_or_with_the_object(http: httpx.Client, cluster: StoreClient) -> None:
    created = cluster.create("v1", "configmaps", config_map(), namespace="default")
    cluster.create("v1", "namespaces", {"metadata": {"name": "team"}})
    status = http.delete("/api/v1/namespaces/default/configmaps/c").json()
    assert (status["kind"], status["status"]) == ("Status", "Success")
    assert status["details"]["uid"] == created["metadata"]["uid"]
    assert http.delete("/api/v1/namespaces/team").json()["kind"] == "Namespace"


def test_deletion_options_come_from_body_or_query(http: httpx.Client, cluster: StoreClient) -> None:
    created = cluster.create("v1", "configmaps", config_map(), namespace="default")
    path = "/api/v1/namespaces/default/configmaps/c"
    assert http.delete(path, params={"dryRun": "All"}).status_code == 200
    wrong = {"preconditions": {"uid": "another"}}
    assert http.request("DELETE", path, json=wrong).status_code == 409
    assert http.delete(path, params={"propagationPolicy": "Sideways"}).status_code == 422
    right = {
        "preconditions": {"uid": created["metadata"]["uid"], "resourceVersion": created["metadata"]["resourceVersion"]}
    }
    assert http.request("DELETE", path, json=right).status_code == 200
    assert cluster.list("v1", "configmaps") == []


def test_collective_deletion_answers_with_the_list(http: httpx.Client, cluster: StoreClient) -> None:
    for name in ("a", "b"):
        cluster.create("v1", "configmaps", config_map(name, labels={"x": name}), namespace="default")
    answer = http.delete("/api/v1/namespaces/default/configmaps", params={"labelSelector": "x=a"}).json()
    assert answer["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in answer["items"]] == ["a"]
    assert [item["metadata"]["name"] for item in cluster.list("v1", "configmaps")] == ["b"]
