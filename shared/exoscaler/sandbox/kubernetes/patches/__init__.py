"""The patch formats of the API.

Server-side apply (``application/apply-patch+yaml``) is a strategic merge here: it creates what is missing and merges
what exists, keyed lists included. It keeps no record of who owns which field, so it never conflicts, and a field that
an applied configuration no longer mentions stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, cast

from exoscaler.sandbox.kubernetes.failures import bad_request, unsupported_media_type
from exoscaler.sandbox.kubernetes.patches.json_patch import apply_json_patch
from exoscaler.sandbox.kubernetes.patches.merge import apply_merge_patch
from exoscaler.sandbox.kubernetes.patches.strategic import apply_strategic_patch
from exoscaler.sandbox.objects import JsonObject

__all__ = ["APPLY", "JSON_PATCH", "MERGE", "PATCH_FORMATS", "STRATEGIC", "apply_merge_patch", "edit_of"]

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
PATCH_FORMATS = (JSON_PATCH, MERGE, STRATEGIC, APPLY)

Edit: TypeAlias = Callable[[JsonObject], JsonObject]


def edit_of(media_type: str, patch: object, kind: str) -> Edit:
    """What the patch does to an object of that kind.

    Raises:
        ApiFailure: 400 the patch is not what its format demands, 415 the format is unknown.
    """
    if media_type not in PATCH_FORMATS:
        raise unsupported_media_type(media_type, PATCH_FORMATS)
    if media_type == JSON_PATCH:
        if not isinstance(patch, list):
            raise bad_request("a JSON patch is a list of operations")
        return partial(apply_json_patch, operations=cast("list[JsonObject]", patch))
    if not isinstance(patch, dict):
        raise bad_request("the patch must be an object")
    if media_type == MERGE:
        return partial(apply_merge_patch, patch=patch)
    return partial(apply_strategic_patch, patch=patch, kind=kind)
