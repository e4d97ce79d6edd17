"""``python -m exoscaler.sandbox``: the halves in processes of their own, as users and tests run them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, Queue
from typing import Any, TypeAlias

import httpx
import pytest
import yaml

from exoscaler.sandbox.kubernetes import HttpObjectClient
from exoscaler.sandbox.world import SANDBOX_KEY, SANDBOX_SECRET
from tests.sandbox.controllers.manifests import NAMESPACE, daemon_set, deployment
from tests.sandbox.users import DEADLINE_SECONDS, SCENARIO, SPEED, Users, wait_until

Facts: TypeAlias = dict[str, Any]


class Process:
    """One running sandbox command; `facts` are its JSON lines up to ``ready``, by event."""

    def __init__(self, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EXOSCALE_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "exoscaler.sandbox", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._ended: tuple[int, str] | None = None
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.facts: dict[str, Facts] = {}
        while "ready" not in self.facts:
            line = self._next_line()
            self.facts[line["event"]] = line

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def _next_line(self) -> Facts:
        try:
            facts: Facts = json.loads(self._lines.get(timeout=DEADLINE_SECONDS))
        except Empty:
            self.end()
            message = "the sandbox said nothing in time"
            raise AssertionError(message) from None
        return facts

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal, once; returns the exit status and what was written to standard error."""
        if self._ended is None:
            self._ended = self._end(number)
        return self._ended

    def _end(self, number: signal.Signals) -> tuple[int, str]:
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            status = self._process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait(DEADLINE_SECONDS)
        self._reader.join(DEADLINE_SECONDS)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._process.stdout.close()
        with self._process.stderr as errors:
            return status, errors.read()

    def last_words(self) -> Facts:
        return self._next_line()


@pytest.fixture
def run() -> Iterator[Callable[..., Process]]:
    with ExitStack() as running:

        def start(*arguments: str) -> Process:
            process = Process(*arguments)
            running.callback(process.end)
            return process

        yield start


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(SCENARIO.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    return str(path)


def test_machines_of_one_process_are_nodes_in_the_cluster_of_another(
    run: Callable[..., Process], scenario: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    speed = f"--speed={SPEED}"
    cluster = run("kubernetes", speed, f"--kubeconfig-out={kubeconfig}")
    assert cluster.facts["kubernetes"]["kubeconfig"] == str(kubeconfig)
    cloud = run("exoscale", speed, f"--kubeconfig={kubeconfig}", f"--scenario={scenario}")
    assert set(cloud.facts) == {"exoscale", "ready"}
    users = Users(cloud.facts["exoscale"]["url"], kubeconfig)
    with HttpObjectClient.from_kubeconfig(kubeconfig) as objects:
        wait_until(lambda: len(users.nodes()) == 1, "the first node is ready")
        objects.create("apps/v1", "deployments", deployment("web", replicas=2, cpu="1"), namespace=NAMESPACE)
        wait_until(lambda: len(users.unschedulable("app=web")) == 1, "one pod is unschedulable")
        cluster_id, nodepool_id = users.nodepool()
        users.exoscale.scale_sks_nodepool(id=cluster_id, sks_nodepool_id=nodepool_id, size=2)
        wait_until(lambda: len(users.ready_pods("app=web")) == 2, "both pods run")

        node = min(users.nodes())
        instance = users.nodes()[node]
        users.exoscale.evict_sks_nodepool_members(id=cluster_id, sks_nodepool_id=nodepool_id, instances=[instance])
        wait_until(lambda: list(users.nodes()) != [] and node not in users.nodes(), "the node is gone")
        wait_until(lambda: len(objects.list("v1", "nodes")) == 1, "its object is gone")
        wait_until(lambda: len(users.ready_pods("app=web")) == 1, "one pod is left")
    users.close()
    for process in (cloud, cluster):
        assert process.end() == (0, "")
        assert process.last_words() == {"event": "stopped"}


def test_controllers_of_a_third_process_make_a_bare_api_live(
    run: Callable[..., Process], scenario: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    speed = f"--speed={SPEED}"
    cluster = run("kubernetes", speed, "--only=accounts", f"--kubeconfig-out={kubeconfig}")
    cloud = run("exoscale", speed, f"--scenario={scenario}")
    root = cloud.facts["exoscale"]["url"].removesuffix("/v2")
    with HttpObjectClient.from_kubeconfig(kubeconfig) as objects:
        objects.create("apps/v1", "daemonsets", daemon_set("agent"), namespace=NAMESPACE)
        assert objects.list("v1", "pods") == []
        run(
            "controllers",
            speed,
            f"--kubeconfig={kubeconfig}",
            f"--machines-url={root}",
            "--only=nodes,workloads,scheduler",
        )
        users = Users(cloud.facts["exoscale"]["url"], kubeconfig)
        wait_until(lambda: len(users.ready_pods("app=agent")) == 1, "the daemon set's pod runs on the new node")
        users.close()
    assert cluster.end()[0] == 0


def test_all_runs_everything_and_ends_on_interrupt(run: Callable[..., Process], tmp_path: Path) -> None:
    kubeconfig, workload = tmp_path / "kubeconfig", tmp_path / "workload.yaml"
    workload.write_text(yaml.safe_dump_all([deployment("web"), daemon_set("agent")]))
    process = run("all", f"--speed={SPEED}", f"--kubeconfig-out={kubeconfig}", f"--workload={workload}")
    exoscale, kubernetes = process.facts["exoscale"], process.facts["kubernetes"]
    assert (exoscale["zone"], exoscale["key"]) == ("ch-gva-2", SANDBOX_KEY)
    assert SANDBOX_SECRET not in json.dumps(process.facts)
    users = Users(exoscale["url"], kubeconfig)
    wait_until(lambda: len(users.ready_pods("app=web")) == 1, "the workload runs")
    users.close()
    assert process.end(signal.SIGINT) == (0, "")
    with pytest.raises(httpx.ConnectError):
        httpx.get(kubernetes["url"])


def test_port_in_use_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "exoscaler.sandbox", "exoscale", f"--exoscale-port={port}"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert f"port {port}" in line
    assert "in use" in line
