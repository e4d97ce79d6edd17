from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from exoscaler.sandbox.world import SandboxWorld
from tests.functions.serving import ServedFunction, environment_for, served


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("functions")


@pytest.fixture(scope="package")
def world() -> Iterator[SandboxWorld]:
    with SandboxWorld.local(speed=30) as world:
        yield world


@pytest.fixture(scope="package")
def environment(world: SandboxWorld, folder: Path) -> dict[str, str]:
    kubeconfig = world.write_kubeconfig(folder / "kubeconfig")
    return {
        "PATH": os.environ["PATH"],
        "THREADS": "4",
        **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
        **environment_for(world.exoscale_url, kubeconfig),
    }


@pytest.fixture(scope="package")
def evaluate(environment: dict[str, str], folder: Path) -> Iterator[ServedFunction]:
    with served("evaluate", environment, folder) as function:
        yield function


@pytest.fixture(scope="package")
def status(environment: dict[str, str], folder: Path) -> Iterator[ServedFunction]:
    with served("status", environment, folder) as function:
        yield function
