"""What a pod's spec says about where the pod may run."""

from __future__ import annotations

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.selectors import requirement
from exoscaler.core.model import (
    Constraint,
    NodeSelectorTerm,
    TaintEffect,
    Toleration,
    TolerationOperator,
    Volume,
    VolumeKind,
)

_SIDECAR = "Always"
_EFFECTS = {effect.value: effect for effect in TaintEffect}
_OPERATORS = {operator.value: operator for operator in TolerationOperator}


def tolerations(spec: wire.PodSpec) -> tuple[Toleration, ...]:
    """What the pod tolerates. One with an operator or effect that is not known tolerates nothing that we know."""
    found = (_toleration(toleration) for toleration in spec.tolerations or ())
    return tuple(toleration for toleration in found if toleration is not None)


def _toleration(found: wire.Toleration) -> Toleration | None:
    operator = _OPERATORS.get(found.operator or TolerationOperator.EQUAL.value)
    effect = _EFFECTS.get(found.effect) if found.effect else None
    if operator is None or (found.effect and effect is None):
        return None
    return Toleration(found.key or "", operator, found.value or "", effect)


def node_affinity(spec: wire.PodSpec) -> tuple[NodeSelectorTerm, ...] | None:
    """The alternatives of the required node affinity; None when there is none (R206).

    Raises:
        ValueError: an operator is not known.
    """
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None or affinity.required is None:
        return None
    return tuple(
        NodeSelectorTerm(
            tuple(requirement(found) for found in term.match_expressions or ()),
            tuple(requirement(found) for found in term.match_fields or ()),
        )
        for term in affinity.required.node_selector_terms or ()
    )


def volumes(spec: wire.PodSpec) -> tuple[Volume, ...]:
    """The volumes that bear on moving or placing the pod.

    Config maps, secrets, tokens and images follow a pod anywhere and are left out: every pod has a token volume with a
    random name, which would make all specs different.
    """
    kinds = ((volume.name, _kind(volume)) for volume in spec.volumes or ())
    return tuple(Volume(name, kind) for name, kind in kinds if kind is not VolumeKind.PROJECTED)


def _kind(volume: wire.Volume) -> VolumeKind:
    if volume.empty_dir is not None:
        return VolumeKind.EMPTY_DIR_MEMORY if volume.empty_dir.medium == "Memory" else VolumeKind.EMPTY_DIR
    kinds = (
        (volume.host_path, VolumeKind.HOST_PATH),
        (volume.persistent_volume_claim, VolumeKind.CLAIM),
        (volume.ephemeral, VolumeKind.EPHEMERAL_CLAIM),
        (volume.config_map, VolumeKind.PROJECTED),
        (volume.secret, VolumeKind.PROJECTED),
        (volume.downward_api, VolumeKind.PROJECTED),
        (volume.projected, VolumeKind.PROJECTED),
        (volume.image, VolumeKind.PROJECTED),
    )
    return next((kind for source, kind in kinds if source is not None), VolumeKind.OTHER)


def unmodelled(spec: wire.PodSpec, kept: tuple[Volume, ...]) -> tuple[Constraint, ...]:
    """The constraints that the simulation does not know, in the enum's order; soft ones never count (R200)."""
    affinity = spec.affinity or wire.Affinity()
    present = {
        Constraint.POD_AFFINITY: _is_required(affinity.pod_affinity),
        Constraint.POD_ANTI_AFFINITY: _is_required(affinity.pod_anti_affinity),
        Constraint.TOPOLOGY_SPREAD: any(
            constraint.when_unsatisfiable != "ScheduleAnyway" for constraint in spec.topology_spread_constraints or ()
        ),
        Constraint.VOLUME: any(v.kind in (VolumeKind.CLAIM, VolumeKind.EPHEMERAL_CLAIM) for v in kept),
        Constraint.HOST_PORT: _has_host_port(spec),
        Constraint.RESOURCE_CLAIM: bool(spec.resource_claims),
    }
    return tuple(constraint for constraint, holds in present.items() if holds)


def _is_required(affinity: wire.PodAffinity | None) -> bool:
    return affinity is not None and bool(affinity.required)


def _has_host_port(spec: wire.PodSpec) -> bool:
    """Whether a container that keeps running asks for a port of the node (R207)."""
    lasting = (
        *(spec.containers or ()),
        *(container for container in spec.init_containers or () if container.restart_policy == _SIDECAR),
    )
    return any((port.host_port or 0) > 0 for container in lasting for port in container.ports or ())
