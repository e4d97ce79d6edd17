"""The YAML file, and what YAML does to the unwary."""

from __future__ import annotations

from pathlib import Path

import pytest

from exoscaler.core.model import NodeBounds
from exoscaler.core.policy import ResourceLimits
from exoscaler.settings import Settings
from tests.settings.doors import load, mistake, mistakes, settings


def written(folder: Path, text: str) -> dict[str, str]:
    file = folder / "settings.yaml"
    file.write_text(text, encoding="utf-8")
    return {"EXOSCALER_CONFIG": str(file)}


def test_keys_are_flags_and_lists_are_lists(tmp_path: Path) -> None:
    text = """\
    # what was on the command line before
    nodes:
      - 1:5:pool-a
      - "2:8:pool b"
    scale-down-unneeded-time: 5m
    scale-down-utilization-threshold: 0.4
    skip-nodes-with-local-storage: false
    max-nodes-total: 20
    expander: [most-pods, random]
    bypassed-scheduler-names: [a, b]
    """

    found = settings(env=written(tmp_path, text))

    assert found.nodes == (NodeBounds(1, 5, "pool-a"), NodeBounds(2, 8, "pool b"))
    assert found.scale_down_utilization_threshold == 0.4
    assert found.skip_nodes_with_local_storage is False
    assert found.max_nodes_total == 20
    assert found.expander == ("most-pods", "random")
    assert found.bypassed_scheduler_names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        # YAML 1.1 would make 80 of it: base 60.
        ("cores-total: 1:20", "cores_total", ResourceLimits(1, 20)),
        ("nodes: [1:20:30]", "nodes", (NodeBounds(1, 20, "30"),)),
        ("nodes: 1:5:pool-a", "nodes", (NodeBounds(1, 5, "pool-a"),)),
        ("startup-taint: [no, 1.10, 0x10, 2026-12-01]", "startup_taint", ("no", "1.10", "0x10", "2026-12-01")),
        ("scale-down-delay-after-delete: 0", "scale_down_delay_after_delete", Settings().scale_down_delay_after_delete),
        ('max-nodes-total: "7"', "max_nodes_total", 7),
        ("max_nodes_total: 7", "max_nodes_total", 7),
        ("expander: most-pods,random", "expander", ("most-pods", "random")),
        ("scale-to-zero: True", "scale_to_zero", True),
        ("nodes:", "nodes", ()),
        ("nodes: []", "nodes", ()),
        ("bypassed-scheduler-names: a,b", "bypassed_scheduler_names", ("a", "b")),
    ],
)
def test_value_is_taken_as_it_is_written(tmp_path: Path, text: str, field: str, expected: object) -> None:
    assert getattr(settings(env=written(tmp_path, text)), field) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max-nodes-totl: 7", "max-nodes-totl ({} line 1): unknown flag; did you mean --max-nodes-total?"),
        ("\n\nmax-nodes-total: lots", "max-nodes-total: lots ({} line 3): not a whole number"),
        ("max-nodes-total: 7.0", "max-nodes-total: 7.0 ({} line 1): not a whole number"),
        ("scale-to-zero: yes", "scale-to-zero: yes ({} line 1): neither true nor false"),
        ("max-nodes-total: [7]", "max-nodes-total ({} line 1): must be a value, written as int"),
        ("max-nodes-total: {a: 7}", "max-nodes-total ({} line 1): must be a value, written as int"),
        ("nodes: {a: 7}", "nodes ({} line 1): must be a list of values, written as min:max:name, repeated"),
        ("nodes:\n- [1, 2]", "nodes ({} line 2): an element of the list is not a single value"),
        ("nodes:\n-\n- 1:5:a", "nodes ({} line 2): an element of the list is not a single value"),
        ("nodes:\n- 1:5:a\n- 5:1:b", "nodes: 5:1:b ({} line 3): the maximum 1 is below the minimum 5"),
        ("max-nodes-total:", "max-nodes-total ({} line 1): has no value; write one or leave the key out"),
        ("max-nodes-total: ~", "max-nodes-total ({} line 1): has no value; write one or leave the key out"),
        ("v: 1\nv: 2", "v ({} line 2): is written on line 1 already; a file says everything once"),
        ("config: /other.yaml", "config ({} line 1): a settings file cannot name another one"),
        ("node-group-auto-discovery: [x]", "node-group-auto-discovery ({} line 1): not supported"),
        ("[1]: 2", "{} line 1: a key must be the name of a flag"),
        ("- nodes", "{}: must be a mapping from flag names to values"),
        ("nodes", "{}: must be a mapping from flag names to values"),
        ("a: b: c", "{} line 1: not YAML: mapping values are not allowed here"),
        ("nodes: [1:5:a", "{} line 1: not YAML"),
        ("a: 1\n---\nb: 2", "{} line 2: not YAML"),
        ("nodes: *missing", "{} line 1: not YAML"),
        ("a: \x00", "{}: not YAML"),
    ],
)
def test_mistake_names_file_and_line(tmp_path: Path, text: str, told: str) -> None:
    env = written(tmp_path, text)

    found = mistake(env=env)

    assert found.startswith(told.format(env["EXOSCALER_CONFIG"]))


def test_deeply_nested_file_is_a_mistake_and_not_a_crash(tmp_path: Path) -> None:
    assert "not YAML" in mistake(env=written(tmp_path, "[" * 20_000))


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "null\n"])
def test_empty_file_sets_nothing_and_is_pointed_out(tmp_path: Path, text: str) -> None:
    env = written(tmp_path, text)

    loaded = load(env=env)

    assert loaded.warnings == (f"{env['EXOSCALER_CONFIG']}: the settings file is empty",)


def test_file_that_does_not_exist_is_a_mistake_among_others(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.yaml")

    assert mistakes(f"--config={path}", "--max-nodes-total=x") == (
        f"{path}: the settings file cannot be read: No such file or directory",
        "--max-nodes-total=x: not a whole number",
    )


def test_folder_is_no_settings_file(tmp_path: Path) -> None:
    assert mistake(f"--config={tmp_path}") == f"{tmp_path}: the settings file cannot be read: Is a directory"


def test_file_that_is_not_text_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_bytes(b"\xff\xfe\x00")

    assert mistake(f"--config={file}") == f"{file}: the settings file is not UTF-8 text"


def test_path_that_is_no_path_is_a_mistake() -> None:
    assert mistake(env={"EXOSCALER_CONFIG": "a\0b"}).endswith("not a path of a file")


def test_yaml_tags_build_no_objects(tmp_path: Path) -> None:
    assert mistake(env=written(tmp_path, "max-nodes-total: !!python/object/apply:os.getpid []")).endswith(
        "must be a value, written as int"
    )


def test_file_may_be_named_on_any_command_line(tmp_path: Path) -> None:
    path = written(tmp_path, "max-nodes-total: 7")["EXOSCALER_CONFIG"]

    assert settings("--config", path).max_nodes_total == 7
    assert settings(env={"EXOSCALER_FLAGS": f"--config={path}"}).max_nodes_total == 7
