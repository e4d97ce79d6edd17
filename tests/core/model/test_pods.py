from __future__ import annotations

import pytest

from exoscaler.core.model import PodPhase
from tests.builders import make_daemonset_pod, make_pod, make_snapshot


@pytest.mark.parametrize(
    ("phase", "finished"),
    [
        (PodPhase.SUCCEEDED, True),
        (PodPhase.FAILED, True),
        (PodPhase.PENDING, False),
        (PodPhase.RUNNING, False),
        (PodPhase.UNKNOWN, False),
    ],
)
def test_a_pod_that_has_ended_is_finished(phase: PodPhase, finished: bool) -> None:
    assert make_pod(phase=phase).is_finished is finished  # R12


@pytest.mark.parametrize(
    ("annotations", "owner_kind", "daemon"),
    [  # R27
        ({}, "DaemonSet", True),
        ({}, "ReplicaSet", False),
        ({"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}, "ReplicaSet", True),
        ({"cluster-autoscaler.kubernetes.io/daemonset-pod": "True"}, "ReplicaSet", False),
    ],
)
def test_a_daemon_is_known_by_owner_or_annotation(annotations: dict[str, str], owner_kind: str, daemon: bool) -> None:
    assert make_pod(owner_kind=owner_kind, annotations=annotations).is_daemonset is daemon


def test_a_bare_pod_is_no_daemon_unless_it_says_so() -> None:
    assert not make_pod(owner=None).is_daemonset


def test_a_mirror_pod_is_known_by_its_annotation_whatever_the_value() -> None:
    assert make_pod(annotations={"kubernetes.io/config.mirror": ""}).is_mirror
    assert not make_pod().is_mirror


def test_a_snapshot_finds_the_unfinished_pods_of_a_node() -> None:
    running = make_pod("running", node="a")
    ended = make_pod("ended", node="a", phase=PodPhase.SUCCEEDED)
    daemon = make_daemonset_pod("daemon", node="a")
    elsewhere = make_pod("elsewhere", node="b")
    snapshot = make_snapshot(pods=[running, ended, daemon, elsewhere, make_pod("waiting")])

    assert snapshot.pods_on("a") == (running, daemon)
    assert snapshot.pods_on("none") == ()
