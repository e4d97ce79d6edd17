"""What events prove about there being nothing to do, and for whom."""

from __future__ import annotations

from typing import Any

import pytest

from exoscaler.ports.events import FunctionName, OperationKind, Relevance, Wakeup, WakeupKind
from tests.adapters.events.requests import enclosed, event, referenced

UNSCHEDULABLE = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
}
DAEMON_SET = {"ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": True}]}
EVENT_TIME = "2026-12-01T03:15:00.5Z"


def pod(change: str = "update", **fields: Any) -> Wakeup:
    return enclosed(change, "Pod", **{"status": UNSCHEDULABLE, **fields}).decoded()


def node(conditions: dict[str, tuple[str, str]], *, time: str = EVENT_TIME, change: str = "update") -> Wakeup:
    listed = [
        {"type": kind, "status": status, "lastTransitionTime": since} for kind, (status, since) in conditions.items()
    ]
    return enclosed(change, "Node", time=time, status={"conditions": listed}).decoded()


LONG_AGO = "2026-12-01T03:00:00Z"
STEADY = {"Ready": ("True", LONG_AGO), "DiskPressure": ("False", LONG_AGO)}


@pytest.mark.parametrize("change", ["add", "update"])
@pytest.mark.parametrize(
    ("fields", "relevance"),
    [
        ({}, Relevance.RELEVANT),
        ({"spec": {"nodeName": "n"}}, Relevance.POD_ALREADY_BOUND),  # R14
        ({"spec": {"nodeName": ""}}, Relevance.RELEVANT),
        ({"spec": {"nodeName": None}, "metadata": {"ownerReferences": None}}, Relevance.RELEVANT),
        ({"status": {"phase": "Succeeded"}, "spec": {"nodeName": "n"}}, Relevance.POD_FINISHED),  # R12
        ({"status": {"phase": "Failed"}}, Relevance.POD_FINISHED),
        ({"status": {"phase": "Unknown", **UNSCHEDULABLE}}, Relevance.RELEVANT),
        ({"metadata": {"deletionTimestamp": LONG_AGO}}, Relevance.POD_BEING_DELETED),  # R14
        (
            {"metadata": {"deletionTimestamp": LONG_AGO}, "spec": {"nodeName": "n"}},
            Relevance.POD_ALREADY_BOUND,  # R14: even if terminating
        ),
        ({"status": {**UNSCHEDULABLE, "nominatedNodeName": "n"}}, Relevance.POD_NOMINATED),  # R14, R16
        ({"metadata": DAEMON_SET}, Relevance.POD_OF_DAEMON_SET),  # R27
        (
            {"metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}}},
            Relevance.POD_OF_DAEMON_SET,
        ),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "a"}]}}, Relevance.RELEVANT),
        ({"spec": {"schedulingGates": [{"name": "g"}]}}, Relevance.POD_GATED),  # R211
        ({"spec": {"schedulingGates": []}}, Relevance.RELEVANT),
        ({"status": {"phase": "Pending"}}, Relevance.POD_NOT_TRIED_YET),  # R14
        ({"status": {"phase": "Pending"}, "spec": {"schedulerName": "default-scheduler"}}, Relevance.POD_NOT_TRIED_YET),
        # F33: a scheduler that never gives a verdict
        ({"status": {"phase": "Pending"}, "spec": {"schedulerName": "volcano"}}, Relevance.RELEVANT),
        (
            {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError"}]}},
            Relevance.RELEVANT,
        ),
    ],
)
def test_pod_shows_something_unless_it_proves_that_it_needs_no_node(
    change: str, fields: dict[str, Any], relevance: Relevance
) -> None:
    assert pod(change, **fields).relevance is relevance


