"""Older versions of the stored state, brought up to the current one step by step.

To change what is stored: raise `documents.VERSION`, and add here a function that turns the documents of the version
before into those of the new one. A step sees all three documents, so that it can move a field from one to another. A
step is never changed once released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from exoscaler.core.state.documents import VERSION
from exoscaler.core.state.payload import UnreadableState

JsonObject: TypeAlias = dict[str, object]

Documents: TypeAlias = dict[str, JsonObject]
"""The three documents by name, as parsed JSON, their ``version`` included."""

Migration: TypeAlias = Callable[[Documents], Documents]
"""Turns documents of one version into those of the next; the version itself is set by `migrate`."""

MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})
"""By the version that a step starts from. There is one version so far, so there is no step."""


def migrate(documents: Documents, version: int, migrations: Mapping[int, Migration]) -> Documents:
    """Bring documents of an older version up to the current one.

    Raises:
        UnreadableState: no step leads on from a version, or a step did not find what it expects.
    """
    for start in range(version, VERSION):
        step = migrations.get(start)
        if step is None:
            raise UnreadableState(f"its version {version} is older than this release can migrate")
        try:
            documents = step(documents)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableState(f"the migration from version {start} failed: {error!r}") from error
        documents = {name: {**document, "version": start + 1} for name, document in documents.items()}
    return documents
