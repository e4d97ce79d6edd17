"""How strategic merge patches treat the fields of each type: which lists merge, and by which key.

Lists that are not named here are replaced whole; among them are tolerations and the taints of a node, so a patch of
taints carries all of them (and a resourceVersion, if it must not undo someone else's).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a type.

    `type` names the type of the object, or of the list's items. `key` is the merge key of a list of objects;
    `merges_values` marks a list of scalars that merges as a set; `replaces` marks an object that is replaced whole.
    """

    type: str = ""
    key: str = ""
    merges_values: bool = False
    replaces: bool = False


Fields: TypeAlias = dict[str, Field]

_UNKNOWN = Field()


def _conditions(key: str = "type") -> Fields:
    return {"conditions": Field(key=key)}


_OBJECT: Fields = {"metadata": Field("ObjectMeta")}
_TEMPLATED: Fields = {"template": Field("PodTemplate")}
_CONTAINER_LIST = Field("Container", key="name")

TYPES: dict[str, Fields] = {
    "ObjectMeta": {"finalizers": Field(merges_values=True), "ownerReferences": Field(key="uid")},
    "PodTemplate": {**_OBJECT, "spec": Field("PodSpec")},
    "PodSpec": {
        "containers": _CONTAINER_LIST,
        "initContainers": _CONTAINER_LIST,
        "ephemeralContainers": _CONTAINER_LIST,
        "volumes": Field("Volume", key="name"),
        "imagePullSecrets": Field(key="name"),
        "hostAliases": Field(key="ip"),
        "topologySpreadConstraints": Field(key="topologyKey"),
        "schedulingGates": Field(key="name"),
        "resourceClaims": Field(key="name"),
    },
    "Volume": {"projected": Field("Projected")},
    "Container": {
        "ports": Field(key="containerPort"),
        "env": Field(key="name"),
        "volumeMounts": Field(key="mountPath"),
        "volumeDevices": Field(key="devicePath"),
    },
    "PodStatus": {
        **_conditions(),
        "podIPs": Field(key="ip"),
        "hostIPs": Field(key="ip"),
        "resourceClaimStatuses": Field(key="name"),
    },
    "NodeSpec": {"podCIDRs": Field(merges_values=True)},
    "NodeStatus": {**_conditions(), "addresses": Field(key="type")},
    "ServiceSpec": {"ports": Field(key="port")},
    "ConditionStatus": _conditions(),
    "TemplatedSpec": _TEMPLATED,
    "CronJobSpec": {"jobTemplate": Field("JobTemplate")},
    "JobTemplate": {**_OBJECT, "spec": Field("TemplatedSpec")},
    "BudgetSpec": {"selector": Field(replaces=True)},
    "CSINodeSpec": {"drivers": Field(key="name")},
    "Pod": {**_OBJECT, "spec": Field("PodSpec"), "status": Field("PodStatus")},
    "Node": {**_OBJECT, "spec": Field("NodeSpec"), "status": Field("NodeStatus")},
    "Service": {**_OBJECT, "spec": Field("ServiceSpec"), "status": Field("ConditionStatus")},
    "ServiceAccount": {**_OBJECT, "secrets": Field(key="name"), "imagePullSecrets": Field()},
    "CronJob": {**_OBJECT, "spec": Field("CronJobSpec")},
    "PodDisruptionBudget": {**_OBJECT, "spec": Field("BudgetSpec"), "status": Field("ConditionStatus")},
    "CSINode": {**_OBJECT, "spec": Field("CSINodeSpec")},
}
for _kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "ReplicationController", "Job"):
    TYPES[_kind] = {**_OBJECT, "spec": Field("TemplatedSpec"), "status": Field("ConditionStatus")}
for _kind in ("Namespace", "PersistentVolumeClaim", "HorizontalPodAutoscaler"):
    TYPES[_kind] = {**_OBJECT, "status": Field("ConditionStatus")}


def field_of(type_name: str, name: str) -> Field:
    """How the field of that type merges; an unknown one as RFC 7396 says."""
    fields = TYPES.get(type_name)
    if fields is None:
        return TYPES["Pod"]["metadata"] if name == "metadata" and type_name else _UNKNOWN
    return fields.get(name, _UNKNOWN)
