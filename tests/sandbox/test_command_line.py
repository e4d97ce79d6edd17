"""What the sandbox's command answers when it cannot do what it is asked."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from exoscaler.sandbox.command_line import main


class Shell:
    """Calls the command in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def fails(self, *arguments: str) -> str:
        """The one line that the command ends with; it must end with status 2 and print nothing else."""
        assert main(arguments) == 2
        output = self._capture.readouterr()
        assert output.out == ""
        (line,) = output.err.splitlines()
        return line

    def misuse(self, *arguments: str) -> str:
        """What is said of arguments that make no sense."""
        with pytest.raises(SystemExit) as ending:
            main(arguments)
        assert ending.value.code == 2
        return self._capture.readouterr().err.splitlines()[-1]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    # The handlers of this process belong to the test runner.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return Shell(capsys)


def test_bad_scenario_is_an_error_that_lists_every_mistake(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("zone: nowhere\nclusters: [{name: demo, nodepools: [{name: a, size: -1, instance-type: huge}]}]")
    line = shell.fails("all", f"--scenario={path}")
    assert all(word in line for word in (str(path), "zone", "size", "instance-type"))


def test_file_that_cannot_be_read_is_named(shell: Shell, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert missing in shell.fails("exoscale", f"--scenario={missing}")
    assert missing in shell.fails("exoscale", f"--kubeconfig={missing}")
    assert missing in shell.fails("controllers", f"--kubeconfig={missing}")
    assert missing in shell.fails("kubernetes", f"--workload={missing}")
    assert "missing" in shell.fails("kubernetes", f"--kubeconfig-out={missing}/kubeconfig")


def test_workload_that_the_cluster_refuses_is_an_error(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "workload.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: UPPER}\nspec: {containers: []}")
    assert "UPPER" in shell.fails("kubernetes", f"--workload={path}")
    path.write_text("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}")
    assert "Widget" in shell.fails("kubernetes", f"--workload={path}")
    path.write_text("- just\n- a list")
    assert str(path) in shell.fails("kubernetes", f"--workload={path}")


def test_unknown_controllers_are_an_error_that_names_those_that_exist(shell: Shell) -> None:
    line = shell.fails("kubernetes", "--only=schedular")
    assert "schedular" in line
    assert "scheduler" in line


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("exoscale", "--speed=0"), "above 0"),
        (("exoscale", "--speed=fast"), "speed"),
        (("exoscale", "--exoscale-port=70000"), "65535"),
        (("controllers",), "--kubeconfig"),
        (("everything",), "everything"),
        ((), "MODE"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(shell: Shell, arguments: tuple[str, ...], part: str) -> None:
    assert part in shell.misuse(*arguments)
