"""Versioned objects in memory: what etcd is to an API server.

One counter gives every write its version. Objects in here are never modified after they were written, so readers may
keep them without a copy as long as they do not modify them either.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from exoscaler.sandbox.kubernetes.history import Change, ChangeKind, ChangeLog, ObjectKey
from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.resources import RESOURCES, ResourceKey
from exoscaler.sandbox.objects import JsonObject

DEFAULT_HISTORY = 20_000
"""Changes that are kept of each resource."""

KEPT_VIEWS = 8
_AFTER_EVERY_NAME = "\uffff"


@dataclass(frozen=True, slots=True)
class View:
    """The objects of one resource at one version, with their keys in list order."""

    version: int
    keys: list[ObjectKey]
    objects: dict[ObjectKey, JsonObject]

    def span(self, namespace: str, after: ObjectKey | None = None) -> tuple[int, int]:
        """The range of `keys` in the namespace (all when empty), from behind the key `after`."""
        low, high = 0, len(self.keys)
        if namespace:
            low = bisect_left(self.keys, (namespace, ""))
            high = bisect_left(self.keys, (namespace, _AFTER_EVERY_NAME))
        if after is not None:
            low = max(low, bisect_left(self.keys, (after[0], f"{after[1]}\0")))
        return low, max(low, high)


@dataclass(slots=True)
class _Collection:
    log: ChangeLog
    objects: dict[ObjectKey, JsonObject] = field(default_factory=dict)
    sorted_keys: list[ObjectKey] | None = None


class Storage:
    """Objects by resource and key. Hold `lock` around a read that a write depends on."""

    def __init__(self, history: int = DEFAULT_HISTORY) -> None:
        self.lock = threading.RLock()
        self._version = 1
        self._collections = {key: _Collection(ChangeLog(history)) for key in RESOURCES}
        self._views: OrderedDict[tuple[ResourceKey, int], View] = OrderedDict()
        self._listeners: list[Callable[[Change], None]] = []
        self._living: Counter[str] = Counter()

    @property
    def version(self) -> int:
        """The version of the latest write."""
        return self._version

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` after every write, in order, under the lock: it must be quick and not write.

        Returns:
            What ends the subscription.
        """
        with self.lock:
            self._listeners = [*self._listeners, listener]

        def unsubscribe() -> None:
            with self.lock:
                self._listeners = [known for known in self._listeners if known is not listener]

        return unsubscribe

    def read(self, resource: ResourceKey, key: ObjectKey) -> JsonObject | None:
        """The current object; not to be modified."""
        with self.lock:
            return self._collections[resource].objects.get(key)

    def write(self, resource: ResourceKey, key: ObjectKey, obj: JsonObject) -> JsonObject:
        """Store an object under the next version, which is set in it; it belongs to the storage from then on."""
        with self.lock:
            collection = self._collections[resource]
            before = collection.objects.get(key)
            self._version += 1
            metadata(obj)["resourceVersion"] = str(self._version)
            collection.objects[key] = obj
            if before is None:
                collection.sorted_keys = None
                self._living[key[0]] += 1
            kind = ChangeKind.ADDED if before is None else ChangeKind.MODIFIED
            self._record(Change(self._version, kind, resource, key, before, obj))
            return obj

    def remove(self, resource: ResourceKey, key: ObjectKey) -> JsonObject:
        """Remove an object that exists; returns its last state, at the version of the removal."""
        with self.lock:
            collection = self._collections[resource]
            before = collection.objects.pop(key)
            collection.sorted_keys = None
            self._living[key[0]] -= 1
            self._version += 1
            last = {**before, "metadata": {**before["metadata"], "resourceVersion": str(self._version)}}
            self._record(Change(self._version, ChangeKind.DELETED, resource, key, before, last))
            return last

    def count_in(self, namespace: str) -> int:
        """How many objects live in a namespace."""
        with self.lock:
            return self._living[namespace]

    def changes(self, resource: ResourceKey, since: int) -> list[Change]:
        """The changes of the resource after that version; 410 when some are forgotten."""
        with self.lock:
            return self._collections[resource].log.since(since)

    def compact(self) -> None:
        """Forget all history: watches and list continuations from before now expire."""
        with self.lock:
            self._views.clear()
            for collection in self._collections.values():
                collection.log.forget(self._version)

    def view(self, resource: ResourceKey, version: int | None = None) -> View:
        """The objects now (to be read under the lock), or as they were at that version (410 when forgotten)."""
        with self.lock:
            if version is None or version >= self._version:
                return self._current(resource)
            kept = self._views.get((resource, version))
            if kept is None:
                kept = self._rebuild(resource, version)
                self._views[(resource, version)] = kept
                while len(self._views) > KEPT_VIEWS:
                    self._views.popitem(last=False)
            return kept

    def _current(self, resource: ResourceKey) -> View:
        collection = self._collections[resource]
        if collection.sorted_keys is None:
            collection.sorted_keys = sorted(collection.objects)
        return View(self._version, collection.sorted_keys, collection.objects)

    def _rebuild(self, resource: ResourceKey, version: int) -> View:
        collection = self._collections[resource]
        objects = dict(collection.objects)
        for change in reversed(collection.log.since(version)):
            if change.before is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.before
        return View(version, sorted(objects), objects)

    def _record(self, change: Change) -> None:
        self._collections[change.resource].log.append(change)
        for listener in self._listeners:
            listener(change)
