"""Runs controllers, one round after the other, until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.objects import ObjectError

STOP_TIMEOUT_SECONDS = 10
LEAST_PAUSE_SECONDS = 0.05
REST = 1.0
"""A round is followed by a pause of at least this many times its own length, so that a large cluster leaves the
processor to those who use it."""

log = logging.getLogger(__name__)


class Controller(Protocol):
    """Compares what should be with what is, and takes the steps it can take now."""

    name: str

    def step(self) -> bool:
        """Act once on the whole cluster; True when something was changed. May raise `ObjectError`."""


class ControllerLoop:
    """A thread that lets controllers step in turn, every `period` seconds of simulated time.

    A step that fails is logged, once for as long as it fails alike, and taken again; no failure ends the loop.
    """

    def __init__(
        self,
        controllers: Sequence[Controller],
        clock: SandboxClock,
        *,
        period: float = 1.0,
        name: str = "controllers",
        before_round: Callable[[], None] = lambda: None,
    ) -> None:
        self._controllers = tuple(controllers)
        self._clock = clock
        self._period = period
        self._before_round = before_round
        self._failures: dict[str, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"sandbox-{name}", daemon=True)

    def start(self) -> Self:
        """Begin with the first round at once."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End after the step under way; returns when the thread is gone."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=STOP_TIMEOUT_SECONDS)

    def round(self) -> bool:
        """Let every controller step once; True when one of them changed something."""
        self._before_round()
        changed = False
        for controller in self._controllers:
            if self._stop.is_set():
                break
            changed = self._step(controller) or changed
        return changed

    def _step(self, controller: Controller) -> bool:
        try:
            changed = controller.step()
        except ObjectError as error:
            self._note(controller.name, f"{error.status} {error.reason}: {error}")
            return False
        except Exception as error:
            if self._note(controller.name, f"{type(error).__name__}: {error}"):
                log.exception("the failure of the %s controller in full", controller.name)
            return False
        if self._failures.pop(controller.name, None):
            log.warning("the %s controller works again", controller.name)
        return changed

    def _note(self, name: str, failure: str) -> bool:
        """Log a failure once, however many rounds it lasts; True when it is news."""
        if self._failures.get(name) == failure:
            return False
        self._failures[name] = failure
        log.error("the %s controller failed and tries again in every round: %s", name, failure)
        return True

    def _run(self) -> None:
        while not self._stop.is_set():
            started = time.monotonic()
            self.round()
            rest = (time.monotonic() - started) * REST
            self._stop.wait(max(self._period / self._clock.speed, rest, LEAST_PAUSE_SECONDS))
