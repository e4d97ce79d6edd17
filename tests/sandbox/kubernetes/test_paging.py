"""Lists in pages: together they are the list as it was when the first page was read."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes import HttpObjectClient, KubernetesSandbox, StoreClient
from exoscaler.sandbox.kubernetes.http_client import PAGE_SIZE
from exoscaler.sandbox.kubernetes.paging import PageRequest
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from exoscaler.sandbox.kubernetes.selection import Selection, parse_selection
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import config_map

CONFIG_MAPS = RESOURCES[("v1", "configmaps")]
_namespaces = st.sampled_from(["default", "kube-system"])
_keys = st.tuples(_namespaces, st.text("abc", min_size=1, max_size=3))


def _write_at_random(cluster: StoreClient, key: tuple[str, str], value: str) -> None:
    """Create the object, change it, or, when it has that value already, delete it."""
    namespace, name = key
    found = cluster.list("v1", "configmaps", namespace=namespace, fields=f"metadata.name={name}")
    body = {"metadata": {"name": name, "namespace": namespace, "labels": {"value": value}}}
    if not found:
        cluster.create("v1", "configmaps", body, namespace=namespace)
    elif found[0]["metadata"]["labels"] == {"value": value}:
        cluster.delete("v1", "configmaps", name, namespace=namespace)
    else:
        cluster.update("v1", "configmaps", body, namespace=namespace)


def _pages(
    sandbox: KubernetesSandbox, selection: Selection, limit: int, between: Callable[[], None]
) -> list[list[JsonObject]]:
    pages: list[list[JsonObject]] = []
    token = ""
    while True:
        page = sandbox.store.list_objects(CONFIG_MAPS, selection, PageRequest(limit=limit, continue_token=token))
        pages.append(page.items)
        between()
        token = page.continue_token
        if not token:
            return pages


@settings(max_examples=60, deadline=None)
@given(
    keys=st.sets(_keys, max_size=25),
    limit=st.integers(1, 7),
    namespace=st.sampled_from(["", "default"]),
    labels=st.sampled_from(["", "value=a", "value!=a"]),
    writes=st.lists(st.tuples(_keys, st.sampled_from("ab")), max_size=12),
)
def test_pages_concatenated_are_the_list_whatever_is_written_between_them(
    keys: set[tuple[str, str]], limit: int, namespace: str, labels: str, writes: list[tuple[tuple[str, str], str]]
) -> None:
    sandbox = KubernetesSandbox(SandboxClock())
    for index, key in enumerate(sorted(keys)):
        _write_at_random(sandbox.client, key, "ab"[index % 2])
    selection = parse_selection(CONFIG_MAPS, namespace, labels, "")
    whole = sandbox.store.list_objects(CONFIG_MAPS, selection).items
    pending = list(writes)

    def write() -> None:
        if pending:
            _write_at_random(sandbox.client, *pending.pop())

    pages = _pages(sandbox, selection, limit, write)
    assert [obj for page in pages for obj in page] == whole
    assert all(len(page) <= limit for page in pages)


def _names(page: JsonObject) -> list[str]:
    return [item["metadata"]["name"] for item in page["items"]]


@pytest.fixture
def five(cluster: StoreClient) -> list[str]:
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        cluster.create("v1", "configmaps", config_map(name), namespace="default")
    return names


def test_page_tells_how_many_remain(http: httpx.Client, five: list[str]) -> None:
    page = http.get("/api/v1/configmaps", params={"limit": 2}).json()
    assert page["kind"] == "ConfigMapList"
    assert _names(page) == five[:2]
    assert page["metadata"]["remainingItemCount"] == 3
    rest = http.get("/api/v1/configmaps", params={"continue": page["metadata"]["continue"]}).json()
    assert _names(rest) == five[2:]
    assert "continue" not in rest["metadata"]
    assert rest["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]


def test_page_under_a_selector_does_not_tell_how_many_remain(http: httpx.Client, five: list[str]) -> None:
    page = http.get("/api/v1/configmaps", params={"limit": 2, "labelSelector": "!x"}).json()
    assert page["metadata"]["continue"]
    assert "remainingItemCount" not in page["metadata"]


def test_list_of_nothing_has_no_items_and_a_version(http: httpx.Client) -> None:
    page = http.get("/api/v1/nodes").json()
    assert page["items"] == []
    assert int(page["metadata"]["resourceVersion"]) > 0


def test_continuation_of_a_forgotten_version_expires_with_a_token_to_go_on(
    http: httpx.Client, cluster: StoreClient, five: list[str]
) -> None:
    token = http.get("/api/v1/configmaps", params={"limit": 2}).json()["metadata"]["continue"]
    cluster.delete("v1", "configmaps", "c", namespace="default")
    http.post("/_sandbox/compact")
    answer = http.get("/api/v1/configmaps", params={"limit": 2, "continue": token})
    status = answer.json()
    assert (answer.status_code, status["reason"]) == (410, "Expired")
    rest = http.get("/api/v1/configmaps", params={"continue": status["metadata"]["continue"]}).json()
    assert _names(rest) == ["d", "e"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"continue": "nonsense"}, 400),
        ({"limit": "-1"}, 400),
        ({"limit": "many"}, 400),
        ({"resourceVersion": "abc"}, 400),
        ({"resourceVersion": "999999"}, 504),
        ({"resourceVersion": "5", "resourceVersionMatch": "Sometimes"}, 400),
        ({"resourceVersionMatch": "Exact"}, 400),
    ],
)
def test_impossible_list_options_are_refused(http: httpx.Client, query: dict[str, str], code: int) -> None:
    answer = http.get("/api/v1/configmaps", params=query)
    assert answer.status_code == code
    assert answer.json()["kind"] == "Status"


def test_continue_and_resource_version_exclude_each_other(http: httpx.Client, five: list[str]) -> None:
    page = http.get("/api/v1/configmaps", params={"limit": 2}).json()["metadata"]
    query = {"continue": page["continue"], "resourceVersion": page["resourceVersion"]}
    assert http.get("/api/v1/configmaps", params=query).status_code == 400


def test_list_can_be_read_at_an_exact_version(http: httpx.Client, cluster: StoreClient, five: list[str]) -> None:
    version = http.get("/api/v1/configmaps").json()["metadata"]["resourceVersion"]
    cluster.delete("v1", "configmaps", "a", namespace="default")
    query = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert _names(http.get("/api/v1/configmaps", params=query).json()) == five
    newer = {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"}
    assert _names(http.get("/api/v1/configmaps", params=newer).json()) == five[1:]


def test_http_client_reads_all_pages_as_the_store_has_them(cluster: StoreClient, remote: HttpObjectClient) -> None:
    for index in range(PAGE_SIZE + 20):
        cluster.create("v1", "configmaps", config_map(f"c{index}"), namespace="default")
    assert remote.list("v1", "configmaps") == cluster.list("v1", "configmaps")


def test_http_client_starts_a_list_anew_when_its_pages_expire(
    sandbox: KubernetesSandbox, cluster: StoreClient, remote: HttpObjectClient
) -> None:
    for index in range(PAGE_SIZE + 20):
        cluster.create("v1", "configmaps", config_map(f"c{index}"), namespace="default")
    answers: list[int] = []

    def forget_once(response: httpx.Response) -> None:
        if not answers:
            cluster.delete("v1", "configmaps", "c0", namespace="default")
            sandbox.store.storage.compact()
        answers.append(response.status_code)

    remote._http.event_hooks = {"response": [forget_once]}
    assert len(remote.list("v1", "configmaps")) == PAGE_SIZE + 19
    assert answers == [200, 410, 200, 200]


def test_malformed_request_of_the_http_client_tells_the_servers_reason(remote: HttpObjectClient) -> None:
    with pytest.raises(ObjectError, match="field label not supported") as caught:
        remote.list("v1", "pods", fields="spec.hostname=x")
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")
