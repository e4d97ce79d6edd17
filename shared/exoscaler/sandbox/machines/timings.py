"""How long things take on and around a machine, in seconds of simulated time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FleetTimings:
    """The delays of the machines' side; every one may be 0."""

    register: float = 3.0
    """From an instance that runs to its kubelet registering the node."""
    initialise: float = 1.0
    """From the registration to the cloud controller knowing the node."""
    ready: float = 4.0
    """From the registration to a ready node."""
    devices: float = 10.0
    """From a ready node to its device plugin publishing the GPUs."""
    remove: float = 10.0
    """From the end of an instance to the cloud controller deleting its node. A real one waits until the node is no
    longer ready, which takes longer; here the delay stands for that."""
    lease: float = 10.0
    """Between two heartbeats."""
    status: float = 300.0
    """Between two full reports of a node that has nothing new to say."""
    pod_start: float = 2.0
    """From a pod bound to a pod ready, unless its annotation says otherwise."""
    pod_run: float = 5.0
    """From ready to ended, for pods that end by themselves."""
    pod_stop: float = 2.0
    """From a pod's deletion to its containers' end, within its grace."""


LEAST_WALL_SECONDS_BETWEEN_BEATS = 1.0
"""However fast the clock runs: heartbeats are writes, and a fleet of hundreds sends many."""
