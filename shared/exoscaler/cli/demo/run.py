"""The demo from start to end."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from exoscaler.cli.demo.events import EventSources
from exoscaler.cli.demo.processes import ProcessDied
from exoscaler.cli.demo.recording import Recorder, Recording
from exoscaler.cli.demo.report import write_report
from exoscaler.cli.demo.stage import Stage
from exoscaler.cli.demo.story import StepFailed, Story
from exoscaler.cli.demo.view import DemoScreen, DemoView, summary
from exoscaler.cli.demo.workload import Workload
from exoscaler.ports.events import FunctionName

TICK_SECONDS = 10
"""Of simulated time, between two ticks of each cron source; never less than a real second."""


def flags_at(speed: float) -> tuple[str, ...]:
    """The demo's flags: everything that lasts is as much shorter as the sandbox's time is faster."""
    return (
        "--nodes=1:5:general",
        "--nodes=1:4:batch",
        "--nodes=1:3:compute",
        *(f"--{name}={max(seconds / speed, least):.3f}s" for name, seconds, least in _DURATIONS),
        "--max-drain-parallelism=3",
        "--scale-down-utilization-threshold=0.7",
        "--log-level=info",
    )


_DURATIONS = (
    ("scale-down-unneeded-time", 60, 2),
    ("scale-down-delay-after-add", 40, 1),
    ("unremovable-node-recheck-timeout", 30, 1),
    ("node-delete-delay-after-taint", 5, 0.5),
    ("min-evaluation-interval", 5, 0.5),
    ("operation-poll-interval", 10, 0.5),
    ("node-group-cache-ttl", 30, 1),
    ("decision-max-age", 15, 1),
    ("evaluation-period", 60, 10),
)


def run_demo(console: Console, *, speed: float, report: Path | None, keep_logs: Path | None = None) -> int:
    """Run the demo; 0 only if every step really happened.

    `keep_logs` is a folder for the processes' logs, for whoever wants to read them; otherwise they go with the demo.
    """
    with tempfile.TemporaryDirectory(prefix="exoscaler-demo-") as scratch:
        folder = keep_logs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        console.print("Starting the sandbox and the five functions …", markup=False)
        try:
            with Stage(folder, speed=speed, flags=flags_at(speed)) as stage:
                recording = _play(console, stage, speed)
        except (ProcessDied, StepFailed) as failure:
            console.print(f"The demo failed: {failure}", markup=False, highlight=False, style="red")
            return 1
    console.print(summary(recording, speed))
    if report is not None:
        write_report(recording, report, speed=speed)
        console.print(f"A report with a chart: {report}", markup=False)
    return 0


def _play(console: Console, stage: Stage, speed: float) -> Recording:
    urls = {name.value: stage.url(name.value) for name in FunctionName}
    tick_seconds = max(1.0, TICK_SECONDS / speed)
    with (
        Workload(stage.addresses.kubeconfig) as workload,
        Recorder(workload, stage.addresses.exoscale, stage.addresses.kubernetes) as recorder,
        EventSources(urls, stage.addresses.kubernetes, tick_seconds=tick_seconds),
    ):
        story = Story(workload, recorder, stage.url("status"), speed=speed)
        view = DemoView(recorder.recording, [step.what for step in story.steps()], speed=speed)
        with DemoScreen(console, view) as screen:
            for step in story.tell():
                last = recorder.recording.happened[-1]
                screen.tell(step.what, last.detail, last.at)
        recording = recorder.finish()
    recording.restarts = sum(process.restarts for process in stage.functions.values())
    return recording
