"""What happens around kubectl in its tests: pods that run, a kubelet that ends them, commands that go on."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest

from exoscaler.sandbox.kubernetes import KubernetesSandbox, StoreClient
from exoscaler.sandbox.kubernetes.history import Change, ChangeKind
from exoscaler.sandbox.objects import ObjectError
from tests.sandbox.kubernetes.builders import pod


def run_pod(cluster: StoreClient, name: str = "p", *, labels: dict[str, str] | None = None, on: str = "n") -> None:
    """A running, ready pod of a ReplicaSet on a node."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    body = pod(name, labels=labels)
    body["metadata"]["ownerReferences"] = [owner]
    cluster.create("v1", "pods", body, namespace="default")
    cluster.bind("default", name, on)
    container = {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}, "image": "", "imageID": ""}
    status = {
        "phase": "Running",
        "podIP": "10.0.0.9",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [container],
    }
    cluster.patch("v1", "pods", name, {"status": status}, namespace="default", subresource="status")


@contextlib.contextmanager
def kubelet(sandbox: KubernetesSandbox) -> Iterator[None]:
    """Finishes off every pod that is being deleted, as a node's kubelet would."""
    doomed: list[Change] = []
    wake, stop = threading.Event(), threading.Event()

    def note(change: Change) -> None:
        if change.kind is ChangeKind.MODIFIED and "deletionTimestamp" in change.after["metadata"]:
            doomed.append(change)
            wake.set()

    def run() -> None:
        while not stop.is_set():
            wake.wait(0.5)
            wake.clear()
            while doomed:
                namespace, name = doomed.pop().key
                with contextlib.suppress(ObjectError):
                    sandbox.client.delete("v1", "pods", name, namespace=namespace, grace_seconds=0)

    unsubscribe = sandbox.store.subscribe(note)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        wake.set()
        thread.join()
        unsubscribe()


def started(kubectl_command: list[str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*kubectl_command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def cells_of(output: str) -> list[list[str]]:
    """The rows of a table, the columns being two spaces or more apart."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in output.splitlines()]


def once_watched(sandbox: KubernetesSandbox, then: Callable[[], object]) -> None:
    """Do something as soon as a watch is open."""
    deadline = threading.Event()
    for _ in range(200):
        if any(call.verb == "watch" for call in sandbox.calls.calls()):
            then()
            return
        deadline.wait(0.05)
    pytest.fail("no watch was opened")
