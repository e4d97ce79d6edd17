"""The demo's report says what was recorded, and stands alone."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

from exoscaler.cli.demo.recording import Happened, Recording, Sample
from exoscaler.cli.demo.report import chart, write_report
from exoscaler.cli.demo.workload import ClusterLook


def look(nodes: int, running: int, waiting: int) -> ClusterLook:
    return ClusterLook(nodes, nodes, 0, running, waiting)


def a_recording() -> Recording:
    recording = Recording(calls={"scale-sks-nodepool": 1}, evictions=4, machine_seconds=300.0)
    recording.samples = [
        Sample(0.0, look(1, 0, 10), {"general": 1}),
        Sample(10.0, look(3, 10, 0), {"general": 3}),
        Sample(20.0, look(1, 2, 0), {"general": 1}),
    ]
    recording.happened = [Happened(9.0, "a pool grows", "general 1 → 3"), Happened(9.1, "every pod <runs>", "10 pods")]
    return recording


def points(text: str) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in text.split())
    return [(float(x), float(y)) for x, y in pairs]


def test_curve_is_a_staircase_since_a_size_holds_until_it_changes() -> None:
    nodes = points(chart(a_recording()).lines[0].points)

    assert len(nodes) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(nodes))


def test_more_is_higher_and_later_is_further_right() -> None:
    nodes = points(chart(a_recording()).lines[0].points)

    assert nodes[0][1] > nodes[2][1]  # one node lies below three: the axis of a picture points down
    assert [x for x, _ in nodes] == sorted(x for x, _ in nodes)


def test_steps_too_close_to_be_read_share_a_mark() -> None:
    assert [mark.text for mark in chart(a_recording()).steps] == ["1,2"]


def test_saving_is_counted_against_keeping_the_peak() -> None:
    # Three machines for twenty seconds, at ten times the speed: 600 machine-seconds, of which 300 were used.
    assert a_recording().machine_minutes_saved(speed=10) == 5.0


class Resources(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        if tag in ("script", "link", "iframe"):
            self.found.append(tag)


def test_report_needs_nothing_from_outside_and_escapes_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(a_recording(), path, speed=10)
    page = path.read_text()
    resources = Resources()
    resources.feed(page)

    assert resources.found == []
    assert "every pod &lt;runs&gt;" in page
    assert "scale-sks-nodepool" in page
    assert len(re.findall("<polyline", page)) == 3


def test_recording_without_a_sample_still_makes_a_page(tmp_path: Path) -> None:
    write_report(Recording(), tmp_path / "report.html", speed=1)

    assert "<svg" in (tmp_path / "report.html").read_text()
