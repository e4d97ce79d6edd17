"""Scale-up: which pods ask for nodes, what is coming already, what to order, and why not more.

`look_ahead` works out templates and upcoming nodes, `ledger_for` opens the evaluation's ledger, `plan_growth` plans.
"""

from exoscaler.core.scaleup.outlook import Outlook, ledger_for, look_ahead
from exoscaler.core.scaleup.planner import plan_growth

__all__ = ["Outlook", "ledger_for", "look_ahead", "plan_growth"]
