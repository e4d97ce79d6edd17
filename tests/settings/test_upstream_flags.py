"""Every flag of the upstream autoscaler, by name: none is silently ignored."""

from __future__ import annotations

import pytest

from exoscaler.settings.catalogue import flags
from exoscaler.settings.flag import Status
from exoscaler.settings.shown import shown
from tests.settings.doors import load, mistake, settings, warning
from tests.settings.upstream import UPSTREAM, UPSTREAM_DEFAULTS


@pytest.mark.parametrize(("name", "rule", "status"), UPSTREAM, ids=[name for name, _, _ in UPSTREAM])
def test_upstream_flag_is_known(name: str, rule: str, status: Status) -> None:
    assert (flags()[name].rule, flags()[name].status) == (rule, status)


def test_every_upstream_row_is_covered() -> None:
    assert {rule for _, rule, _ in UPSTREAM} == {f"F{number}" for number in range(1, 123)}


def test_every_other_flag_is_one_of_exoscalers_own() -> None:
    own = set(flags()) - {name for name, _, _ in UPSTREAM}

    assert {flags()[name].rule for name in own} == {""}


@pytest.mark.parametrize(("name", "default"), UPSTREAM_DEFAULTS.items())
def test_default_is_that_of_upstream(name: str, default: str) -> None:
    assert shown(flags()[name].default) == default


@pytest.mark.parametrize("name", [name for name, _, status in UPSTREAM if status is Status.ACCEPTED])
def test_accepted_flag_warns_with_the_reason(name: str) -> None:
    flag = flags()[name]
    text = _another_value(name)

    told = warning(f"--{name}={text}")

    assert told == f"--{name}: accepted without effect: {flag.why}"


def _another_value(name: str) -> str:
    """A fine value other than the default."""
    kind = flags()[name].kind
    assert kind is not None
    by_kind = {
        "bool": "false" if flags()[name].default in (True, "true") else "true",
        "int": "7",
        "float": "0.25",
        "duration": "17s",
        "gates": "Some=true",
        "type:min:max, repeated": "nvidia-a40:0:8",
        "priority:seconds list": "1000:60,0:30",
    }
    return by_kind.get(kind.word, "some-text")


@pytest.mark.parametrize("name", [name for name, _, status in UPSTREAM if status is Status.REFUSED])
@pytest.mark.parametrize("spelling", ["--{}", "--{}=anything"])
def test_refused_flag_stops_the_start_with_the_reason(name: str, spelling: str) -> None:
    wrong = "--enable-dynamic-resource-allocation=false"
    argument = wrong if flags()[name].only is True else spelling.format(name)

    assert mistake(argument) == f"--{name}: {flags()[name].why}"


def test_auto_discovery_is_refused_with_what_to_use_instead() -> None:
    told = mistake("--node-group-auto-discovery=asg:tag=k1,k2=v")

    assert "--nodes=min:max:name" in told
    assert "--sks-cluster-id" in told


@pytest.mark.parametrize("argument", ["--capacity-quotas-enabled=false", "--enable-dynamic-resource-allocation"])
def test_refused_flag_that_asks_for_nothing_passes_in_silence(argument: str) -> None:
    assert load(argument).warnings == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scan-interval", "10"),
        ("leader-elect", "maybe"),
        ("kube-client-burst", "1.5"),
        ("kube-client-qps", "many"),
        ("feature-gates", "Broken"),
        ("max-bulk-soft-taint-count", ""),
    ],
)
def test_flag_without_effect_is_checked_like_any_other(name: str, text: str) -> None:
    assert mistake(f"--{name}={text}").startswith(f"--{name}=")


def test_flags_without_effect_for_one_reason_share_a_warning() -> None:
    told = warning("--leader-elect=false", "--leader-elect-lease-duration=30s")

    assert (
        told
        == "--leader-elect, --leader-elect-lease-duration: accepted without effect: the state ConfigMap is the lock"
    )


def test_flag_of_a_later_version_is_silent_at_the_value_that_holds_anyway() -> None:
    assert load("--balance-similar-node-groups=false", "--min-replica-count=0").warnings == ()


def test_value_of_a_flag_of_a_later_version_is_kept() -> None:
    assert settings("--min-replica-count=2").min_replica_count == 2


def test_usual_upstream_deployment_starts_as_it_is() -> None:
    found = settings(
        "--cloud-provider=exoscale",
        "--logtostderr=true",
        "--stderrthreshold=info",
        "--v=4",
        "--nodes=1:5:pool-a",
        "--nodes=2:8:pool-b",
        "--expander=most-pods,least-nodes",
        "--scale-down-unneeded-time=5m",
        "--skip-nodes-with-local-storage=false",
        "--leader-elect=true",
        "--namespace=kube-system",
    )

    assert [bounds.name for bounds in found.nodes] == ["pool-a", "pool-b"]
    assert found.skip_nodes_with_local_storage is False


def test_unknown_flag_is_refused_with_what_may_have_been_meant() -> None:
    assert mistake("--max-drain-paralelism=5") == (
        "--max-drain-paralelism: unknown flag; did you mean --max-drain-parallelism?"
    )


def test_unknown_flag_unlike_any_other_is_just_refused() -> None:
    assert mistake("--qqq=1") == "--qqq: unknown flag"


def test_scale_down_switched_off_is_deprecated() -> None:
    assert "no node will ever be removed" in warning("--scale-down-enabled=false")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["--v=4"], "debug"), (["--v=3"], "info"), (["--v=10", "--log-level=error"], "error"), ([], "info")],
)
def test_verbosity_sets_the_log_level_unless_that_is_set(arguments: list[str], expected: str) -> None:
    assert settings(*arguments).log_level == expected


def test_upstream_log_format_sets_ours() -> None:
    assert settings("--logging-format=text").log_format == "text"


def test_stronger_place_of_a_stand_in_does_not_beat_the_flag_itself() -> None:
    loaded = load("--logging-format=text", env={"EXOSCALER_LOG_FORMAT": "json"})

    assert loaded.settings.log_format == "json"
    assert loaded.warnings == ("--logging-format=text: does not count, since log-format is set",)


def test_deprecated_taint_flag_adds_to_the_startup_taints() -> None:
    loaded = load("--startup-taint=new", "--ignore-taint=old")

    assert loaded.settings.startup_taint == ("old", "new")
    assert loaded.warnings == ("--ignore-taint=old: deprecated; write --startup-taint",)
