"""The resources that the sandbox's API server knows: one table, from which discovery and routing follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

ResourceKey: TypeAlias = tuple[str, str]
"""API group with version, and plural: ``("apps/v1", "deployments")``."""

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API.

    `counts_generations`: the server keeps ``metadata.generation``. `demands_version`: an update without
    resourceVersion is refused. `updates_create`: an update of a missing object creates it. `returns_deleted`: a
    deletion answers with the object instead of a `Status`. `stored_as`: the resource whose objects these are, in
    another form.
    """

    group_version: str
    plural: str
    kind: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    subresources: frozenset[str] = frozenset()
    verbs: tuple[str, ...] = ALL_VERBS
    categories: tuple[str, ...] = ()
    counts_generations: bool = False
    demands_version: bool = False
    updates_create: bool = False
    returns_deleted: bool = False
    stored_as: ResourceKey | None = None

    @property
    def key(self) -> ResourceKey:
        """What the resource is found by."""
        return (self.group_version, self.plural)

    @property
    def group(self) -> str:
        """The API group, empty for the core."""
        return self.group_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version within the group."""
        return self.group_version.rpartition("/")[2]

    @property
    def qualified(self) -> str:
        """The name that messages use: ``deployments.apps``, ``pods``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """The name for one object on kubectl's command line."""
        return self.kind.lower()

    @property
    def list_kind(self) -> str:
        """The kind of a list of these objects."""
        return f"{self.kind}List"


_STATUS = frozenset({"status"})
_SCALED = frozenset({"status", "scale"})
_NO_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
_REVIEW = ("create",)


def _core() -> tuple[Resource, ...]:
    return (
        Resource("v1", "bindings", "Binding", verbs=_REVIEW),
        Resource("v1", "configmaps", "ConfigMap", ("cm",)),
        Resource("v1", "endpoints", "Endpoints", ("ep",), updates_create=True),
        Resource("v1", "events", "Event", ("ev",), updates_create=True),
        Resource("v1", "limitranges", "LimitRange", ("limits",), updates_create=True),
        Resource(
            "v1",
            "namespaces",
            "Namespace",
            ("ns",),
            namespaced=False,
            subresources=_STATUS | {"finalize"},
            verbs=_NO_COLLECTION,
            returns_deleted=True,
        ),
        Resource("v1", "nodes", "Node", ("no",), namespaced=False, subresources=_STATUS),
        Resource(
            "v1",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            ("pvc",),
            subresources=_STATUS,
            returns_deleted=True,
        ),
        Resource(
            "v1",
            "persistentvolumes",
            "PersistentVolume",
            ("pv",),
            namespaced=False,
            subresources=_STATUS,
            returns_deleted=True,
        ),
        Resource(
            "v1",
            "pods",
            "Pod",
            ("po",),
            subresources=_STATUS | {"binding", "eviction", "log"},
            categories=("all",),
            returns_deleted=True,
        ),
        Resource(
            "v1",
            "replicationcontrollers",
            "ReplicationController",
            ("rc",),
            subresources=_SCALED,
            categories=("all",),
            counts_generations=True,
        ),
        Resource("v1", "resourcequotas", "ResourceQuota", ("quota",), subresources=_STATUS, returns_deleted=True),
        Resource("v1", "secrets", "Secret"),
        Resource(
            "v1", "serviceaccounts", "ServiceAccount", ("sa",), subresources=frozenset({"token"}), returns_deleted=True
        ),
        Resource(
            "v1", "services", "Service", ("svc",), subresources=_STATUS, categories=("all",), returns_deleted=True
        ),
    )


def _workloads() -> tuple[Resource, ...]:
    return (
        Resource("apps/v1", "controllerrevisions", "ControllerRevision"),
        Resource(
            "apps/v1",
            "daemonsets",
            "DaemonSet",
            ("ds",),
            subresources=_STATUS,
            categories=("all",),
            counts_generations=True,
        ),
        Resource(
            "apps/v1",
            "deployments",
            "Deployment",
            ("deploy",),
            subresources=_SCALED,
            categories=("all",),
            counts_generations=True,
        ),
        Resource(
            "apps/v1",
            "replicasets",
            "ReplicaSet",
            ("rs",),
            subresources=_SCALED,
            categories=("all",),
            counts_generations=True,
        ),
        Resource(
            "apps/v1",
            "statefulsets",
            "StatefulSet",
            ("sts",),
            subresources=_SCALED,
            categories=("all",),
            counts_generations=True,
        ),
        Resource(
            "autoscaling/v2",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            ("hpa",),
            subresources=_STATUS,
            categories=("all",),
        ),
        Resource(
            "batch/v1",
            "cronjobs",
            "CronJob",
            ("cj",),
            subresources=_STATUS,
            categories=("all",),
            counts_generations=True,
        ),
        Resource("batch/v1", "jobs", "Job", subresources=_STATUS, categories=("all",), counts_generations=True),
    )


def _policies() -> tuple[Resource, ...]:
    rbac = "rbac.authorization.k8s.io/v1"
    reviews = "authorization.k8s.io/v1"
    return (
        Resource(reviews, "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=_REVIEW),
        Resource(reviews, "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False, verbs=_REVIEW),
        Resource("coordination.k8s.io/v1", "leases", "Lease", demands_version=True, updates_create=True),
        Resource("events.k8s.io/v1", "events", "Event", ("ev",), updates_create=True, stored_as=("v1", "events")),
        Resource(
            "policy/v1",
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            ("pdb",),
            subresources=_STATUS,
            counts_generations=True,
            demands_version=True,
        ),
        Resource(rbac, "clusterrolebindings", "ClusterRoleBinding", namespaced=False, updates_create=True),
        Resource(rbac, "clusterroles", "ClusterRole", namespaced=False, updates_create=True),
        Resource(rbac, "rolebindings", "RoleBinding", updates_create=True),
        Resource(rbac, "roles", "Role", updates_create=True),
        Resource("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", ("pc",), namespaced=False),
    )


def _storage() -> tuple[Resource, ...]:
    group = "storage.k8s.io/v1"
    return (
        Resource(group, "csidrivers", "CSIDriver", namespaced=False),
        Resource(group, "csinodes", "CSINode", namespaced=False),
        Resource(group, "csistoragecapacities", "CSIStorageCapacity"),
        Resource(group, "storageclasses", "StorageClass", ("sc",), namespaced=False),
        Resource(
            group,
            "volumeattachments",
            "VolumeAttachment",
            namespaced=False,
            subresources=_STATUS,
            demands_version=True,
        ),
    )


RESOURCES: dict[ResourceKey, Resource] = {
    resource.key: resource for resource in (*_core(), *_workloads(), *_policies(), *_storage())
}
"""Every resource, core first, then by group, as discovery lists them."""

PODS = RESOURCES[("v1", "pods")]
NODES = RESOURCES[("v1", "nodes")]
NAMESPACES = RESOURCES[("v1", "namespaces")]
EVENTS = RESOURCES[("v1", "events")]
BUDGETS = RESOURCES[("policy/v1", "poddisruptionbudgets")]
PRIORITY_CLASSES = RESOURCES[("scheduling.k8s.io/v1", "priorityclasses")]
SERVICE_ACCOUNTS = RESOURCES[("v1", "serviceaccounts")]


def find_resource(group_version: str, plural: str) -> Resource | None:
    """The resource of that group, version and plural, if the server knows it."""
    return RESOURCES.get((group_version, plural))
