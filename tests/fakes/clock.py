"""A clock that stands still unless it is told to move or asked to wait."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from tests.builders import NOW


class FakeClock:
    """`pauses` holds every pause that was asked for; each moves the time on."""

    def __init__(self, start: datetime = NOW) -> None:
        self._lock = threading.Lock()
        self._now = start
        self.pauses: list[timedelta] = []

    def now(self) -> datetime:
        with self._lock:
            return self._now

    def pause(self, duration: timedelta) -> None:
        with self._lock:
            self.pauses.append(duration)
            self._now += max(duration, timedelta(0))

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += timedelta(seconds=seconds)
