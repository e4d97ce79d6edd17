"""What the status function shows, and that it does nothing else."""

from __future__ import annotations

import httpx
import pytest

from exoscaler.sandbox.world import SandboxWorld
from tests.functions.serving import ServedFunction

pytestmark = pytest.mark.xdist_group("functions")


def test_liveness_does_not_depend_on_the_cluster(status: ServedFunction, world: SandboxWorld) -> None:
    assert world.cluster is not None
    before = sum(world.cluster.calls.counts().values())

    assert status.get("healthz").status_code == 200
    assert sum(world.cluster.calls.counts().values()) == before


def test_readiness_follows_the_evaluations(status: ServedFunction, evaluate: ServedFunction) -> None:
    evaluate.post()

    assert (status.get("readyz").status_code, status.get("readyz").text) == (200, "ok\n")


def test_report_shows_groups_with_their_bounds(status: ServedFunction, evaluate: ServedFunction) -> None:
    evaluate.post()
    groups = {group["name"]: group for group in status.get("status.json").json()["nodeGroups"]}

    assert set(groups) == {"general", "compute", "batch"}
    assert groups["batch"]["kind"] == "instance-pool"
    assert groups["general"]["minSize"] == 1
    assert groups["general"]["maxSize"] == 20  # the account's quota


def test_metrics_are_in_the_format_of_scrapers(status: ServedFunction, evaluate: ServedFunction) -> None:
    evaluate.post()
    answer = status.get("metrics")

    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "cluster_autoscaler_cluster_safe_to_autoscale 1.0" in answer.text
    assert "exoscaler_evaluations_total" in answer.text


def test_page_is_whole_and_locked_down(status: ServedFunction) -> None:
    answer = status.get()

    assert answer.status_code == 200
    assert "Node groups" in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent_to_it(status: ServedFunction, method: str) -> None:
    assert httpx.request(method, status.url, timeout=30).status_code == 405


def test_unknown_path_is_not_found_and_not_repeated(status: ServedFunction) -> None:
    answer = status.get("<script>marker</script>")

    assert answer.status_code == 404
    assert "marker" not in answer.text
