"""Which place counts when several mention a flag, and where each value came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from exoscaler.settings import Origin, Source, installed_providers
from exoscaler.settings.catalogue import flags
from tests.settings.doors import load, mistakes, settings

PLACES = ["command line", "flags variable", "environment", "file"]


def place_all(value_of: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
    """Write max-nodes-total in the named places."""
    argv = [f"--max-nodes-total={value_of['command line']}"] if "command line" in value_of else []
    env = {}
    if "flags variable" in value_of:
        env["EXOSCALER_FLAGS"] = f"--max-nodes-total={value_of['flags variable']}"
    if "environment" in value_of:
        env["EXOSCALER_MAX_NODES_TOTAL"] = value_of["environment"]
    if "file" in value_of:
        file = folder / "settings.yaml"
        file.write_text(f"max-nodes-total: {value_of['file']}\n")
        env["EXOSCALER_CONFIG"] = str(file)
    return argv, env


@pytest.mark.parametrize("strongest", range(len(PLACES)), ids=PLACES)
def test_strongest_place_that_mentions_a_flag_counts(strongest: int, tmp_path: Path) -> None:
    values = {place: str(10 + number) for number, place in enumerate(PLACES) if number >= strongest}
    argv, env = place_all(values, tmp_path)

    assert settings(*argv, env=env).max_nodes_total == 10 + strongest


def test_default_counts_when_nobody_mentions_a_flag() -> None:
    assert settings().max_nodes_total == 0


def test_weaker_place_is_not_read_where_a_stronger_one_counts(tmp_path: Path) -> None:
    argv, env = place_all({"command line": "5", "file": "nonsense"}, tmp_path)

    assert settings(*argv, env=env).max_nodes_total == 5


def test_unknown_flag_of_a_weaker_place_is_still_a_mistake() -> None:
    assert mistakes("--v=1", env={"EXOSCALER_FLAGS": "--qqq"}) == ("--qqq (in EXOSCALER_FLAGS): unknown flag",)


def test_lists_of_two_places_are_not_mixed() -> None:
    found = settings("--nodes=1:5:a", env={"EXOSCALER_NODES": "1:5:b,1:5:c"}).nodes

    assert [bounds.name for bounds in found] == ["a"]


def test_origin_of_every_value_is_known(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("v: 0\nkube-page-size: 100\n")

    found = load(
        "--max_nodes_total=5",
        env={
            "EXOSCALER_FLAGS": "--nodes=1:5:a",
            "EXOSCALER_EXPANDER": "random",
            "K_SINK": "http://broker.svc",
            "EXOSCALER_CONFIG": str(file),
        },
    ).origins

    assert found["max-nodes-total"] == Origin(Source.COMMAND_LINE, "max_nodes_total")
    assert found["nodes"] == Origin(Source.FLAGS_VARIABLE, "nodes")
    assert found["expander"] == Origin(Source.ENVIRONMENT, "EXOSCALER_EXPANDER")
    assert found["event-sink"] == Origin(Source.ENVIRONMENT, "K_SINK")
    assert found["kube-page-size"] == Origin(Source.FILE, "kube-page-size", f"{file} line 2")
    assert found["scale-down-unneeded-time"] == Origin(Source.DEFAULT, "scale-down-unneeded-time")
    assert found["EXOSCALE_ZONE"] == Origin(Source.ENVIRONMENT, "EXOSCALE_ZONE")
    assert set(found) >= {flag.name for flag in flags().values() if flag.field}


def test_value_set_by_a_stand_in_comes_from_where_that_was_written() -> None:
    assert load("--v=4").origins["log-level"] == Origin(Source.COMMAND_LINE, "v")


def test_builtin_provider_is_installed() -> None:
    assert "exoscale" in installed_providers()
