"""The cloud controller: tells nodes which instance they are, and deletes the nodes of instances that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.resources import NODES
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.machines.nodes import PROVIDER_PREFIX, UNINITIALIZED, instance_id, provider_id
from exoscaler.sandbox.machines.timings import FleetTimings
from exoscaler.sandbox.machines.view import Machine
from exoscaler.sandbox.objects import JsonObject, ObjectClient

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
REGION = "topology.kubernetes.io/region"


class CloudController:
    """Initialises and removes the nodes whose provider ID is of this cloud; leaves all others alone."""

    def __init__(self, client: ObjectClient, clock: SandboxClock, timings: FleetTimings) -> None:
        self._writer = Writer(client)
        self._clock = clock
        self._timings = timings
        self._events = EventRecorder(client, clock, "cloud-node-lifecycle-controller")
        self._waiting: dict[str, float] = {}
        """By node uid: since when there is something to do about it (simulated)."""

    def step(self, machines: Mapping[str, Machine], nodes: Iterable[JsonObject]) -> bool:
        """Look at every node once; `machines` are all that exist, by id."""
        waiting: dict[str, float] = {}
        changed = False
        for node in nodes:
            uid, machine = node["metadata"]["uid"], machines.get(instance_id(node))
            is_gone = machine is None and _is_of_this_cloud(node)
            is_new = machine is not None and _uninitialized(node) is not None
            if not (is_gone or is_new):
                continue
            waiting[uid] = since = self._waiting.get(uid, self._clock.monotonic())
            waited = self._clock.monotonic() - since
            if is_gone and waited >= self._timings.remove:
                changed = self._remove(node) or changed
            elif machine is not None and waited >= self._timings.initialise:
                changed = self._initialise(node, machine) or changed
        self._waiting = waiting
        return changed

    def _initialise(self, node: JsonObject, machine: Machine) -> bool:
        taints = [taint for taint in node["spec"]["taints"] if taint["key"] != UNINITIALIZED]
        labels = {INSTANCE_TYPE: machine.type_name, REGION: machine.zone}
        body = {
            "metadata": {"labels": labels},
            "spec": {"providerID": provider_id(machine), "taints": taints or None},
        }
        return self._writer.patch(NODES, node, body, guarded=True)

    def _remove(self, node: JsonObject) -> bool:
        if not self._writer.delete(NODES, node):
            return False
        name = node["metadata"]["name"]
        text = f"Deleting node {name} because it does not exist in the cloud provider"
        self._events.record(NODES, node, "DeletingNode", text)
        return True


def _uninitialized(node: JsonObject) -> JsonObject | None:
    taints = (node.get("spec") or {}).get("taints") or ()
    return next((taint for taint in taints if taint["key"] == UNINITIALIZED), None)


def _is_of_this_cloud(node: JsonObject) -> bool:
    provider: str = (node.get("spec") or {}).get("providerID") or ""
    if provider.startswith(PROVIDER_PREFIX):
        return True
    # A node whose machine died before it was initialised has no provider ID, but says whose it is.
    return not provider and _uninitialized(node) is not None and bool(instance_id(node))
