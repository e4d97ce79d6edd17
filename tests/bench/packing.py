"""How long packing takes against a plain pod-by-pod version of the upstream algorithm, and that it needs no more nodes.

Run with ``python -m tests.bench.packing``. The plain version looks at CPU, memory and the number of pods only; ours has
every constraint live, and its time includes sorting the pods into classes.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from exoscaler.core.model import Pod, Resources
from exoscaler.core.scaleup.equivalence import classes_of
from exoscaler.core.scaleup.packing import pack
from exoscaler.core.scheduling import Place
from tests.bench.workload import TEMPLATE_ALLOCATABLE, estimator_pods, request_of
from tests.builders import make_node

EXPECTED = {
    (1000, 1): 25,
    (1000, 10): 82,
    (1000, 100): 82,
    (5000, 1): 125,
    (5000, 10): 407,
    (5000, 100): 407,
    (10000, 1): 250,
    (10000, 10): 813,
    (10000, 100): 813,
    (50000, 1): 1250,
    (50000, 10): 4063,
    (50000, 100): 4063,
}
"""Nodes that cluster-autoscaler needs, by pods and applications."""

_ROUNDS = 3


def ours(pods: Sequence[Pod]) -> int:
    """Nodes by the packing of the core, from pods to the list of pods for each node."""
    fresh = Place.of(make_node("template", allocatable=TEMPLATE_ALLOCATABLE))
    packing = pack(classes_of(pods), fresh, len(pods))
    return len(packing.loads())


def plain(pods: int, kinds: int) -> int:
    """Nodes by the upstream algorithm, pod by pod (R68, R70, R71).

    The pods of one application go round the new nodes until one fits none of them; from then on only the last node is
    tried before a further one is added.
    """
    shapes = sorted((request_of(kind) for kind in range(kinds)), key=_share, reverse=True)
    nodes: list[list[int]] = []
    turn = 0
    for shape in shapes:
        left = pods // kinds
        while left and (at := _next_with_room(shape, nodes, turn)) is not None:
            _take(nodes[at], shape)
            turn = (at + 1) % len(nodes)
            left -= 1
        while left:
            if not nodes or not _has_room(shape, nodes[-1]):
                nodes.append([TEMPLATE_ALLOCATABLE.cpu, TEMPLATE_ALLOCATABLE.memory, TEMPLATE_ALLOCATABLE.pods])
            _take(nodes[-1], shape)
            left -= 1
    return len(nodes)


def _share(shape: Resources) -> float:
    return shape.cpu / TEMPLATE_ALLOCATABLE.cpu + shape.memory / TEMPLATE_ALLOCATABLE.memory


def _next_with_room(shape: Resources, nodes: list[list[int]], turn: int) -> int | None:
    count = len(nodes)
    return next((at for step in range(count) if _has_room(shape, nodes[at := (turn + step) % count])), None)


def _has_room(shape: Resources, node: list[int]) -> bool:
    return node[0] >= shape.cpu and node[1] >= shape.memory and node[2] >= 1


def _take(node: list[int], shape: Resources) -> None:
    node[0] -= shape.cpu
    node[1] -= shape.memory
    node[2] -= 1


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    """The best time of a few rounds in milliseconds, and the result."""
    best, result = float("inf"), 0
    for _ in range(_ROUNDS):
        gc.collect()
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best * 1000, result


def main() -> int:
    """Write one line a workload; 1 when any needs more nodes than expected."""
    _write(f"{'pods':>6} {'apps':>5} {'nodes':>6} {'expected':>9} {'ours ms':>8} {'plain ms':>9} {'ratio':>7}")
    worse = 0
    for (pods, kinds), expected in EXPECTED.items():
        our_time, nodes = _timed(partial(ours, estimator_pods(pods, kinds)))
        plain_time, _ = _timed(partial(plain, pods, kinds))
        worse += nodes > expected
        ratio = plain_time / our_time
        _write(f"{pods:>6} {kinds:>5} {nodes:>6} {expected:>9} {our_time:>8.1f} {plain_time:>9.1f} {ratio:>6.1f}x")
    return 1 if worse else 0


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