def test_deleted_pod_and_expired_event_show_nothing_in_either_mode_and_a_deleted_node_something() -> None:
    for source in (enclosed, referenced):
        assert source("delete", "Pod").decoded().relevance is Relevance.POD_DELETED
        assert source("delete", "Event").decoded().relevance is Relevance.EVENT_EXPIRED
        assert source("delete", "Node").decoded().relevance is Relevance.RELEVANT


@pytest.mark.parametrize("kind", ["Pod", "Node", "Event"])
@pytest.mark.parametrize("change", ["add", "update"])
def test_reference_says_too_little_to_be_shrugged_off(kind: str, change: str) -> None:
    assert referenced(change, kind).decoded().relevance is Relevance.RELEVANT


def test_update_of_a_node_long_healthy_is_a_heartbeat() -> None:
    assert node(STEADY).relevance is Relevance.NODE_STEADY
    assert node({"Ready": ("True", "2026-12-01T03:13:00.5Z")}).relevance is Relevance.NODE_STEADY  # two minutes


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"DiskPressure": ("False", LONG_AGO)},
        {**STEADY, "Ready": ("False", LONG_AGO)},
        {**STEADY, "Ready": ("Unknown", LONG_AGO)},
        {**STEADY, "Ready": ("True", "2026-12-01T03:13:30Z")},
        {**STEADY, "DiskPressure": ("True", LONG_AGO)},
        {**STEADY, "NetworkUnavailable": ("False", "2026-12-01T03:14:59Z")},
        {**STEADY, "KernelDeadlock": ("Unknown", LONG_AGO)},
        {**STEADY, "Ready": ("True", "long ago")},
        {**STEADY, "Ready": ("True", "2026-12-01T04:00:00Z")},
    ],
    ids=[
        "no conditions",
        "no Ready condition",
        "not ready",
        "silent",
        "ready for 90 seconds",
        "under pressure",
        "network came up just now",
        "a condition nobody knows",
        "a time nobody can read",
        "a change in the future",
    ],
)
def test_node_that_is_not_long_healthy_shows_something(conditions: dict[str, tuple[str, str]]) -> None:
    assert node(conditions).relevance is Relevance.RELEVANT


def test_node_proves_nothing_without_the_time_of_the_event() -> None:
    assert node(STEADY, time="").relevance is Relevance.RELEVANT


def test_added_node_and_one_being_deleted_show_something_however_healthy() -> None:
    assert node(STEADY, change="add").relevance is Relevance.RELEVANT
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}]
    leaving = enclosed(
        "update", "Node", time=EVENT_TIME, metadata={"deletionTimestamp": LONG_AGO}, status={"conditions": conditions}
    )
    assert leaving.decoded().relevance is Relevance.RELEVANT


POD_REFERENCE = {"kind": "Pod", "namespace": "shop", "name": "web-1"}


@pytest.mark.parametrize(("api_version", "field"), [("v1", "involvedObject"), ("events.k8s.io/v1", "regarding")])
def test_failed_scheduling_is_about_the_pod_in_both_event_apis(api_version: str, field: str) -> None:
    about: dict[str, Any] = {field: POD_REFERENCE}
    wakeup = enclosed("add", "Event", api_version=api_version, reason="FailedScheduling", **about).decoded()

    assert (wakeup.kind, wakeup.relevance) == (WakeupKind.KUBERNETES_EVENT, Relevance.RELEVANT)
    assert (wakeup.subject_namespace, wakeup.subject_name) == ("shop", "web-1")


@pytest.mark.parametrize("reason", ["Scheduled", "TriggeredScaleUp", "NotTriggerScaleUp", "ScaleDown", "", None])
def test_other_cluster_events_show_nothing_our_own_included(reason: str | None) -> None:
    wakeup = enclosed("add", "Event", reason=reason, involvedObject=POD_REFERENCE).decoded()

    assert wakeup.relevance is Relevance.EVENT_NOT_ABOUT_SCHEDULING


