from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exoscaler.adapters.kubernetes.decoding import pod_reader
from exoscaler.core.model import (
    Constraint,
    NodeSelectorTerm,
    Operator,
    PodPhase,
    Requirement,
    RestartPolicy,
    SchedulerVerdict,
    TaintEffect,
    Toleration,
    TolerationOperator,
    Volume,
    VolumeKind,
)
from tests.adapters.kubernetes.manifests import pod_manifest
from tests.adapters.kubernetes.pages import JsonObject, page, pod_with, read_pods
from tests.builders import make_daemonset_pod, make_pod, resources

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    "pod",
    [
        make_pod(),
        make_pod(node="a", owner=None, priority=None),
        make_pod(labels={"app": "web"}, annotations={"note": "1"}, verdict=SchedulerVerdict.GATED),
        make_pod(requests=resources(cpu="250m", memory="1Gi", storage="2Gi", nvidia_com__gpu=2)),
        make_pod(nominated_node="b", deleted_ago=-30, grace_seconds=0, restart_policy=RestartPolicy.NEVER),
        make_pod(node_selector={"zone": "1"}, node_affinity=[]),
        make_pod(
            node_affinity=[
                NodeSelectorTerm(
                    (Requirement("zone", Operator.NOT_IN, ("1", "2")), Requirement("gpu", Operator.EXISTS)),
                    (Requirement("metadata.name", Operator.IN, ("a",)),),
                ),
                NodeSelectorTerm(
                    (Requirement("cores", Operator.GT, ("4",)), Requirement("x", Operator.DOES_NOT_EXIST))
                ),
                NodeSelectorTerm(),
            ]
        ),
        make_pod(
            tolerations=[
                Toleration("dedicated", TolerationOperator.EQUAL, "db", TaintEffect.NO_SCHEDULE),
                Toleration("", TolerationOperator.EXISTS),
                Toleration("age", TolerationOperator.GT, "3", TaintEffect.NO_EXECUTE),
            ]
        ),
        make_pod(
            volumes=[
                Volume("a", VolumeKind.EMPTY_DIR),
                Volume("b", VolumeKind.EMPTY_DIR_MEMORY),
                Volume("c", VolumeKind.HOST_PATH),
                Volume("d", VolumeKind.CLAIM),
                Volume("e", VolumeKind.EPHEMERAL_CLAIM),
                Volume("f", VolumeKind.OTHER),
            ],
            unmodelled=[Constraint.VOLUME],
        ),
        make_pod(
            unmodelled=[
                Constraint.POD_AFFINITY,
                Constraint.POD_ANTI_AFFINITY,
                Constraint.TOPOLOGY_SPREAD,
                Constraint.HOST_PORT,
                Constraint.RESOURCE_CLAIM,
            ]
        ),
        make_daemonset_pod("d", node="a"),
        *(make_pod(node="a", phase=phase) for phase in PodPhase),
    ],
)
def test_pod_is_read_as_it_is(pod: Any) -> None:
    assert read_pods(pod_manifest(pod)) == (pod,)


def test_pod_of_the_fewest_fields_is_read_with_the_defaults() -> None:
    manifest = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u", "creationTimestamp": "2026-12-01T11:50:00Z"},
        "spec": {"containers": [{"name": "app"}]},
    }
    (pod,) = read_pods(manifest)
    expected = make_pod("p", namespace="n", owner=None, priority=None, requests=resources(), age=600)
    assert pod == replace(expected, uid="u", verdict=SchedulerVerdict.NOT_SEEN)
    assert (pod.spec.grace_seconds, pod.spec.scheduler_name) == (30, "default-scheduler")


def test_values_that_are_null_count_as_left_out() -> None:
    nothing: JsonObject = {
        "metadata": {"labels": None, "annotations": None, "ownerReferences": None, "deletionTimestamp": None},
        "spec": {
            "nodeName": None,
            "nodeSelector": None,
            "affinity": None,
            "tolerations": None,
            "volumes": None,
            "priority": None,
            "initContainers": None,
            "overhead": None,
        },
        "status": {"conditions": None, "nominatedNodeName": None, "containerStatuses": None},
    }
    (pod,) = read_pods(pod_with(nothing))
    assert (pod.owner, pod.node_name, pod.spec.tolerations, pod.spec.priority) == (None, "", (), None)


def test_word_that_is_not_known_does_not_hide_the_pod() -> None:
    words: JsonObject = {
        "spec": {
            "restartPolicy": "Sometimes",
            "tolerations": [
                {"key": "a", "operator": "Matches", "value": "x"},
                {"key": "b", "operator": "Exists", "effect": "NoBreathe"},
                {"key": "c", "operator": "Exists"},
            ],
        },
        "status": {"phase": "Hibernating", "conditions": [{"type": "PodScheduled", "status": "Perhaps"}]},
    }
    (pod,) = read_pods(pod_with(words))
    assert pod.phase is PodPhase.UNKNOWN
    assert pod.spec.restart_policy is RestartPolicy.ALWAYS
    assert pod.verdict is SchedulerVerdict.NOT_SEEN
    assert [toleration.key for toleration in pod.spec.tolerations] == ["c"]


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ({"status": "True"}, SchedulerVerdict.SCHEDULED),
        ({"status": "False", "reason": "Unschedulable"}, SchedulerVerdict.UNSCHEDULABLE),
        ({"status": "False", "reason": "SchedulingGated"}, SchedulerVerdict.GATED),
        ({"status": "False", "reason": "SchedulerError"}, SchedulerVerdict.NOT_SEEN),
        ({"status": "False"}, SchedulerVerdict.NOT_SEEN),
        ({"status": "Unknown"}, SchedulerVerdict.NOT_SEEN),
    ],
)
def test_verdict_is_what_the_scheduler_said(condition: JsonObject, verdict: SchedulerVerdict) -> None:
    # R14
    conditions = [{"type": "Ready", "status": "False"}, {"type": "PodScheduled", **condition}]
    (pod,) = read_pods(pod_with({"status": {"conditions": conditions}}))
    assert pod.verdict is verdict


