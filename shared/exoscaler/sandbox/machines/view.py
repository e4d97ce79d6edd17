"""What the machines' side may know of the simulated cloud: the instances and what each was started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class MachineState(StrEnum):
    """The API's instance states that the sandbox produces."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DESTROYING = "destroying"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class MachineTaint:
    """A taint that the kubelet registers the node with."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Machine:
    """One instance. `registers` is False for one whose kubelet never comes up (an injected fault)."""

    id: str
    name: str
    state: MachineState
    pool_id: str
    nodepool_id: str
    """Empty for an instance of a standalone pool."""
    zone: str
    type_name: str
    cpus: int
    memory_bytes: int
    disk_gib: int
    gpus: int
    address: str
    max_pods: int = 110
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[MachineTaint, ...] = ()
    registers: bool = True


class MachineView(Protocol):
    """Lists the instances that exist now. A destroyed instance is no longer listed."""

    def machines(self) -> tuple[Machine, ...]:
        """The instances, sorted by name."""
