"""infra/generate-secret.sh: any credential arrives whole, and shows up nowhere on its way."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.infra.running import (
    CREDENTIALS,
    HIDDEN,
    NAMES,
    SCRIPT,
    Recorder,
    an_executable,
    only,
    recording,
    run,
    values_of,
)
from tests.infra.secret_api import SecretApi, serving


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return recording(tmp_path)


# --- the manifest --------------------------------------------------------------------------------------------------


def test_manifest_is_the_secret_that_the_functions_mount() -> None:
    outcome = run("--dry-run")

    manifest = yaml.safe_load(outcome.out)
    assert (outcome.status, outcome.err) == (0, b"")
    assert (manifest["apiVersion"], manifest["kind"], manifest["type"]) == ("v1", "Secret", "Opaque")
    assert manifest["metadata"]["name"] == "exoscale-api-credentials"
    assert manifest["metadata"]["namespace"] == "kube-system"
    assert values_of(outcome.out) == {
        "api-key": CREDENTIALS["EXOSCALE_API_KEY"],
        "api-secret": CREDENTIALS["EXOSCALE_API_SECRET"],
        "api-zone": b"ch-gva-2",
    }


ANY_VALUE = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=200).map(str.encode),
    st.binary(min_size=1, max_size=200).map(lambda value: value.replace(b"\0", b"\1")),
    st.sampled_from([b"x" * 57, b"x" * 58, b"\n" * 3, b"x" * 4096, b"\xff" * 5000]),
)


@settings(max_examples=40, deadline=None)
@given(key=ANY_VALUE, secret=ANY_VALUE, zone=ANY_VALUE)
@example(key=b"ends with a line break\n", secret=b"\n\n", zone=b"\r\n")
@example(key=b"'\"`$(id)${HOME}\\n%s %d\\", secret=b'"}\n---\nkind: Pod', zone=b"-n")
@example(key="Zürich 🏔".encode(), secret=b"\xff\xfe\x80", zone=b"--- | > & * ! # :")
@example(key=b"-e", secret=b"a" * 4096, zone=b"x" * 76)
def test_any_value_of_any_length_arrives_byte_for_byte(key: bytes, secret: bytes, zone: bytes) -> None:
    outcome = run("--dry-run", variables=dict(zip(NAMES, (key, secret, zone), strict=True)))

    assert outcome.status == 0
    assert values_of(outcome.out) == {"api-key": key, "api-secret": secret, "api-zone": zone}


def test_value_as_long_as_an_environment_allows_arrives(recorder: Recorder) -> None:
    longest = b"s" * (128 * 1024 - len("EXOSCALE_API_SECRET=") - 1)

    outcome = run(path=recorder.path, variables={**CREDENTIALS, "EXOSCALE_API_SECRET": longest})

    assert outcome.status == 0
    assert values_of(recorder.manifest)["api-secret"] == longest


@pytest.mark.parametrize("value", [b" padded", b"padded\n", b"\tpadded"])
def test_white_space_around_a_value_is_kept_and_warned_of(value: bytes) -> None:
    outcome = run("--dry-run", variables={**CREDENTIALS, "EXOSCALE_API_KEY": value})

    assert values_of(outcome.out)["api-key"] == value
    assert b"EXOSCALE_API_KEY begins or ends with white space" in outcome.err
    assert b"padded" not in outcome.err


# --- what it is given ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [NAMES[:1], NAMES[1:2], NAMES[2:], NAMES[:2], NAMES])
@pytest.mark.parametrize("empty", [False, True], ids=["unset", "empty"])
def test_all_missing_variables_are_named_and_no_other(absent: tuple[str, ...], empty: bool) -> None:
    given_ = {name: value for name, value in CREDENTIALS.items() if name not in absent}
    outcome = run("--dry-run", variables={**given_, **dict.fromkeys(absent, b"")} if empty else given_)

    assert (outcome.status, outcome.out) == (2, b"")
    assert {name for name in NAMES if name.encode() in outcome.err} == set(absent)


@pytest.mark.parametrize(
    "arguments", [("--namespace", "scaling"), ("--namespace=scaling",), ("-n", "scaling")], ids=" ".join
)
def test_namespace_is_chosen(arguments: tuple[str, ...]) -> None:
    assert yaml.safe_load(run("--dry-run", *arguments).out)["metadata"]["namespace"] == "scaling"


@pytest.mark.parametrize("namespace", ["", "Upper", "a_b", "-a", "a-", "a.b", "a b", "a\nkind: Pod", "x" * 64, "é"])
def test_namespace_that_is_no_name_is_refused(namespace: str) -> None:
    outcome = run("--dry-run", "--namespace", namespace)

    assert (outcome.status, outcome.out) == (2, b"")
    assert b"namespace" in outcome.err


@pytest.mark.parametrize("option", ["--namespace", "-n", "--context", "--kubeconfig", "--context=", "--kubeconfig="])
def test_option_without_its_value_is_refused(option: str) -> None:
    outcome = run("--dry-run", option)

    assert (outcome.status, outcome.out) == (2, b"")
    assert f"option {option.rstrip('=')} needs a value".encode() in outcome.err


def test_unknown_argument_is_refused_and_not_repeated_since_it_may_be_a_credential() -> None:
    outcome = run(CREDENTIALS["EXOSCALE_API_SECRET"].decode())

    assert outcome.status == 2
    assert b"credentials come from the environment" in outcome.err
    assert not outcome.shows_a_credential()


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_needs_neither_credentials_nor_kubectl(option: str, tmp_path: Path) -> None:
    outcome = run(option, variables={}, path=only(tmp_path / "bin", "bash", "cat"))

    assert (outcome.status, outcome.err) == (0, b"")
    for word in (*NAMES, "--namespace", "--context", "--kubeconfig", "--dry-run"):
        assert word.encode() in outcome.out


# --- what it hands to kubectl --------------------------------------------------------------------------------------


def test_manifest_goes_to_kubectl_apply_on_its_standard_input(recorder: Recorder) -> None:
    outcome = run(path=recorder.path)

    assert (outcome.status, outcome.out, outcome.err) == (0, b"secret/exoscale-api-credentials created\n", b"")
    assert recorder.kubectl_arguments == ["apply", "-f", "-"]
    assert recorder.manifest == run("--dry-run").out


def test_cluster_options_are_handed_on(recorder: Recorder) -> None:
    run("--context", "prod", "--kubeconfig=/etc/kube", "--server-side", "-n", "scaling", path=recorder.path)

    assert recorder.kubectl_arguments == [
        "apply",
        "--context=prod",
        "--kubeconfig=/etc/kube",
        "--server-side",
        "--force-conflicts",
        "-f",
        "-",
    ]
    assert yaml.safe_load(recorder.manifest)["metadata"]["namespace"] == "scaling"


def test_dry_run_never_calls_kubectl(recorder: Recorder) -> None:
    run("--dry-run", path=recorder.path)

    assert not any(line.startswith("kubectl") for line in recorder.command_lines)


@pytest.mark.parametrize("status", [1, 2, 7, 130])
def test_status_of_kubectl_is_passed_on(recorder: Recorder, status: int) -> None:
    outcome = run(path=recorder.path, KUBECTL_FAILS_WITH=str(status))

    assert outcome.status == status
    assert f"kubectl failed with status {status}".encode() in outcome.err


def test_kubectl_that_does_not_read_its_input_decides_nonetheless(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    path = only(programs, "bash", "base64", "tr")
    for status in (0, 5):
        an_executable(programs / "kubectl", f"#!/bin/sh\nexit {status}\n")
        assert run(path=path).status == status


def test_missing_kubectl_is_said_and_dry_run_does_without(tmp_path: Path) -> None:
    path = only(tmp_path / "bin", "bash", "base64", "tr")

    outcome = run(path=path)
    assert (outcome.status, outcome.out) == (3, b"")
    assert b"kubectl is needed" in outcome.err
    assert run("--dry-run", path=path).status == 0


@pytest.mark.parametrize("tool", ["base64", "tr"])
def test_missing_tool_is_said_before_anything_is_sent(recorder: Recorder, tmp_path: Path, tool: str) -> None:
    others = [name for name in ("bash", "base64", "tr") if name != tool]
    path = only(tmp_path / "few", *others)
    (tmp_path / "few" / "kubectl").symlink_to(recorder.folder / "bin" / "kubectl")

    outcome = run(path=path)

    assert outcome.status == 3
    assert f"{tool} is needed".encode() in outcome.err
    assert not (recorder.folder / "manifest").exists()


# --- what stays hidden ---------------------------------------------------------------------------------------------


def test_credentials_are_on_no_command_line(recorder: Recorder) -> None:
    run(path=recorder.path)

    calls = "\n".join(recorder.command_lines).encode()
    assert {line.split()[0] for line in recorder.command_lines} == {"kubectl", "base64", "tr"}
    assert not any(value in calls for value in HIDDEN)


def test_patch_that_kubectl_prints_when_it_fails_has_its_credentials_hidden(recorder: Recorder) -> None:
    outcome = run(path=recorder.path, KUBECTL_FAILS_WITH="1")

    assert outcome.err.count(b"(hidden)") == 4
    assert b"error when applying patch:" in outcome.err
    assert b"the last word\n" in outcome.err
    assert not outcome.shows_a_credential()


@pytest.mark.parametrize("fails", ["", "1"], ids=["works", "fails"])
def test_traced_run_shows_no_credential(recorder: Recorder, fails: str) -> None:
    by_option = run(path=recorder.path, interpreter=("bash", "-x"), KUBECTL_FAILS_WITH=fails)
    by_environment = run(path=recorder.path, SHELLOPTS="xtrace", KUBECTL_FAILS_WITH=fails)

    assert by_option.status == by_environment.status == int(fails or 0)
    assert not by_option.shows_a_credential()
    assert not by_environment.shows_a_credential()


# --- the real kubectl ----------------------------------------------------------------------------------------------

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


@pytest.fixture
def api() -> Iterator[SecretApi]:
    with serving() as running:
        yield running


@pytest.fixture
def kubeconfig(api: SecretApi, tmp_path: Path) -> str:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": {"server": api.url}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "local", "user": "nobody"}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return str(path)


@needs_kubectl
def test_secret_is_created_and_then_updated(api: SecretApi, kubeconfig: str, tmp_path: Path) -> None:
    cluster = ("--kubeconfig", kubeconfig, "--context", "here")
    rotated = {**CREDENTIALS, "EXOSCALE_API_SECRET": b"new\nsecret"}

    created = run(*cluster, HOME=str(tmp_path))
    assert (created.status, created.out) == (0, b"secret/exoscale-api-credentials created\n")
    updated = run(*cluster, variables=rotated, HOME=str(tmp_path))
    assert (updated.status, updated.out) == (0, b"secret/exoscale-api-credentials configured\n")

    data = api.secrets["exoscale-api-credentials"]["data"]
    assert {key: base64.b64decode(value) for key, value in data.items()} == {
        "api-key": CREDENTIALS["EXOSCALE_API_KEY"],
        "api-secret": b"new\nsecret",
        "api-zone": b"ch-gva-2",
    }


@needs_kubectl
def test_refused_update_shows_no_credential(api: SecretApi, kubeconfig: str, tmp_path: Path) -> None:
    cluster = ("--kubeconfig", kubeconfig, "--context", "here")
    other = {**CREDENTIALS, "EXOSCALE_API_KEY": b"EXOother", "EXOSCALE_API_SECRET": b"another secret"}
    run(*cluster, variables=other, HOME=str(tmp_path))
    api.refuses_changes = True

    outcome = run(*cluster, HOME=str(tmp_path))

    assert outcome.status == 1
    assert b"secrets is forbidden" in outcome.err
    assert b"(hidden)" in outcome.err
    assert not outcome.shows_a_credential()


# --- the script itself ---------------------------------------------------------------------------------------------


def test_script_is_executable_and_shellcheck_finds_nothing() -> None:
    shellcheck = Path(sysconfig.get_path("scripts")) / "shellcheck"
    found = subprocess.run(
        [shellcheck, "--severity=style", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )

    assert os.access(SCRIPT, os.X_OK)
    assert (found.returncode, found.stdout) == (0, "")
