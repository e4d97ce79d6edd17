from __future__ import annotations

import pytest

from exoscaler.core.model import (
    FrozenMap,
    GroupDescription,
    GroupKind,
    Node,
    NodeGroup,
    NodeSelectorTerm,
    Operator,
    Requirement,
    Toleration,
    TolerationOperator,
)
from exoscaler.core.scheduling import Origin, Template, TemplateSource, template_for, templates_for, why_not
from tests.builders import make_daemonset_pod, make_group, make_node, make_pod, make_scene, resources, taint

_GPU_TYPE = GroupDescription(instance_type_id="type-gpu")


def _template(group: NodeGroup, *nodes: Node) -> Template:
    found = template_for(group, make_scene(group, nodes=nodes))
    assert found is not None
    return found


def test_a_healthy_node_shows_what_new_nodes_look_like() -> None:
    # R61, R64
    node = make_node("a", labels={"zone": "gva"}, annotations={"mine": "1"}, cpu="8")
    template = _template(make_group(nodes=[node]), node)

    assert template.source is TemplateSource.HEALTHY_NODE
    assert template.learnt_from == "a"
    assert template.node.labels["zone"] == "gva"
    assert template.node.allocatable.cpu == 8000
    assert template.node.annotations == {}
    assert "/" in template.node.name  # no node can have this name
    assert template.node.labels["kubernetes.io/hostname"] == template.node.name


@pytest.mark.parametrize(
    "unfit",
    [
        make_node("a", cpu="1", ready=False),
        make_node("a", cpu="1", unschedulable=True),
        make_node("a", cpu="1", ready_since=30),
        make_node("a", cpu="1", taints=[taint("ToBeDeletedByClusterAutoscaler", "1")]),
        make_node("a", cpu="1", taints=[taint("startup-taint.cluster-autoscaler.kubernetes.io/cni")]),
        make_node("a", cpu="1", age=300),  # younger than the start-up time: devices may be missing
    ],
)
def test_a_node_that_is_starting_cordoned_or_going_is_no_example_while_there_is_a_better(unfit: Node) -> None:
    # R62
    good = make_node("b")

    assert _template(make_group(nodes=[unfit, good]), unfit, good).learnt_from == "b"


def test_the_first_by_name_of_equally_good_nodes_is_taken_whatever_the_order() -> None:
    nodes = [make_node("b"), make_node("a"), make_node("c")]

    assert _template(make_group(nodes=nodes), *nodes).learnt_from == "a"


def test_taints_of_a_node_that_come_and_go_are_no_part_of_the_template() -> None:
    # R64
    passing = [
        taint("node.kubernetes.io/memory-pressure"),
        taint("node.kubernetes.io/pid-pressure"),
        taint("DeletionCandidateOfClusterAutoscaler", "1"),
        taint("status-taint.cluster-autoscaler.kubernetes.io/x"),
    ]
    node = make_node("a", taints=[*passing, taint("mine")])

    assert _template(make_group(nodes=[node], kind=GroupKind.INSTANCE_POOL), node).node.taints == (taint("mine"),)


def test_a_nodepool_knows_its_taints_better_than_its_nodes() -> None:
    # A node that somebody tainted for maintenance says nothing about new ones.
    node = make_node("a", taints=[taint("maintenance")])
    description = GroupDescription(
        labels=FrozenMap({"disk": "ssd"}),
        taints=(taint("dedicated", "db"), taint("startup-taint.cluster-autoscaler.kubernetes.io/cni")),
    )
    template = _template(make_group(nodes=[node], description=description), node)

    assert template.node.taints == (taint("dedicated", "db"),)
    assert template.node.labels["disk"] == "ssd"


def test_a_nodepools_label_wins_over_the_one_on_an_old_node() -> None:
    node = make_node("a", labels={"tier": "old", "arch": "amd64"})
    description = GroupDescription(labels=FrozenMap({"tier": "new"}))
    template = _template(make_group(nodes=[node], description=description), node)

    assert template.node.labels["tier"] == "new"
    assert template.node.labels["arch"] == "amd64"


def test_what_only_some_nodes_carry_is_no_property_of_the_group() -> None:
    a = make_node("a", labels={"zone": "gva", "by-hand": "yes"}, taints=[taint("by-hand"), taint("pool")])
    b = make_node("b", labels={"zone": "gva"}, taints=[taint("pool")])
    template = _template(make_group(nodes=[a, b], kind=GroupKind.INSTANCE_POOL), a, b)

    assert template.node.labels["zone"] == "gva"
    assert "by-hand" not in template.node.labels
    assert template.node.taints == (taint("pool"),)


