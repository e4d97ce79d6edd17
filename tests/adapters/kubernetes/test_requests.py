"""What a pod asks for (R201), against a slow reference that follows the rule's words on exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.amounts import effective_requests, resources
from exoscaler.core.model import Resources
from tests.builders import resources as amount

JsonObject = dict[str, Any]

# Whole milli-CPU and whole bytes, spelt in various ways: nothing is rounded, so the reference need not know where.
_MEMORY = st.sampled_from(["0", "1", "128974848", "64Mi", "1Gi", "100M", "0.5Gi", "1e6", "2k"])
_PIECES = st.sampled_from(["0", "1", "2", "4"])
_RESOURCES = {
    "cpu": st.sampled_from(["0", "1m", "100m", "250m", "0.5", "1", "2", "1500m", "3e0"]),
    "memory": _MEMORY,
    "ephemeral-storage": _MEMORY,
    "hugepages-2Mi": _MEMORY,
    "nvidia.com/gpu": _PIECES,
}
_amounts = st.fixed_dictionaries({}, optional=_RESOURCES)


@st.composite
def _containers(draw: st.DrawFn, prefix: str) -> list[JsonObject]:
    found: list[JsonObject] = []
    for index in range(draw(st.integers(0, 3))):
        container: JsonObject = {"name": f"{prefix}{index}", "resources": {"requests": draw(_amounts)}}
        if prefix == "init" and draw(st.booleans()):
            container["restartPolicy"] = "Always"
        found.append(container)
    return found


@st.composite
def pods(draw: st.DrawFn) -> JsonObject:
    containers, inits = draw(_containers("app")), draw(_containers("init"))
    spec: JsonObject = {"containers": containers, "initContainers": inits}
    status: JsonObject = {"phase": "Running", "conditions": []}
    if draw(st.booleans()):
        spec["overhead"] = draw(_amounts)
    if draw(st.booleans()):
        spec["resources"] = {"requests": draw(_amounts)}
        if draw(st.booleans()):
            status["resources"] = {"requests": draw(_amounts)}
            status["allocatedResources"] = draw(_amounts)
    for key, found in (("containerStatuses", containers), ("initContainerStatuses", inits)):
        status[key] = [_status(draw, container["name"]) for container in found if draw(st.booleans())]
    if draw(st.booleans()):
        reason = draw(st.sampled_from(["Infeasible", "Deferred"]))
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return {"metadata": {"name": "p"}, "spec": spec, "status": status}


def _status(draw: st.DrawFn, name: str) -> JsonObject:
    found: JsonObject = {"name": name}
    if draw(st.booleans()):
        found["resources"] = {"requests": draw(_amounts)}
    if draw(st.booleans()):
        found["allocatedResources"] = draw(_amounts)
    return found


_UNITS: dict[str, int | Fraction] = {"": 1, "m": Fraction(1, 1000), "k": 1000, "M": 10**6, "Mi": 2**20, "Gi": 2**30}
Amounts = dict[str, Fraction]


def exact(found: JsonObject | None) -> Amounts:
    amounts: Amounts = {}
    for name, text in (found or {}).items():
        digits = text.rstrip("kMGim")
        amounts[name] = Fraction(digits) * _UNITS[text[len(digits) :]]
    return amounts


def plus(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, Fraction(0)) + other.get(name, Fraction(0)) for name in {*one, *other}}


def largest(*found: Amounts) -> Amounts:
    return {name: max(a.get(name, Fraction(0)) for a in found) for name in {name for a in found for name in a}}


def reference(pod: JsonObject) -> Amounts:
    """R201, word by word."""
    spec, status = pod["spec"], pod["status"]
    statuses = {s["name"]: s for s in [*status["containerStatuses"], *status["initContainerStatuses"]]}
    infeasible = any(c["type"] == "PodResizePending" and c["reason"] == "Infeasible" for c in status["conditions"])

    def counted(container: JsonObject) -> Amounts:
        wanted = exact(container["resources"]["requests"])
        report = statuses.get(container["name"], {})
        if "resources" not in report:
            return wanted
        actuated, allocated = exact(report["resources"]["requests"]), exact(report.get("allocatedResources"))
        return largest(actuated, allocated) if infeasible else largest(wanted, actuated, allocated)

    total: Amounts = {}
    for container in spec["containers"]:
        total = plus(total, counted(container))
    sidecars_so_far: Amounts = {}
    phases: list[Amounts] = []
    for container in spec["initContainers"]:
        if container.get("restartPolicy") == "Always":
            total = plus(total, counted(container))
            sidecars_so_far = plus(sidecars_so_far, counted(container))
            phases.append(sidecars_so_far)
        else:
            phases.append(plus(counted(container), sidecars_so_far))
    total = largest(total, *phases)
    whole = (spec.get("resources") or {}).get("requests", {})
    for name, wanted in exact(whole).items():
        if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
            continue
        total[name] = wanted
        if "resources" in status:
            held = [exact(status["resources"]["requests"]), exact(status["allocatedResources"])]
            held_amount = max(amounts.get(name, Fraction(0)) for amounts in held)
            total[name] = held_amount if infeasible else max(wanted, held_amount)
    return plus(total, exact(spec.get("overhead")))


def requests_of(pod: JsonObject) -> Resources:
    decoded = msgspec.convert(pod, wire.Pod)
    return effective_requests(decoded.spec or wire.PodSpec(), decoded.status or wire.PodStatus())


def as_integers(amounts: Amounts) -> dict[str, int]:
    counted = {name: math.ceil(value * 1000 if name == "cpu" else value) for name, value in amounts.items()}
    return {name: value for name, value in counted.items() if value}


@given(pods())
@settings(max_examples=300, deadline=None)
def test_requests_are_those_of_the_rule(pod: JsonObject) -> None:
    # R201
    assert {name: value for name, value in requests_of(pod).items() if value} == as_integers(reference(pod))


def pod_of(spec: JsonObject, status: JsonObject | None = None) -> JsonObject:
    return {"metadata": {"name": "p"}, "spec": spec, "status": status or {}}


def container(name: str, cpu: str, **more: Any) -> JsonObject:
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("claim", "spec", "cpu"),
    [
        ("containers add up", {"containers": [container("a", "1"), container("b", "500m")]}, 1500),
        (
            "largest init container counts",
            {"containers": [container("a", "1")], "initContainers": [container("i", "3")]},
            3000,
        ),
        (
            "sidecar runs beside the containers",
            {"containers": [container("a", "1")], "initContainers": [container("s", "1", restartPolicy="Always")]},
            2000,
        ),
        (
            "init container runs beside the sidecars before it",
            {
                "containers": [container("a", "1")],
                "initContainers": [container("s", "1", restartPolicy="Always"), container("i", "3")],
            },
            4000,
        ),
        (
            "init container does not run beside the sidecars after it",
            {
                "containers": [container("a", "1")],
                "initContainers": [container("i", "3"), container("s", "1", restartPolicy="Always")],
            },
            3000,
        ),
        (
            "requests of the whole pod replace the sum",
            {"containers": [container("a", "1")], "resources": {"requests": {"cpu": "500m"}}},
            500,
        ),
        ("overhead is added", {"containers": [container("a", "1")], "overhead": {"cpu": "250m"}}, 1250),
        ("limits do not matter", {"containers": [{"name": "a", "resources": {"limits": {"cpu": "4"}}}]}, 0),
        ("fractions of a milli are rounded up", {"containers": [container("a", "0.1m")]}, 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_cpu_requests_by_example(claim: str, spec: JsonObject, cpu: int) -> None:
    # R201, R213
    assert requests_of(pod_of(spec)) == amount(cpu=f"{cpu}m"), claim


def test_pod_level_requests_leave_other_resources_to_the_containers() -> None:
    # R201
    asked = {"cpu": "1", "ephemeral-storage": "1Gi", "nvidia.com/gpu": "1"}
    whole = {"cpu": "2", "ephemeral-storage": "9Gi", "nvidia.com/gpu": "9"}
    spec = {"containers": [{"name": "a", "resources": {"requests": asked}}], "resources": {"requests": whole}}
    assert requests_of(pod_of(spec)) == amount(cpu="2", storage="1Gi", nvidia_com__gpu=1)


def test_resize_under_way_counts_the_larger_amount() -> None:
    # R201
    status = {
        "containerStatuses": [
            {"name": "a", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "1500m"}}
        ]
    }
    assert requests_of(pod_of({"containers": [container("a", "1")]}, status)) == amount(cpu="2")
    assert requests_of(pod_of({"containers": [container("a", "3")]}, status)) == amount(cpu="3")


def test_resize_that_can_never_be_counts_what_the_pod_holds() -> None:
    # R201
    status = {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}],
    }
    assert requests_of(pod_of({"containers": [container("a", "64")]}, status)) == amount(cpu="2")


def test_amount_that_is_a_bare_number_is_a_quantity() -> None:
    assert resources({"cpu": 1, "memory": 1024, "example.com/x": 2}) == amount(cpu="1", memory="1Ki", example_com__x=2)
    assert resources({"cpu": 0.5}) == amount(cpu="500m")


@pytest.mark.parametrize("text", ["", "1x", "1 Gi", "NaN", "1e999", "٣", "0x10", "--1"])
def test_amount_that_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        resources({"memory": text})
