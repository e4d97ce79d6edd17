from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.scaleup.pod_delay import is_too_young
from tests.builders import NOW, make_pod

_ANNOTATION = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"


@pytest.mark.parametrize(
    ("age", "delay", "annotation", "young"),
    [  # R28
        (0, 0, None, True),
        (0.5, 0, None, False),
        (30, 30, None, True),
        (30.1, 30, None, False),
        (90, 30, "2m", True),
        (130, 30, "2m", False),
        (25, 30, "10s", True),  # it may only lengthen the delay
        (31, 30, "10s", False),
        (90, 30, "1m30.5s", True),
        (90.6, 30, "1m30.5s", False),
        (3700, 30, "1h1m40s", True),
        (31, 30, "0", False),
        (31, 30, "soon", False),
        (31, 30, "5", False),
        (31, 30, "-5m", False),
        (31, 30, "5m ", False),
        (31, 30, "1d", False),
        (31, 30, "", False),
        (31, 30, "900000000000000h", False),
        (31, 30, "100000ms", True),
    ],
)
def test_a_pod_asks_for_capacity_once_it_is_older_than_its_delay(
    age: float, delay: int, annotation: str | None, young: bool
) -> None:
    pod = make_pod(age=age, annotations={} if annotation is None else {_ANNOTATION: annotation})

    assert is_too_young(pod, GrowthPolicy(new_pod_delay=timedelta(seconds=delay)), NOW) is young
