"""Objects as rows of a table: what ``kubectl get`` shows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.kubernetes.resources import EVENTS, NODES, PODS, RESOURCES
from exoscaler.sandbox.kubernetes.tables import table_of
from exoscaler.sandbox.kubernetes.tables.columns import human_duration
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.kubernetes.builders import budget, event, node, pod, workload

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def _row(key: tuple[str, str], obj: JsonObject) -> dict[str, Any]:
    obj["metadata"].setdefault("creationTimestamp", "2026-01-01T11:00:00Z")
    table = table_of(RESOURCES[key], [obj], NOW)
    return dict(zip([column.name for column in table.columns], table.rows[0], strict=True))


def _pod_status(obj: JsonObject) -> str:
    return str(_row(PODS.key, obj)["Status"])


def _pod(status: JsonObject, **metadata: Any) -> JsonObject:
    body = pod()
    body["metadata"].update(metadata)
    return {**body, "status": status}


RUNNING = {"ready": True, "restartCount": 0, "state": {"running": {}}}
READY = [{"type": "Ready", "status": "True"}]


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Running", "containerStatuses": [RUNNING], "conditions": READY}, "Running"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        (
            {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]},
            "ErrImagePull",
        ),
        (
            {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"reason": "Completed"}}}]},
            "Completed",
        ),
        ({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}, "ExitCode:3"),
        ({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"signal": 9}}}]}, "Signal:9"),
        (
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
            },
            "SchedulingGated",
        ),
    ],
)
def test_status_of_a_pod_is_one_word(status: JsonObject, shown: str) -> None:
    assert _pod_status(_pod(status)) == shown


def test_pod_that_is_being_deleted_is_terminating_until_it_has_ended() -> None:
    stamp = {"deletionTimestamp": "2026-01-01T12:00:00Z"}
    assert _pod_status(_pod({"phase": "Running"}, **stamp)) == "Terminating"
    assert _pod_status(_pod({"phase": "Succeeded"}, **stamp)) == "Succeeded"
    assert _pod_status(_pod({"phase": "Running", "reason": "NodeLost"}, **stamp)) == "Unknown"


def test_init_containers_are_counted() -> None:
    body = _pod({"phase": "Pending"})
    body["spec"]["initContainers"] = [{"name": "a"}, {"name": "b"}]
    done = {"name": "a", "state": {"terminated": {"exitCode": 0}}}
    body["status"]["initContainerStatuses"] = [done, {"name": "b", "state": {"running": {}}}]
    assert _pod_status(body) == "Init:1/2"
    body["status"]["initContainerStatuses"][1]["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
    assert _pod_status(body) == "Init:CrashLoopBackOff"
    body["status"]["initContainerStatuses"][1]["state"] = {"terminated": {"exitCode": 1, "reason": "Error"}}
    assert _pod_status(body) == "Init:Error"


def test_row_of_a_pod() -> None:
    status = {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [{**RUNNING, "restartCount": 2}]}
    body = _pod(status)
    body["spec"]["nodeName"] = "n1"
    row = _row(PODS.key, body)
    assert (row["Name"], row["Ready"], row["Restarts"], row["Age"]) == ("p", "1/1", "2", "60m")
    assert (row["IP"], row["Node"], row["Nominated Node"]) == ("10.0.0.1", "n1", "<none>")


@pytest.mark.parametrize(
    ("ready", "cordoned", "shown"),
    [
        ("True", False, "Ready"),
        ("False", False, "NotReady"),
        ("Unknown", False, "NotReady"),
        ("True", True, "Ready,SchedulingDisabled"),
    ],
)
def test_status_of_a_node(ready: str, cordoned: bool, shown: str) -> None:
    body = node(unschedulable=cordoned)
    body["status"]["conditions"][0]["status"] = ready
    assert _row(NODES.key, body)["Status"] == shown


def test_row_of_a_node_names_roles_version_and_address() -> None:
    body = node(labels={"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/etcd": ""})
    body["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.5"}]
    row = _row(NODES.key, body)
    assert (row["Roles"], row["Version"], row["Internal-IP"]) == ("control-plane,etcd", "v1.32.4", "10.0.0.5")
    assert row["External-IP"] == "<none>"
    assert _row(NODES.key, node())["Roles"] == "<none>"


def test_rows_of_workloads() -> None:
    status = {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2}
    deployment = _row(("apps/v1", "deployments"), {**workload(replicas=3), "status": status})
    assert (deployment["Ready"], deployment["Up-to-date"], deployment["Available"]) == ("2/3", 3, 2)
    assert (deployment["Containers"], deployment["Images"], deployment["Selector"]) == (
        "main",
        "registry.local/app:1",
        "app=web",
    )
    replica_set = _row(("apps/v1", "replicasets"), {**workload("ReplicaSet", replicas=3), "status": status})
    assert (replica_set["Desired"], replica_set["Current"], replica_set["Ready"]) == (3, 3, 2)
    stateful_set = _row(("apps/v1", "statefulsets"), {**workload("StatefulSet", replicas=3), "status": status})
    assert stateful_set["Ready"] == "2/3"
    daemon_status = {"desiredNumberScheduled": 4, "currentNumberScheduled": 4, "numberReady": 1}
    daemon_set = _row(("apps/v1", "daemonsets"), {**workload("DaemonSet"), "status": daemon_status})
    assert (daemon_set["Desired"], daemon_set["Ready"], daemon_set["Node Selector"]) == (4, 1, "<none>")


@pytest.mark.parametrize(
    ("spec", "status", "completions", "shown"),
    [
        ({"completions": 3}, {"succeeded": 1}, "1/3", "Running"),
        ({"parallelism": 4}, {}, "0/1 of 4", "Running"),
        (
            {"completions": 1},
            {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]},
            "1/1",
            "Complete",
        ),
        ({"completions": 1}, {"conditions": [{"type": "Failed", "status": "True"}]}, "0/1", "Failed"),
        ({"completions": 1}, {"conditions": [{"type": "Suspended", "status": "True"}]}, "0/1", "Suspended"),
    ],
)
def test_row_of_a_job(spec: JsonObject, status: JsonObject, completions: str, shown: str) -> None:
    row = _row(("batch/v1", "jobs"), {**workload("Job", **spec), "status": status})
    assert (row["Completions"], row["Status"]) == (completions, shown)


def test_duration_of_a_job_ends_with_it() -> None:
    status = {"startTime": "2026-01-01T11:00:00Z"}
    assert _row(("batch/v1", "jobs"), {**workload("Job"), "status": status})["Duration"] == "60m"
    status = {**status, "completionTime": "2026-01-01T11:01:30Z"}
    assert _row(("batch/v1", "jobs"), {**workload("Job"), "status": status})["Duration"] == "90s"


def test_row_of_an_event_says_how_often_and_since_when() -> None:
    body = event(count=3, firstTimestamp="2026-01-01T11:00:00Z", lastTimestamp="2026-01-01T11:59:00Z")
    row = _row(EVENTS.key, body)
    assert (row["Last Seen"], row["Object"], row["Source"]) == ("60s (x3 over 60m)", "pod/p", "default-scheduler")
    assert (row["Type"], row["Reason"], row["Message"]) == ("Warning", "FailedScheduling", "0/1 nodes are available")


def test_rows_of_budgets_and_config_maps() -> None:
    row = _row(("policy/v1", "poddisruptionbudgets"), {**budget(), "status": {"disruptionsAllowed": 2}})
    assert (row["Min Available"], row["Max Unavailable"], row["Allowed Disruptions"]) == ("1", "N/A", 2)
    content = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}, "binaryData": {"b": "", "c": ""}}
    assert _row(("v1", "configmaps"), content)["Data"] == 3


@pytest.mark.parametrize("key", list(RESOURCES))
def test_every_resource_has_a_table_that_bears_an_empty_object(key: tuple[str, str]) -> None:
    row = _row(key, {"kind": RESOURCES[key].kind, "metadata": {"name": "x"}})
    assert row["Name"] == "x"


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        (timedelta(seconds=-5), "<invalid>"),
        (timedelta(0), "0s"),
        (timedelta(seconds=119), "119s"),
        (timedelta(seconds=120), "2m"),
        (timedelta(minutes=9, seconds=5), "9m5s"),
        (timedelta(minutes=179), "179m"),
        (timedelta(hours=3, minutes=20), "3h20m"),
        (timedelta(hours=47), "47h"),
        (timedelta(days=2, hours=3), "2d3h"),
        (timedelta(days=100), "100d"),
        (timedelta(days=3 * 365 + 4), "3y4d"),
        (timedelta(days=9 * 365), "9y"),
    ],
)
def test_spans_are_shown_in_two_units_at_most(span: timedelta, shown: str) -> None:
    assert human_duration(span.total_seconds()) == shown


def test_table_over_http_has_columns_rows_and_metadata(http: httpx.Client, cluster: StoreClient) -> None:
    for name in ("a", "b", "c"):
        cluster.create("v1", "nodes", node(name))
    table = http.get("/api/v1/nodes", params={"limit": 2}, headers=TABLE).json()
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    names = [column["name"] for column in table["columnDefinitions"]]
    assert names[:5] == ["Name", "Status", "Roles", "Age", "Version"]
    assert [row["cells"][0] for row in table["rows"]] == ["a", "b"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert table["metadata"]["continue"]
    assert table["metadata"]["remainingItemCount"] == 1
    whole = http.get("/api/v1/nodes/a", params={"includeObject": "Object"}, headers=TABLE).json()
    assert whole["rows"][0]["object"]["kind"] == "Node"
    bare = http.get("/api/v1/nodes/a", params={"includeObject": "None"}, headers=TABLE).json()
    assert "object" not in bare["rows"][0]


def test_watch_as_table_describes_its_columns_once(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("a"))
    cluster.create("v1", "nodes", node("b"))
    lines = http.get("/api/v1/nodes", params={"watch": "true", "timeoutSeconds": 1}, headers=TABLE).text.splitlines()
    tables = [json.loads(line)["object"] for line in lines]
    assert [table["rows"][0]["cells"][0] for table in tables] == ["a", "b"]
    assert tables[0]["columnDefinitions"]
    assert tables[1]["columnDefinitions"] is None
