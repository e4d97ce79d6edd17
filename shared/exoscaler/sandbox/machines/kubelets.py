"""The kubelets' half that concerns their nodes: they register them, make them ready, and give signs of life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import is_true
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.resources import LEASES, NODES
from exoscaler.sandbox.controllers.stamps import micro_stamp, stamp
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.machines.nodes import (
    GPU,
    conditions,
    first_ready_after,
    instance_id,
    node_name,
    registration,
    resources,
)
from exoscaler.sandbox.machines.timings import LEAST_WALL_SECONDS_BETWEEN_BEATS, FleetTimings
from exoscaler.sandbox.machines.view import Machine
from exoscaler.sandbox.objects import JsonObject, ObjectClient

LEASE_NAMESPACE = "kube-node-lease"
LEASE_DURATION = 40


@dataclass(slots=True)
class _Kubelet:
    """What one kubelet remembers; one that forgets it behaves as after a restart. Times are simulated."""

    started: float
    has_registered: bool = False
    ready_from: float = 0.0
    next_beat: float = 0.0
    next_report: float = 0.0


class Kubelets:
    """One kubelet for every machine that runs and is meant to register.

    A node that somebody deleted does not come back by itself: its kubelet has registered once, as a real one.
    """

    def __init__(self, client: ObjectClient, clock: SandboxClock, timings: FleetTimings) -> None:
        self._writer = Writer(client)
        self._clock = clock
        self._timings = timings
        self._events = EventRecorder(client, clock, "kubelet")
        least = LEAST_WALL_SECONDS_BETWEEN_BEATS * clock.speed
        self._beat_period = max(timings.lease, least)
        self._report_period = max(timings.status, least)
        self._kubelets: dict[str, _Kubelet] = {}

    def step(self, running: Mapping[str, Machine], nodes: Mapping[str, JsonObject]) -> bool:
        """Let every kubelet act once; `running` are machines by id, `nodes` all nodes by name."""
        now = self._clock.monotonic()
        self._kubelets = {uid: self._kubelets.get(uid) or _Kubelet(started=now) for uid in running}
        changed = False
        for uid, machine in running.items():
            kubelet, node = self._kubelets[uid], nodes.get(node_name(machine))
            if node is not None and instance_id(node) not in ("", uid):
                # Another instance had this name: its node is in the way.
                changed = self._writer.delete(NODES, node) or changed
            elif node is None:
                changed = self._register(kubelet, machine, now) or changed
            else:
                if not kubelet.has_registered:
                    kubelet.has_registered = True
                    kubelet.ready_from = now + first_ready_after(self._timings, node)
                changed = self._tend(kubelet, machine, node, now) or changed
        return changed

    def _register(self, kubelet: _Kubelet, machine: Machine, now: float) -> bool:
        if kubelet.has_registered or now - kubelet.started < self._timings.register:
            return False
        if self._writer.create(NODES, registration(machine, stamp(self._clock.now()))) is None:
            return False
        kubelet.has_registered = True
        kubelet.ready_from = now + self._timings.ready
        return True

    def _tend(self, kubelet: _Kubelet, machine: Machine, node: JsonObject, now: float) -> bool:
        changed = False
        if now >= kubelet.next_beat and self._beat(kubelet, node):
            kubelet.next_beat = now + self._beat_period
        is_ready = now >= kubelet.ready_from
        devices_due = now >= kubelet.ready_from + self._timings.devices
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        devices_missing = bool(machine.gpus) and devices_due and GPU not in allocatable
        becomes_ready = is_ready and not is_true(node, "Ready")
        if becomes_ready or devices_missing or now >= kubelet.next_report:
            report = {"conditions": conditions(stamp(self._clock.now()), is_ready=is_ready, before=node)}
            report |= resources(machine, with_devices=devices_due) if devices_missing else {}
            changed = self._writer.patch(NODES, node, {"status": report}, subresource="status")
            if changed:
                kubelet.next_report = now + self._report_period
        if becomes_ready and changed:
            name = node_name(machine)
            self._events.record(NODES, node, "NodeReady", f"Node {name} status is now: NodeReady")
        return changed

    def _beat(self, kubelet: _Kubelet, node: JsonObject) -> bool:
        name = node["metadata"]["name"]
        moment = micro_stamp(self._clock.now())
        lease: JsonObject = {"metadata": {"name": name, "namespace": LEASE_NAMESPACE}}
        spec = {"holderIdentity": name, "leaseDurationSeconds": LEASE_DURATION, "renewTime": moment}
        if self._writer.patch(LEASES, lease, {"spec": spec}):
            return True
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        lease["metadata"]["ownerReferences"] = [owner]
        body = {"apiVersion": LEASES.group, "kind": "Lease", **lease, "spec": spec}
        if self._writer.create(LEASES, body) is None:
            # Without leases the report itself is the sign of life.
            kubelet.next_report = 0.0
        return True
