"""All fields together, each valid by itself; `exoscaler.settings.model` adds that they fit each other."""

from __future__ import annotations

from exoscaler.settings.fields import (
    ActuationFields,
    FunctionFields,
    LimitFields,
    NodeGroupFields,
    NodeStartFields,
    PendingPodFields,
    ProcessFields,
    ScaleUpFields,
    SelectionFields,
    StatusFields,
    TaintFields,
)

SECTIONS = (
    ProcessFields,
    NodeGroupFields,
    LimitFields,
    TaintFields,
    PendingPodFields,
    ScaleUpFields,
    NodeStartFields,
    SelectionFields,
    ActuationFields,
    StatusFields,
    FunctionFields,
)
"""The parts of the settings, in the order of the reference page."""


class Values(
    # The last base comes first among the fields, so this is the order of SECTIONS backwards.
    FunctionFields,
    StatusFields,
    ActuationFields,
    SelectionFields,
    NodeStartFields,
    ScaleUpFields,
    PendingPodFields,
    TaintFields,
    LimitFields,
    NodeGroupFields,
    ProcessFields,
):
    """Every field, under the flag's name with underscores."""
