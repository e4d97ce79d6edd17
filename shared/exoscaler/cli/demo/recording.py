"""What is measured while the demo runs: samples of cluster and cloud, and when each step happened."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx

from exoscaler.cli.demo.workload import ClusterLook, Workload

SAMPLE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Sample:
    """One look; `at` in seconds since the start, `sizes` by pool name."""

    at: float
    cluster: ClusterLook
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Happened:
    """A step of the story that really happened."""

    at: float
    what: str
    detail: str


@dataclass(slots=True)
class Recording:
    """Everything measured, in order."""

    samples: list[Sample] = field(default_factory=list)
    happened: list[Happened] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    evictions: int = 0
    machine_seconds: float = 0.0
    restarts: int = 0

    @property
    def latest(self) -> Sample | None:
        """The last look."""
        return self.samples[-1] if self.samples else None

    @property
    def peak_nodes(self) -> int:
        """The most machines there were at once."""
        return max((sum(sample.sizes.values()) for sample in self.samples), default=0)

    @property
    def seconds(self) -> float:
        """How long it was recorded."""
        return self.samples[-1].at - self.samples[0].at if self.samples else 0.0

    def machine_minutes_saved(self, speed: float) -> float:
        """Simulated machine-minutes not used, against keeping the peak all the time."""
        kept = self.peak_nodes * self.seconds * speed
        return max(0.0, kept - self.machine_seconds) / 60


class Recorder:
    """Samples cluster and cloud from a thread until it is left."""

    def __init__(self, workload: Workload, exoscale: str, kubernetes: str) -> None:
        self.recording = Recording()
        self._workload = workload
        self._exoscale = exoscale
        self._kubernetes = kubernetes
        self._client = httpx.Client(timeout=10)
        self._started = time.monotonic()
        self._machine_seconds_before = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def note(self, what: str, detail: str) -> None:
        """Write down that a step happened."""
        self.recording.happened.append(Happened(self.elapsed, what, detail))

    def sizes(self) -> dict[str, int]:
        """The size of each pool in the cloud, by name."""
        pools = self._client.get(f"{self._exoscale}/_sandbox/pools").raise_for_status().json()
        return {str(pool["name"]): int(pool["size"]) for pool in pools["pools"]}

    def __enter__(self) -> Self:
        self._machine_seconds_before = self._machine_seconds()
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=15)
        self._client.close()

    def finish(self) -> Recording:
        """Read the totals; call before leaving."""
        recording = self.recording
        recording.calls = _counts(self._client, f"{self._exoscale}/_sandbox/calls", "calls")
        cluster_calls = _counts(self._client, f"{self._kubernetes}/_sandbox/calls", "counts")
        recording.evictions = sum(count for call, count in cluster_calls.items() if "eviction" in call)
        recording.machine_seconds = self._machine_seconds() - self._machine_seconds_before
        return recording

    def _machine_seconds(self) -> float:
        counters = self._client.get(f"{self._exoscale}/_sandbox/counters").raise_for_status().json()
        return float(counters["machine-seconds"])

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        self.recording.samples.append(Sample(self.elapsed, self._workload.look(), self.sizes()))


def _counts(client: httpx.Client, url: str, key: str) -> dict[str, int]:
    answer = client.get(url).raise_for_status().json()
    return {str(name): int(count) for name, count in answer[key].items()}
