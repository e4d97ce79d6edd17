"""How many removals one evaluation tries: enough for now, and never fewer than were found before."""

from __future__ import annotations

from dataclasses import replace

from exoscaler.core.planner import evaluate
from exoscaler.core.policy import Policy, ShrinkPolicy
from exoscaler.core.reasons import Unremovable
from exoscaler.core.state import UnneededNode
from tests.builders import ago, make_group, make_node, make_scene

POLICY = Policy(shrink=ShrinkPolicy(max_parallelism=2))


def test_one_evaluation_finds_twice_as_many_as_may_go_at_a_time_and_no_more() -> None:  # R121
    nodes = [make_node(f"n{i:02}") for i in range(20)]
    plan = evaluate(make_scene(make_group(nodes=nodes, max_size=99), nodes=nodes, policy=POLICY))

    assert [name for _, name in plan.shrink.unneeded] == ["n00", "n01", "n02", "n03"]
    waiting = [v.node_name for v in plan.shrink.staying if v.reason is Unremovable.NOT_REACHED]
    assert len(waiting) == 16


def test_node_that_was_unneeded_before_never_loses_its_time_to_others() -> None:  # K1
    nodes = [make_node(f"n{i:02}") for i in range(20)]
    known = {"uid-of-n19": UnneededNode(name="n19", since=ago(300))}
    scene = make_scene(make_group(nodes=nodes, max_size=99), nodes=nodes, policy=POLICY)
    observations = scene.state.observations.model_copy(
        update={"unneeded": known, "evaluation_ended_at": ago(10), "evaluation_started_at": ago(10)}
    )
    state = scene.state.model_copy(update={"observations": observations})
    plan = evaluate(replace(scene, state=state))

    assert plan.state.observations.unneeded["uid-of-n19"].since == ago(300)
