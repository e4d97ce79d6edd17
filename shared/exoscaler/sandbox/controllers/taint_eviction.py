"""Taints that evict: pods that do not tolerate a NoExecute taint of their node go."""

from __future__ import annotations

from collections.abc import Sequence

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import with_condition
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_active, key
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import NODES, PODS
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.tolerations import tolerates
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient


class TaintEviction:
    """Deletes pods from nodes with NoExecute taints: at once, or when the time that they tolerate has passed.

    The time is simulated and counted from when the pod was first seen beside the taint.
    """

    name = "taint-eviction"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "taint-eviction-controller")
        self._since: dict[str, float] = {}

    def step(self) -> bool:
        """Look at every pod on a tainted node once."""
        taints = {
            node["metadata"]["name"]: evicting
            for node in self._reader.all(NODES)
            if (evicting := [taint for taint in _taints(node) if taint["effect"] == "NoExecute"])
        }
        now = self._clock.monotonic()
        since: dict[str, float] = {}
        changed = False
        for pod in self._reader.all(PODS) if taints else ():
            evicting = taints.get(pod["spec"].get("nodeName") or "", [])
            if not evicting or not is_active(pod):
                continue
            uid = pod["metadata"]["uid"]
            since[uid] = self._since.get(uid, now)
            patience = patience_seconds(pod["spec"].get("tolerations") or (), evicting)
            if patience is not None and now - since[uid] >= patience:
                changed = self._evict(pod) or changed
        self._since = since
        return changed

    def _evict(self, pod: JsonObject) -> bool:
        entry = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
        }
        body = {"status": {"conditions": with_condition(pod, entry, stamp(self._clock.now()))}}
        if not self._writer.patch(PODS, pod, body, subresource="status") or not self._writer.delete(PODS, pod):
            return False
        self._events.record(PODS, pod, "TaintManagerEviction", f"Marking for deletion Pod {key(pod)}")
        return True


def patience_seconds(tolerations: Sequence[JsonObject], taints: Sequence[JsonObject]) -> float | None:
    """How long a pod stays beside the taints: 0 when one is not tolerated, None for ever."""
    used = []
    for taint in taints:
        covering = [toleration for toleration in tolerations if tolerates(toleration, taint)]
        if not covering:
            return 0.0
        used += covering
    limits = [
        max(0.0, float(entry["tolerationSeconds"])) for entry in used if entry.get("tolerationSeconds") is not None
    ]
    return min(limits, default=None)


def _taints(node: JsonObject) -> Sequence[JsonObject]:
    found: Sequence[JsonObject] = (node.get("spec") or {}).get("taints") or ()
    return found
