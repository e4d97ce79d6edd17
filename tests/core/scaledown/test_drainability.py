"""May this pod be moved? One table per rule, in the order in which they are asked (R130, R131)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.model import DisruptionBudget, Pod, PodPhase, RestartPolicy, Volume, VolumeKind
from exoscaler.core.model.pods import DAEMONSET_POD, MIRROR, SAFE_TO_EVICT, SAFE_TO_EVICT_LOCAL_VOLUMES
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.budgets import BudgetLedger
from exoscaler.core.scaledown.departure import departure
from exoscaler.core.scaledown.drainability import RULES, DrainContext, Outcome, Verdict, judge
from tests.builders import NOW, make_budget, make_pod

MOVE, SKIP, WAIT = Outcome.MOVE, Outcome.SKIP, Outcome.WAIT
HOUR = 3600.0
POLICY = ShrinkPolicy()


def judged(pod: Pod, *budgets: DisruptionBudget, policy: ShrinkPolicy = POLICY) -> Verdict:
    return judge(pod, DrainContext(policy, NOW, BudgetLedger(budgets)))


def outcome(pod: Pod, *budgets: DisruptionBudget, policy: ShrinkPolicy = POLICY) -> Outcome | BlockingPod:
    verdict = judged(pod, *budgets, policy=policy)
    return verdict.blocked_by or verdict.outcome


def annotated(value: str, **rest: str) -> Pod:
    return make_pod(node="n", annotations={SAFE_TO_EVICT: value, **rest})


def with_volumes(*kinds: VolumeKind, allowed: str | None = None) -> Pod:
    volumes = [Volume(f"v{number}", kind) for number, kind in enumerate(kinds)]
    annotations = {} if allowed is None else {SAFE_TO_EVICT_LOCAL_VOLUMES: allowed}
    return make_pod(node="n", volumes=volumes, annotations=annotations)


def test_rules_are_asked_in_upstream_order() -> None:  # K5
    assert [rule.__name__ for rule in RULES] == [
        "mirror",
        "long_terminating",
        "daemonset",
        "safe_to_evict",
        "terminal",
        "on_completion",
        "replicated",
        "system",
        "not_safe_to_evict",
        "local_storage",
        "disruption_budget",
    ]


def test_ordinary_pod_moves() -> None:
    assert outcome(make_pod(node="n")) is MOVE


def test_mirror_pod_neither_moves_nor_holds() -> None:  # R131-1
    assert outcome(make_pod(owner=None, annotations={MIRROR: "hash", SAFE_TO_EVICT: "false"})) is SKIP


@pytest.mark.parametrize(
    ("ended_ago", "expected"), [(-10, BlockingPod.NOT_REPLICATED), (30, BlockingPod.NOT_REPLICATED), (31, SKIP)]
)
def test_pod_stuck_in_termination_holds_nothing(ended_ago: float, expected: object) -> None:  # R131-2
    assert outcome(make_pod(owner=None, deleted_ago=ended_ago)) is expected


def test_grace_period_is_not_added_to_the_end_of_the_grace_period() -> None:  # R131-2 [Q]
    assert outcome(make_pod(owner=None, deleted_ago=31, grace_seconds=600)) is SKIP


def test_daemonset_pod_needs_no_other_place() -> None:  # R131-4, R27
    assert outcome(make_pod(owner="agent", owner_kind="DaemonSet")) is SKIP
    assert outcome(make_pod(owner=None, annotations={DAEMONSET_POD: "true"})) is SKIP
    assert outcome(make_pod(owner=None, annotations={DAEMONSET_POD: "yes"})) is BlockingPod.NOT_REPLICATED


@pytest.mark.parametrize(
    "pod",
    [
        make_pod(owner=None, annotations={SAFE_TO_EVICT: "true"}),
        make_pod(owner="x", owner_kind="Custom", annotations={SAFE_TO_EVICT: "true"}),
        make_pod(namespace="kube-system", annotations={SAFE_TO_EVICT: "true"}),
        make_pod(volumes=[Volume("v", VolumeKind.HOST_PATH)], annotations={SAFE_TO_EVICT: "true"}),
    ],
)
def test_pod_marked_safe_to_evict_moves_whatever_later_rules_say(pod: Pod) -> None:  # R131-5, K5
    assert outcome(pod, make_budget(allowed=0)) is MOVE


@pytest.mark.parametrize("value", ["True", "1", "yes", ""])
def test_only_the_word_true_marks_a_pod_as_safe(value: str) -> None:  # R131-5
    assert outcome(make_pod(owner=None, annotations={SAFE_TO_EVICT: value})) is BlockingPod.NOT_REPLICATED


@pytest.mark.parametrize(
    ("phase", "restart", "expected"),
    [
        (PodPhase.FAILED, RestartPolicy.ALWAYS, SKIP),
        (PodPhase.SUCCEEDED, RestartPolicy.NEVER, SKIP),
        (PodPhase.SUCCEEDED, RestartPolicy.ON_FAILURE, SKIP),
        (PodPhase.SUCCEEDED, RestartPolicy.ALWAYS, BlockingPod.NOT_REPLICATED),
        (PodPhase.RUNNING, RestartPolicy.NEVER, BlockingPod.NOT_REPLICATED),
    ],
)
def test_pod_that_has_ended_for_good_holds_nothing(
    phase: PodPhase, restart: RestartPolicy, expected: object
) -> None:  # R131-6
    assert outcome(make_pod(owner=None, phase=phase, restart_policy=restart)) is expected


def test_pod_that_is_to_complete_is_waited_for() -> None:  # R131-7
    assert outcome(annotated("on-completion")) is WAIT
    # Asked before whether anybody would make it again.
    assert outcome(replace(annotated("on-completion"), owner=None)) is WAIT


@pytest.mark.parametrize("kind", ["ReplicationController", "Job", "ReplicaSet", "StatefulSet"])
def test_pod_that_a_known_controller_makes_again_moves(kind: str) -> None:  # R131-8
    assert outcome(make_pod(owner="x", owner_kind=kind)) is MOVE


def test_bare_pod_holds_its_node() -> None:  # R131-8
    assert outcome(make_pod(owner=None)) is BlockingPod.NOT_REPLICATED
    loose = replace(POLICY, skip_nodes_with_custom_controller_pods=False)
    assert outcome(make_pod(owner=None), policy=loose) is BlockingPod.NOT_REPLICATED


def test_pod_of_an_unknown_controller_holds_its_node_unless_allowed() -> None:  # R131-8, F89
    pod = make_pod(owner="x", owner_kind="Rollout")
    assert outcome(pod) is BlockingPod.NOT_REPLICATED
    assert outcome(pod, policy=replace(POLICY, skip_nodes_with_custom_controller_pods=False)) is MOVE


@pytest.mark.parametrize(("age", "expected"), [(HOUR, BlockingPod.UNMOVABLE_KUBE_SYSTEM), (HOUR + 1, MOVE)])
def test_kube_system_pod_without_a_budget_holds_its_node_for_an_hour(age: float, expected: object) -> None:
    # R131-9, F87, pain 31
    assert outcome(make_pod(namespace="kube-system", age=age)) is expected


def test_kube_system_pod_with_a_budget_is_like_any_other() -> None:  # R131-9
    pod = make_pod(namespace="kube-system", labels={"app": "dns"})
    budget = make_budget(namespace="kube-system", labels={"app": "dns"}, allowed=1)
    assert outcome(pod, budget) is MOVE
    assert outcome(pod, make_budget(namespace="default")) is BlockingPod.UNMOVABLE_KUBE_SYSTEM
    assert outcome(pod, replace(budget, disruptions_allowed=0)) is BlockingPod.NOT_ENOUGH_BUDGET


def test_flag_lets_kube_system_pods_move() -> None:  # F86
    pod = make_pod(namespace="kube-system", age=1)
    assert outcome(pod, policy=replace(POLICY, skip_nodes_with_system_pods=False)) is MOVE


def test_limit_of_kube_system_pods_is_a_setting() -> None:  # F87
    pod = make_pod(namespace="kube-system", age=61)
    assert outcome(pod, policy=replace(POLICY, blocking_system_pod_timeout=timedelta(seconds=60))) is MOVE


def test_age_does_not_excuse_a_kube_system_pod_from_the_rules_that_follow() -> None:
    # Unlike R131-9: age says nothing about data on the node or about what the user forbids.
    old = make_pod(namespace="kube-system", age=2 * HOUR)
    assert outcome(replace(old, annotations=annotated("false").annotations)) is BlockingPod.NOT_SAFE_TO_EVICT
    local = make_pod(namespace="kube-system", age=2 * HOUR, volumes=[Volume("v", VolumeKind.EMPTY_DIR)])
    assert outcome(local) is BlockingPod.LOCAL_STORAGE


def test_pod_marked_as_not_safe_holds_its_node() -> None:  # R131-10, pain 37
    assert outcome(annotated("false")) is BlockingPod.NOT_SAFE_TO_EVICT


@pytest.mark.parametrize(
    ("kinds", "allowed", "expected"),
    [
        ([VolumeKind.EMPTY_DIR], None, BlockingPod.LOCAL_STORAGE),
        ([VolumeKind.HOST_PATH], None, BlockingPod.LOCAL_STORAGE),
        ([VolumeKind.EMPTY_DIR_MEMORY], None, MOVE),
        ([VolumeKind.CLAIM, VolumeKind.PROJECTED, VolumeKind.EPHEMERAL_CLAIM, VolumeKind.OTHER], None, MOVE),
        ([VolumeKind.EMPTY_DIR], "v0", MOVE),
        ([VolumeKind.EMPTY_DIR, VolumeKind.HOST_PATH], "v0", BlockingPod.LOCAL_STORAGE),
        ([VolumeKind.EMPTY_DIR, VolumeKind.HOST_PATH], "v1,v0", MOVE),
        ([VolumeKind.EMPTY_DIR], "other", BlockingPod.LOCAL_STORAGE),
        ([VolumeKind.EMPTY_DIR], "x, v0", BlockingPod.LOCAL_STORAGE),  # no trimming
        ([VolumeKind.EMPTY_DIR], "", BlockingPod.LOCAL_STORAGE),
    ],
)
def test_data_on_the_node_holds_it_unless_each_volume_is_named(
    kinds: Sequence[VolumeKind], allowed: str | None, expected: object
) -> None:  # R131-11, pain 30
    assert outcome(with_volumes(*kinds, allowed=allowed)) is expected


def test_flag_lets_pods_with_local_storage_move() -> None:  # F88
    loose = replace(POLICY, skip_nodes_with_local_storage=False)
    assert outcome(with_volumes(VolumeKind.HOST_PATH), policy=loose) is MOVE


@pytest.mark.parametrize(("allowed", "expected"), [(1, MOVE), (0, BlockingPod.NOT_ENOUGH_BUDGET)])
def test_budget_that_allows_no_disruption_holds_the_node(allowed: int, expected: object) -> None:  # R131-12
    pod = make_pod(labels={"app": "web"})
    assert outcome(pod, make_budget(labels={"app": "web"}, allowed=allowed)) is expected


def test_budget_of_other_pods_holds_nothing() -> None:  # R131-12
    pod = make_pod(labels={"app": "web"})
    assert outcome(pod, make_budget(labels={"app": "db"}, allowed=0)) is MOVE
    assert outcome(pod, make_budget(namespace="other", labels={"app": "web"}, allowed=0)) is MOVE
    assert outcome(pod, DisruptionBudget("default", "none", None, 0)) is MOVE


def test_empty_selector_of_a_budget_covers_its_whole_namespace() -> None:  # R131-12
    assert outcome(make_pod(), make_budget(allowed=0)) is BlockingPod.NOT_ENOUGH_BUDGET


def test_pod_with_two_budgets_holds_its_node_for_it_cannot_be_evicted() -> None:  # pain 32
    pod = make_pod(labels={"app": "web"})
    both = (make_budget("one", allowed=5), make_budget("two", labels={"app": "web"}, allowed=5))
    assert outcome(pod, *both) is BlockingPod.SEVERAL_BUDGETS


def test_pod_that_is_leaving_needs_no_budget() -> None:
    assert outcome(make_pod(deleted_ago=-20), make_budget(allowed=0)) is MOVE


def test_reason_names_what_to_change() -> None:  # pain 31
    assert "PodDisruptionBudget" in BlockingPod.UNMOVABLE_KUBE_SYSTEM.text
    assert "safe-to-evict-local-volumes" in BlockingPod.LOCAL_STORAGE.text


def test_once_a_drain_has_begun_its_budgets_are_not_asked_again() -> None:
    context = DrainContext(POLICY, NOW, budgets=None)
    assert judge(make_pod(namespace="kube-system", age=1), context).outcome is MOVE
    assert judge(annotated("false"), context).blocked_by is BlockingPod.NOT_SAFE_TO_EVICT


def test_blocking_pod_is_named_and_the_first_by_name() -> None:  # R117-1, pain 17
    pods = [make_pod("z", owner=None), make_pod("b", owner=None), make_pod("a")]
    left = departure(pods, DrainContext(POLICY, NOW, BudgetLedger(())))
    assert left.blocked is not None
    assert left.blocked.text.startswith("default/b: NotReplicated: ")


def test_pods_to_move_come_in_order_and_without_those_that_stay() -> None:
    pods = [
        make_pod("c"),
        make_pod("a"),
        make_pod("d", owner_kind="DaemonSet"),
        replace(annotated("on-completion"), name="job"),
    ]
    left = departure(pods, DrainContext(POLICY, NOW, BudgetLedger(())))
    assert [pod.name for pod in left.moving] == ["a", "c"]
    assert left.waits_for is not None
    assert left.waits_for.name == "job"
