"""The Node object as a kubelet registers it, and what it reports of itself."""

from __future__ import annotations

from exoscaler.sandbox.machines.timings import FleetTimings
from exoscaler.sandbox.machines.view import Machine
from exoscaler.sandbox.objects import JsonObject

PROVIDER_PREFIX = "exoscale://"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
NOT_READY = "node.kubernetes.io/not-ready"
NODEPOOL_LABEL = "node.exoscale.net/nodepool-id"
GPU = "nvidia.com/gpu"
KUBELET_VERSION = "v1.36.2"

_MIB, _GIB = 2**20, 2**30
RESERVED_MILLI_CPU = 300
RESERVED_MEMORY = 400 * _MIB
EVICTION_MEMORY = 100 * _MIB
RESERVED_DISK = 4 * _GIB

_CALM = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_NETWORK_MISSING = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)


def node_name(machine: Machine) -> str:
    """The name under which the machine's kubelet registers."""
    return machine.name.lower()


def provider_id(machine: Machine) -> str:
    """What the cloud controller writes into ``spec.providerID``."""
    return PROVIDER_PREFIX + machine.id


def instance_id(node: JsonObject) -> str:
    """The instance behind a node: by its provider ID, or by its system UUID while that is empty."""
    provider: str = (node.get("spec") or {}).get("providerID") or ""
    if provider:
        return provider.removeprefix(PROVIDER_PREFIX) if provider.startswith(PROVIDER_PREFIX) else ""
    uuid: str = ((node.get("status") or {}).get("nodeInfo") or {}).get("systemUUID") or ""
    return uuid.lower()


def registration(machine: Machine, now: str) -> JsonObject:
    """The node as it is created: not ready, unknown to the cloud controller, with the pool's labels and taints."""
    name = node_name(machine)
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        **machine.labels,
    }
    if machine.nodepool_id:
        labels[NODEPOOL_LABEL] = machine.nodepool_id
    own = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in machine.taints]
    taints = [
        *own,
        {"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"},
        # As the API server adds it to every new node, so that no pod slips in before the node is judged.
        {"key": NOT_READY, "effect": "NoSchedule"},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {
            **resources(machine, with_devices=False),
            "conditions": conditions(now, is_ready=False),
            "addresses": _addresses(machine),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _system_info(machine),
        },
    }


def resources(machine: Machine, *, with_devices: bool) -> JsonObject:
    """Capacity, and allocatable: capacity less the flat reservations of SKS and the kubelet's eviction threshold."""
    disk = machine.disk_gib * _GIB
    pods = str(machine.max_pods)
    capacity = {
        "cpu": str(machine.cpus),
        "memory": _kibi(machine.memory_bytes),
        "ephemeral-storage": _kibi(disk),
        "pods": pods,
    }
    allocatable = {
        "cpu": f"{machine.cpus * 1000 - RESERVED_MILLI_CPU}m",
        "memory": _kibi(max(0, machine.memory_bytes - RESERVED_MEMORY - EVICTION_MEMORY)),
        "ephemeral-storage": str(max(0, disk - RESERVED_DISK)),
        "pods": pods,
    }
    if machine.gpus and with_devices:
        capacity[GPU] = allocatable[GPU] = str(machine.gpus)
    return {"capacity": capacity, "allocatable": allocatable}


def conditions(now: str, *, is_ready: bool, before: JsonObject | None = None) -> list[JsonObject]:
    """The kubelet's four conditions; `before` is the node they replace, for the times of their last transitions."""
    reported = [(kind, "False", reason, f"{message}") for kind, reason, message in _CALM]
    if is_ready:
        reported.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    else:
        reported.append(("Ready", "False", "KubeletNotReady", _NETWORK_MISSING))
    known = {entry["type"]: entry for entry in ((before or {}).get("status") or {}).get("conditions") or ()}
    result = []
    for kind, status, reason, message in reported:
        old = known.pop(kind, None)
        since = old["lastTransitionTime"] if old and old["status"] == status else now
        entry = {"type": kind, "status": status, "reason": reason, "message": message}
        result.append({**entry, "lastHeartbeatTime": now, "lastTransitionTime": since})
    return [*known.values(), *result]


def first_ready_after(timings: FleetTimings, node: JsonObject) -> float:
    """How long a kubelet that finds this node registered takes to be ready: a node that was ready is so at once."""
    for entry in (node.get("status") or {}).get("conditions") or ():
        if entry["type"] == "Ready" and entry["status"] != "False":
            return 0.0
    return timings.ready


def _addresses(machine: Machine) -> list[JsonObject]:
    found = [{"type": "Hostname", "address": node_name(machine)}]
    if machine.address:
        found += [{"type": kind, "address": machine.address} for kind in ("ExternalIP", "InternalIP")]
    return found


def _system_info(machine: Machine) -> JsonObject:
    return {
        "architecture": "amd64",
        "bootID": machine.id,
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.8.0-64-generic",
        "kubeProxyVersion": "",
        "kubeletVersion": KUBELET_VERSION,
        "machineID": machine.id.replace("-", ""),
        "operatingSystem": "linux",
        "osImage": "Ubuntu 24.04.2 LTS",
        "systemUUID": machine.id,
    }


def _kibi(amount: int) -> str:
    return f"{amount // 1024}Ki"