def test_failed_scheduling_of_something_else_than_a_pod_shows_nothing() -> None:
    wakeup = enclosed(
        "add", "Event", reason="FailedScheduling", involvedObject={"kind": "Workload", "name": "w"}
    ).decoded()

    assert wakeup.relevance is Relevance.EVENT_NOT_ABOUT_SCHEDULING


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "ConfigMap"),
        ("metrics.example.com/v1", "Node"),
        ("apps/v1", "Deployment"),
        ("policy/v1", "PodDisruptionBudget"),
    ],
)
def test_other_objects_are_worth_a_look_whatever_their_shape(api_version: str, kind: str) -> None:
    wakeup = enclosed("update", kind, api_version=api_version, spec="odd", status=[1], reason=5).decoded()

    assert (wakeup.kind, wakeup.relevance, wakeup.subject_name) == (WakeupKind.OTHER, Relevance.RELEVANT, "one")


# --- for whom ------------------------------------------------------------------------------------------------------

ALL = frozenset(FunctionName)
EVALUATE, SCALE_UP, SCALE_DOWN = FunctionName.EVALUATE, FunctionName.SCALE_UP, FunctionName.SCALE_DOWN


@pytest.mark.parametrize(
    ("wakeup", "looking"),
    [
        (Wakeup(WakeupKind.TICK), ALL),
        (Wakeup(WakeupKind.OTHER), ALL),
        (Wakeup(WakeupKind.POD), {EVALUATE, SCALE_DOWN}),
        (Wakeup(WakeupKind.NODE), {EVALUATE, SCALE_UP, SCALE_DOWN}),
        (Wakeup(WakeupKind.KUBERNETES_EVENT), {EVALUATE}),
        (Wakeup(WakeupKind.OPERATION_PLANNED, operation_kind=OperationKind.GROW), {SCALE_UP}),
        (Wakeup(WakeupKind.OPERATION_PLANNED, operation_kind=OperationKind.SHRINK), {SCALE_DOWN}),
        # a replacement that became ready lets a disruption budget allow the next eviction
        (Wakeup(WakeupKind.POD, relevance=Relevance.POD_ALREADY_BOUND), {SCALE_DOWN}),
        # a drain goes on when pods end or leave
        (Wakeup(WakeupKind.POD, relevance=Relevance.POD_FINISHED), {SCALE_DOWN}),
        (Wakeup(WakeupKind.POD, relevance=Relevance.POD_DELETED), {SCALE_DOWN}),
        (Wakeup(WakeupKind.POD, relevance=Relevance.POD_NOT_TRIED_YET), set()),
        (Wakeup(WakeupKind.POD, relevance=Relevance.POD_OF_DAEMON_SET), set()),
        # R20, R21: a steady node may have lost its startup taint or gained its GPUs
        (Wakeup(WakeupKind.NODE, relevance=Relevance.NODE_STEADY), {SCALE_UP}),
        (Wakeup(WakeupKind.KUBERNETES_EVENT, relevance=Relevance.EVENT_NOT_ABOUT_SCHEDULING), set()),
    ],
)
def test_functions_that_look(wakeup: Wakeup, looking: set[FunctionName]) -> None:
    assert {name for name in FunctionName if wakeup.relevance_to(name) is Relevance.RELEVANT} == looking


def test_function_that_does_not_look_can_say_why() -> None:
    assert pod(spec={"nodeName": "n"}).relevance_to(EVALUATE) is Relevance.POD_ALREADY_BOUND
    assert pod(spec={"nodeName": "n"}).relevance_to(SCALE_UP) is Relevance.NOT_FOR_THIS_FUNCTION
    assert event().decoded().relevance_to(FunctionName.REFRESH) is Relevance.RELEVANT


def test_evaluate_never_wakes_itself() -> None:
    planned = Wakeup(WakeupKind.OPERATION_PLANNED, operation_kind=OperationKind.GROW)

    assert planned.relevance_to(EVALUATE) is Relevance.NOT_FOR_THIS_FUNCTION
