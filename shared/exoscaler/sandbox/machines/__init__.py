"""What happens on the machines: an instance boots, its kubelet registers a node and runs the pods bound to it."""

from __future__ import annotations

from exoscaler.sandbox.machines.fleet import MachineFleet
from exoscaler.sandbox.machines.timings import FleetTimings
from exoscaler.sandbox.machines.view import Machine, MachineState, MachineTaint, MachineView

__all__ = ["FleetTimings", "Machine", "MachineFleet", "MachineState", "MachineTaint", "MachineView"]
