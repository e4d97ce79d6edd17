"""The fields of `Settings`, in the sections of the reference page.

Each class is one section. A field's name is the flag's name with underscores, its annotation says how its text is read
and what it means, and its default is the flag's default. Adding a flag means adding a field here, and nothing else.
"""

from exoscaler.settings.fields.actuation import ActuationFields
from exoscaler.settings.fields.functions import FunctionFields
from exoscaler.settings.fields.groups import LimitFields, NodeGroupFields, TaintFields
from exoscaler.settings.fields.growing import NodeStartFields, PendingPodFields, ScaleUpFields
from exoscaler.settings.fields.process import ProcessFields, StatusFields
from exoscaler.settings.fields.section import Section
from exoscaler.settings.fields.selection import SelectionFields

__all__ = [
    "ActuationFields",
    "FunctionFields",
    "LimitFields",
    "NodeGroupFields",
    "NodeStartFields",
    "PendingPodFields",
    "ProcessFields",
    "ScaleUpFields",
    "Section",
    "SelectionFields",
    "StatusFields",
    "TaintFields",
]
