"""A pod that keeps data on its node would lose them (R131-11)."""

from __future__ import annotations

from exoscaler.core.model import Pod, VolumeKind
from exoscaler.core.model.pods import SAFE_TO_EVICT_LOCAL_VOLUMES
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block

_LOCAL = frozenset({VolumeKind.EMPTY_DIR, VolumeKind.HOST_PATH})


def local_storage(pod: Pod, context: DrainContext) -> Verdict | None:
    """Block on hostPath and emptyDir volumes, memory-backed ones and those named in the annotation aside.

    The annotation is a list with commas and without spaces, as upstream reads it.
    """
    if not context.policy.skip_nodes_with_local_storage:
        return None
    named = pod.annotations.get(SAFE_TO_EVICT_LOCAL_VOLUMES, "").split(",")
    held = any(volume.kind in _LOCAL and volume.name not in named for volume in pod.spec.volumes)
    return block(BlockingPod.LOCAL_STORAGE) if held else None
