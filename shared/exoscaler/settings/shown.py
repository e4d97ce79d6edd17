"""Typed values as text, the way a flag takes them."""

from __future__ import annotations

from datetime import timedelta

from exoscaler.core.model import NodeBounds
from exoscaler.core.model.go_duration import format_duration
from exoscaler.core.policy import ResourceLimits
from exoscaler.settings.composite import DrainPriority, GpuLimits


def shown(value: object) -> str:
    """The value as it would be written for a flag; nothing is an empty text."""
    match value:
        case None:
            text = ""
        case bool():
            text = "true" if value else "false"
        case timedelta():
            text = format_duration(value)
        case float():
            text = f"{value:g}"
        case ResourceLimits(minimum, maximum):
            text = f"{minimum}:{maximum}"
        case NodeBounds(min_size, max_size, name):
            text = f"{min_size}:{max_size}:{name}"
        case GpuLimits(gpu_type, minimum, maximum):
            text = f"{gpu_type}:{minimum}:{maximum}"
        case DrainPriority(priority, seconds):
            text = f"{priority}:{seconds}"
        case tuple():
            text = ",".join(shown(element) for element in value)
        case _:
            text = str(value)
    return text
