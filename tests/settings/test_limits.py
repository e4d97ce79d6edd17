"""Limits of the cluster (R2, F29), drain priorities (F104), expanders (R4), and the ranges of plain values."""

from __future__ import annotations

import pytest

from exoscaler.core.policy import ExpanderName, ResourceLimits
from exoscaler.settings import IMPLEMENTED_EXPANDERS, KNOWN_EXPANDERS, DrainPriority, GpuLimits
from tests.settings.doors import load, mistake, settings

TWELVE_GIB = 12 * 2**30


def test_cores_are_read_as_min_and_max() -> None:
    # R2
    assert settings("--cores-total=4:320").cores_total == ResourceLimits(4, 320)


def test_memory_is_given_in_gib_and_known_in_bytes() -> None:
    assert settings("--memory-total=0:12").memory_total_bytes == ResourceLimits(0, TWELVE_GIB)


@pytest.mark.parametrize("flag", ["cores-total", "memory-total"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("320", "limits are written min:max"),
        ("1:2:3", "limits are written min:max"),
        ("a:2", "the minimum is not a whole number"),
        ("1:b", "the maximum is not a whole number"),
        ("-1:2", "must be 0 or more"),
        ("3:2", "the minimum 3 is above the maximum 2"),
    ],
)
def test_wrong_limits_are_refused(flag: str, text: str, told: str) -> None:
    # R2
    found = mistake(f"--{flag}={text}")

    assert found.startswith(f"--{flag}={text}: ")
    assert told in found


def test_gpus_are_limited_by_type() -> None:
    # F29
    found = settings("--gpu-total=nvidia-a40:0:8", "--gpu-total=nvidia-v100:1:2").gpu_total

    assert found == (GpuLimits("nvidia-a40", 0, 8), GpuLimits("nvidia-v100", 1, 2))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("8", "GPU limits are written type:min:max"),
        ("a:0:8:9", "GPU limits are written type:min:max"),
        (":0:8", "GPU limits are written type:min:max"),
        ("a:x:8", "the minimum is not a whole number"),
        ("a:0:x", "the maximum is not a whole number"),
        ("a:-1:8", "must be 0 or more"),
        ("a:8:1", "the minimum 8 is above the maximum 1"),
    ],
)
def test_wrong_gpu_limits_are_refused(text: str, told: str) -> None:
    assert told in mistake(f"--gpu-total={text}")


def test_mistake_points_at_the_gpu_limits_that_are_wrong() -> None:
    found = mistake("--gpu-total=a:8:1", "--gpu-total=b:0:1")

    assert found == "--gpu-total=a:8:1: the minimum 8 is above the maximum 1"


def test_gpu_type_limited_twice_is_refused() -> None:
    assert "a is limited twice" in mistake("--gpu-total=a:0:1", "--gpu-total=a:0:2")


def test_drain_priorities_are_sorted() -> None:
    # R148
    found = settings("--drain-priority-config=10000:20,1000:100,0:60").drain_priority_config

    assert found == (DrainPriority(0, 60), DrainPriority(1000, 100), DrainPriority(10000, 20))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "priority:seconds"),
        ("10", "priority:seconds"),
        ("10:20:30", "priority:seconds"),
        ("10:20,", "priority:seconds"),
        ("high:20", "the priority is not a whole number"),
        ("10:long", "the number of seconds is not a whole number"),
        ("10:-1", "seconds must be 0 or more"),
        ("10:20,10:30", "a priority is named twice"),
        ("9999999999:20", "a priority must fit 32 bits"),
    ],
)
def test_wrong_drain_priorities_are_refused(text: str, told: str) -> None:
    assert told in mistake(f"--drain-priority-config={text}")


def test_drain_priorities_and_one_grace_period_exclude_each_other() -> None:
    # F103, F104
    found = mistake("--drain-priority-config=0:60", "--max-graceful-termination-sec=600")

    assert found == (
        "--drain-priority-config=0:60 and --max-graceful-termination-sec=600: "
        "both say how long pods get to end: set only one of them"
    )


def test_drain_priorities_go_with_the_default_grace_period() -> None:
    assert settings("--drain-priority-config=0:60").max_graceful_termination_sec == 600


@pytest.mark.parametrize("name", IMPLEMENTED_EXPANDERS)
def test_implemented_expander_is_accepted(name: str) -> None:
    # R4
    assert settings(f"--expander={name}").expander == (ExpanderName(name),)


