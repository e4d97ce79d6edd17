"""Scale-down: which nodes are not needed, may be emptied, and go now; and whether that still holds later.

``candidates``     which nodes are looked at, and why the others stay
``utilization``    how much of a node is used
``drainability/``  may this pod be moved: one rule a file
``departure``      what has to happen to the pods of a node
``replacement``    would they all find another place
``budgets``        how many disruptions are still allowed
``headcount``, ``limits``   how many nodes the group and the cluster may lose
``timers``, ``cooldown``, ``round``   which of the unneeded nodes go now
``pod_view``       can the list of pods be trusted
``unregistered``   instances that never became nodes
``orphans``        taints that were left when the state was lost
``recheck``        the proof before, and after, the taint
"""

from exoscaler.core.scaledown.planner import plan_shrink
from exoscaler.core.scaledown.recheck import recheck_node, recheck_plan

__all__ = ["plan_shrink", "recheck_node", "recheck_plan"]
