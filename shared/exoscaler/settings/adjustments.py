"""Values that are put right with a warning, where upstream or its Exoscale provider does so too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from exoscaler.core.model import NodeBounds
from exoscaler.settings.catalogue import flags
from exoscaler.settings.report import Report
from exoscaler.settings.stand_ins import Resolved


def adjust(resolved: Resolved, report: Report) -> None:
    """Raise what is too low: minima of node groups, and the start-up limit of the health check."""
    _raise_minimums(resolved, report)
    _warn_of_no_scale_down(resolved, report)


def _raise_minimums(resolved: Resolved, report: Report) -> None:
    """A group has at least one node unless groups may be empty (R1, with Exoscale's twist)."""
    nodes = resolved.values.get("nodes")
    may_be_empty = resolved.values.get("scale-to-zero") is True or "scale-to-zero" in resolved.mistaken
    if may_be_empty or not isinstance(nodes, tuple):
        return
    raised: list[object] = []
    for bounds, given in zip(nodes, resolved.given["nodes"], strict=True):
        if isinstance(bounds, NodeBounds) and bounds.min_size < 1:
            what = f"the minimum {bounds.min_size} counts as 1; set --scale-to-zero to let a group be empty"
            report.warning(given.origin, what, given.text)
            raised.append(replace(bounds, min_size=1))
        else:
            raised.append(bounds)
    resolved.values["nodes"] = tuple(raised)


def _warn_of_no_scale_down(resolved: Resolved, report: Report) -> None:
    if resolved.values.get("scale-down-enabled") is False:
        given = resolved.given["scale-down-enabled"][-1]
        report.warning(given.origin, "deprecated upstream; no node will ever be removed", given.text)


def _duration(resolved: Resolved, name: str) -> timedelta:
    value = resolved.values.get(name, flags()[name].default)
    return value if isinstance(value, timedelta) else timedelta(0)
