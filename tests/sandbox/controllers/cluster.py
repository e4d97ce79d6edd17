"""A cluster that lives: the sandbox's API and controllers, with a clock that moves when the test says so."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers import CONTROLLER_GROUPS, ControllerLoop, Reader, build_controllers
from exoscaler.sandbox.controllers.conditions import condition
from exoscaler.sandbox.kubernetes import ObjectStore, StoreClient
from exoscaler.sandbox.kubernetes.first_objects import create_first_objects
from exoscaler.sandbox.machines import FleetTimings, Machine, MachineFleet, MachineState
from exoscaler.sandbox.objects import JsonObject

GIB = 2**30
NAMESPACE = "default"


class ManualClock(SandboxClock):
    """Stands still until told to advance. Time stamps and waiting move together, as at speed 1."""

    def __init__(self) -> None:
        super().__init__(speed=1.0)
        self._elapsed = 0.0

    def now(self) -> datetime:
        return datetime(2026, 12, 1, 12, 0, tzinfo=UTC) + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        self._elapsed += seconds


class Machines:
    """A cloud reduced to the list of its machines."""

    def __init__(self) -> None:
        self._machines: dict[str, Machine] = {}

    def machines(self) -> tuple[Machine, ...]:
        return tuple(sorted(self._machines.values(), key=lambda machine: machine.name))

    def add(self, name: str, **changes: Any) -> Machine:
        number = len(self._machines) + 1
        machine = Machine(
            id=f"00000000-0000-4000-8000-{number:012d}",
            name=name,
            state=MachineState.RUNNING,
            pool_id="pool",
            nodepool_id="nodepool",
            zone="ch-gva-2",
            type_name="standard.medium",
            cpus=2,
            memory_bytes=4 * GIB,
            disk_gib=50,
            gpus=0,
            address=f"10.0.0.{number}",
        )
        machine = replace(machine, **changes)
        self._machines[machine.id] = machine
        return machine

    def change(self, machine: Machine, **changes: Any) -> Machine:
        self._machines[machine.id] = replace(machine, **changes)
        return self._machines[machine.id]

    def destroy(self, machine: Machine) -> None:
        del self._machines[machine.id]


class LiveCluster:
    """The store, its controllers and a fleet of machines, all stepped by hand."""

    def __init__(self, *, only: Collection[str] = CONTROLLER_GROUPS, timings: FleetTimings | None = None) -> None:
        self.clock = ManualClock()
        store = ObjectStore(self.clock)
        create_first_objects(store)
        self.client = StoreClient(store)
        self.machines = Machines()
        self._only = only
        self._timings = timings
        self.restart()

    def restart(self) -> None:
        """All controllers and kubelets forget what they had in memory."""
        reader = Reader(self.client)
        fleet = MachineFleet(self.machines, self.client, reader, self.clock, timings=self._timings)
        controllers = build_controllers(self.client, reader, self.clock, only=self._only)
        self._loop = ControllerLoop((fleet, *controllers), self.clock, before_round=reader.forget)

    def round(self) -> bool:
        return self._loop.round()

    def settle(self, limit: int = 60) -> None:
        """Let everything happen that needs no time."""
        for _ in range(limit):
            if not self.round():
                return
        message = f"the controllers still find something to do after {limit} rounds"
        raise AssertionError(message)

    def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.advance(1)
            self.settle()

    def with_nodes(self, count: int, **changes: Any) -> list[Machine]:
        """Ready nodes on machines of their own."""
        machines = [self.machines.add(f"node-{number}", **changes) for number in range(count)]
        self.pass_time(20)
        return machines

    def apply(self, group: str, plural: str, body: JsonObject) -> JsonObject:
        return self.client.create(group, plural, body, namespace=body["metadata"].get("namespace", ""))

    def node(self, name: str) -> JsonObject:
        return self.client.get("v1", "nodes", name)

    def node_names(self) -> list[str]:
        return [node["metadata"]["name"] for node in self.client.list("v1", "nodes")]

    def cordon(self, name: str) -> None:
        self.client.patch("v1", "nodes", name, {"spec": {"unschedulable": True}})

    def pod(self, name: str) -> JsonObject:
        return self.client.get("v1", "pods", name, namespace=NAMESPACE)

    def pods(self, labels: str = "") -> list[JsonObject]:
        return self.client.list("v1", "pods", labels=labels)

    def placed(self, labels: str = "") -> dict[str, str]:
        """Pod name to node name, of all pods that are bound."""
        bound = [pod for pod in self.pods(labels) if pod["spec"].get("nodeName")]
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in bound}

    def ready(self, labels: str = "") -> list[str]:
        return [
            pod["metadata"]["name"]
            for pod in self.pods(labels)
            if (condition(pod, "Ready") or {}).get("status") == "True" and not pod["metadata"].get("deletionTimestamp")
        ]

    def delete_pod(self, name: str, **options: Any) -> None:
        self.client.delete("v1", "pods", name, namespace=NAMESPACE, **options)

    def exists(self, group: str, plural: str, name: str) -> bool:
        namespace = "" if plural in ("nodes", "namespaces") else NAMESPACE
        return bool(self.client.list(group, plural, namespace=namespace, fields=f"metadata.name={name}"))

    def events(self, reason: str) -> list[JsonObject]:
        return [event for event in self.client.list("v1", "events") if event["reason"] == reason]
