"""What an evaluation leaves behind for the next one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from exoscaler.core.observing import WAITING_PODS_KEPT, observed, unneeded_since
from exoscaler.core.plan import GroupVerdict, GrowthPlan, NodeVerdict, ShrinkPlan, UnhelpedPod
from exoscaler.core.policy import PacePolicy, Policy
from exoscaler.core.reasons import GroupSkip, GrowFailure, Unremovable
from exoscaler.core.scene import Scene
from exoscaler.core.state import Backoff, CounterName, State, StayingNode, UnneededNode, WaitingPod
from tests.builders import NOW, ago, make_group, make_node, make_pod, make_scene
from tests.core.scenes import remembering

A, B = make_node("a"), make_node("b")
SCENE = make_scene(make_group(nodes=[A, B]), nodes=[A, B])
NOTHING = GrowthPlan()


def unneeded(*names: str) -> ShrinkPlan:
    return ShrinkPlan(unneeded=tuple((f"uid-of-{name}", name) for name in names))


def after(scene: Scene, shrink: ShrinkPlan, *, healthy: bool = True) -> dict[str, datetime]:
    """The timers after an evaluation, by node name."""
    kept = observed(scene, NOTHING, shrink, healthy=healthy).unneeded
    return {node.name: node.since for node in kept.values()}


def later(scene: Scene, shrink: ShrinkPlan, seconds: float, *, healthy: bool = True) -> Scene:
    """The scene some time after an evaluation of it."""
    observations = observed(scene, NOTHING, shrink, healthy=healthy)
    state = State(node_groups=scene.state.node_groups, observations=observations)
    return replace(scene, state=state, now=scene.now + timedelta(seconds=seconds))


def waiting(number: int = 0, **reasons: str) -> UnhelpedPod:
    verdicts = tuple(GroupVerdict(name, name, GroupSkip.AT_MAX) for name in reasons or {"pool": ""})
    return UnhelpedPod(make_pod(f"pod-{number:03}"), verdicts)


# Timers: R124, R125, H.2-3


def test_time_of_a_node_begins_when_it_is_first_found_unneeded() -> None:
    assert after(remembering(SCENE), unneeded("a")) == {"a": NOW}


def test_time_goes_on_while_the_node_is_found_unneeded_at_every_look() -> None:
    scene = remembering(SCENE, unneeded={"a": 300})
    assert after(scene, unneeded("a", "b")) == {"a": ago(300), "b": NOW}


def test_node_that_is_needed_at_one_look_loses_its_time() -> None:  # R124, K1
    scene = later(remembering(SCENE, unneeded={"a": 300}), unneeded("b"), 10)
    assert after(scene, unneeded("a")) == {"a": scene.now}


def test_times_outlive_a_restart_since_they_are_in_the_state() -> None:  # pain 35
    assert unneeded_since(remembering(SCENE, unneeded={"a": 300})) == {"uid-of-a": ago(300)}


def test_node_made_anew_under_an_old_name_begins_anew() -> None:  # H.2-9
    scene = remembering(SCENE, unneeded={"a": 300})
    again = ShrinkPlan(unneeded=(("another-uid", "a"),))
    assert after(scene, again) == {"a": NOW}


@pytest.mark.parametrize(("looked", "known"), [(10, True), (180, True), (181, False), (100_000, False)])
def test_times_begin_anew_after_more_than_three_missed_evaluations(looked: float, known: bool) -> None:  # H.2-3
    assert bool(unneeded_since(remembering(SCENE, unneeded={"a": 300}, looked=looked))) is known


def test_limit_of_missed_evaluations_follows_the_period() -> None:
    policy = Policy(pace=PacePolicy(evaluation_period=timedelta(seconds=20)))
    scene = replace(SCENE, policy=policy)
    assert unneeded_since(remembering(scene, unneeded={"a": 300}, looked=60))
    assert not unneeded_since(remembering(scene, unneeded={"a": 300}, looked=61))


def test_first_evaluation_knows_no_time() -> None:  # I6
    assert unneeded_since(SCENE) == {}


def test_clock_that_is_a_little_behind_changes_nothing() -> None:
    scene = remembering(SCENE, unneeded={"a": 300}, looked=-2)
    assert unneeded_since(scene) == {"uid-of-a": ago(300)}


def test_times_begin_anew_when_the_clock_was_set_back_far() -> None:
    assert unneeded_since(remembering(SCENE, unneeded={"a": 300}, looked=-3600)) == {}


def test_time_that_lies_in_the_future_counts_as_now() -> None:
    assert unneeded_since(remembering(SCENE, unneeded={"a": -60})) == {"uid-of-a": NOW}


# Pauses


def test_times_stand_still_while_the_cluster_is_unwell() -> None:
    scene = remembering(SCENE, unneeded={"a": 300}, unhealthy_since=ago(120))
    assert unneeded_since(scene) == {"uid-of-a": ago(180)}


def test_pause_lasts_from_the_first_unwell_evaluation_to_the_first_well_one() -> None:  # pain 24
    scene = remembering(SCENE, unneeded={"a": 300})
    unwell = ShrinkPlan(held="the cluster is unhealthy")
    scene = later(scene, unwell, 60, healthy=False)
    scene = later(scene, unwell, 60, healthy=False)
    scene = later(scene, unneeded("a"), 0)

    assert scene.state.observations.unneeded["uid-of-a"].since == scene.now - timedelta(seconds=300)
    assert scene.state.observations.unhealthy_since is None


def test_evaluation_that_did_not_judge_leaves_times_and_verdicts_alone() -> None:
    stays = {"uid-of-b": StayingNode(name="b", reason=Unremovable.NOT_UNDERUTILIZED, detail="80%")}
    scene = remembering(SCENE, unneeded={"a": 300}, staying=stays)
    doubtful = ShrinkPlan(held="the list is in doubt", judged=False)

    kept = observed(scene, NOTHING, doubtful, healthy=True)
    assert kept.unneeded == scene.state.observations.unneeded
    assert kept.staying == stays
    assert kept.evaluation_started_at == NOW


def test_evaluations_that_did_not_judge_count_as_missed() -> None:
    scene = remembering(SCENE, unneeded={"a": 300})
    doubtful = ShrinkPlan(held="the list is in doubt", judged=False)
    for _ in range(2):
        scene = later(scene, doubtful, 60)
    assert unneeded_since(scene) == {"uid-of-a": ago(300)}

    scene = later(scene, doubtful, 60)
    assert unneeded_since(scene) == {}


def test_pause_that_ends_with_a_doubtful_evaluation_is_not_counted_as_time() -> None:
    scene = remembering(SCENE, unneeded={"a": 300}, unhealthy_since=ago(120))
    scene = later(scene, ShrinkPlan(held="the list is in doubt", judged=False), 30)

    assert scene.state.observations.unhealthy_since is None
    assert unneeded_since(scene) == {"uid-of-a": ago(180)}


def test_nodes_that_were_not_looked_at_by_choice_lose_their_time() -> None:  # R69
    assert after(remembering(SCENE, unneeded={"a": 300}), ShrinkPlan(held="scale-down-enabled is off")) == {}


# Verdicts


def verdict(node: str = "a", reason: Unremovable = Unremovable.BLOCKED_BY_POD) -> NodeVerdict:
    return NodeVerdict(node, f"uid-of-{node}", "id-of-pool", reason, "default/pod: why")


def test_verdict_is_kept_with_its_detail() -> None:
    stays = observed(SCENE, NOTHING, ShrinkPlan(staying=(verdict(),)), healthy=True).staying
    assert stays == {
        "uid-of-a": StayingNode(name="a", reason=Unremovable.BLOCKED_BY_POD, detail="default/pod: why", until=None)
    }


def test_verdict_of_a_simulation_holds_for_the_recheck_time() -> None:  # R119
    plan = ShrinkPlan(staying=(verdict(),), cached=frozenset({"uid-of-a"}))
    assert observed(SCENE, NOTHING, plan, healthy=True).staying["uid-of-a"].until == NOW + timedelta(minutes=5)


def test_verdict_that_still_holds_is_not_prolonged() -> None:  # R119
    known = StayingNode(name="a", reason=Unremovable.BLOCKED_BY_POD, until=NOW + timedelta(seconds=1))
    scene = remembering(SCENE, staying={"uid-of-a": known})
    plan = ShrinkPlan(staying=(verdict(reason=Unremovable.RECENTLY_UNREMOVABLE),), cached=frozenset({"uid-of-a"}))
    assert observed(scene, NOTHING, plan, healthy=True).staying["uid-of-a"].until == known.until


def test_verdict_that_has_run_out_holds_anew_when_it_is_found_again() -> None:
    known = StayingNode(name="a", reason=Unremovable.BLOCKED_BY_POD, until=NOW)
    scene = remembering(SCENE, staying={"uid-of-a": known})
    plan = ShrinkPlan(staying=(verdict(),), cached=frozenset({"uid-of-a"}))
    assert observed(scene, NOTHING, plan, healthy=True).staying["uid-of-a"].until == NOW + timedelta(minutes=5)


def test_verdict_about_a_node_that_is_gone_is_forgotten() -> None:
    known = StayingNode(name="gone", reason=Unremovable.BLOCKED_BY_POD, until=NOW + timedelta(minutes=1))
    scene = remembering(SCENE, staying={"uid-of-gone": known})
    assert observed(scene, NOTHING, ShrinkPlan(staying=(verdict(),)), healthy=True).staying.keys() == {"uid-of-a"}


# The rest


def test_instance_without_a_node_is_remembered_since_it_was_first_missed() -> None:  # R33
    scene = make_scene(make_group(members=["instance-of-a", "x", "y"]), nodes=[A])
    scene = remembering(scene, unregistered={"x": ago(120), "gone": ago(500)})
    assert observed(scene, NOTHING, ShrinkPlan(), healthy=True).unregistered == {"x": ago(120), "y": NOW}


def test_instance_missed_in_the_future_is_missed_since_now() -> None:
    scene = remembering(make_scene(make_group(members=["x"])), unregistered={"x": ago(-60)})
    assert observed(scene, NOTHING, ShrinkPlan(), healthy=True).unregistered == {"x": NOW}


def test_old_backoffs_are_forgotten() -> None:  # R47
    def failed(seconds: float) -> Backoff:
        return Backoff(seconds=300, until=ago(seconds - 300), failed_at=ago(seconds), failure=GrowFailure.DENIED)

    scene = remembering(SCENE, backoffs={"old": failed(3 * 3600 + 1), "young": failed(60)})
    assert observed(scene, NOTHING, ShrinkPlan(), healthy=True).backoffs.keys() == {"young"}


def test_waiting_pod_keeps_the_moment_when_it_was_first_told_of() -> None:
    scene = remembering(SCENE, waiting=(WaitingPod(name="default/pod-000", since=ago(90)),))
    pods = observed(scene, GrowthPlan(unhelped=(waiting(0), waiting(1))), ShrinkPlan(), healthy=True).waiting

    assert [(pod.name, pod.since) for pod in pods] == [("default/pod-000", ago(90)), ("default/pod-001", NOW)]
    assert pods[0].reasons == {"pool": GroupSkip.AT_MAX.value}


def test_pods_go_on_waiting_while_the_cluster_is_unwell() -> None:
    known = (WaitingPod(name="default/pod-000", since=ago(90)),)
    scene = remembering(SCENE, waiting=known)
    assert observed(scene, NOTHING, ShrinkPlan(), healthy=False).waiting == known


def test_list_of_waiting_pods_is_bounded() -> None:
    growth = GrowthPlan(unhelped=tuple(waiting(number) for number in range(WAITING_PODS_KEPT + 50)))
    assert len(observed(SCENE, growth, ShrinkPlan(), healthy=True).waiting) == WAITING_PODS_KEPT


def test_evaluation_is_counted_and_dated() -> None:
    seen = observed(remembering(SCENE, evaluations=4), NOTHING, ShrinkPlan(), healthy=True)
    assert (seen.evaluations, seen.counters[CounterName.EVALUATIONS]) == (5, 1)
    assert seen.evaluation_started_at == seen.evaluation_ended_at == NOW


def test_cluster_is_unwell_since_the_first_of_several_unwell_evaluations() -> None:
    scene = later(remembering(SCENE), ShrinkPlan(), 60, healthy=False)
    scene = later(scene, ShrinkPlan(), 60, healthy=False)
    assert scene.state.observations.unhealthy_since == NOW


def test_what_operations_left_behind_is_not_touched() -> None:
    scene = remembering(SCENE, grown_at={"g": ago(1)}, shrunk_at={"g": ago(2)}, shrink_failed_at={"g": ago(3)})
    seen = observed(scene, NOTHING, unneeded("a"), healthy=True)
    assert (seen.grown_at, seen.shrunk_at, seen.shrink_failed_at) == ({"g": ago(1)}, {"g": ago(2)}, {"g": ago(3)})
    assert seen.unneeded == {"uid-of-a": UnneededNode(name="a", since=NOW)}
