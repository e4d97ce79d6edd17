"""Functions as users run them: real functions-framework processes on loopback, against a sandbox."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from exoscaler.cli.demo.processes import SupervisedProcess, free_port, wait_for_port
from exoscaler.sandbox.world import SANDBOX_KEY, SANDBOX_SECRET

TOP = Path(__file__).parents[2]
START_SECONDS = 60


def environment_for(exoscale_url: str, kubeconfig: Path, **flags: str) -> dict[str, str]:
    """The environment of a function that works on the sandbox; flags by name with underscores."""
    return {
        "EXOSCALE_ZONE": "ch-gva-2",
        "EXOSCALE_API_KEY": SANDBOX_KEY,
        "EXOSCALE_API_SECRET": SANDBOX_SECRET,
        "EXOSCALE_API_ENDPOINT": f"{exoscale_url.removesuffix('/v2')}/v2",
        "EXOSCALER_KUBECONFIG": str(kubeconfig),
        "EXOSCALER_MIN_EVALUATION_INTERVAL": "10ms",
        **{f"EXOSCALER_{name.upper()}": value for name, value in flags.items()},
    }


def command_for(function: str, port: int) -> list[str]:
    module = function.replace("-", "_")
    source = TOP / "functions" / f"{module}.py"
    server = [sys.executable, "-m", "functions_framework", "--source", str(source), "--target", module]
    return [*server, "--host", "127.0.0.1", "--port", str(port)]


class ServedFunction:
    """A function that answers, and the log it writes."""

    def __init__(self, process: SupervisedProcess, port: int, log: Path) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}/"
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def post(self, *, content: bytes = b"", headers: Mapping[str, str] | None = None) -> httpx.Response:
        return httpx.post(self.url, content=content, headers=dict(headers or {}), timeout=30)

    def get(self, path: str = "") -> httpx.Response:
        return httpx.get(self.url + path, timeout=30)


@contextmanager
def served(function: str, environment: Mapping[str, str], folder: Path) -> Iterator[ServedFunction]:
    port = free_port()
    log = folder / f"{function}-{port}.log"
    process = SupervisedProcess(function, command_for(function, port), environment, log)
    with process:
        wait_for_port(process, port, START_SECONDS)
        yield ServedFunction(process, port, log)
