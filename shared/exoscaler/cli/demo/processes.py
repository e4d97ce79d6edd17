"""Child processes that are watched, started again when they die, and never left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

STOP_TIMEOUT_SECONDS = 5


class ProcessDied(RuntimeError):
    """A process ended while it was being waited for; the message holds the end of its log."""


def free_port() -> int:
    """A TCP port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class SupervisedProcess:
    """One process, started again whenever it dies, as a cluster would; unless it is not `replaceable`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        replaceable: bool = True,
    ) -> None:
        self.name = name
        self.restarts = 0
        self._command = list(command)
        self._environment = dict(environment)
        self._log = log
        self._replaceable = replaceable
        self._lock = threading.Lock()
        self._wanted = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, name=f"watch-{name}", daemon=True)

    @property
    def pid(self) -> int:
        """The process id; also the id of its process group."""
        process = self._process
        if process is None:
            raise ProcessDied(f"{self.name} is not running")
        return process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs at this moment."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start it, and keep it running until `stop`."""
        self._wanted = True
        self._spawn()
        self._watcher.start()
        return self

    def kill(self) -> None:
        """Kill it and everything it started, at once; it is started again."""
        os.killpg(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and make it end."""
        with self._lock:
            self._wanted = False
            process = self._process
        if process is None:
            return
        _signal_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS)
        # The group's other members may outlive their parent.
        _signal_group(process, signal.SIGKILL)
        process.wait()

    def log_tail(self, lines: int = 15) -> str:
        """The end of what it wrote."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _spawn(self) -> None:
        with self._log.open("ab") as log:
            self._process = _spawn(self._command, self._environment, log)

    def _watch(self) -> None:
        while True:
            process = self._process
            if process is None:
                return
            process.wait()
            with self._lock:
                if not self._wanted or not self._replaceable:
                    return
                self.restarts += 1
                # One that dies at once must not take the machine with it.
                time.sleep(0.2)
                self._spawn()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _spawn(command: list[str], environment: dict[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env=environment, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
    )


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def wait_for_port(process: SupervisedProcess, port: int, timeout_seconds: float) -> None:
    """Wait until something listens on a port of loopback.

    Raises:
        ProcessDied: it does not, in time.
    """
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=0.5):
                return
        except OSError:
            time.sleep(0.05)
    raise ProcessDied(f"{process.name} does not answer on port {port}; its log ends:\n{process.log_tail()}")
