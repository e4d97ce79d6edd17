"""Which pods are alike: what fits one fits the other, whoever owns them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from exoscaler.core.model import Pod, VolumeKind

Likeness: TypeAlias = Hashable
"""Equal for pods that every constraint treats alike."""


def likeness(pod: Pod) -> Likeness:
    """What placing the pod depends on: its namespace, its labels and the part of its spec that a scheduler reads.

    Projected volumes are left out, for the one with the service account's token has another name in every pod (R50).
    So are scheduler name, restart policy and grace period, which no constraint looks at, and the owner: pods of two
    ReplicaSets that ask for the same are one kind. The priority is part of it, so that pods of one kind rank alike.
    """
    spec = pod.spec
    volumes = tuple(v for v in spec.volumes if v.kind is not VolumeKind.PROJECTED) if spec.volumes else ()
    return (
        pod.namespace,
        pod.labels,
        spec.requests,
        spec.node_selector,
        spec.node_affinity,
        spec.tolerations,
        volumes,
        spec.priority,
        spec.unmodelled,
    )
