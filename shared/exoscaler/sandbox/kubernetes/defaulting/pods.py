"""Defaults of pods and pod templates."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import entries, section
from exoscaler.sandbox.objects import JsonObject

_READABLE_BY_ALL = 0o644
_WITH_MODE = ("secret", "configMap", "downwardAPI", "projected")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SPEC: JsonObject = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}


def default_pod(pod: JsonObject) -> None:
    """Fill in a pod: the defaults of its spec, and requests for what has only a limit."""
    spec = pod.setdefault("spec", {})
    spec.setdefault("enableServiceLinks", True)
    default_pod_spec(spec)
    for container in _containers(spec):
        limits = section(section(container, "resources"), "limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for name, value in limits.items():
                requests.setdefault(name, value)


def default_template(owner: JsonObject) -> None:
    """Fill in the pod template in a workload's spec, if it has one."""
    template = section(owner, "template")
    if isinstance(template.get("spec"), dict):
        default_pod_spec(template["spec"])
        template.setdefault("metadata", {})


def default_pod_spec(spec: JsonObject) -> None:
    """Fill in what a pod and a template have in common."""
    for name, value in _SPEC.items():
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in entries(spec, "volumes"):
        _default_volume(volume)
    for container in _containers(spec):
        _default_container(container, host_network=bool(spec.get("hostNetwork")))


def _containers(spec: JsonObject) -> list[JsonObject]:
    return [*entries(spec, "initContainers"), *entries(spec, "containers")]


def _default_container(container: JsonObject, *, host_network: bool) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(str(container.get("image", ""))))
    for port in entries(container, "ports"):
        port.setdefault("protocol", "TCP")
        if host_network:
            port.setdefault("hostPort", port.get("containerPort"))
    for variable in entries(container, "env"):
        field = section(section(variable, "valueFrom"), "fieldRef")
        if field:
            field.setdefault("apiVersion", "v1")
    for name in _PROBES:
        _default_probe(section(container, name))


def _pull_policy(image: str) -> str:
    name = image.rpartition("/")[2]
    if "@" in name:
        return "IfNotPresent"
    tag = name.partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _default_probe(probe: JsonObject) -> None:
    if not probe:
        return
    for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        probe.setdefault(name, value)
    request = section(probe, "httpGet")
    if request:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


def _default_volume(volume: JsonObject) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    for kind in _WITH_MODE:
        if isinstance(volume.get(kind), dict):
            volume[kind].setdefault("defaultMode", _READABLE_BY_ALL)
    for source in entries(section(volume, "projected"), "sources"):
        token = section(source, "serviceAccountToken")
        if token:
            token.setdefault("expirationSeconds", 3600)
    if isinstance(volume.get("hostPath"), dict):
        volume["hostPath"].setdefault("type", "")