def test_pods_that_every_node_runs_take_their_part_of_a_new_one() -> None:
    # R65
    node = make_node("a", cpu="4")
    group = make_group(nodes=[node])
    daemon = make_daemonset_pod("agent", node="a", cpu="300m")
    mirror = make_pod("proxy", node="a", cpu="200m", annotations={"kubernetes.io/config.mirror": "x"})
    going = make_pod("going", node="a", owner="old", owner_kind="DaemonSet", deleted_ago=5)
    template = template_for(group, make_scene(group, nodes=[node], pods=[daemon, mirror, going, make_pod(node="a")]))

    assert template is not None
    assert set(template.empty.pods) == {daemon, mirror}
    assert template.empty.free.cpu == 3500
    assert template.empty.free.pods == 108


def test_a_daemons_pod_that_is_bound_to_its_node_by_name_has_a_twin_on_a_new_one() -> None:
    node = make_node("a")
    group = make_group(nodes=[node])
    by_name = NodeSelectorTerm(fields=(Requirement("metadata.name", Operator.IN, ("a",)),))
    daemon = make_pod("agent", node="a", owner="agent", owner_kind="DaemonSet", node_affinity=[by_name])
    template = template_for(group, make_scene(group, nodes=[node], pods=[daemon]))

    assert template is not None
    assert template.empty.pods == (daemon,)


def test_new_nodes_differ_only_in_name_and_hostname() -> None:
    node = make_node("a")
    template = _template(make_group(nodes=[node]), node)
    one, other = template.place("x/1", Origin.ORDERED), template.place("x/2", Origin.ORDERED)

    assert one.node.labels["kubernetes.io/hostname"] == "x/1"
    assert {one.name, other.name} == {"x/1", "x/2"}
    assert one.free == other.free
    assert one.origin is Origin.ORDERED
    assert one.group_id == template.group_id


def test_a_pod_that_asks_for_a_node_by_name_or_hostname_fits_no_new_node() -> None:
    # R206
    node = make_node("a")
    place = _template(make_group(nodes=[node]), node).empty
    by_name = NodeSelectorTerm(fields=(Requirement("metadata.name", Operator.IN, ("a",)),))

    assert why_not(make_pod(node_affinity=[by_name]), place)
    assert why_not(make_pod(node_selector={"kubernetes.io/hostname": "a"}), place)


# A starting node


def test_a_starting_node_is_seen_as_it_will_be_with_the_pods_it_has_already() -> None:
    # R38
    old = make_node("old", labels={"zone": "gva"}, cpu="4")
    young = make_node("young", age=60, ready=False, cpu="1", taints=[taint("node.kubernetes.io/not-ready")])
    group = make_group(nodes=[old, young])
    daemon = make_daemonset_pod("agent-old", node="old", daemonset="agent", cpu="300m")
    proxy = make_daemonset_pod("proxy-old", node="old", daemonset="proxy", cpu="100m")
    arrived = make_daemonset_pod("agent-young", node="young", daemonset="agent", cpu="300m")
    scene = make_scene(group, nodes=[old, young], pods=[daemon, proxy, arrived])
    template = template_for(group, scene)
    assert template is not None
    place = template.stand_in(young, [arrived])

    assert place.name == "young"
    assert place.origin is Origin.UPCOMING
    assert place.node.taints == ()
    assert place.node.labels["kubernetes.io/hostname"] == "young"
    assert place.node.labels["zone"] == "gva"
    assert set(place.pods) == {arrived, proxy}
    assert place.free.cpu == 3600


def test_static_pods_of_a_starting_node_are_counted_once() -> None:
    mirror = {"kubernetes.io/config.mirror": "x"}
    old, young = make_node("old"), make_node("young", age=60, ready=False)
    group = make_group(nodes=[old, young])
    theirs = make_pod("proxy-old", node="old", annotations=mirror, owner="old", owner_kind="Node")
    own = make_pod("proxy-young", node="young", annotations=mirror, owner="young", owner_kind="Node")
    template = template_for(group, make_scene(group, nodes=[old, young], pods=[theirs, own]))

    assert template is not None
    assert template.stand_in(young, [own]).pods == (own,)
    assert template.stand_in(young, []).pods == (theirs,)


# Without a healthy node


