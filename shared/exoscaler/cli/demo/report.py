"""The demo as a page: one chart of nodes and pods over time, the steps, the calls. No scripts, no outside resources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from exoscaler.cli.demo.recording import Recording

WIDTH, HEIGHT = 900, 320
LEFT, BOTTOM, TOP, RIGHT = 46, 34, 30, 30
LEGIBLE_DISTANCE = 14


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of the chart, as the points of an SVG polyline."""

    name: str
    css_class: str
    points: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick of an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything the template needs to draw."""

    lines: tuple[Line, ...]
    seconds: tuple[Mark, ...]
    counts: tuple[Mark, ...]
    steps: tuple[Mark, ...]


def write_report(recording: Recording, path: Path, *, speed: float) -> None:
    """Write the page.

    Raises:
        OSError: the file cannot be written.
    """
    loader = PackageLoader("exoscaler.cli.demo", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    page = environment.get_template("report.html").render(
        recording=recording, chart=chart(recording), speed=speed, saved=recording.machine_minutes_saved(speed)
    )
    path.write_text(page, encoding="utf-8")


def chart(recording: Recording) -> Chart:
    """The samples as curves. A size holds until the next sample, so the curves are stairs."""
    samples = recording.samples
    moments = [*(sample.at for sample in samples), *(step.at for step in recording.happened)]
    longest = max(moments, default=1.0) or 1.0
    highest = (
        max((max(s.cluster.nodes, s.cluster.running_pods, s.cluster.waiting_pods) for s in samples), default=1) or 1
    )

    def x(seconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / longest

    def y(count: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * count / highest

    def stairs(values: Sequence[tuple[float, int]]) -> str:
        points: list[str] = []
        previous: int | None = None
        for at, value in values:
            if previous is not None:
                points.append(f"{x(at):.1f},{y(previous):.1f}")
            points.append(f"{x(at):.1f},{y(value):.1f}")
            previous = value
        return " ".join(points)

    curves = (
        ("nodes", "nodes", [(s.at, s.cluster.nodes) for s in samples]),
        ("running pods", "running", [(s.at, s.cluster.running_pods) for s in samples]),
        ("waiting pods", "waiting", [(s.at, s.cluster.waiting_pods) for s in samples]),
    )
    return Chart(
        lines=tuple(Line(name, css, stairs(values)) for name, css, values in curves),
        seconds=tuple(Mark(x(second), f"{second} s") for second in range(0, int(longest) + 1, _step(longest))),
        counts=tuple(Mark(y(count), str(count)) for count in range(0, highest + 1, _step(highest))),
        steps=_legible([Mark(x(step.at), str(number)) for number, step in enumerate(recording.happened, 1)]),
    )


def _legible(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks of steps; those too close to each other to be read share one."""
    shown: list[Mark] = []
    for mark in marks:
        if shown and mark.at - shown[-1].at < LEGIBLE_DISTANCE:
            shown[-1] = Mark(shown[-1].at, f"{shown[-1].text},{mark.text}")
        else:
            shown.append(mark)
    return tuple(shown)


def _step(extent: float) -> int:
    """A distance between marks that gives about six of them."""
    for step in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        if extent / step <= 8:
            return step
    return 1000
