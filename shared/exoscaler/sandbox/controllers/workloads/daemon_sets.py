"""DaemonSets: one pod on every node that accepts it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.events import EventRecorder
from exoscaler.sandbox.controllers.pods import is_ready, is_terminal, is_terminating
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import DAEMON_SETS, NODES, PODS
from exoscaler.sandbox.controllers.selectors import matches_node, required_node_affinity
from exoscaler.sandbox.controllers.tolerations import untolerated
from exoscaler.sandbox.controllers.workloads.replicas import is_available, share
from exoscaler.sandbox.controllers.workloads.templates import new_pod, template_hash
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

REVISION_LABEL = "controller-revision-hash"
GENERATION_LABEL = "pod-template-generation"
GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"
_EVICTING = frozenset({"NoExecute"})


def _exists(taint: str, effect: str) -> JsonObject:
    return {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": effect}


STANDING_TOLERATIONS: tuple[JsonObject, ...] = (
    _exists("not-ready", "NoExecute"),
    _exists("unreachable", "NoExecute"),
    _exists("disk-pressure", "NoSchedule"),
    _exists("memory-pressure", "NoSchedule"),
    _exists("pid-pressure", "NoSchedule"),
    _exists("unschedulable", "NoSchedule"),
)
HOST_NETWORK_TOLERATION = _exists("network-unavailable", "NoSchedule")


@dataclass(slots=True)
class _Daemons:
    """One DaemonSet's pods, by the node each is meant for, and where they should be."""

    revision: str
    by_node: dict[str, list[JsonObject]]
    eligible: list[str] = field(default_factory=list)
    tolerable: set[str] = field(default_factory=set)
    """Nodes on which a pod that runs there may stay."""


class DaemonSets:
    """Creates a pod for every node, bound by the scheduler through an affinity for that node's name."""

    name = "daemon-sets"

    def __init__(self, client: ObjectClient, reader: Reader, clock: SandboxClock) -> None:
        self._writer = Writer(client)
        self._reader = reader
        self._clock = clock
        self._events = EventRecorder(client, clock, "daemonset-controller")

    def step(self) -> bool:
        """Bring every DaemonSet's pods and status up to date."""
        changed = False
        for owner in self._reader.all(DAEMON_SETS):
            daemons = _survey(owner, self._reader)
            if not owner["metadata"].get("deletionTimestamp"):
                changed = self._populate(owner, daemons) or changed
                changed = self._roll(owner, daemons) or changed
            changed = self._report(owner, daemons) or changed
        return changed

    def _populate(self, owner: JsonObject, daemons: _Daemons) -> bool:
        changed = False
        eligible = set(daemons.eligible)
        for name in daemons.eligible:
            if not daemons.by_node.get(name):
                changed = self._create(owner, daemons, name) or changed
        for name, pods in daemons.by_node.items():
            alive = [pod for pod in pods if not is_terminating(pod)]
            keep = [pod for pod in alive if not is_terminal(pod)]
            if name not in daemons.tolerable or (name not in eligible and not any(map(_is_bound, keep))):
                surplus = alive
            else:
                oldest = sorted(keep, key=lambda pod: (not _is_bound(pod), pod["metadata"]["creationTimestamp"]))
                surplus = [pod for pod in alive if pod not in oldest[:1]]
            changed = sum(self._delete(owner, pod) for pod in surplus) > 0 or changed
        return changed

    def _roll(self, owner: JsonObject, daemons: _Daemons) -> bool:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return False
        rolling = strategy.get("rollingUpdate") or {}
        eligible = daemons.eligible
        allowed = max(1, share(rolling.get("maxUnavailable"), len(eligible), default=1, round_up=True))
        pods = {name: daemons.by_node[name][0] for name in eligible if daemons.by_node.get(name)}
        healthy = {name for name, pod in pods.items() if is_ready(pod) and not is_terminating(pod)}
        outdated = [
            (name, pod)
            for name, pod in pods.items()
            if not is_terminating(pod) and _revision_of(pod) != daemons.revision
        ]
        room = allowed - (len(eligible) - len(healthy))
        changed = False
        for name, pod in outdated:
            if name in healthy:
                if room <= 0:
                    continue
                room -= 1
            changed = self._delete(owner, pod) or changed
        return changed

    def _create(self, owner: JsonObject, daemons: _Daemons, node: str) -> bool:
        annotations = owner["metadata"].get("annotations") or {}
        labels = {REVISION_LABEL: daemons.revision}
        if GENERATION_ANNOTATION in annotations:
            labels[GENERATION_LABEL] = annotations[GENERATION_ANNOTATION]
        pod = new_pod(DAEMON_SETS, owner, labels=labels)
        spec = pod["spec"]
        affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        only = {"key": "metadata.name", "operator": "In", "values": [node]}
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [only]}]}
        spec["tolerations"] = list(daemon_tolerations(spec))
        created = self._writer.create(PODS, pod)
        if created is None:
            return False
        text = f"Created pod: {created['metadata']['name']}"
        self._events.record(DAEMON_SETS, owner, "SuccessfulCreate", text)
        return True

    def _delete(self, owner: JsonObject, pod: JsonObject) -> bool:
        if not self._writer.delete(PODS, pod):
            return False
        text = f"Deleted pod: {pod['metadata']['name']}"
        self._events.record(DAEMON_SETS, owner, "SuccessfulDelete", text)
        return True

    def _report(self, owner: JsonObject, daemons: _Daemons) -> bool:
        eligible = set(daemons.eligible)
        alive = {
            name: [pod for pod in pods if not is_terminating(pod) and not is_terminal(pod)]
            for name, pods in daemons.by_node.items()
        }
        firsts = [alive[name][0] for name in daemons.eligible if alive.get(name)]
        needed = int(owner["spec"].get("minReadySeconds") or 0)
        available = sum(1 for pod in firsts if is_available(pod, needed, self._clock))
        status = {
            "desiredNumberScheduled": len(eligible),
            "currentNumberScheduled": len(firsts),
            "numberMisscheduled": sum(1 for name, pods in alive.items() if name not in eligible and pods),
            "numberReady": sum(1 for pod in firsts if is_ready(pod)),
            "numberAvailable": available,
            "numberUnavailable": len(eligible) - available,
            "updatedNumberScheduled": sum(1 for pod in firsts if _revision_of(pod) == daemons.revision),
            "observedGeneration": owner["metadata"].get("generation"),
        }
        return self._writer.status(DAEMON_SETS, owner, status)


