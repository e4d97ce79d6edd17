"""The cluster as the scheduler holds it for one round: nodes with what is placed on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from exoscaler.sandbox.controllers.pods import is_terminal, is_terminating
from exoscaler.sandbox.controllers.scheduling.demand import HostPort, host_ports, requests
from exoscaler.sandbox.controllers.scheduling.quantities import amounts
from exoscaler.sandbox.objects import JsonObject

UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class Candidate:
    """A pod with the parts of it that scheduling looks at, each worked out once."""

    def __init__(self, pod: JsonObject) -> None:
        self.pod = pod
        self.spec: JsonObject = pod["spec"]
        self.namespace: str = pod["metadata"]["namespace"]
        self.labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
        self.terminating = is_terminating(pod)

    @cached_property
    def requests(self) -> dict[str, int]:
        """CPU in thousandths, memory in bytes, others in units."""
        return requests(self.spec)

    @cached_property
    def ports(self) -> tuple[HostPort, ...]:
        """Host ports."""
        return host_ports(self.spec)

    @cached_property
    def tolerations(self) -> Sequence[JsonObject]:
        """The pod's tolerations."""
        found: Sequence[JsonObject] = self.spec.get("tolerations") or ()
        return found

    def pod_terms(self, kind: str) -> Sequence[JsonObject]:
        """The required terms of ``podAffinity`` or ``podAntiAffinity``."""
        affinity: JsonObject | None = self.spec.get("affinity")
        if not affinity:
            return ()
        found: Sequence[JsonObject] | None = (affinity.get(kind) or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        return found or ()

    @cached_property
    def affinity_terms(self) -> Sequence[JsonObject]:
        """Required terms that attract the pod to others."""
        return self.pod_terms("podAffinity")

    @cached_property
    def anti_affinity_terms(self) -> Sequence[JsonObject]:
        """Required terms that keep the pod from others, and others from it."""
        return self.pod_terms("podAntiAffinity")


@dataclass(slots=True)
class Slot:
    """A node and what is placed on it."""

    node: JsonObject
    name: str
    labels: Mapping[str, str]
    taints: Sequence[JsonObject]
    unschedulable: bool
    allocatable: dict[str, int]
    used: dict[str, int] = field(default_factory=dict)
    ports: list[HostPort] = field(default_factory=list)
    placed: list[Candidate] = field(default_factory=list)

    @classmethod
    def of(cls, node: JsonObject) -> Slot:
        """An empty slot for a node."""
        metadata, spec = node["metadata"], node.get("spec") or {}
        return cls(
            node=node,
            name=metadata["name"],
            labels=metadata.get("labels") or {},
            taints=spec.get("taints") or (),
            unschedulable=bool(spec.get("unschedulable")),
            allocatable=amounts((node.get("status") or {}).get("allocatable")),
        )

    def place(self, candidate: Candidate) -> None:
        """Count a pod as placed here."""
        self.placed.append(candidate)
        for name, value in candidate.requests.items():
            self.used[name] = self.used.get(name, 0) + value
        self.ports.extend(candidate.ports)


class Board:
    """All slots, and the namespaces' labels that selectors ask for."""

    def __init__(
        self, nodes: Iterable[JsonObject], pods: Iterable[JsonObject], namespaces: Iterable[JsonObject] = ()
    ) -> None:
        self.slots = [Slot.of(node) for node in nodes]
        self.namespaces: dict[str, Mapping[str, str]] = {
            item["metadata"]["name"]: item["metadata"].get("labels") or {} for item in namespaces
        }
        self.repelling: list[tuple[Slot, Candidate]] = []
        """Placed pods with required anti-affinity terms: they keep newcomers away."""
        by_name = {slot.name: slot for slot in self.slots}
        for pod in pods:
            slot = by_name.get(pod["spec"].get("nodeName") or "")
            if slot is not None and not is_terminal(pod):
                self.place(slot, Candidate(pod))

    def place(self, slot: Slot, candidate: Candidate) -> None:
        """Count a pod as placed on a node."""
        slot.place(candidate)
        if candidate.anti_affinity_terms:
            self.repelling.append((slot, candidate))