def test_owner_is_the_controller_and_no_other_reference() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}
    (owned,) = read_pods(pod_with({"metadata": {"ownerReferences": [{**config, "controller": False}, job]}}))
    (bare,) = read_pods(pod_with({"metadata": {"ownerReferences": [config]}}))
    assert owned.owner is not None
    assert (owned.owner.kind, owned.owner.name, owned.owner.uid) == ("Job", "j", "j")
    assert bare.owner is None


@pytest.mark.parametrize(
    ("spec", "constraints"),
    [
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, ()),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "Whatever"}]}, (Constraint.TOPOLOGY_SPREAD,)),
        ({"affinity": {"podAffinity": {PREFERRED: [{"weight": 1}]}}}, ()),
        ({"affinity": {"podAntiAffinity": {REQUIRED: []}}}, ()),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone"}]}}}, (Constraint.POD_ANTI_AFFINITY,)),
        ({"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}, ()),
        ({"containers": [{"name": "a", "ports": [{"hostPort": 0}]}]}, ()),
        ({"initContainers": [{"name": "i", "ports": [{"hostPort": 80}]}]}, ()),
        (
            {"initContainers": [{"name": "s", "restartPolicy": "Always", "ports": [{"hostPort": 80}]}]},
            (Constraint.HOST_PORT,),
        ),
        ({"resourceClaims": []}, ()),
        ({"volumes": [{"name": "v", "nfs": {"server": "nas", "path": "/"}}]}, ()),
    ],
)
def test_only_hard_constraints_count_as_unmodelled(spec: JsonObject, constraints: tuple[Constraint, ...]) -> None:
    # R200, R207, R208, R209
    (pod,) = read_pods(pod_with({"spec": spec}))
    assert pod.spec.unmodelled == constraints


@pytest.mark.parametrize("source", ["configMap", "secret", "downwardAPI", "projected", "image"])
def test_volume_that_follows_the_pod_anywhere_is_left_out(source: str) -> None:
    (pod,) = read_pods(pod_with({"spec": {"volumes": [{"name": "v", source: {}}, {"name": "w", "emptyDir": {}}]}}))
    assert pod.spec.volumes == (Volume("w", VolumeKind.EMPTY_DIR),)


class TestSharing:
    def replica(self, number: int, **options: Any) -> JsonObject:
        token = {"name": f"kube-api-access-{number:05}", "projected": {"sources": []}}
        options = {"labels": {"app": "web"}, **options}
        return pod_with({"spec": {"volumes": [token]}}, name=f"web-{number}", node=f"node-{number}", **options)

    def test_pods_of_one_controller_share_spec_and_labels(self) -> None:
        pods = read_pods(*(self.replica(number) for number in range(10)))
        assert len({id(pod.spec) for pod in pods}) == 1
        assert len({id(pod.labels) for pod in pods}) == 1
        assert len({pod.node_name for pod in pods}) == 10

    def test_equal_specs_of_different_controllers_are_one_object(self) -> None:
        pods = read_pods(*(self.replica(number, owner=f"owner-{number}") for number in range(3)))
        assert len({id(pod.spec) for pod in pods}) == 1

    def test_sharing_goes_across_pages(self) -> None:
        reader = pod_reader()
        pods = [reader.page(page(self.replica(number))).records[0] for number in range(2)]
        assert pods[0].spec is pods[1].spec

    def test_pods_that_differ_do_not_share(self) -> None:
        different = [
            self.replica(0),
            self.replica(1, cpu="2"),
            self.replica(2, node_selector={"zone": "1"}),
            self.replica(3, priority=5),
            self.replica(4, labels={"app": "db"}),
            self.replica(5, volumes=()),
            self.replica(6),
        ]
        different[5]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
        pods = read_pods(*different)
        assert [pod.spec.requests.cpu for pod in pods] == [100, 2000, 100, 100, 100, 100, 100]
        assert [dict(pod.labels) for pod in pods][4] == {"app": "db"}
        assert pods[0].spec == pods[4].spec == pods[6].spec
        assert len({pod.spec for pod in pods}) == 5

    def test_pods_that_are_being_resized_do_not_share_with_those_that_are_not(self) -> None:
        held = {"containerStatuses": [{"name": "app", "resources": {"requests": {"cpu": "2"}}}]}
        resizing = self.replica(1)
        resizing["status"] |= held
        infeasible = self.replica(2)
        infeasible["status"] |= held
        infeasible["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
        infeasible["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "64"}
        deferred = self.replica(3)
        deferred["status"] |= held
        deferred["spec"] = infeasible["spec"]
        pods = read_pods(self.replica(0), resizing, infeasible, deferred)
        assert [pod.spec.requests.cpu for pod in pods] == [100, 2000, 2000, 64000]

    def test_many_different_pods_of_one_controller_are_all_read_right(self) -> None:
        pods = read_pods(*(self.replica(number, cpu=f"{number}m") for number in [*range(1, 20), *range(1, 20)]))
        assert [pod.spec.requests.cpu for pod in pods] == [*range(1, 20), *range(1, 20)]
