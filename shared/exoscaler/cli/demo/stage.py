"""The sandbox and the five functions, each a process of its own, as users run them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import exoscaler
from exoscaler.cli.demo.processes import ProcessDied, SupervisedProcess, free_port, wait_for_port
from exoscaler.ports.events import FunctionName

START_TIMEOUT_SECONDS = 60
DEMO_KEY = "EXOsandbox0123456789abcdef"
DEMO_SECRET = "a-sandbox-secret-that-opens-nothing"  # noqa: S105 - the sandbox's own
ZONE = "ch-gva-2"


@dataclass(frozen=True, slots=True)
class SandboxAddresses:
    """Where the sandbox is. `kubernetes` is empty when the cluster is somebody else's."""

    exoscale: str
    kubernetes: str
    kubeconfig: Path


@dataclass(frozen=True, slots=True)
class GivenCluster:
    """A cluster that is there already: the Exoscale half's machines join it.

    `controllers` are those of the sandbox that it lacks and that are run for it.
    """

    kubeconfig: Path
    controllers: Sequence[str] = ()


def functions_folder() -> Path:
    """Where the functions are: at the top of a source tree, or where an installed wheel puts its shared files.

    Raises:
        FileNotFoundError: neither holds them.
    """
    source_tree = Path(exoscaler.__file__).parents[2]
    candidates = (source_tree / "functions", Path(sys.prefix) / "share" / "exoscaler" / "functions")
    for folder in candidates:
        if (folder / "evaluate.py").is_file():
            return folder
    raise FileNotFoundError(f"no functions in {' or '.join(str(folder) for folder in candidates)}")


class Stage:
    """Everything that runs. Use as a context: at its end no process is left.

    Attributes:
        ports: the loopback port of each function and of ``status``.
        functions: the processes by name.
    """

    def __init__(
        self,
        folder: Path,
        *,
        speed: float,
        flags: Sequence[str],
        scenario: Path | None = None,
        cluster: GivenCluster | None = None,
    ) -> None:
        self.folder = folder
        self._speed = speed
        self._flags = tuple(flags)
        self._scenario = scenario
        self._cluster = cluster
        self._stack = ExitStack()
        self.ports: dict[str, int] = {}
        self.functions: dict[str, SupervisedProcess] = {}
        self.addresses: SandboxAddresses

    def __enter__(self) -> Self:
        try:
            self.addresses = self._start_sandbox()
            self._start_functions()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def url(self, function: str) -> str:
        """Where a function answers."""
        return f"http://127.0.0.1:{self.ports[function]}/"

    def _start_sandbox(self) -> SandboxAddresses:
        scenario = ["--scenario", str(self._scenario)] if self._scenario is not None else []
        given = self._cluster
        if given is None:
            kubeconfig = self.folder / "kubeconfig"
            events = self._sandbox("all", *scenario, "--kubeconfig-out", str(kubeconfig))
            return SandboxAddresses(_url(events, "exoscale"), _url(events, "kubernetes"), kubeconfig)
        events = self._sandbox("exoscale", *scenario, "--kubeconfig", str(given.kubeconfig))
        if given.controllers:
            only = ",".join(given.controllers)
            self._sandbox("controllers", "--kubeconfig", str(given.kubeconfig), "--only", only)
        return SandboxAddresses(_url(events, "exoscale"), "", given.kubeconfig)

    def _sandbox(self, mode: str, *options: str) -> dict[str, Mapping[str, object]]:
        """Start one process of the sandbox; returns what it said of itself, by event, once it is ready."""
        command = [sys.executable, "-m", "exoscaler.sandbox", mode, "--speed", str(self._speed), *options]
        environment = {**_inherited(), "EXOSCALE_API_KEY": DEMO_KEY, "EXOSCALE_API_SECRET": DEMO_SECRET}
        log = self.folder / f"sandbox-{mode}.log"
        process = SupervisedProcess(f"sandbox {mode}", command, environment, log, replaceable=False)
        self._stack.enter_context(process)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            events = {str(line.get("event")): line for line in json_lines(process.log_tail())}
            if "ready" in events:
                return dict(events)
            if time.monotonic() > deadline or not process.is_alive:
                raise ProcessDied(f"the sandbox is not ready; its log ends:\n{process.log_tail()}")
            time.sleep(0.05)

    def _start_functions(self) -> None:
        names = [*(name.value for name in FunctionName), "status"]
        self.ports = {name: free_port() for name in names}
        for name in names:
            self.functions[name] = self._stack.enter_context(self._function(name))
        for name, process in self.functions.items():
            wait_for_port(process, self.ports[name], START_TIMEOUT_SECONDS)

    def _function(self, name: str) -> SupervisedProcess:
        module = name.replace("-", "_")
        source = functions_folder() / f"{module}.py"
        command = [sys.executable, "-m", "functions_framework", "--source", str(source), "--target", module]
        command += ["--host", "127.0.0.1", "--port", str(self.ports[name])]
        return SupervisedProcess(name, command, self._environment(), self.folder / f"{name}.log")

    def _environment(self) -> Mapping[str, str]:
        return {
            **_inherited(),
            "EXOSCALE_ZONE": ZONE,
            "EXOSCALE_API_KEY": DEMO_KEY,
            "EXOSCALE_API_SECRET": DEMO_SECRET,
            "EXOSCALE_API_ENDPOINT": f"{self.addresses.exoscale}/v2",
            "EXOSCALER_KUBECONFIG": str(self.addresses.kubeconfig),
            "EXOSCALER_SCALE_UP_SINK": self.url("scale-up"),
            "EXOSCALER_SCALE_DOWN_SINK": self.url("scale-down"),
            "EXOSCALER_FLAGS": "\n".join(self._flags),
            "THREADS": "4",
        }


def _inherited() -> dict[str, str]:
    """The environment of the children: ours, less anything that would configure them behind the demo's back."""
    own = ("EXOSCALE", "K_SINK", "KUBECONFIG", "FUNCTION_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return {**kept, "PYTHONUNBUFFERED": "1", "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def _url(events: Mapping[str, Mapping[str, object]], which: str) -> str:
    return str(events[which]["url"]).removesuffix("/v2")


def json_lines(text: str) -> list[dict[str, object]]:
    """The JSON objects among the lines of a log."""
    found: list[dict[str, object]] = []
    for line in text.splitlines():
        if line.startswith("{"):
            entry: object = json.loads(line)
            if isinstance(entry, dict):
                found.append(entry)
    return found
