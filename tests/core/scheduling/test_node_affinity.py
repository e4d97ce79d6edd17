from __future__ import annotations

import pytest

from exoscaler.core.model import NodeSelectorTerm, Operator, Pod, Requirement
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling import Place, node_affinity
from tests.builders import make_node, make_pod

_NODE = make_node("n1", labels={"disk": "ssd", "zone": "gva"})
_SSD = Requirement("disk", Operator.IN, ("ssd",))
_HDD = Requirement("disk", Operator.IN, ("hdd",))
_GVA = Requirement("zone", Operator.IN, ("gva",))
_N1 = Requirement("metadata.name", Operator.IN, ("n1",))
_N2 = Requirement("metadata.name", Operator.IN, ("n2",))
_UNKNOWN_FIELD = Requirement("metadata.uid", Operator.EXISTS)


def _fits(pod: Pod) -> bool:
    reasons = node_affinity.why_not(pod, Place.of(_NODE))
    assert reasons in ((), (WhyNot(Obstacle.NODE_AFFINITY),))
    return not reasons


@pytest.mark.parametrize(
    ("selector", "fits"),
    [  # R206
        ({}, True),
        ({"disk": "ssd"}, True),
        ({"disk": "ssd", "zone": "gva"}, True),
        ({"disk": "ssd", "zone": "muc"}, False),
        ({"absent": ""}, False),
    ],
)
def test_every_label_of_the_selector_must_match(selector: dict[str, str], fits: bool) -> None:
    assert _fits(make_pod(node_selector=selector)) is fits


@pytest.mark.parametrize(
    ("terms", "fits"),
    [  # R206
        ([NodeSelectorTerm((_SSD,))], True),
        ([NodeSelectorTerm((_HDD,))], False),
        ([NodeSelectorTerm((_HDD,)), NodeSelectorTerm((_GVA,))], True),
        ([NodeSelectorTerm((_SSD, _GVA))], True),
        ([NodeSelectorTerm((_SSD, Requirement("zone", Operator.NOT_IN, ("gva",))))], False),
        ([NodeSelectorTerm((_SSD,), (_N1,))], True),
        ([NodeSelectorTerm((_SSD,), (_N2,))], False),
        ([NodeSelectorTerm((_HDD,), (_N1,))], False),
        ([NodeSelectorTerm((), (_N1,))], True),
        ([NodeSelectorTerm((), (_UNKNOWN_FIELD,))], False),
        ([NodeSelectorTerm()], False),
        ([NodeSelectorTerm(), NodeSelectorTerm((_SSD,))], True),
        ([], False),
    ],
)
def test_one_term_of_the_affinity_must_hold_as_a_whole(terms: list[NodeSelectorTerm], fits: bool) -> None:
    assert _fits(make_pod(node_affinity=terms)) is fits


def test_selector_and_affinity_must_both_hold() -> None:
    assert _fits(make_pod(node_selector={"zone": "gva"}, node_affinity=[NodeSelectorTerm((_SSD,))]))
    assert not _fits(make_pod(node_selector={"zone": "muc"}, node_affinity=[NodeSelectorTerm((_SSD,))]))


def test_a_pod_bound_to_one_node_by_name_would_be_content_with_another_of_the_same_labels() -> None:
    spec = make_pod(node_affinity=[NodeSelectorTerm((_SSD,), (_N2,))]).spec

    assert node_affinity.wants_node_labelled(spec, _NODE.labels)
    assert not node_affinity.wants_node_labelled(spec, {"disk": "hdd"})
