"""What the state says, for people and for probes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.app.status import not_ready, report
from exoscaler.core.model import Quota, Trouble, TroubleKind
from exoscaler.core.operations.model import GrowPhase, ShrinkPhase
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import GrowFailure, RollbackReason, Unremovable
from exoscaler.core.state import (
    Backoff,
    CounterName,
    NodeGroupsDocument,
    ObservationsDocument,
    OperationsDocument,
    State,
    StayingNode,
    UnneededNode,
    WaitingPod,
)
from tests.builders import NOW, ago, make_group, make_growth, make_node, make_removal

POLICY = Policy()
NODE = make_node("n1")
WEB = make_group("web", nodes=[NODE], size=2)
TIRED = Backoff(
    seconds=300, until=NOW + timedelta(minutes=5), failed_at=NOW, failure=GrowFailure.QUOTA_EXCEEDED, detail="20 of 20"
)


def evaluated(seconds_ago: float) -> State:
    at = ago(seconds_ago)
    return State(observations=ObservationsDocument(evaluation_started_at=at, evaluation_ended_at=at))


def rich_state() -> State:
    failed = replace(make_growth(WEB, to=3, phase=GrowPhase.FAILED), failure=GrowFailure.DENIED, detail="HTTP 403")
    undone = replace(make_removal(WEB, NODE, phase=ShrinkPhase.ROLLED_BACK), rollback=RollbackReason.POD_ARRIVED)
    trouble = Trouble(TroubleKind.QUOTA_UNREADABLE, "", "get-quota: unavailable (HTTP 503)")
    return State(
        node_groups=NodeGroupsDocument(
            groups={WEB.id: WEB}, quota=Quota(20, 18), troubles=(trouble,), refreshed_at=ago(30), attempted_at=ago(30)
        ),
        operations=OperationsDocument(
            growing=(make_growth(WEB, to=4, number=2),),
            shrinking=(make_removal(WEB, NODE),),
            ended_growing=(failed,),
            ended_shrinking=(undone,),
        ),
        observations=ObservationsDocument(
            backoffs={WEB.id: TIRED},
            waiting=(WaitingPod(name="default/pod", reasons={"web": "max node group size reached"}, since=ago(60)),),
            unneeded={NODE.uid: UnneededNode(name="n1", since=ago(90))},
            staying={"uid": StayingNode(name="n2", reason=Unremovable.BLOCKED_BY_POD, detail="default/db")},
            counters={CounterName.EVALUATIONS: 7},
            evaluation_started_at=ago(10),
            evaluation_ended_at=ago(9),
        ),
    )


def test_report_of_nothing_is_whole_and_json() -> None:
    shown = report(State(), NOW)

    assert json.loads(json.dumps(shown)) == shown
    assert shown["lastEvaluation"] is None
    assert shown["nodeGroups"] == []
    assert shown["quota"] is None
    assert shown["counters"] == {name.value: 0 for name in CounterName}


def test_report_of_everything_is_json() -> None:
    shown = report(rich_state(), NOW)

    assert json.loads(json.dumps(shown)) == shown
    assert set(shown) == set(report(State(), NOW))


def test_group_is_shown_with_its_bounds_its_size_and_why_it_rests() -> None:
    (group,) = rich_report("nodeGroups")

    assert (group["name"], group["id"], group["nodepoolId"]) == ("web", WEB.id, WEB.nodepool_id)
    assert (group["size"], group["members"], group["minSize"], group["maxSize"]) == (2, 1, 1, 10)
    assert group["backoff"] == {
        "until": TIRED.until.isoformat(),
        "failure": "quota-exceeded",
        "detail": "20 of 20",
    }


def test_backoff_that_is_over_is_not_shown() -> None:
    shown = report(rich_state(), TIRED.until + timedelta(seconds=1))
    groups = shown["nodeGroups"]

    assert isinstance(groups, list)
    assert groups[0]["backoff"] is None


def rich_report(part: str) -> list[dict[str, object]]:
    shown = report(rich_state(), NOW)[part]
    assert isinstance(shown, list)
    return shown


def test_groups_are_listed_by_name() -> None:
    groups = {group.id: group for group in (make_group("zeta"), make_group("alpha"), make_group("mid"))}
    shown = report(State(node_groups=NodeGroupsDocument(groups=groups)), NOW)["nodeGroups"]

    assert isinstance(shown, list)
    assert [group["name"] for group in shown] == ["alpha", "mid", "zeta"]


def test_operations_are_shown_in_flight_and_ended_with_the_cause_and_remedy() -> None:
    (growing,), (shrinking,) = rich_report("growing"), rich_report("shrinking")
    failed, undone = rich_report("ended")

    assert (growing["from"], growing["to"], growing["phase"]) == (2, 4, "planned")
    assert (shrinking["node"], shrinking["mode"], shrinking["phase"]) == ("n1", "drain", "draining")
    assert (failed["failure"], failed["remedy"], failed["detail"]) == (
        "denied",
        GrowFailure.DENIED.remedy,
        "HTTP 403",
    )
    assert (undone["kind"], undone["rollback"]) == ("shrink", "pod-arrived")


def test_pods_that_wait_and_nodes_that_stay_are_shown_with_the_reason() -> None:
    assert rich_report("waitingPods") == [
        {"pod": "default/pod", "since": ago(60).isoformat(), "reasons": {"web": "max node group size reached"}}
    ]
    assert rich_report("unneededNodes") == [{"node": "n1", "since": ago(90).isoformat()}]
    assert rich_report("stayingNodes") == [
        {"node": "n2", "reason": "BlockedByPod", "text": Unremovable.BLOCKED_BY_POD.text, "detail": "default/db"}
    ]


def test_quota_and_troubles_are_shown() -> None:
    assert report(rich_state(), NOW)["quota"] == {"limit": 20, "usage": 18, "headroom": 2}
    assert rich_report("troubles") == [
        {"kind": "quota-unreadable", "subject": "", "detail": "get-quota: unavailable (HTTP 503)"}
    ]


def test_exoscaler_is_ready_while_it_evaluates_every_so_often() -> None:
    limit = POLICY.health.longest_silence.total_seconds()

    assert not_ready(evaluated(0), POLICY, NOW) == ""
    assert not_ready(evaluated(limit), POLICY, NOW) == ""


def test_exoscaler_that_missed_its_evaluations_is_not_ready_and_says_since_when() -> None:
    limit = POLICY.health.longest_silence.total_seconds()
    reason = not_ready(evaluated(limit + 1), POLICY, NOW)

    assert ago(limit + 1).isoformat() in reason


def test_exoscaler_that_never_evaluated_is_not_ready() -> None:
    assert not_ready(State(), POLICY, NOW) == "no evaluation has been made yet"


@pytest.mark.parametrize("minutes", [5, 60])
def test_evaluation_of_a_clock_that_was_set_back_does_not_count_as_missed(minutes: int) -> None:
    assert not_ready(evaluated(-60 * minutes), POLICY, NOW) == ""