def test_an_empty_group_learns_its_size_from_another_of_the_same_instance_type() -> None:
    donor_node = make_node(
        "d",
        allocatable=resources(cpu="8", memory="32Gi", pods=110, storage="90Gi", nvidia_com__gpu=1),
        labels={"kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": "gva", "team": "other"},
        taints=[taint("theirs")],
    )
    donor = make_group("donor", nodes=[donor_node], description=_GPU_TYPE)
    description = GroupDescription(FrozenMap({"team": "mine"}), (taint("gpu"),), "type-gpu")
    empty = make_group("empty", description=description)
    daemon = make_pod(
        "agent",
        node="d",
        owner="agent",
        owner_kind="DaemonSet",
        tolerations=[Toleration(operator=TolerationOperator.EXISTS)],
    )
    theirs = make_daemonset_pod("theirs", node="d")
    template = template_for(empty, make_scene(empty, donor, nodes=[donor_node], pods=[daemon, theirs]))

    assert template is not None
    assert template.source is TemplateSource.SAME_INSTANCE_TYPE
    assert template.node.allocatable.cpu == 8000
    assert template.node.allocatable.extended["nvidia.com/gpu"] == 1
    assert template.node.labels.without("kubernetes.io/hostname") == {
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": "gva",
        "node.exoscale.net/nodepool-id": "nodepool-of-empty",
        "team": "mine",
    }
    assert template.node.taints == (taint("gpu"),)
    assert template.empty.pods == (daemon,)  # the other one would not tolerate this group's taint


def test_a_smaller_disk_and_another_limit_of_pods_are_taken_into_account() -> None:
    node = make_node("d", allocatable=resources(cpu="8", memory="32Gi", pods=110, storage="90Gi"))
    donor = make_group("donor", nodes=[node], description=GroupDescription(instance_type_id="t", disk_gib=100))
    small = make_group("small", description=GroupDescription(instance_type_id="t", disk_gib=50, max_pods=20))
    large = make_group("large", description=GroupDescription(instance_type_id="t", disk_gib=400))
    templates = templates_for(make_scene(donor, small, large, nodes=[node]))

    found = {name: templates[f"id-of-{name}"] for name in ("small", "large")}
    assert found["small"] is not None
    assert found["large"] is not None
    assert found["small"].node.allocatable.ephemeral_storage == 45 * 2**30
    assert found["small"].node.allocatable.pods == 20
    assert found["large"].node.allocatable.ephemeral_storage == 90 * 2**30


def test_a_donor_with_the_same_kind_of_pool_and_disk_is_preferred() -> None:
    nodes = [make_node("a", cpu="1"), make_node("b", cpu="2"), make_node("c", cpu="3")]
    same = GroupDescription(instance_type_id="t", disk_gib=50)
    groups = [
        make_group("1-standalone", nodes=nodes[:1], description=same, kind=GroupKind.INSTANCE_POOL),
        make_group("2-disk", nodes=nodes[1:2], description=GroupDescription(instance_type_id="t", disk_gib=100)),
        make_group("3-same", nodes=nodes[2:], description=same),
    ]
    empty = make_group("empty", description=same)
    template = template_for(empty, make_scene(empty, *groups, nodes=nodes))

    assert template is not None
    assert template.learnt_from == "c"


@pytest.mark.parametrize("instance_type", ["", "another"])
def test_without_any_node_or_group_to_learn_from_there_is_no_template(instance_type: str) -> None:
    node = make_node("d")
    donor = make_group("donor", nodes=[node], description=_GPU_TYPE)
    empty = make_group("empty", description=GroupDescription(instance_type_id=instance_type))

    assert template_for(empty, make_scene(empty, donor, nodes=[node])) is None


def test_a_group_whose_only_node_failed_still_knows_its_size() -> None:
    # R61: the last resort
    failed = make_node("a", ready=False, cpu="8", taints=[taint("node.kubernetes.io/not-ready")])
    template = _template(make_group(nodes=[failed]), failed)

    assert template.source is TemplateSource.UNWELL_NODE
    assert template.node.allocatable.cpu == 8000
    assert template.node.taints == ()


def test_a_ready_node_that_has_not_settled_is_better_than_none() -> None:  # R61, R62
    fresh = make_node("fresh", age=30, ready_since=5)

    assert _template(make_group(nodes=[fresh]), fresh).node.allocatable == fresh.allocatable


def test_a_node_that_is_still_starting_is_not_even_the_last_resort() -> None:
    young = make_node("a", ready=False, age=120)
    group = make_group(nodes=[young])

    assert template_for(group, make_scene(group, nodes=[young])) is None
