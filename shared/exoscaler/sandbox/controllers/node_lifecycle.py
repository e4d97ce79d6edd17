"""Node lifecycle: a node that is silent is not ready, and its taints say so."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import condition, with_condition
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import LEASES, NODES, PODS
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

LEASE_NAMESPACE = "kube-node-lease"
GRACE_SECONDS = 50.0
"""Simulated seconds without a heartbeat after which a node counts as unreachable."""
LEAST_WALL_SECONDS = 5.0
"""However fast the sandbox's clock runs, a busy machine may keep a kubelet waiting for a moment."""

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_PRESSURE = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_OWN_KEYS = frozenset({NOT_READY, UNREACHABLE, UNSCHEDULABLE, *_PRESSURE.values()})
_KUBELET_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


@dataclass(frozen=True, slots=True)
class _Sign:
    """The last sign of life of a node, and when (simulated) it was first seen."""

    beat: tuple[str, str]
    seen: float


class NodeLifecycle:
    """Judges nodes by their heartbeats and keeps the taints that follow from their conditions.

    A heartbeat is a change of the node's lease or of its Ready condition; its age is measured from when the change
    was seen, so the clocks of others do not matter. Only the taints of this controller's own keys are touched.
    """

    name = "node-lifecycle"

    def __init__(
        self, client: ObjectClient, reader: Reader, clock: SandboxClock, *, grace: float = GRACE_SECONDS
    ) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._grace = max(grace, LEAST_WALL_SECONDS * clock.speed)
        self._events = EventRecorder(client, clock, "node-controller")
        self._signs: dict[str, _Sign] = {}

    def step(self) -> bool:
        """Look at every node once."""
        nodes = self._reader.all(NODES)
        leases = {
            lease["metadata"]["name"]: lease
            for lease in self._reader.all(LEASES)
            if lease["metadata"]["namespace"] == LEASE_NAMESPACE
        }
        now = self._clock.monotonic()
        signs: dict[str, _Sign] = {}
        changed = False
        for node in nodes:
            uid = node["metadata"]["uid"]
            beat = _beat(node, leases.get(node["metadata"]["name"]))
            known = self._signs.get(uid)
            signs[uid] = known if known is not None and known.beat == beat else _Sign(beat, now)
            if now - signs[uid].seen > self._grace and _ready_status(node) != "Unknown":
                changed = self._lose(node) or changed
            else:
                changed = self._taint(node) or changed
        self._signs = signs
        return changed

    def _lose(self, node: JsonObject) -> bool:
        now = stamp(self._clock.now())
        view = node
        for kind in _KUBELET_CONDITIONS:
            entry = {
                "type": kind,
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
            view = {**node, "status": {**(node.get("status") or {}), "conditions": with_condition(view, entry, now)}}
        if not self._writer.status(NODES, node, {"conditions": view["status"]["conditions"]}):
            return False
        name = node["metadata"]["name"]
        self._events.record(NODES, node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        self._unready_pods(name)
        return True

    def _unready_pods(self, name: str) -> None:
        """Nobody can say any more that the pods of an unreachable node are ready."""
        now = stamp(self._clock.now())
        for pod in self._reader.all(PODS):
            known = condition(pod, "Ready")
            if pod["spec"].get("nodeName") != name or known is None or known["status"] != "True":
                continue
            entry = {"type": "Ready", "status": "False"}
            self._writer.status(PODS, pod, {"conditions": with_condition(pod, entry, now)})

    def _taint(self, node: JsonObject) -> bool:
        spec = node.get("spec") or {}
        present: list[JsonObject] = spec.get("taints") or []
        wanted = _wanted_taints(node)
        have = {(taint["key"], taint["effect"]) for taint in present}
        kept = [
            taint
            for taint in present
            if taint["key"] not in _OWN_KEYS or (taint["key"], taint["effect"]) in wanted or _is_foreign(taint)
        ]
        missing = [(key, effect) for key, effect in wanted if (key, effect) not in have]
        if len(kept) == len(present) and not missing:
            return False
        now = stamp(self._clock.now())
        taints = kept + [{"key": key, "effect": effect, "timeAdded": now} for key, effect in missing]
        return self._writer.patch(NODES, node, {"spec": {"taints": taints or None}}, guarded=True)


def _wanted_taints(node: JsonObject) -> list[tuple[str, str]]:
    wanted = []
    match _ready_status(node):
        case "True":
            pass
        case "Unknown":
            wanted += [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]
        case _:
            wanted += [(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]
    for kind, key in _PRESSURE.items():
        entry = condition(node, kind)
        if entry is not None and entry["status"] == "True":
            wanted.append((key, "NoSchedule"))
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    return wanted


def _is_foreign(taint: JsonObject) -> bool:
    return taint["effect"] == "PreferNoSchedule" or bool(taint.get("value"))


def _ready_status(node: JsonObject) -> str:
    entry = condition(node, "Ready")
    return str(entry["status"]) if entry else "False"


def _beat(node: JsonObject, lease: JsonObject | None) -> tuple[str, str]:
    entry = condition(node, "Ready") or {}
    renewed = ((lease or {}).get("spec") or {}).get("renewTime") or ""
    # The status Unknown is this controller's own writing, not a sign of life.
    probed = "" if entry.get("status") == "Unknown" else entry.get("lastHeartbeatTime") or ""
    return renewed, probed
