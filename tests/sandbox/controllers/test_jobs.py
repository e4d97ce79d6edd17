"""Jobs: run to the end, whatever happens to their pods."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.controllers.conditions import condition, is_true
from exoscaler.sandbox.controllers.workloads.job_tally import TRACKING
from exoscaler.sandbox.machines.pod_runner import EXIT_CODE, RUN_SECONDS
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import job

JOBS = ("batch/v1", "jobs")


def _started(*, run: int = 5, exit_code: int = 0, spec: JsonObject | None = None, **pods: Any) -> LiveCluster:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    annotations = {RUN_SECONDS: str(run), EXIT_CODE: str(exit_code)}
    cluster.apply(*JOBS, job("once", spec=spec, annotations=annotations, **pods))
    cluster.settle()
    return cluster


def _job(cluster: LiveCluster) -> JsonObject:
    return cluster.client.get(*JOBS, "once", namespace=NAMESPACE)


def test_job_completes_when_its_pod_has_run() -> None:
    cluster = _started(run=5)
    assert _job(cluster)["status"]["active"] == 1
    cluster.pass_time(6)
    assert not is_true(_job(cluster), "Complete")
    cluster.pass_time(3)
    status = _job(cluster)["status"]
    assert is_true(_job(cluster), "SuccessCriteriaMet")
    assert is_true(_job(cluster), "Complete")
    assert (status.get("active") or 0, status["succeeded"]) == (0, 1)
    assert status["completionTime"] > status["startTime"]
    (pod,) = cluster.pods()
    assert pod["status"]["phase"] == "Succeeded"
    assert not pod["metadata"].get("finalizers")


def test_job_runs_as_many_at_once_as_it_may_and_as_often_as_it_must() -> None:
    cluster = _started(spec={"parallelism": 2, "completions": 5})
    most = 0
    for _ in range(40):
        cluster.clock.advance(1)
        cluster.settle()
        most = max(most, int(_job(cluster)["status"].get("active") or 0))
    assert most == 2
    assert _job(cluster)["status"]["succeeded"] == 5
    assert is_true(_job(cluster), "Complete")
    assert len(cluster.pods()) == 5


def test_job_gives_up_after_its_back_off_limit() -> None:
    cluster = _started(run=1, exit_code=3, spec={"backoffLimit": 2})
    cluster.pass_time(30)
    failed = condition(_job(cluster), "Failed")
    assert failed is not None
    assert failed["reason"] == "BackoffLimitExceeded"
    assert _job(cluster)["status"]["failed"] == 3
    assert all(pod["status"]["phase"] == "Failed" for pod in cluster.pods())
    assert [event["reason"] for event in cluster.events("BackoffLimitExceeded")] == ["BackoffLimitExceeded"]


def test_container_that_fails_is_restarted_in_place_where_the_pod_says_so() -> None:
    cluster = _started(run=2, exit_code=1, restartPolicy="OnFailure")
    cluster.pass_time(8)
    (pod,) = cluster.pods()
    assert pod["status"]["phase"] == "Running"
    assert pod["status"]["containerStatuses"][0]["restartCount"] >= 2


def test_evicted_pod_of_a_job_is_replaced_and_counts_as_failed() -> None:
    cluster = _started(run=20)
    cluster.pass_time(4)
    (name,) = cluster.placed()
    cluster.delete_pod(name)
    cluster.pass_time(4)
    assert not cluster.exists("v1", "pods", name)
    assert len(cluster.ready()) == 1
    assert _job(cluster)["status"]["failed"] == 1
    cluster.pass_time(25)
    assert is_true(_job(cluster), "Complete")


def test_finished_pod_is_counted_even_if_it_is_deleted_before_the_controller_looks() -> None:
    cluster = _started(run=3)
    (name,) = cluster.placed()
    cluster.pass_time(3)
    cluster.clock.advance(3)
    # The kubelets come first in a round: the pod ends, and is deleted before its Job is looked at again.
    cluster.client.patch(
        "v1", "pods", name, {"status": {"phase": "Succeeded"}}, namespace=NAMESPACE, subresource="status"
    )
    cluster.delete_pod(name)
    assert TRACKING in cluster.pod(name)["metadata"]["finalizers"]
    cluster.settle()
    assert _job(cluster)["status"]["succeeded"] == 1
    assert not cluster.exists("v1", "pods", name)


def test_suspended_job_runs_no_pods_until_it_is_resumed() -> None:
    cluster = _started(run=3, spec={"suspend": True})
    assert cluster.pods() == []
    assert is_true(_job(cluster), "Suspended")
    cluster.client.patch(*JOBS, "once", {"spec": {"suspend": False}}, namespace=NAMESPACE)
    cluster.pass_time(8)
    assert is_true(_job(cluster), "Complete")
    assert not is_true(_job(cluster), "Suspended")


def test_job_past_its_deadline_fails_and_its_pods_are_stopped() -> None:
    cluster = _started(run=60, spec={"activeDeadlineSeconds": 10})
    cluster.pass_time(16)
    failed = condition(_job(cluster), "Failed")
    assert failed is not None
    assert failed["reason"] == "DeadlineExceeded"
    assert cluster.pods() == []


def test_finished_job_and_its_pods_go_after_their_time_to_live() -> None:
    cluster = _started(run=1, spec={"ttlSecondsAfterFinished": 10})
    cluster.pass_time(8)
    assert is_true(_job(cluster), "Complete")
    cluster.pass_time(10)
    assert not cluster.exists(*JOBS, "once")
    assert cluster.pods() == []
