"""The steps of the demo. Each is a fact to be seen in cluster or cloud within its time; none is taken on trust."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx

from exoscaler.cli.demo.recording import Recorder
from exoscaler.cli.demo.workload import Workload

BUSY_REPLICAS = 26
QUIET_REPLICAS = 4
LOOK_SECONDS = 0.2
STEP_TIMEOUT_SECONDS = 600
"""Of simulated time: the demo's time limits shrink with its speed, down to the least that two busy cores need."""
LEAST_STEP_TIMEOUT_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that must happen: what to do, and how to see that it did. `seen` gives a detail once it did."""

    what: str
    act: Callable[[], None]
    seen: Callable[[], str | None]


class StepFailed(RuntimeError):
    """A step did not happen in time."""


class Story:
    """The demo's steps on a running stage."""

    def __init__(self, workload: Workload, recorder: Recorder, status_url: str, *, speed: float) -> None:
        self._workload = workload
        self._recorder = recorder
        self._status_url = status_url
        self._timeout = max(LEAST_STEP_TIMEOUT_SECONDS, STEP_TIMEOUT_SECONDS / speed)
        self._first_sizes = recorder.sizes()

    def steps(self) -> tuple[Step, ...]:
        """The steps in order."""
        return (
            Step("exoscaler finds the node groups", _nothing, self._groups_found),
            Step("a workload arrives that does not fit", self._apply, self._pods_wait),
            Step("a pool grows", _nothing, self._grown),
            Step("new nodes are ready and every pod runs", _nothing, self._all_run),
            Step("the workload ends", self._quieten, self._quiet),
            Step("an idle node is tainted and drained", _nothing, self._draining),
            Step("every pool is back at its minimum", _nothing, self._at_minimum),
            Step("the pods that remain all run", _nothing, self._rest_runs),
        )

    def tell(self) -> Iterator[Step]:
        """Live through the steps; yields each one when it has happened.

        Raises:
            StepFailed: one did not, in time.
        """
        for step in self.steps():
            step.act()
            self._await(step)
            yield step

    def _await(self, step: Step) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            detail = step.seen()
            if detail is not None:
                self._recorder.note(step.what, detail)
                return
            if time.monotonic() > deadline:
                raise StepFailed(f"this did not happen within {self._timeout:.0f} s: {step.what}")
            time.sleep(LOOK_SECONDS)

    def _apply(self) -> None:
        self._workload.apply(BUSY_REPLICAS)

    def _quieten(self) -> None:
        self._workload.scale(QUIET_REPLICAS)

    def _groups_found(self) -> str | None:
        groups = self._status().get("nodeGroups")
        names = [str(group["name"]) for group in groups] if isinstance(groups, list) else []
        return ", ".join(names) if len(names) >= len(self._first_sizes) else None

    def _status(self) -> dict[str, object]:
        try:
            answer = httpx.get(f"{self._status_url}status.json", timeout=10)
        except httpx.TransportError:
            return {}
        if answer.status_code != httpx.codes.OK:
            return {}
        report: object = answer.json()
        return report if isinstance(report, dict) else {}

    def _pods_wait(self) -> str | None:
        look = self._workload.look()
        return f"{look.waiting_pods} of {BUSY_REPLICAS} pods wait" if look.waiting_pods and look.running_pods else None

    def _grown(self) -> str | None:
        grown = [
            f"{n} {self._first_sizes[n]} → {s}" for n, s in self._recorder.sizes().items() if s > self._first_sizes[n]
        ]
        return ", ".join(grown) or None

    def _all_run(self) -> str | None:
        look = self._workload.look()
        return f"{look.running_pods} pods on {look.ready_nodes} nodes" if look.running_pods == BUSY_REPLICAS else None

    def _quiet(self) -> str | None:
        look = self._workload.look()
        return f"{QUIET_REPLICAS} pods remain" if look.running_pods == QUIET_REPLICAS else None

    def _draining(self) -> str | None:
        leaving = self._workload.look().leaving_nodes
        return f"{leaving} leaving" if leaving else None

    def _at_minimum(self) -> str | None:
        sizes = self._recorder.sizes()
        look = self._workload.look()
        nodes = sum(self._first_sizes.values())
        report = self._status()
        settled = report.get("shrinking") == [] and report.get("growing") == []
        return f"{nodes} nodes" if sizes == self._first_sizes and look.nodes == nodes and settled else None

    def _rest_runs(self) -> str | None:
        look = self._workload.look()
        return f"{look.running_pods} pods" if look.running_pods == QUIET_REPLICAS and not look.waiting_pods else None


def _nothing() -> None:
    """Some steps only have to be seen."""
