"""Watches: every change, once, in order, from any version that is still known."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import kubernetes.client
import kubernetes.watch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes.client import ApiClient

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes import KubernetesSandbox, StoreClient
from exoscaler.sandbox.kubernetes.resources import PODS
from exoscaler.sandbox.kubernetes.selection import parse_selection
from exoscaler.sandbox.objects import JsonObject
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.kubernetes.builders import config_map, node, pod


@contextmanager
def _watching(http: httpx.Client, path: str, **query: Any) -> Iterator[Callable[[], JsonObject]]:
    """Open a watch; what is yielded waits for its next event."""
    with http.stream("GET", path, params={"watch": "true", "timeoutSeconds": 20, **query}) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        yield lambda: json.loads(next(lines))


def _told(event: JsonObject) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"]["name"]


def test_watch_tells_every_change_with_its_version(http: httpx.Client, cluster: StoreClient) -> None:
    start = http.get("/api/v1/nodes").json()["metadata"]["resourceVersion"]
    with _watching(http, "/api/v1/nodes", resourceVersion=start) as following:
        cluster.create("v1", "nodes", node("a"))
        cluster.patch("v1", "nodes", "a", {"spec": {"unschedulable": True}})
        cluster.delete("v1", "nodes", "a")
        events = [following() for _ in range(3)]
    assert [_told(event) for event in events] == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))
    assert events[1]["object"]["spec"]["unschedulable"] is True
    assert events[0]["object"]["kind"] == "Node"


def test_watch_from_a_version_replays_what_came_after_it(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("before"))
    start = http.get("/api/v1/nodes").json()["metadata"]["resourceVersion"]
    cluster.create("v1", "nodes", node("after"))
    with _watching(http, "/api/v1/nodes", resourceVersion=start) as following:
        assert _told(following()) == ("ADDED", "after")


@pytest.mark.parametrize("version", [None, "0"])
def test_watch_without_a_version_starts_with_what_exists(
    http: httpx.Client, cluster: StoreClient, version: str | None
) -> None:
    cluster.create("v1", "nodes", node("a"))
    cluster.create("v1", "nodes", node("b"))
    query = {} if version is None else {"resourceVersion": version}
    with _watching(http, "/api/v1/nodes", **query) as following:
        assert [_told(following()) for _ in range(2)] == [("ADDED", "a"), ("ADDED", "b")]
        cluster.create("v1", "nodes", node("c"))
        assert _told(following()) == ("ADDED", "c")


def test_watch_of_a_selection_sees_objects_enter_and_leave_it(http: httpx.Client, cluster: StoreClient) -> None:
    with _watching(http, "/api/v1/nodes", labelSelector="pool=a") as following:
        cluster.create("v1", "nodes", node("n", labels={"pool": "b"}))
        cluster.patch("v1", "nodes", "n", {"metadata": {"labels": {"pool": "a"}}})
        cluster.patch("v1", "nodes", "n", {"metadata": {"labels": {"pool": "b"}}})
        cluster.delete("v1", "nodes", "n")
        cluster.create("v1", "nodes", node("end", labels={"pool": "a"}))
        events = [following() for _ in range(3)]
    assert [_told(event) for event in events] == [("ADDED", "n"), ("DELETED", "n"), ("ADDED", "end")]
    assert events[1]["object"]["metadata"]["labels"] == {"pool": "a"}


def test_watch_of_pending_pods_by_field_sees_them_leave_when_bound(http: httpx.Client, cluster: StoreClient) -> None:
    with _watching(http, "/api/v1/namespaces/default/pods", fieldSelector="spec.nodeName=") as following:
        cluster.create("v1", "pods", pod("p"), namespace="default")
        cluster.create("v1", "pods", pod("other", namespace="kube-system"), namespace="kube-system")
        cluster.bind("default", "p", "n")
        assert [_told(following()) for _ in range(2)] == [("ADDED", "p"), ("DELETED", "p")]


def test_watch_from_a_forgotten_version_ends_with_410(http: httpx.Client, cluster: StoreClient) -> None:
    start = http.get("/api/v1/nodes").json()["metadata"]["resourceVersion"]
    cluster.create("v1", "nodes", node("a"))
    http.post("/_sandbox/compact")
    with _watching(http, "/api/v1/nodes", resourceVersion=start) as following:
        event = following()
        assert event["type"] == "ERROR"
        assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
        with pytest.raises(StopIteration):
            following()


def test_history_that_overflows_expires_old_versions(http: httpx.Client) -> None:
    small = KubernetesSandbox(SandboxClock(), history=5)
    for index in range(8):
        small.client.create("v1", "nodes", node(f"n{index}"))
    last = small.store.storage.version
    assert len(small.store.storage.changes(("v1", "nodes"), last - 5)) == 5
    with pytest.raises(Exception, match="too old resource version"):
        small.store.storage.changes(("v1", "nodes"), last - 6)


def test_watch_ends_after_its_timeout_with_a_bookmark(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("a"))
    query = {"watch": "1", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
    lines = [json.loads(line) for line in http.get("/api/v1/nodes", params=query).text.splitlines()]
    assert [line["type"] for line in lines] == ["ADDED", "BOOKMARK"]
    bookmark = lines[-1]["object"]
    assert bookmark["kind"] == "Node"
    assert int(bookmark["metadata"]["resourceVersion"]) >= int(lines[0]["object"]["metadata"]["resourceVersion"])


def test_end_of_initial_events_is_marked_on_request(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("a"))
    query = {"sendInitialEvents": "true", "allowWatchBookmarks": "true", "resourceVersionMatch": "NotOlderThan"}
    with _watching(http, "/api/v1/nodes", **query) as following:
        assert _told(following()) == ("ADDED", "a")
        mark = following()
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_watch_with_a_malformed_version_is_a_bad_request(http: httpx.Client) -> None:
    answer = http.get("/api/v1/nodes", params={"watch": "true", "resourceVersion": "x"})
    assert answer.status_code == 400


def test_many_watches_run_side_by_side_without_threads(http: httpx.Client, cluster: StoreClient, url: str) -> None:
    count = 60
    before = threading.active_count()
    with httpx.Client(base_url=url, limits=httpx.Limits(max_connections=None), timeout=20) as many:
        opened = [_watching(many, "/api/v1/nodes") for _ in range(count)]
        followers = [each.__enter__() for each in opened]
        cluster.create("v1", "nodes", node("a"))
        assert {_told(following()) for following in followers} == {("ADDED", "a")}
        assert threading.active_count() < before + count
        for each in opened:
            each.__exit__(None, None, None)


def test_watches_can_be_ended_in_good_order(
    http: httpx.Client, sandbox: KubernetesSandbox, cluster: StoreClient
) -> None:
    with http.stream("GET", "/api/v1/nodes", params={"watch": "true"}) as answer:
        lines = answer.iter_lines()
        cluster.create("v1", "nodes", node("a"))
        assert _told(json.loads(next(lines))) == ("ADDED", "a")
        sandbox.end_watches()
        assert list(lines) == []


def test_watch_that_the_server_has_to_stop_ends_as_an_answer_does(sandbox: KubernetesSandbox) -> None:
    server = HttpServer(sandbox.app).start()
    with httpx.stream("GET", f"{server.url}/api/v1/nodes", params={"watch": "true"}, timeout=20) as answer:
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert list(answer.iter_lines()) == []
        stopping.join()


def test_official_client_resumes_its_watch_where_it_stopped(official: ApiClient, cluster: StoreClient) -> None:
    api = kubernetes.client.CoreV1Api(official)
    cluster.create("v1", "nodes", node("a"))
    watcher: Any = kubernetes.watch.Watch  # untyped upstream
    following = watcher()
    seen = []
    for event in following.stream(api.list_node, timeout_seconds=10):
        seen.append((event["type"], event["object"].metadata.name))
        if seen[-1] == ("ADDED", "a"):
            cluster.create("v1", "nodes", node("b"))
        elif seen[-1] == ("ADDED", "b"):
            cluster.delete("v1", "nodes", "a")
        else:
            following.stop()
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


_steps = st.lists(
    st.tuples(st.sampled_from(["create", "relabel", "delete"]), st.sampled_from("pqr"), st.sampled_from("xy")),
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(steps=_steps, start=st.integers(0, 30), labels=st.sampled_from(["", "app=x", "app!=x"]))
def test_replaying_a_watch_on_a_list_gives_the_later_list(
    steps: list[tuple[str, str, str]], start: int, labels: str
) -> None:
    """What an informer relies on: list at any version plus the changes since is the list now."""
    sandbox = KubernetesSandbox(SandboxClock())
    selection = parse_selection(PODS, "default", labels, "")
    known: dict[str, JsonObject] = {}
    version = 0

    def take_list() -> None:
        nonlocal version
        page = sandbox.store.list_objects(PODS, selection)
        known.update({item["metadata"]["name"]: item for item in page.items})
        version = page.version

    for index, step in enumerate(steps):
        if index == start:
            take_list()
        _do(sandbox.client, *step)
    if start >= len(steps):
        take_list()
    for change in sandbox.store.storage.changes(PODS.key, version):
        seen = selection.seen(change)
        if seen is None:
            continue
        kind, obj = seen
        name = obj["metadata"]["name"]
        assert (name in known) is (kind != "ADDED")
        if kind == "DELETED":
            del known[name]
        else:
            known[name] = obj
    assert dict(sorted(known.items())) == {
        item["metadata"]["name"]: item for item in sandbox.store.list_objects(PODS, selection).items
    }


def _do(cluster: StoreClient, action: str, name: str, app: str) -> None:
    exists = any(found["metadata"]["name"] == name for found in cluster.list("v1", "pods"))
    if action == "create" and not exists:
        cluster.create("v1", "pods", pod(name, labels={"app": app}), namespace="default")
    elif action == "relabel" and exists:
        cluster.patch("v1", "pods", name, {"metadata": {"labels": {"app": app}}}, namespace="default")
    elif action == "delete" and exists:
        cluster.delete("v1", "pods", name, namespace="default")


def test_watch_of_another_resource_stays_silent(http: httpx.Client, cluster: StoreClient) -> None:
    with _watching(http, "/api/v1/nodes") as following:
        cluster.create("v1", "configmaps", config_map(), namespace="default")
        cluster.create("v1", "nodes", node("a"))
        assert _told(following()) == ("ADDED", "a")
