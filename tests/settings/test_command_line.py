"""Command lines as Go's flag library reads them, and the variable that holds one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.settings.doors import load, mistake, mistakes, settings

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--scale-down-unneeded-time=1m"],
        ["--scale-down-unneeded-time", "1m"],
        ["--scale_down_unneeded_time=1m"],
        ["--scale-down_unneeded-time", "1m"],
        ["--scale-down-unneeded-time=5m", "--scale-down-unneeded-time=1m"],
    ],
)
def test_value_follows_after_an_equals_sign_or_a_space(arguments: list[str]) -> None:
    assert settings(*arguments).scale_down_unneeded_time == MINUTE


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("--scale-to-zero", True),
        ("--scale-to-zero=true", True),
        ("--scale-to-zero=1", True),
        ("--scale-to-zero=false", False),
        ("--scale-to-zero=F", False),
    ],
)
def test_boolean_stands_alone_or_takes_an_equals_sign(argument: str, expected: bool) -> None:
    assert settings(argument).scale_to_zero is expected


def test_boolean_with_a_space_is_pointed_out() -> None:
    # Go would read the flag as true and leave "false" lying about.
    assert mistake("--scale-down-enabled", "false") == (
        "--scale-down-enabled: a boolean takes its value after an equals sign; write --scale-down-enabled=false"
    )


def test_negative_number_is_a_value_and_not_a_flag() -> None:
    assert settings("--expendable-pods-priority-cutoff", "-5").expendable_pods_priority_cutoff == -5


def test_value_may_contain_an_equals_sign() -> None:
    assert settings("--startup-taint=example.com/a=b").startup_taint == ("example.com/a=b",)


def test_repeated_flag_adds_to_a_list() -> None:
    assert settings("--startup-taint=a", "--startup-taint", "b,c").startup_taint == ("a", "b,c")


def test_comma_list_grows_with_each_occurrence() -> None:
    found = settings("--bypassed-scheduler-names=a,b", "--bypassed-scheduler-names=c").bypassed_scheduler_names

    assert found == ("a", "b", "c")


def test_single_value_given_twice_counts_as_last_written_with_a_warning() -> None:
    loaded = load("--max-nodes-total=5", "--max-nodes-total=7")

    assert loaded.settings.max_nodes_total == 7
    assert loaded.warnings == ("--max-nodes-total=5: does not count, since --max-nodes-total=7 follows",)


@pytest.mark.parametrize("arguments", [["-v=4"], ["-v", "4"], ["-v4"], ["--v=4"], ["--v", "4"]])
def test_verbosity_has_a_short_form(arguments: list[str]) -> None:
    assert settings(*arguments).log_level == "debug"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-nodes=1:5:a"], "-nodes: flags have two dashes; write --nodes"),
        (["-nodes", "1:5:a"], "-nodes: flags have two dashes; write --nodes"),
        (["--max-nodes-total"], "--max-nodes-total: has no value; write --max-nodes-total=value"),
        (["--max-nodes-total", "--scale-to-zero"], "--max-nodes-total: has no value; write --max-nodes-total=value"),
        (["nodes=1:5:a"], "nodes=1:5:a: is not a flag; flags begin with --, a value follows its flag"),
        (["-"], "-: is not a flag; flags begin with --, a value follows its flag"),
        (["--", "--v=4"], "--v=4: is not a flag; flags begin with --, a value follows its flag"),
        (["-v=loud"], "--v=loud: not a whole number"),
        (["--=x"], "--: unknown flag"),
    ],
)
def test_what_is_no_flag_is_refused(arguments: list[str], told: str) -> None:
    assert mistake(*arguments) == told


def test_value_of_an_unknown_flag_is_passed_over() -> None:
    assert mistakes("--qqq", "some-value", "--max-nodes-total=x") == (
        "--qqq: unknown flag",
        "--max-nodes-total=x: not a whole number",
    )


@pytest.mark.parametrize(
    "text",
    [
        "--nodes=1:5:pool-a --nodes=2:8:pool-b",
        "--nodes=1:5:pool-a\n--nodes=2:8:pool-b\n",
        "  --nodes 1:5:pool-a\n\n  --nodes 2:8:pool-b",
        "- --nodes=1:5:pool-a\n- --nodes=2:8:pool-b",
        "# from the old deployment\n--nodes=1:5:pool-a\n# and another\n--nodes=2:8:pool-b",
        "./cluster-autoscaler --nodes=1:5:pool-a --nodes=2:8:pool-b",
        "/cluster-autoscaler \\\n  --nodes=1:5:pool-a \\\n  --nodes=2:8:pool-b",
        "- /usr/bin/cluster-autoscaler\n- --nodes=1:5:pool-a\n- --nodes=2:8:pool-b",
        "\"--nodes=1:5:pool-a\" '--nodes=2:8:pool-b'",
        "--nodes=1:5:pool-a\r\n--nodes=2:8:pool-b\r\n",
    ],
)
def test_variable_holds_a_whole_command_line(text: str) -> None:
    found = settings(env={"EXOSCALER_FLAGS": text}).nodes

    assert [bounds.name for bounds in found] == ["pool-a", "pool-b"]


def test_quoted_value_in_the_variable_may_hold_spaces() -> None:
    (bounds,) = settings(env={"EXOSCALER_FLAGS": "--nodes='1:5:my pool'"}).nodes

    assert bounds.name == "my pool"


def test_open_quotation_mark_in_the_variable_is_pointed_out() -> None:
    told = mistake(env={"EXOSCALER_FLAGS": "--v=4\n--nodes='1:5:a"})

    assert told == "EXOSCALER_FLAGS: a quotation mark on line 2 is never closed"


def test_mistake_in_the_variable_names_it() -> None:
    told = mistake(env={"EXOSCALER_FLAGS": "--max-nodes-total=x"})

    assert told == "--max-nodes-total=x (in EXOSCALER_FLAGS): not a whole number"


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_blank_variable_is_an_empty_command_line(text: str) -> None:
    assert load(env={"EXOSCALER_FLAGS": text}).warnings == ()
