"""The kubelets' half that concerns pods: they start them, let them end, and stop those that are deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import is_true
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_terminal, is_terminating, phase
from exoscaler.sandbox.controllers.resources import PODS
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.machines.addresses import PodAddresses
from exoscaler.sandbox.machines.pod_status import TERMINATED_BY_SIGNAL, creating, ended, running
from exoscaler.sandbox.machines.timings import FleetTimings
from exoscaler.sandbox.objects import JsonObject, ObjectClient

_ANNOTATION = "sandbox.exoscaler.dev/"
START_SECONDS = _ANNOTATION + "start-seconds"
RUN_SECONDS = _ANNOTATION + "run-seconds"
STOP_SECONDS = _ANNOTATION + "stop-seconds"
EXIT_CODE = _ANNOTATION + "exit-code"


class PodRunner:
    """Runs the pods of all kubelets.

    A pod's annotations say how long it takes to start, run and stop (`START_SECONDS`, `RUN_SECONDS`, `STOP_SECONDS`, in
    simulated seconds) and how it ends (`EXIT_CODE`). Pods whose restart policy is Always run until they are deleted.
    """

    def __init__(self, client: ObjectClient, clock: SandboxClock, timings: FleetTimings) -> None:
        self._writer = Writer(client)
        self._clock = clock
        self._timings = timings
        self._events = EventRecorder(client, clock, "kubelet")
        self._stages: dict[str, tuple[str, float]] = {}
        """By pod uid: the stage it is in and since when; forgetting it only makes the stage longer."""

    def step(self, nodes: Mapping[str, JsonObject], pods: Iterable[JsonObject]) -> bool:
        """Act once on every pod that is bound to one of `nodes`, the nodes whose kubelets are alive, by name."""
        mine = [pod for pod in pods if pod["spec"].get("nodeName") in nodes]
        addresses = PodAddresses(mine)
        changed = False
        for pod in mine:
            node = nodes[pod["spec"]["nodeName"]]
            if is_terminating(pod):
                changed = self._stop(pod) or changed
            elif phase(pod) == "Pending":
                changed = self._start(pod, node, addresses) or changed
            elif phase(pod) == "Running":
                changed = self._run(pod) or changed
        uids = {pod["metadata"]["uid"] for pod in mine}
        self._stages = {uid: stage for uid, stage in self._stages.items() if uid in uids}
        return changed

    def _start(self, pod: JsonObject, node: JsonObject, addresses: PodAddresses) -> bool:
        on_host = bool(pod["spec"].get("hostNetwork"))
        if not on_host and not is_true(node, "Ready"):
            # Without a ready node there is no network for the pod.
            return False
        host = _host_address(node)
        now = stamp(self._clock.now())
        if not (pod.get("status") or {}).get("startTime"):
            self._seconds_in(pod, "starting")
            return self._report(pod, creating(pod, host, now))
        if self._seconds_in(pod, "starting") < _seconds(pod, START_SECONDS, self._timings.pod_start):
            return False
        address = host if on_host else addresses.take()
        if not self._report(pod, running(pod, address, now)):
            return False
        self._seconds_in(pod, "running")
        for container in pod["spec"]["containers"]:
            self._events.record(PODS, pod, "Started", f"Started container {container['name']}")
        return True

    def _run(self, pod: JsonObject) -> bool:
        policy = pod["spec"].get("restartPolicy") or "Always"
        if policy == "Always":
            if is_true(pod, "Ready"):
                return False
            # The node was thought dead; its kubelet knows better.
            return self._report(pod, running(pod, _address(pod), stamp(self._clock.now()), restarts=_restarts(pod)))
        if self._seconds_in(pod, "running") < _seconds(pod, RUN_SECONDS, self._timings.pod_run):
            return False
        now = stamp(self._clock.now())
        exit_code = int(_seconds(pod, EXIT_CODE, 0))
        if exit_code and policy == "OnFailure":
            del self._stages[pod["metadata"]["uid"]]
            return self._report(pod, running(pod, _address(pod), now, restarts=_restarts(pod) + 1))
        return self._report(pod, ended(pod, now, exit_code))

    def _stop(self, pod: JsonObject) -> bool:
        metadata = pod["metadata"]
        grace = float(metadata.get("deletionGracePeriodSeconds") or 0)
        first = self._stages.get(metadata["uid"], ("", 0.0))[0] != "stopping"
        waited = self._seconds_in(pod, "stopping")
        if first and not is_terminal(pod):
            for container in pod["spec"]["containers"]:
                self._events.record(PODS, pod, "Killing", f"Stopping container {container['name']}")
        if waited < min(grace, _seconds(pod, STOP_SECONDS, self._timings.pod_stop)):
            return False
        changed = False
        if metadata.get("finalizers") and not is_terminal(pod):
            # The pod outlives its containers: whoever holds it must see that they have ended.
            changed = self._report(pod, ended(pod, stamp(self._clock.now()), TERMINATED_BY_SIGNAL))
        if not grace and metadata.get("finalizers"):
            return changed
        return self._writer.delete(PODS, pod, grace_seconds=0) or changed

    def _report(self, pod: JsonObject, status: JsonObject) -> bool:
        return self._writer.patch(PODS, pod, {"status": status}, subresource="status")

    def _seconds_in(self, pod: JsonObject, stage: str) -> float:
        uid = pod["metadata"]["uid"]
        now = self._clock.monotonic()
        known = self._stages.get(uid)
        if known is None or known[0] != stage:
            self._stages[uid] = (stage, now)
            return 0.0
        return now - known[1]


def _seconds(pod: JsonObject, annotation: str, default: float) -> float:
    text = (pod["metadata"].get("annotations") or {}).get(annotation)
    if text is None:
        return default
    try:
        return max(0.0, float(text))
    except ValueError:
        return default


def _restarts(pod: JsonObject) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((int(status.get("restartCount") or 0) for status in statuses), default=0)


def _address(pod: JsonObject) -> str:
    text: str = (pod.get("status") or {}).get("podIP") or ""
    return text


def _host_address(node: JsonObject) -> str:
    for entry in (node.get("status") or {}).get("addresses") or ():
        if entry["type"] == "InternalIP":
            return str(entry["address"])
    return ""
