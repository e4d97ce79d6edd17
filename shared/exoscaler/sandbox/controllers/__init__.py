"""What makes a cluster live: the scheduler, and the controllers of workloads, budgets, garbage and nodes.

Each controller compares what should be with what is and acts on the difference; all run in turn in one
`ControllerLoop` and talk to the cluster through an `ObjectClient` alone, the sandbox's own or any other.
"""

from __future__ import annotations

from exoscaler.sandbox.controllers.assembly import CONTROLLER_GROUPS, build_controllers
from exoscaler.sandbox.controllers.loop import Controller, ControllerLoop
from exoscaler.sandbox.controllers.reading import Reader

__all__ = ["CONTROLLER_GROUPS", "Controller", "ControllerLoop", "Reader", "build_controllers"]
