"""The demo on a terminal: steps, pools and pods, live; plain lines where there is no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from exoscaler.cli.demo.recording import Recording, Sample

LARGEST_POOL = 8


class DemoView:
    """Shows what the recording holds; asked for a new picture several times a second."""

    def __init__(self, recording: Recording, steps: Sequence[str], *, speed: float) -> None:
        self._recording = recording
        self._steps = list(steps)
        self._speed = speed

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = [self._story()]
        sample = self._recording.latest
        if sample is not None:
            parts += [self._pools(sample), self._pods(sample)]
        return Panel(Group(*parts), title=f"exoscaler demo, time runs {self._speed:g} times as fast", padding=(1, 2))

    def _story(self) -> Table:
        table = Table.grid(padding=(0, 2))
        done = {step.what: step for step in self._recording.happened}
        waiting = next((what for what in self._steps if what not in done), None)
        for what in self._steps:
            if what in done:
                table.add_row(Text("✓", "green"), what, Text(done[what].detail, "cyan"), f"{done[what].at:.1f} s")
            else:
                table.add_row("…" if what == waiting else " ", Text(what, "" if what == waiting else "dim"), "", "")
        return table

    @staticmethod
    def _pools(sample: Sample) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, size in sorted(sample.sizes.items()):
            table.add_row(
                Text(f"pool {name}", "bold"), ProgressBar(total=LARGEST_POOL, completed=size, width=32), str(size)
            )
        return table

    @staticmethod
    def _pods(sample: Sample) -> Text:
        look = sample.cluster
        nodes = f"{look.ready_nodes}/{look.nodes} nodes ready, {look.leaving_nodes} leaving"
        return Text(f"{nodes}; {look.running_pods} pods run, {look.waiting_pods} wait", "bold")


class DemoScreen:
    """Shows the view while the demo runs."""

    def __init__(self, console: Console, view: DemoView) -> None:
        self._console = console
        self._live = Live(view, console=console, refresh_per_second=5, transient=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def tell(self, what: str, detail: str, at: float) -> None:
        """A step happened; the live view shows it by itself."""
        if self._live is None:
            self._console.print(f"{at:6.1f} s  {what}: {detail}", markup=False, highlight=False)


def summary(recording: Recording, speed: float) -> Table:
    """What the demo comes to."""
    table = Table(title="What happened", show_header=False)
    table.add_row("nodes at most", str(recording.peak_nodes))
    table.add_row("pods moved by eviction", str(recording.evictions))
    saved = recording.machine_minutes_saved(speed)
    table.add_row("machine-minutes saved, against keeping the peak", f"{saved:.1f} (of simulated time)")
    for operation, count in sorted(recording.calls.items()):
        table.add_row(f"Exoscale API: {operation}", str(count))
    if recording.restarts:
        table.add_row("functions that died and were started again", str(recording.restarts))
    return table
