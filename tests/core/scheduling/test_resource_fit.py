from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model import Resources
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling import Place, resource_fit
from tests.builders import make_node, make_pod, resources

_MI = 2**20


def _place(have: Resources, *taken: Resources) -> Place:
    return Place.of(make_node(allocatable=have), [make_pod(f"p{i}", requests=r) for i, r in enumerate(taken)])


@pytest.mark.parametrize(
    ("have", "taken", "want", "reasons"),
    [  # R202
        (resources(cpu="1", memory="1Gi", pods=2), [], resources(cpu="1", memory="1Gi"), ()),
        (
            resources(cpu="1", memory="1Gi", pods=2),
            [],
            resources(cpu="1001m"),
            (WhyNot(Obstacle.INSUFFICIENT, "cpu", 1),),
        ),
        (
            resources(cpu="1", memory="1Gi", pods=2),
            [resources(cpu="600m", memory="600Mi")],
            resources(cpu="500m", memory="500Mi"),
            (WhyNot(Obstacle.INSUFFICIENT, "cpu", 100), WhyNot(Obstacle.INSUFFICIENT, "memory", 76 * _MI)),
        ),
        (
            resources(cpu="1", pods=1),
            [resources()],
            resources(cpu="2"),
            (WhyNot(Obstacle.TOO_MANY_PODS, short_by=1), WhyNot(Obstacle.INSUFFICIENT, "cpu", 1000)),
        ),
        (
            resources(cpu="1", pods=9),
            [],
            resources(nvidia_com__gpu=2, storage="1"),
            (WhyNot(Obstacle.INSUFFICIENT, "ephemeral-storage", 1), WhyNot(Obstacle.INSUFFICIENT, "nvidia.com/gpu", 2)),
        ),
        # A node that promised more than it has still takes what asks for nothing of it.
        (resources(cpu="1", memory="1Gi", pods=9), [resources(cpu="3")], resources(memory="1Mi"), ()),
        (resources(cpu="1", pods=9), [resources(cpu="3")], resources(), ()),
        (resources(cpu="1"), [], resources(), (WhyNot(Obstacle.TOO_MANY_PODS, short_by=1),)),
        (resources(pods=1), [], resources(nvidia_com__gpu=0), ()),
    ],
)
def test_everything_that_is_short_is_named_with_how_much_is_missing(
    have: Resources, taken: list[Resources], want: Resources, reasons: tuple[WhyNot, ...]
) -> None:
    assert resource_fit.why_not(make_pod(requests=want), _place(have, *taken)) == reasons


_AMOUNT = st.integers(0, 12)
_REQUESTS = st.builds(lambda c, m, s, g: Resources(c, m, s, 0, resources(x__y=g).extended), *[_AMOUNT] * 4)
_NODES = st.builds(lambda c, m, s, p, g: Resources(c, m, s, p, resources(x__y=g).extended), *[_AMOUNT] * 5)


@given(_NODES, _REQUESTS)
def test_room_is_how_often_the_pod_can_be_placed_until_it_does_not_fit(have: Resources, want: Resources) -> None:
    place, pod = _place(have), make_pod(requests=want)
    placed = 0
    while not resource_fit.why_not(pod, place):
        place = place.with_pods((pod,))
        placed += 1

    assert resource_fit.room(pod, _place(have)) == placed
