"""The sandbox's clock: time stamps are the wall's, waiting is divided by the speed.

A node that takes 60 s to boot takes 6 s at speed 10, and every time stamp that a client sees still compares with
the client's own clock.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime


class SandboxClock:
    """Reads the wall clock; measures and waits `speed` times faster than the wall."""

    def __init__(self, speed: float = 1.0) -> None:
        if not speed > 0:
            message = f"the sandbox's speed must be above 0, not {speed}"
            raise ValueError(message)
        self.speed = speed

    def now(self) -> datetime:
        """The wall-clock time, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of simulated time since an arbitrary moment."""
        return time.monotonic() * self.speed

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for `seconds` of simulated time; True at once when `stop` is set meanwhile."""
        return stop.wait(seconds / self.speed)
