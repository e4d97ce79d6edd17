"""One environment variable for each flag."""

from __future__ import annotations

import pytest

from exoscaler.settings import process_environment
from exoscaler.settings.catalogue import flags
from tests.settings.doors import load, mistake, settings, warning

CLUSTER = "b7c2a7de-0000-4000-8000-0123456789ab"


def test_flag_in_capitals_names_its_variable() -> None:
    assert settings(env={"EXOSCALER_MAX_NODES_TOTAL": "7"}).max_nodes_total == 7


def test_no_two_flags_share_a_variable() -> None:
    variables = [variable for flag in flags().values() for variable in flag.variables]

    assert len(variables) == len(set(variables))


@pytest.mark.parametrize(
    "text",
    ["1:5:a,1:6:b", "1:5:a, 1:6:b,", "1:5:a\n1:6:b", "\n  1:5:a\n\n  1:6:b\n"],
    ids=["commas", "spaces", "lines", "indented"],
)
def test_list_is_separated_by_commas_or_lines(text: str) -> None:
    assert [bounds.name for bounds in settings(env={"EXOSCALER_NODES": text}).nodes] == ["a", "b"]


def test_list_on_lines_may_hold_commas() -> None:
    found = settings(env={"EXOSCALER_NODES": "1:5:a,b\n1:6:c"}).nodes

    assert [bounds.name for bounds in found] == ["a,b", "c"]


@pytest.mark.parametrize("text", ["most-pods,random", "most-pods\nrandom\n"])
def test_chain_of_expanders_is_a_list_too(text: str) -> None:
    assert settings(env={"EXOSCALER_EXPANDER": text}).expander == ("most-pods", "random")


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_blank_variable_counts_as_not_set(text: str) -> None:
    env = {"EXOSCALER_MAX_NODES_TOTAL": text, "EXOSCALER_NODES": text, "K_SINK": text}

    assert settings(env=env) == settings()


def test_white_space_around_a_value_does_not_matter() -> None:
    assert settings(env={"EXOSCALER_MAX_NODES_TOTAL": " 7\n"}).max_nodes_total == 7


def test_mistake_names_the_variable() -> None:
    assert mistake(env={"EXOSCALER_MAX_NODES_TOTAL": "lots"}) == "EXOSCALER_MAX_NODES_TOTAL=lots: not a whole number"


def test_variable_of_a_refused_flag_is_refused() -> None:
    assert mistake(env={"EXOSCALER_NODE_GROUP_AUTO_DISCOVERY": "asg:x"}).startswith(
        "EXOSCALER_NODE_GROUP_AUTO_DISCOVERY: "
    )


def test_variable_of_a_flag_without_effect_warns() -> None:
    assert warning(env={"EXOSCALER_LEADER_ELECT": "true"}) == (
        "EXOSCALER_LEADER_ELECT: accepted without effect: the state ConfigMap is the lock"
    )


def test_cluster_id_is_read_from_exoscales_variable() -> None:
    assert settings(env={"EXOSCALE_SKS_CLUSTER_ID": CLUSTER}).sks_cluster_id == CLUSTER


def test_event_sink_is_read_from_knatives_variable() -> None:
    assert settings(env={"K_SINK": "http://broker.svc"}).event_sink == "http://broker.svc"


def test_our_variable_beats_the_fixed_one_with_a_warning() -> None:
    loaded = load(env={"K_SINK": "http://broker.svc", "EXOSCALER_EVENT_SINK": "http://other.svc"})

    assert loaded.settings.event_sink == "http://other.svc"
    assert loaded.warnings == ("K_SINK: does not count, since EXOSCALER_EVENT_SINK is set",)


def test_misspelt_variable_is_pointed_out() -> None:
    assert warning(env={"EXOSCALER_MAX_NODE_TOTAL": "7"}) == (
        "EXOSCALER_MAX_NODE_TOTAL: sets nothing: there is no such setting; did you mean EXOSCALER_MAX_NODES_TOTAL?"
    )


@pytest.mark.parametrize(
    "name",
    [
        "EXOSCALER_SERVICE_HOST",
        "EXOSCALER_SERVICE_PORT",
        "EXOSCALER_SERVICE_PORT_HTTP",
        "EXOSCALER_PORT",
        "EXOSCALER_PORT_80_TCP_ADDR",
        "EXOSCALER_EVALUATE_PORT_80_TCP",
        "EXOSCALER_SCALE_UP_SERVICE_HOST",
        "EXOSCALER_TEST_KUBECONFIG",
        "EXOSCALERS_OWN",
        "OTHER",
    ],
)
def test_variables_of_services_and_others_are_left_alone(name: str) -> None:
    assert load(env={name: "10.0.0.1"}).warnings == ()


def test_no_variable_of_ours_looks_like_one_of_a_service() -> None:
    env = {variable: "" for flag in flags().values() for variable in flag.variables}

    assert not [name for name in env if name.endswith(("_SERVICE_HOST", "_SERVICE_PORT", "_PORT"))]


def test_environment_of_the_process_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXOSCALER_V", "4")
    taken = process_environment()
    monkeypatch.setenv("EXOSCALER_V", "5")

    assert taken["EXOSCALER_V"] == "4"
