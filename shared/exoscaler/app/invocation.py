"""One invocation: who it is, what it may use, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler.core.policy import Policy
from exoscaler.errors import BudgetExhausted
from exoscaler.ports.clock import Clock
from exoscaler.ports.cloud import Cloud
from exoscaler.ports.cluster import Cluster
from exoscaler.ports.events import EventSink
from exoscaler.ports.state import StateStore


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside world, as the use cases know it."""

    cluster: Cluster
    cloud: Cloud
    store: StateStore
    sink: EventSink
    clock: Clock


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of one function.

    Attributes:
        id: unique; owns claims and names decisions.
        deadline: when to stop in a saved state. Nothing new is begun after it.
    """

    id: str
    ports: Ports
    policy: Policy
    started_at: datetime
    deadline: datetime

    @property
    def now(self) -> datetime:
        """The current time."""
        return self.ports.clock.now()

    def time_left(self) -> timedelta:
        """How much of the budget is left; zero or less when it is used up."""
        return self.deadline - self.now

    def check_budget(self) -> None:
        """Raise `BudgetExhausted` when nothing new should be begun."""
        if self.time_left() <= timedelta(0):
            raise BudgetExhausted(f"invocation {self.id} has used up its {self.policy.pace.invocation_budget}")


def begin(invocation_id: str, ports: Ports, policy: Policy) -> Invocation:
    """Start the clock of an invocation."""
    now = ports.clock.now()
    return Invocation(invocation_id, ports, policy, now, now + policy.pace.invocation_budget)
