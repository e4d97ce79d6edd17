"""The time, read in one place."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Reads the time and waits."""

    def now(self) -> datetime:
        """The current time, in UTC. It may jump, also backwards."""

    def pause(self, duration: timedelta) -> None:
        """Wait; returns at once for a duration of zero or less."""
