"""Disruption budgets over a whole round: no disruption is counted on twice (R122).

Stricter than upstream, where the pods of one node may exceed a budget jointly as long as it allows one: what is
evicted must fit together, or a node would be tainted whose drain may get stuck half-way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exoscaler.core.model import DisruptionBudget, Pod


@dataclass(frozen=True, slots=True)
class Shortage:
    """A budget that does not allow what is wanted of it, and the pod at which it is used up."""

    pod: Pod
    budget: DisruptionBudget
    needed: int

    @property
    def text(self) -> str:
        """Which pod, which budget, how many evictions it would take and how many are left."""
        left = max(0, self.budget.disruptions_allowed)
        return f"{self.pod.key}: budget {self.budget.name} allows {left} disruptions now, {self.needed} are needed"


class BudgetLedger:
    """What is left of each budget while removals are planned; mutable, like the ledger of capacity."""

    def __init__(self, budgets: Iterable[DisruptionBudget]) -> None:
        self._by_namespace: dict[str, list[DisruptionBudget]] = {}
        self._left: dict[tuple[str, str], int] = {}
        for budget in sorted(budgets, key=lambda budget: (budget.namespace, budget.name)):
            self._by_namespace.setdefault(budget.namespace, []).append(budget)
            self._left[_key(budget)] = budget.disruptions_allowed

    def covering(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        """The budgets that cover the pod, by name."""
        return tuple(budget for budget in self._by_namespace.get(pod.namespace, ()) if budget.covers(pod))

    def left(self, budget: DisruptionBudget) -> int:
        """How many more evictions the budget allows; below zero when more was taken off than it had."""
        return self._left[_key(budget)]

    def shortage(self, pods: Iterable[Pod]) -> Shortage | None:
        """The first budget that does not allow to evict all these pods, None when they fit jointly.

        `pods` are those to evict; a terminating one is not, for its budget does not count it as healthy any more.
        """
        wanted: dict[tuple[str, str], list[Pod]] = {}
        budgets: dict[tuple[str, str], DisruptionBudget] = {}
        for pod in _to_evict(pods):
            for budget in self.covering(pod):
                wanted.setdefault(_key(budget), []).append(pod)
                budgets[_key(budget)] = budget
        for key, covered in sorted(wanted.items()):
            left = max(0, self._left[key])
            if len(covered) > left:
                budget = budgets[key]
                now = DisruptionBudget(budget.namespace, budget.name, budget.selector, left)
                return Shortage(covered[left], now, len(covered))
        return None

    def spend(self, pods: Iterable[Pod]) -> None:
        """Take the evictions of these pods off their budgets, even beyond what they allow."""
        for pod in _to_evict(pods):
            for budget in self.covering(pod):
                self._left[_key(budget)] -= 1


def _key(budget: DisruptionBudget) -> tuple[str, str]:
    return budget.namespace, budget.name


def _to_evict(pods: Iterable[Pod]) -> list[Pod]:
    return sorted((pod for pod in pods if not pod.is_terminating), key=lambda pod: pod.key)