def test_chain_of_expanders_keeps_its_order() -> None:
    # R4
    found = settings("--expander=least-nodes, most-pods,random").expander

    assert found == (ExpanderName.LEAST_NODES, ExpanderName.MOST_PODS, ExpanderName.RANDOM)


@pytest.mark.parametrize("name", sorted(set(KNOWN_EXPANDERS) - set(IMPLEMENTED_EXPANDERS)))
def test_expander_that_is_not_implemented_names_those_that_are(name: str) -> None:
    assert mistake(f"--expander={name}") == (
        f"--expander={name}: {name} is not implemented; there are random, most-pods, least-waste, least-nodes"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cheapest", "cheapest is no expander; there are random"),
        ("", "an empty name is no expander"),
        ("least-waste,", "an empty name is no expander"),
        ("least-waste,least-waste", "least-waste is named twice"),
        ("random,least-waste", "nothing may follow random"),
    ],
)
def test_wrong_chain_of_expanders_is_refused(text: str, told: str) -> None:
    # R4
    assert told in mistake(f"--expander={text}")


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("--max-nodes-total=-1", "must be 0 or more"),
        ("--max-nodes-total=99999999999999999999", "not a whole number"),
        ("--max-nodes-total=9999999999999999999", "must fit 64 bits"),
        ("--max-nodes-total=1e3", "not a whole number"),
        ("--max-nodes-total=010", "not a whole number"),
        ("--max-scale-down-parallelism=0", "must be 1 or more"),
        ("--scale-down-utilization-threshold=50", "is a fraction, not a percentage; write 0.5"),
        ("--scale-down-utilization-threshold=-0.5", "must be between 0 and 1"),
        ("--scale-down-utilization-threshold=nan", "not a number"),
        ("--scale-down-utilization-threshold=inf", "not a number"),
        ("--scale-down-utilization-threshold=1e999", "not a number"),
        ("--max-total-unready-percentage=145", "must be between 0 and 100"),
        ("--scale-down-unneeded-time=-10m", "must not be negative"),
        ("--scale-down-unneeded-time=10", "has no unit"),
        ("--max-node-provision-time=0", "must be longer than 0s"),
        ("--scale-down-enabled=yes", "neither true nor false"),
        ("--estimator=oldbinpacking", "must be binpacking"),
        ("--log-level=loud", "must be debug or info or warning or error"),
        ("--log-format=xml", "must be json or text"),
        ("--namespace=Kube_System", "must be 1 to 63 lower-case letters"),
        ("--state-config-map-name=-state", "must be a name of lower-case letters"),
        ("--sks-cluster-id=my-cluster", "not an id"),
        ("--kube-page-size=0", "must be between 1 and 10000"),
        ("--cloud-max-attempts=0", "must be between 1 and 10"),
        ("--ended-operations-kept=100000", "must be between 0 and 500"),
        ("--startup-taint= ", "empty"),
        ("--event-sink=broker", "not an address"),
        ("--event-sink=ftp://broker", "not an address"),
        ("--event-sink=http://user:word@broker", "holds credentials"),
        ("--event-sink=http://broker:99999", "not an address"),
        ("--event-sink=http://bro ker", "an address holds no white space"),
        ("--event-sink=http://broker?a=b", "must have no query"),
    ],
)
def test_value_out_of_range_is_refused(argument: str, told: str) -> None:
    name = argument.partition("=")[0]

    found = mistake(argument)

    assert found.startswith(name)
    assert told in found


@pytest.mark.parametrize(
    ("argument", "field", "expected"),
    [
        ("--expendable-pods-priority-cutoff=-100", "expendable_pods_priority_cutoff", -100),
        ("--max-nodes-total=0x10", "max_nodes_total", 16),
        ("--scale-down-utilization-threshold=1", "scale_down_utilization_threshold", 1.0),
        ("--scale-down-utilization-threshold=.3", "scale_down_utilization_threshold", 0.3),
        ("--scale-down-enabled=T", "scale_down_enabled", True),
        ("--bypassed-scheduler-names=a,b", "bypassed_scheduler_names", ("a", "b")),
        ("--log-level=DEBUG", "log_level", "debug"),
        (
            "--sks-cluster-id=B7C2A7DE-0000-4000-8000-0123456789AB",
            "sks_cluster_id",
            "b7c2a7de-0000-4000-8000-0123456789ab",
        ),
        ("--event-sink=http://broker.svc/ns/default/", "event_sink", "http://broker.svc/ns/default"),
    ],
)
def test_value_in_range_is_read(argument: str, field: str, expected: object) -> None:
    assert load(argument).settings.model_dump()[field] == expected
