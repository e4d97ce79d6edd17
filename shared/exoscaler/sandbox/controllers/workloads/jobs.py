"""Jobs: pods that run until enough of them have succeeded, or too many have failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import is_true, with_condition
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import JOBS, PODS
from exoscaler.sandbox.controllers.stamps import parse_stamp, stamp
from exoscaler.sandbox.controllers.workloads.job_tally import TRACKING, Tally, is_tracked, tally
from exoscaler.sandbox.controllers.workloads.templates import new_pod
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

BACKOFF_LIMIT = 6


class _Ending(NamedTuple):
    """How a Job will end, as the condition that announces it."""

    kind: str
    reason: str
    message: str

    @property
    def is_success(self) -> bool:
        """Whether the Job did what it was for."""
        return self.kind == "SuccessCriteriaMet"

    @property
    def last_word(self) -> str:
        """The condition that says that it has ended."""
        return "Complete" if self.is_success else "Failed"


class Jobs:
    """Runs Jobs to their end: parallelism, completions, back-off limit, deadline, suspension, time to live.

    Failed pods are replaced at once (no growing delay); indexed completion is run like the ordinary one.
    """

    name = "jobs"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "job-controller")

    def step(self) -> bool:
        """Bring every Job one step further."""
        changed = False
        for job in self._reader.all(JOBS):
            pods = self._reader.children(PODS, job)
            if job["metadata"].get("deletionTimestamp"):
                changed = self._release([pod for pod in pods if is_tracked(pod)]) or changed
            elif is_true(job, "Complete") or is_true(job, "Failed"):
                changed = self._release([pod for pod in pods if is_tracked(pod)]) or changed
                changed = self._expire(job) or changed
            else:
                changed = self._advance(job, tally(job, pods)) or changed
        return changed

    def _advance(self, job: JsonObject, count: Tally) -> bool:
        ending = self._ending(job, count)
        changed = self._report(job, count, ending)
        # Released only after the status holds them: a crash in between loses no pod.
        changed = self._release(count.held) or changed
        if ending or job["spec"].get("suspend"):
            return self._stop(count.active) or changed
        surplus = len(count.active) - _wanted(job, count)
        if surplus > 0:
            return self._stop(count.active[:surplus]) or changed
        return sum(self._create(job) for _ in range(-surplus)) > 0 or changed

    def _ending(self, job: JsonObject, count: Tally) -> _Ending | None:
        """What the Job is coming to; None while it goes on."""
        spec = job["spec"]
        for kind in ("SuccessCriteriaMet", "FailureTarget"):
            for entry in (job.get("status") or {}).get("conditions") or ():
                if entry["type"] == kind and entry["status"] == "True":
                    return _Ending(kind, entry.get("reason") or "", entry.get("message") or "")
        limit = spec.get("backoffLimit")
        if count.all_failed > (BACKOFF_LIMIT if limit is None else int(limit)):
            return _Ending("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        deadline, started = spec.get("activeDeadlineSeconds"), (job.get("status") or {}).get("startTime")
        if deadline and started:
            allowed = timedelta(seconds=int(deadline) / self._clock.speed)
            if self._clock.now() - parse_stamp(started) > allowed:
                return _Ending("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
        completions = spec.get("completions")
        if completions is None:
            done = count.all_succeeded > 0 and not count.active
        else:
            done = count.all_succeeded >= int(completions)
        if done:
            return _Ending("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")
        return None

    def _report(self, job: JsonObject, count: Tally, ending: _Ending | None) -> bool:
        now = stamp(self._clock.now())
        status = count.figures()
        if not job["spec"].get("suspend"):
            status["startTime"] = (job.get("status") or {}).get("startTime") or now
        status["conditions"] = _conditions(job, count, ending, now)
        finished = ending if count.is_settled else None
        if finished and finished.is_success:
            status["completionTime"] = now
        written = self._writer.status(JOBS, job, status)
        if written and finished:
            text = "Job completed" if finished.is_success else finished.message
            reason = "Completed" if finished.is_success else finished.reason
            self._events.record(JOBS, job, reason, text, warning=not finished.is_success)
        return written

    def _create(self, job: JsonObject) -> bool:
        metadata = job["metadata"]
        uid, name = metadata["uid"], metadata["name"]
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": name,
            "controller-uid": uid,
            "job-name": name,
        }
        pod = new_pod(JOBS, job, labels=labels)
        pod["metadata"]["finalizers"] = [TRACKING]
        created = self._writer.create(PODS, pod)
        if created is None:
            return False
        self._events.record(JOBS, job, "SuccessfulCreate", f"Created pod: {created['metadata']['name']}")
        return True

    def _stop(self, pods: Sequence[JsonObject]) -> bool:
        return sum(self._writer.delete(PODS, pod) for pod in pods) > 0

    def _release(self, pods: Sequence[JsonObject]) -> bool:
        return sum(self._writer.release(PODS, pod, TRACKING) for pod in pods) > 0

    def _expire(self, job: JsonObject) -> bool:
        keep = job["spec"].get("ttlSecondsAfterFinished")
        if keep is None:
            return False
        ended = max(
            entry["lastTransitionTime"]
            for entry in job["status"]["conditions"]
            if entry["type"] in ("Complete", "Failed") and entry["status"] == "True"
        )
        if self._clock.now() - parse_stamp(ended) < timedelta(seconds=int(keep) / self._clock.speed):
            return False
        return self._writer.delete(JOBS, job)


def _conditions(job: JsonObject, count: Tally, ending: _Ending | None, now: str) -> list[JsonObject]:
    if ending is None:
        suspended = bool(job["spec"].get("suspend"))
        if suspended == is_true(job, "Suspended"):
            known: list[JsonObject] = (job.get("status") or {}).get("conditions") or []
            return known
        word = "suspended" if suspended else "resumed"
        entry = {
            "type": "Suspended",
            "status": str(suspended),
            "reason": f"Job{word.title()}",
            "message": f"Job {word}",
        }
        return with_condition(job, entry, now)
    view = job
    # The last word is spoken only when no pod can contradict it any more.
    for kind in (ending.kind, ending.last_word) if count.is_settled else (ending.kind,):
        entry = {"type": kind, "status": "True", "reason": ending.reason, "message": ending.message}
        view = {"status": {"conditions": with_condition(view, entry, now)}}
    conditions: list[JsonObject] = view["status"]["conditions"]
    return conditions


def _wanted(job: JsonObject, count: Tally) -> int:
    spec = job["spec"]
    parallelism = 1 if spec.get("parallelism") is None else int(spec["parallelism"])
    completions = spec.get("completions")
    if completions is None:
        # A work queue: once one pod has succeeded, no new ones are started.
        return min(parallelism, len(count.active)) if count.all_succeeded else parallelism
    return min(parallelism, max(0, int(completions) - count.all_succeeded))
