"""Values with an inner structure: node groups, limits, GPUs, drain priorities, chains of expanders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from exoscaler.core.model import NodeBounds
from exoscaler.core.policy import ExpanderName, ResourceLimits
from exoscaler.settings.kinds import Gathers, Kind, read_int

KNOWN_EXPANDERS = ("random", "most-pods", "least-waste", "least-nodes", "price", "priority", "grpc")
"""Every expander the upstream autoscaler has (R4)."""

IMPLEMENTED_EXPANDERS = tuple(str(name) for name in ExpanderName)
"""Those that exist here."""


@dataclass(frozen=True, slots=True)
class GpuLimits:
    """Bounds on the GPUs of one type in the cluster; `gpu_type` is the value of the GPU label."""

    gpu_type: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class DrainPriority:
    """Pods of at least this priority get this long to end (R148)."""

    priority: int
    seconds: int


def read_node_bounds(text: str) -> NodeBounds:
    """Read ``min:max:name``; the name may contain colons (R1). Sizes are compared elsewhere."""
    parts = text.split(":", 2)
    if len(parts) != 3:
        raise ValueError("a node group is written min:max:name, e.g. 1:5:pool-a")
    least, most = _whole(parts[0], "the minimum"), _whole(parts[1], "the maximum")
    if not parts[2].strip():
        raise ValueError("the name is empty; a node group is written min:max:name, e.g. 1:5:pool-a")
    return NodeBounds(min_size=least, max_size=most, name=parts[2].strip())


def read_limits(text: str) -> ResourceLimits:
    """Read ``min:max`` (R2)."""
    parts = text.split(":")
    if len(parts) != 2:
        raise ValueError("limits are written min:max, e.g. 0:320")
    return ResourceLimits(minimum=_whole(parts[0], "the minimum"), maximum=_whole(parts[1], "the maximum"))


def read_gpu_limits(text: str) -> GpuLimits:
    """Read ``type:min:max``."""
    parts = text.split(":")
    if len(parts) != 3 or not parts[0].strip():
        raise ValueError("GPU limits are written type:min:max, e.g. nvidia-a40:0:8")
    least, most = _whole(parts[1], "the minimum"), _whole(parts[2], "the maximum")
    _check_order(least, most)  # here too, so that the message can point at this element of the list
    return GpuLimits(parts[0].strip(), least, most)


def read_drain_priorities(text: str) -> tuple[DrainPriority, ...]:
    """Read ``priority:seconds,…`` (R148), ascending by priority."""
    found: list[DrainPriority] = []
    for pair in text.split(","):
        parts = pair.split(":")
        if len(parts) != 2:
            raise ValueError("drain priorities are written priority:seconds,…, e.g. 10000:20,1000:100,0:60")
        found.append(DrainPriority(_whole(parts[0], "the priority"), _whole(parts[1], "the number of seconds")))
    return tuple(sorted(found, key=lambda entry: entry.priority))


def read_expanders(text: str) -> tuple[ExpanderName, ...]:
    """Read a chain of expanders (R4)."""
    names = [name.strip() for name in text.split(",")]
    offered = ", ".join(IMPLEMENTED_EXPANDERS)
    if missing := [name for name in names if name in KNOWN_EXPANDERS and name not in IMPLEMENTED_EXPANDERS]:
        raise ValueError(f"{', '.join(missing)} is not implemented; there are {offered}")
    if unknown := [name for name in names if name not in KNOWN_EXPANDERS]:
        raise ValueError(f"{', '.join(unknown) or 'an empty name'} is no expander; there are {offered}")
    return tuple(ExpanderName(name) for name in names)


def _whole(text: str, what: str) -> int:
    try:
        return read_int(text.strip())
    except ValueError as wrong:
        raise ValueError(f"{what} is {wrong}") from wrong


def ordered(limits: ResourceLimits) -> ResourceLimits:
    """A validator: 0 ≤ min ≤ max (R2)."""
    _check_order(limits.minimum, limits.maximum)
    return limits


def gpu_types_ordered(limits: tuple[GpuLimits, ...]) -> tuple[GpuLimits, ...]:
    """A validator: 0 ≤ min ≤ max for each, and no type twice."""
    for entry in limits:
        _check_order(entry.minimum, entry.maximum)
    types = [entry.gpu_type for entry in limits]
    if twice := sorted({name for name in types if types.count(name) > 1}):
        raise ValueError(f"{', '.join(twice)} is limited twice")
    return limits


def _check_order(least: int, most: int) -> None:
    if least < 0 or most < 0:
        raise ValueError("limits must be 0 or more")
    if least > most:
        raise ValueError(f"the minimum {least} is above the maximum {most}")


def chain(expanders: tuple[ExpanderName, ...]) -> tuple[ExpanderName, ...]:
    """A validator: none twice, and nothing after ``random``, which always leaves one group (R4)."""
    if not expanders:
        raise ValueError("must name at least one expander")
    if twice := sorted({str(name) for name in expanders if expanders.count(name) > 1}):
        raise ValueError(f"{', '.join(twice)} is named twice")
    if ExpanderName.RANDOM in expanders[:-1]:
        raise ValueError("nothing may follow random, which always leaves a single group")
    return expanders


def priorities(entries: tuple[DrainPriority, ...]) -> tuple[DrainPriority, ...]:
    """A validator: seconds are not negative, priorities differ and are those that pods can have."""
    if any(entry.seconds < 0 for entry in entries):
        raise ValueError("seconds must be 0 or more")
    if any(not -(2**31) <= entry.priority < 2**31 for entry in entries):
        raise ValueError("a priority must fit 32 bits")
    if len({entry.priority for entry in entries}) != len(entries):
        raise ValueError("a priority is named twice")
    return entries


Nodes = Annotated[tuple[NodeBounds, ...], Kind("min:max:name, repeated", read_node_bounds, Gathers.EACH)]
Limits = Annotated[ResourceLimits, Kind("min:max", read_limits), AfterValidator(ordered)]
GpuTotals = Annotated[
    tuple[GpuLimits, ...],
    Kind("type:min:max, repeated", read_gpu_limits, Gathers.EACH),
    AfterValidator(gpu_types_ordered),
]
DrainPriorities = Annotated[
    tuple[DrainPriority, ...],
    Kind("priority:seconds list", read_drain_priorities, Gathers.WHOLE),
    AfterValidator(priorities),
]
Expanders = Annotated[
    tuple[ExpanderName, ...], Kind("comma list", read_expanders, Gathers.WHOLE), AfterValidator(chain)
]
