"""The one place that reads the time and waits."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)

    def pause(self, duration: timedelta) -> None:
        """Wait; returns at once for a duration of zero or less."""
        seconds = duration.total_seconds()
        if seconds > 0:
            time.sleep(seconds)
