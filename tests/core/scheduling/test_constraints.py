from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model import Constraint, Pod, TaintEffect, Toleration, TolerationOperator
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling import Place, room_for, why_not
from tests.builders import make_node, make_pod, taint

_CORDON = "node.kubernetes.io/unschedulable"
_EXISTS, _EQUAL = TolerationOperator.EXISTS, TolerationOperator.EQUAL


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [  # R203
        (None, False),
        (Toleration(_CORDON, _EXISTS), True),
        (Toleration(_CORDON, _EXISTS, effect=TaintEffect.NO_SCHEDULE), True),
        (Toleration(_CORDON, _EQUAL, ""), True),
        (Toleration(_CORDON, _EQUAL, "x"), False),
        (Toleration(_CORDON, _EXISTS, effect=TaintEffect.NO_EXECUTE), False),
        (Toleration("", _EXISTS), True),
    ],
)
def test_a_cordon_keeps_out_who_does_not_tolerate_it(toleration: Toleration | None, fits: bool) -> None:
    pod = make_pod(tolerations=[] if toleration is None else [toleration])
    reasons = why_not(pod, Place.of(make_node(unschedulable=True)))

    assert reasons == (() if fits else (WhyNot(Obstacle.NODE_UNSCHEDULABLE),))


@pytest.mark.parametrize("constraint", list(Constraint))
def test_a_constraint_that_is_not_simulated_is_never_taken_for_met(constraint: Constraint) -> None:
    place = Place.of(make_node())
    pod = make_pod(unmodelled=[constraint])

    assert why_not(pod, place) == (WhyNot(Obstacle.CANNOT_SIMULATE, constraint.value),)
    assert room_for(pod, place) == 0


def test_the_first_constraint_that_fails_is_the_reason() -> None:
    # R200
    everything: dict[str, Any] = {
        "node_selector": {"disk": "ssd"},
        "cpu": "99",
        "unmodelled": [Constraint.HOST_PORT],
    }
    cordoned = Place.of(make_node(unschedulable=True, taints=[taint("a")]))
    tainted = Place.of(make_node(taints=[taint("a")]))
    plain = Place.of(make_node())
    labelled = Place.of(make_node(labels={"disk": "ssd"}))
    huge = Place.of(make_node(labels={"disk": "ssd"}, cpu="100"))

    found = [why_not(make_pod(**everything), place)[0].obstacle for place in (cordoned, tainted, plain, labelled, huge)]

    assert found == [
        Obstacle.NODE_UNSCHEDULABLE,
        Obstacle.TAINT,
        Obstacle.NODE_AFFINITY,
        Obstacle.INSUFFICIENT,
        Obstacle.CANNOT_SIMULATE,
    ]


def test_where_a_pod_runs_now_does_not_bind_it() -> None:
    assert why_not(make_pod(node="elsewhere"), Place.of(make_node("here"))) == ()


_PODS = st.builds(
    lambda cpu, selector, tolerant, unmodelled: make_pod(
        cpu=f"{cpu}m",
        node_selector={"disk": "ssd"} if selector else {},
        tolerations=[Toleration(operator=_EXISTS)] if tolerant else [],
        unmodelled=[Constraint.VOLUME] if unmodelled else [],
    ),
    st.integers(0, 1500),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
_PLACES = st.builds(
    lambda cpu, pods, label, tainted, cordoned: Place.of(
        make_node(
            cpu=f"{cpu}m",
            pods=pods,
            labels={"disk": "ssd"} if label else {},
            taints=[taint("a")] if tainted else [],
            unschedulable=cordoned,
        )
    ),
    st.integers(0, 4000),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(_PODS, _PLACES)
def test_there_is_room_exactly_where_there_is_no_reason_against(pod: Pod, place: Place) -> None:
    count = 0
    filled = place
    while not why_not(pod, filled):
        filled = filled.with_pods((pod,))
        count += 1

    assert room_for(pod, place) == count