def daemon_tolerations(spec: JsonObject) -> Sequence[JsonObject]:
    """The template's tolerations and those that every DaemonSet pod has."""
    own: list[JsonObject] = spec.get("tolerations") or []
    standing = [*STANDING_TOLERATIONS, HOST_NETWORK_TOLERATION] if spec.get("hostNetwork") else STANDING_TOLERATIONS
    return [*own, *(toleration for toleration in standing if toleration not in own)]


def _survey(owner: JsonObject, reader: Reader) -> _Daemons:
    by_node: dict[str, list[JsonObject]] = defaultdict(list)
    for pod in reader.children(PODS, owner):
        by_node[pod["spec"].get("nodeName") or _target(pod)].append(pod)
    spec = owner["spec"]["template"]["spec"]
    daemons = _Daemons(template_hash(owner["spec"]["template"]), dict(by_node))
    tolerations = daemon_tolerations(spec)
    for node in reader.all(NODES):
        if not matches_node(spec, node):
            continue
        name, taints = node["metadata"]["name"], (node.get("spec") or {}).get("taints") or ()
        if untolerated(taints, tolerations) is None:
            daemons.eligible.append(name)
        if untolerated(taints, tolerations, _EVICTING) is None:
            daemons.tolerable.add(name)
    return daemons


def _target(pod: JsonObject) -> str:
    """The node that an unbound pod is meant for."""
    required = required_node_affinity(pod["spec"]) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for entry in term.get("matchFields") or ():
            name: str = entry["values"][0]
            return name
    return ""


def _is_bound(pod: JsonObject) -> bool:
    return bool(pod["spec"].get("nodeName"))


def _revision_of(pod: JsonObject) -> str:
    text: str = (pod["metadata"].get("labels") or {}).get(REVISION_LABEL, "")
    return text
