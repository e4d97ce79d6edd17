"""Disruption budgets over a whole round: no disruption is counted on twice (R122).

Stricter than upstream, where a set of pods may exceed a budget jointly as long as each budget allows one.
"""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import DisruptionBudget, Pod


class BudgetLedger:
    """What is left of each budget while removals are planned; mutable, like the ledger of capacity."""

    def __init__(self, budgets: Iterable[DisruptionBudget]) -> None:
        self._budgets = {(budget.namespace, budget.name): budget for budget in budgets}

    @property
    def budgets(self) -> tuple[DisruptionBudget, ...]:
        """The budgets with what is left of them."""
        return tuple(self._budgets.values())

    def exceeded_by(self, pods: Iterable[Pod]) -> Pod | None:
        """The first pod whose eviction, after those before it, would exceed a budget; None when all fit."""
        used: dict[tuple[str, str], int] = {}
        for pod in _still_counted(pods):
            for key, budget in self._budgets.items():
                if budget.covers(pod):
                    used[key] = used.get(key, 0) + 1
                    if used[key] > budget.disruptions_allowed:
                        return pod
        return None

    def spend(self, pods: Iterable[Pod]) -> None:
        """Take the evictions of these pods off the budgets."""
        for pod in _still_counted(pods):
            for key, budget in self._budgets.items():
                if budget.covers(pod):
                    left = budget.disruptions_allowed - 1
                    self._budgets[key] = DisruptionBudget(budget.namespace, budget.name, budget.selector, left)


def _still_counted(pods: Iterable[Pod]) -> Iterable[Pod]:
    """The pods that their budgets still count as healthy: one that is leaving is taken off already."""
    return (pod for pod in pods if not pod.is_terminating)
