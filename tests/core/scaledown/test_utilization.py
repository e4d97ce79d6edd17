"""How much of a node is used (R114, R115)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exoscaler.core.model import Pod, PodSpec
from exoscaler.core.model.pods import DAEMONSET_POD, MIRROR
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.scaledown.utilization import Utilization, utilization_of
from tests.builders import NOW, make_daemonset_pod, make_node, make_pod, resources

NODE = make_node("n", cpu="4", memory="16Gi")


def use(*pods: Pod, policy: ShrinkPolicy | None = None) -> Utilization:
    found = utilization_of(NODE, pods, policy or ShrinkPolicy(), NOW)
    assert found is not None
    return found


def on_node(name: str, *, cpu: str = "1", memory: str = "1Gi", **annotations: str) -> Pod:
    return make_pod(name, node="n", cpu=cpu, memory=memory, annotations=annotations)


def test_larger_of_cpu_and_memory_decides() -> None:  # R114
    assert use(on_node("a", cpu="1", memory="12Gi")).highest == Fraction(3, 4)
    assert use(on_node("a", cpu="3", memory="1Gi")).highest == Fraction(3, 4)


def test_empty_node_is_not_used() -> None:
    assert use() == Utilization(Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("cpu", "threshold", "exceeds"),
    [
        ("2", 0.5, False),  # equal is removable
        ("2001m", 0.5, True),
        ("0", 0.0, False),
        ("1m", 0.0, True),
        ("4", 1.0, False),
        ("5", 1.0, True),
    ],
)
def test_node_at_the_threshold_may_go_and_one_a_thousandth_above_may_not(
    cpu: str, threshold: float, exceeds: bool
) -> None:  # R115, pain 33
    assert use(on_node("a", cpu=cpu, memory="0")).exceeds(threshold) is exceeds


def test_three_tenths_are_three_tenths() -> None:  # R213: the float nearest to 0.3 is smaller
    node = make_node(cpu="3", memory="16Gi")
    found = utilization_of(node, [on_node("a", cpu="900m", memory="0")], ShrinkPolicy(), NOW)
    assert found is not None
    assert not found.exceeds(0.3)


def test_daemonset_pods_count_unless_told_otherwise() -> None:  # R114, F73
    pods = (make_daemonset_pod("d", node="n", cpu="1"), on_node("a", cpu="1"))
    assert use(*pods).cpu == Fraction(2, 4)
    # They leave what is used and what can be used.
    assert use(*pods, policy=ShrinkPolicy(ignore_daemonsets_utilization=True)).cpu == Fraction(1, 3)


def test_pod_marked_as_one_of_a_daemonset_is_one() -> None:  # R27
    marked = on_node("a", **{DAEMONSET_POD: "true"})
    assert use(marked, policy=ShrinkPolicy(ignore_daemonsets_utilization=True)).highest == 0


def test_mirror_pods_count_unless_told_otherwise() -> None:  # R114, F74
    pods = (on_node("static", cpu="2", **{MIRROR: "x"}), on_node("a", cpu="1"))
    assert use(*pods).cpu == Fraction(3, 4)
    assert use(*pods, policy=ShrinkPolicy(ignore_mirror_pods_utilization=True)).cpu == Fraction(1, 2)
    assert use(*pods, policy=ShrinkPolicy(ignore_daemonsets_utilization=True)).cpu == Fraction(3, 4)


def test_node_that_daemonsets_fill_is_idle_without_others_and_full_with_them() -> None:
    policy = ShrinkPolicy(ignore_daemonsets_utilization=True)
    daemon = make_daemonset_pod("d", node="n", cpu="4", memory="1Gi")
    assert use(daemon, policy=policy).highest == 0
    assert use(daemon, on_node("a", cpu="1m"), policy=policy).exceeds(0.5)


@pytest.mark.parametrize(("ended_ago", "counts"), [(29, True), (30, True), (31, False), (-600, True)])
def test_pod_stuck_in_termination_counts_for_nothing(ended_ago: float, counts: bool) -> None:  # R114, R131-2
    pod = make_pod("a", node="n", cpu="1", deleted_ago=ended_ago)
    assert bool(use(pod).cpu) is counts


@pytest.mark.parametrize(("cpu", "memory"), [("0", "16Gi"), ("4", "0"), ("0", "0")])
def test_node_that_reports_no_cpu_or_memory_has_no_utilisation(cpu: str, memory: str) -> None:  # R114
    node = make_node(allocatable=resources(cpu=cpu, memory=memory, pods=110))
    assert utilization_of(node, [], ShrinkPolicy(), NOW) is None


def test_requests_are_those_of_the_scheduler() -> None:  # pain 6: sidecars and overhead are in the effective requests
    spec = PodSpec(requests=resources(cpu="3", memory="1Gi"))
    assert use(Pod("default", "p", "uid", spec, NOW, node_name="n")).cpu == Fraction(3, 4)


def test_both_numbers_are_shown() -> None:  # pain 33
    assert use(on_node("a", cpu="1", memory="8Gi")).text == "25.0% of CPU and 50.0% of memory are requested"
