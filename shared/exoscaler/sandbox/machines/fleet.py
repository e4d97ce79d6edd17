"""All machines of the simulated cloud, as their cluster sees them."""

from __future__ import annotations

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import NODES, PODS
from exoscaler.sandbox.machines.cloud_controller import CloudController
from exoscaler.sandbox.machines.kubelets import Kubelets
from exoscaler.sandbox.machines.nodes import instance_id
from exoscaler.sandbox.machines.pod_runner import PodRunner
from exoscaler.sandbox.machines.timings import FleetTimings
from exoscaler.sandbox.machines.view import MachineState, MachineView
from exoscaler.sandbox.objects import ObjectClient


class MachineFleet:
    """Lets the machines that a cloud lists take part in a cluster: a controller to be run by a `ControllerLoop`.

    Everything follows from the cloud's machines and the cluster's objects; what is kept in memory are timers, and a
    fleet that starts anew merely waits a little longer. It may share its reader with the controllers of its round.
    """

    name = "machines"

    def __init__(
        self,
        view: MachineView,
        client: ObjectClient,
        reader: Reader,
        clock: SandboxClock,
        *,
        timings: FleetTimings | None = None,
    ) -> None:
        timings = timings or FleetTimings()
        self._view = view
        self._reader = reader
        self._kubelets = Kubelets(client, clock, timings)
        self._runner = PodRunner(client, clock, timings)
        self._cloud_controller = CloudController(client, clock, timings)

    def step(self) -> bool:
        """Let every kubelet and the cloud controller act once.

        Raises:
            ObjectError: the cluster could not be read.
        """
        # Nodes before machines: a node seen without its machine really has none, however young the machine.
        nodes = self._reader.all(NODES)
        machines = {machine.id: machine for machine in self._view.machines()}
        alive = {
            uid: machine
            for uid, machine in machines.items()
            if machine.state is MachineState.RUNNING and machine.registers
        }
        by_name = {node["metadata"]["name"]: node for node in nodes}
        changed = self._kubelets.step(alive, by_name)
        changed = self._cloud_controller.step(machines, nodes) or changed
        tended = {name: node for name, node in by_name.items() if instance_id(node) in alive}
        if tended:
            changed = self._runner.step(tended, self._reader.all(PODS)) or changed
        return changed
