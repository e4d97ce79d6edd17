"""The proof before a node is tainted, and again after it (R141, pain 37)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from exoscaler.core.model import (
    Constraint,
    Node,
    NodeGroup,
    Pod,
    PodPhase,
    RestartPolicy,
    SchedulerVerdict,
    Volume,
    VolumeKind,
)
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.shrink_step import Refusal
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.scaledown import recheck_node, recheck_plan
from exoscaler.core.scene import Scene
from tests.builders import (
    NOW,
    make_budget,
    make_daemonset_pod,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
)
from tests.core.scaledown.plans import AT_ONCE, shrinking
from tests.core.scenes import marked, report, with_objects

NODE, ROOM = make_node("n"), make_node("room")
POD = make_pod("web", node="n", cpu="1", labels={"app": "web"})


class Given:
    """A node whose removal is planned, beside a node with room; what a test does not name is ordinary."""

    def __init__(
        self,
        *pods: Pod,
        node: Node = NODE,
        others: Sequence[Node] = (ROOM,),
        elsewhere: Sequence[Pod] = (),
        mode: ShrinkMode = ShrinkMode.DRAIN,
        group: NodeGroup | None = None,
        ahead: Sequence[ShrinkOperation] = (),
        behind: Sequence[ShrinkOperation] = (),
        policy: Policy | None = None,
    ) -> None:
        self.node, self.pods = node, pods
        self.group = group or make_group(nodes=[node, *others])
        self.operation = make_removal(self.group, node, phase=ShrinkPhase.PLANNED, mode=mode)
        self.scene = make_scene(
            self.group,
            nodes=[node, *others],
            pods=[*pods, *elsewhere],
            shrinking=[*ahead, self.operation, *behind],
            policy=policy or shrinking(),
        )

    def refusal(self, scene: Scene | None = None) -> Refusal | None:
        return recheck_plan(scene or self.scene, self.operation, self.node, self.pods)

    def reason(self, scene: Scene | None = None) -> RollbackReason | None:
        found = self.refusal(scene)
        return None if found is None else found.reason


def test_plan_holds_while_nothing_has_changed() -> None:
    assert Given(POD).refusal() is None
    assert Given(mode=ShrinkMode.EMPTY).refusal() is None


def test_plan_holds_on_a_node_that_carries_our_own_marks() -> None:  # R141
    assert Given(POD, node=marked(NODE, cordoned=True, by="earlier-shrink-n")).refusal() is None


# The pods, as just read from the API server


def test_pod_that_arrived_on_an_empty_node_stops_its_removal() -> None:  # R141, pain 37
    assert Given(POD, mode=ShrinkMode.EMPTY).refusal() == Refusal(RollbackReason.POD_ARRIVED, "default/web")


def test_pods_are_those_just_read_and_not_those_of_the_snapshot() -> None:  # pain 37
    given = Given(mode=ShrinkMode.EMPTY)
    assert recheck_plan(given.scene, given.operation, NODE, (POD,)) == Refusal(
        RollbackReason.POD_ARRIVED, "default/web"
    )
    # The other way round: what the snapshot still has is gone.
    old = Given(make_pod("bare", node="n", owner=None))
    assert recheck_plan(old.scene, old.operation, NODE, ()) is None


def test_pods_that_stay_with_their_node_or_have_ended_do_not_count_as_arrived() -> None:
    pods = [
        make_daemonset_pod("agent", node="n"),
        make_pod("static", node="n", annotations={"kubernetes.io/config.mirror": "x"}),
        make_pod("failed", node="n", phase=PodPhase.FAILED, owner=None),
        make_pod("done", node="n", phase=PodPhase.SUCCEEDED, restart_policy=RestartPolicy.ALWAYS, owner=None),
        make_pod("stuck", node="n", deleted_ago=60, owner=None),
    ]
    assert Given(*pods, mode=ShrinkMode.EMPTY).refusal() is None


@pytest.mark.parametrize(
    "pod",
    [
        make_pod("bare", node="n", owner=None),
        make_pod("kept", node="n", annotations={SAFE_TO_EVICT: "false"}),
        make_pod("job", node="n", annotations={SAFE_TO_EVICT: "on-completion"}),
        make_pod("data", node="n", volumes=[Volume("v", VolumeKind.EMPTY_DIR)]),
        make_pod("dns", node="n", namespace="kube-system"),
    ],
)
def test_pod_that_must_not_move_stops_the_removal(pod: Pod) -> None:  # R141, pain 37
    refusal = Given(POD, pod).refusal()
    assert refusal is not None
    assert refusal.reason is RollbackReason.BLOCKED_BY_POD
    assert refusal.detail.startswith(pod.key)


def test_node_that_became_busy_stays() -> None:
    busy = make_pod("busy", node="n", cpu="2")
    refusal = Given(POD, busy).refusal()
    assert refusal == Refusal(RollbackReason.NO_LONGER_UNNEEDED, "75.0% of CPU and 0.8% of memory are requested")


def test_expendable_pods_change_nothing() -> None:  # R132
    cheap = make_pod("cheap", node="n", cpu="4", priority=-100, owner=None)
    assert Given(POD, cheap).refusal() is None


def test_node_that_is_not_ready_any_more_stays_where_such_nodes_do() -> None:  # R116
    unready = make_node("n", ready=False)
    assert Given(POD, node=unready).refusal() is None
    policy = shrinking(replace(AT_ONCE, unready_enabled=False))
    assert Given(POD, node=unready, policy=policy).reason() is RollbackReason.NO_LONGER_UNNEEDED


def test_doubtful_list_of_pods_stops_the_removal() -> None:  # pain 38
    given = Given(POD)
    assert given.reason(with_objects(given.scene, daemonsets=[report(9)])) is RollbackReason.POD_VIEW_INCOMPLETE


# What the user says


def test_annotation_on_the_node_stops_the_removal() -> None:  # R113a, R125
    forbidden = make_node("n", annotations={SCALE_DOWN_DISABLED: "true"})
    assert Given(POD, node=forbidden).reason() is RollbackReason.SCALE_DOWN_DISABLED


def test_switching_scale_down_off_stops_the_removal() -> None:
    off = shrinking(replace(AT_ONCE, enabled=False))
    assert Given(POD, policy=off).refusal() == Refusal(RollbackReason.SCALE_DOWN_DISABLED, "scale-down-enabled is off")


def test_group_that_is_no_longer_managed_keeps_its_nodes() -> None:
    given = Given(POD)
    unmanaged = given.scene.state.node_groups.model_copy(update={"groups": {}})
    scene = replace(given.scene, state=given.scene.state.model_copy(update={"node_groups": unmanaged}))
    assert given.reason(scene) is RollbackReason.GROUP_UNMANAGED


# The minimum


def test_group_that_reached_its_minimum_meanwhile_keeps_the_node() -> None:  # I1
    assert Given(POD, group=make_group(nodes=[NODE, ROOM], min_size=2)).refusal() == Refusal(
        RollbackReason.GROUP_MIN_SIZE_REACHED, "1 members would be left, minimum 2"
    )


def test_removals_ahead_count_against_the_minimum_and_those_behind_do_not() -> None:  # R125, I1
    other = make_node("other")
    nodes = [NODE, other, ROOM]
    group = make_group(nodes=nodes, min_size=2)
    planned = make_removal(group, other, phase=ShrinkPhase.PLANNED)

    def reason(ahead: Sequence[ShrinkOperation], behind: Sequence[ShrinkOperation]) -> RollbackReason | None:
        return Given(POD, others=[other, ROOM], group=group, ahead=ahead, behind=behind).reason()

    assert reason([planned], []) is RollbackReason.GROUP_MIN_SIZE_REACHED
    assert reason([], [planned]) is None
    # One that is past this proof is ahead, wherever it stands.
    assert reason([], [replace(planned, phase=ShrinkPhase.DRAINING)]) is RollbackReason.GROUP_MIN_SIZE_REACHED
    # One that is being undone keeps its node.
    assert reason([replace(planned, phase=ShrinkPhase.ROLLING_BACK)], []) is None


def test_instance_that_the_pool_has_lost_already_takes_nothing_from_it() -> None:
    assert Given(POD, group=make_group(nodes=[ROOM], min_size=2)).refusal() is None


def test_removal_that_the_pool_shows_already_is_not_counted_twice() -> None:
    other = make_node("other")
    group = make_group(nodes=[NODE, ROOM])
    leaving = make_removal(group, other, phase=ShrinkPhase.EVICTING)
    assert Given(POD, others=[ROOM], group=group, ahead=[leaving]).refusal() is None


# Budgets


def test_budget_that_was_used_up_meanwhile_stops_the_removal() -> None:  # R122
    given = Given(POD)
    refusal = given.refusal(with_objects(given.scene, budgets=[make_budget(allowed=0)]))
    assert refusal is not None
    assert refusal.detail.startswith("default/web: NotEnoughPdb")


def test_pods_must_fit_their_budgets_jointly() -> None:  # R122
    given = Given(POD, make_pod("web-2", node="n", labels={"app": "web"}))
    one = with_objects(given.scene, budgets=[make_budget("calm", labels={"app": "web"}, allowed=1)])
    assert given.refusal(one) == Refusal(
        RollbackReason.BLOCKED_BY_POD, "default/web-2: budget calm allows 1 disruptions now, 2 are needed"
    )
    two = with_objects(given.scene, budgets=[make_budget(labels={"app": "web"}, allowed=2)])
    assert given.refusal(two) is None


def test_budgets_are_used_by_the_removals_ahead_first() -> None:
    other = make_node("other")
    group = make_group(nodes=[NODE, other, ROOM])
    removal = make_removal(group, other, phase=ShrinkPhase.TAINTED)
    there = make_pod("web-2", node="other", labels={"app": "web"})
    budget = make_budget(labels={"app": "web"}, allowed=1)
    for ahead, behind, reason in (([removal], [], RollbackReason.BLOCKED_BY_POD), ([], [removal], None)):
        given = Given(POD, others=[other, ROOM], elsewhere=[there], group=group, ahead=ahead, behind=behind)
        assert given.reason(with_objects(given.scene, budgets=[budget])) is reason


# Places


def test_room_that_is_gone_stops_the_removal() -> None:
    refusal = Given(POD, elsewhere=[make_pod("big", node="room", cpu="3500m")]).refusal()
    assert refusal == Refusal(RollbackReason.NO_PLACE_TO_MOVE_PODS, "default/web: 1 Insufficient cpu")


def test_room_for_the_pods_of_removals_ahead_is_taken() -> None:  # pain 29
    other = make_node("other")
    group = make_group(nodes=[NODE, other, ROOM])
    there = make_pod("there", node="other", cpu="3500m")
    removal = make_removal(group, other, phase=ShrinkPhase.DRAINING)
    given = Given(POD, others=[other, ROOM], elsewhere=[there], group=group, ahead=[removal])
    assert given.reason() is RollbackReason.NO_PLACE_TO_MOVE_PODS
    later = replace(removal, phase=ShrinkPhase.PLANNED)
    assert Given(POD, others=[other, ROOM], elsewhere=[there], group=group, behind=[later]).refusal() is None


def test_pods_of_a_removal_that_is_being_undone_stay_where_they_are() -> None:
    other = marked(make_node("other"))
    group = make_group(nodes=[NODE, other, ROOM])
    there = make_pod("there", node="other", cpu="3500m")
    undoing = make_removal(group, other, phase=ShrinkPhase.ROLLING_BACK)
    assert Given(POD, others=[other, ROOM], elsewhere=[there], group=group, ahead=[undoing]).refusal() is None


def test_room_for_pods_that_wait_is_taken() -> None:
    waiting = make_pod("waiting", cpu="3500m")
    assert Given(POD, elsewhere=[waiting]).reason() is RollbackReason.NO_PLACE_TO_MOVE_PODS


@pytest.mark.parametrize(("age", "reason"), [(59, RollbackReason.NO_PLACE_TO_MOVE_PODS), (60, None)])
def test_room_for_a_pod_that_no_scheduler_has_seen_yet_is_taken_for_a_while(
    age: float, reason: RollbackReason | None
) -> None:  # what was evicted elsewhere comes back as such
    back = make_pod("back", cpu="3500m", verdict=SchedulerVerdict.NOT_SEEN, age=age)
    assert Given(POD, elsewhere=[back]).reason() is reason


def test_nodes_on_their_way_out_are_no_place_to_go() -> None:
    other = make_node("other")
    group = make_group(nodes=[NODE, other, make_node("full")])
    removal = make_removal(group, other, phase=ShrinkPhase.PLANNED)
    given = Given(POD, others=[other], group=group, behind=[removal])
    assert given.refusal() == Refusal(RollbackReason.NO_PLACE_TO_MOVE_PODS, "default/web: there is no other node")


def test_pod_that_cannot_be_simulated_stops_the_removal() -> None:
    pod = make_pod("spread", node="n", unmodelled=[Constraint.TOPOLOGY_SPREAD])
    refusal = Given(pod).refusal()
    assert refusal is not None
    assert (refusal.reason, refusal.detail) == (
        RollbackReason.NO_PLACE_TO_MOVE_PODS,
        "default/spread: cannot simulate: topology spread (DoNotSchedule)",
    )


# Changing one's mind


def test_pod_that_waits_and_fits_only_here_stops_the_removal() -> None:  # pain 36
    waiting = make_pod("waiting", cpu="2", node_selector={"kubernetes.io/hostname": "n"})
    for node in (NODE, marked(NODE, cordoned=True, by="earlier-shrink-n")):
        given = Given(POD, node=node, elsewhere=[waiting])
        given.operation = replace(given.operation, cordons=node.unschedulable)
        assert given.refusal() == Refusal(RollbackReason.PODS_PENDING, "default/waiting")


def test_pod_that_waits_and_does_not_fit_here_stops_nothing() -> None:  # pain 17
    for waiting in (
        make_pod("too-big", cpu="3500m", node_selector={"kubernetes.io/hostname": "n"}),
        make_pod("elsewhere", node_selector={"disk": "ssd"}),
        make_pod("odd", unmodelled=[Constraint.TOPOLOGY_SPREAD]),
    ):
        assert Given(POD, elsewhere=[waiting]).refusal() is None


def test_pod_that_waits_stops_nothing_where_others_have_cordoned_the_node() -> None:
    waiting = make_pod("waiting", cpu="2", node_selector={"kubernetes.io/hostname": "n"})
    assert Given(POD, node=replace(NODE, unschedulable=True), elsewhere=[waiting]).refusal() is None


# Once the drain has begun


def later(node: Node = NODE, *pods: Pod, managed: bool = True, policy: Policy | None = None) -> RollbackReason | None:
    group = make_group(nodes=[node]) if managed else None
    found = recheck_node(node, pods, group, policy or shrinking(), NOW)
    return None if found is None else found.reason


def test_drain_goes_on_while_its_pods_leave() -> None:
    leaving = make_pod("bare", node="n", owner=None, deleted_ago=-20)
    assert later(NODE, POD, leaving, make_daemonset_pod("agent", node="n")) is None


def test_drain_is_not_judged_by_use_budgets_or_the_system_namespace_any_more() -> None:
    # These were proven for the pods that were there; a budget is the eviction API's business.
    assert later(NODE, make_pod("busy", node="n", cpu="4"), make_pod("dns", node="n", namespace="kube-system")) is None


def test_protected_pod_that_arrived_stops_the_drain() -> None:  # pain 37
    assert later(NODE, POD, make_pod("kept", node="n", annotations={SAFE_TO_EVICT: "false"})) is (
        RollbackReason.BLOCKED_BY_POD
    )


def test_user_may_stop_a_drain() -> None:
    assert later(make_node("n", annotations={SCALE_DOWN_DISABLED: "true"})) is RollbackReason.SCALE_DOWN_DISABLED
    assert later(managed=False) is RollbackReason.GROUP_UNMANAGED
    assert later(policy=shrinking(replace(AT_ONCE, enabled=False))) is RollbackReason.SCALE_DOWN_DISABLED
