"""The watches that are open, so that they can be ended in good order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OpenWatch:
    """One watch: `wake` tells it to look for news, or to end when `ended` is set. Both are safe from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self.ended = False

    def wake(self) -> None:
        """Let the watch look, at once if it waits."""
        # An event that is set is still to be cleared, and the watch looks after that.
        if not self._wake.is_set() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    async def woken(self, seconds: float) -> bool:
        """Wait to be woken, at most that long; True when it was."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return False
        self._wake.clear()
        return True


class OpenWatches:
    """All open watches of one API server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[OpenWatch] = set()

    @contextmanager
    def opened(self) -> Iterator[OpenWatch]:
        """A new watch, which counts as open within the block; to be entered in the event loop that serves it."""
        watch = OpenWatch()
        with self._lock:
            self._open.add(watch)
        try:
            yield watch
        finally:
            with self._lock:
                self._open.discard(watch)

    def end_all(self) -> None:
        """End the watches that are open now; their clients see a watch that has run its time."""
        with self._lock:
            found = list(self._open)
        for watch in found:
            watch.ended = True
            watch.wake()
