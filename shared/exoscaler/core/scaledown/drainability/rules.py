"""The rules in the order in which they are asked; the first that has something to say decides (R130, R131).

Rule 3 of upstream (the controller must still exist, and have ``min-replica-count`` replicas) is not here: the snapshot
does not hold controllers.
"""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.scaledown.drainability.daemonset import daemonset
from exoscaler.core.scaledown.drainability.disruption_budget import disruption_budget
from exoscaler.core.scaledown.drainability.local_storage import local_storage
from exoscaler.core.scaledown.drainability.long_terminating import long_terminating
from exoscaler.core.scaledown.drainability.mirror import mirror
from exoscaler.core.scaledown.drainability.not_safe_to_evict import not_safe_to_evict
from exoscaler.core.scaledown.drainability.on_completion import on_completion
from exoscaler.core.scaledown.drainability.replicated import replicated
from exoscaler.core.scaledown.drainability.rule import MOVE, DrainContext, Rule, Verdict
from exoscaler.core.scaledown.drainability.safe_to_evict import safe_to_evict
from exoscaler.core.scaledown.drainability.system import system
from exoscaler.core.scaledown.drainability.terminal import terminal

RULES: tuple[Rule, ...] = (
    mirror,
    long_terminating,
    daemonset,
    safe_to_evict,
    terminal,
    on_completion,
    replicated,
    system,
    not_safe_to_evict,
    local_storage,
    disruption_budget,
)


def judge(pod: Pod, context: DrainContext) -> Verdict:
    """What becomes of the pod when its node goes; it moves when no rule says otherwise."""
    for rule in RULES:
        verdict = rule(pod, context)
        if verdict is not None:
            return verdict
    return MOVE
