"""What is going to happen, in order of time: the model moves only when somebody looks."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import TypeAlias

Action: TypeAlias = Callable[[float], None]
"""What happens; it is given the moment at which it was due, not the one at which somebody looked."""


class Timeline:
    """Future events of one simulated world. Times are in seconds of simulated time; not thread-safe."""

    def __init__(self) -> None:
        self._events: list[tuple[float, int, Action]] = []
        self._order = itertools.count()

    def at(self, moment: float, action: Action) -> None:
        """Let `action` happen at `moment`; events of the same moment happen in the order they were planned."""
        heapq.heappush(self._events, (moment, next(self._order), action))

    def run_until(self, now: float) -> None:
        """Let everything happen that is due by `now`, including what these events plan themselves."""
        while self._events and self._events[0][0] <= now:
            moment, _, action = heapq.heappop(self._events)
            action(moment)
