"""Would this pod fit there: one module per kind of constraint, one face, and the ledger of what is promised.

`why_not` answers for one pod and one place. `Ledger` holds all places of an evaluation and answers for the cluster:
whoever plans asks the ledger, so that a constraint that looks at other nodes too has a place to look from.
"""

from exoscaler.core.scheduling.constraints import room_for, why_not
from exoscaler.core.scheduling.ledger import Ledger, Settlement
from exoscaler.core.scheduling.likeness import Likeness, likeness
from exoscaler.core.scheduling.place import Origin, Place, demand
from exoscaler.core.scheduling.readiness import can_take_pods, is_example, is_starting
from exoscaler.core.scheduling.template import Template, TemplateSource, template_for, templates_for

__all__ = [
    "Ledger",
    "Likeness",
    "Origin",
    "Place",
    "Settlement",
    "Template",
    "TemplateSource",
    "can_take_pods",
    "demand",
    "is_example",
    "is_starting",
    "likeness",
    "room_for",
    "template_for",
    "templates_for",
    "why_not",
]
