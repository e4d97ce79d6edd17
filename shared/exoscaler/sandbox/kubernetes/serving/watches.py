"""Watches: a response that goes on, one line for every change of what it selects.

A watch holds no thread and no queue. It remembers the version up to which it has told, and is woken by writes; what it
has missed meanwhile it reads from the history. One that is slower than the history is long ends with 410.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import msgspec
from starlette.responses import Response, StreamingResponse

from exoscaler.sandbox.kubernetes.event_forms import stored_resource, to_served
from exoscaler.sandbox.kubernetes.failures import ApiFailure
from exoscaler.sandbox.kubernetes.history import Change, ChangeKind
from exoscaler.sandbox.kubernetes.paging import PageRequest, parse_version, read_page
from exoscaler.sandbox.kubernetes.resources import Resource, ResourceKey
from exoscaler.sandbox.kubernetes.selection import Selection
from exoscaler.sandbox.kubernetes.serving.answers import Renderer
from exoscaler.sandbox.kubernetes.serving.forms import Form
from exoscaler.sandbox.kubernetes.serving.open_watches import OpenWatch, OpenWatches
from exoscaler.sandbox.kubernetes.serving.queries import count, flag
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject

SECONDS_BETWEEN_BOOKMARKS = 10.0
_SHORTEST_DEFAULT, _LONGEST_DEFAULT = 1800, 3600
_INITIAL_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a watch asks for. `version` None: everything that exists first, then what happens."""

    version: int | None
    seconds: float
    bookmarks: bool
    marks_initial_end: bool

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> WatchOptions:
        """The options of a query; 400 when one is malformed."""
        source = query.get("resourceVersion", "")
        initial = flag(query, "sendInitialEvents") and query["sendInitialEvents"] != ""
        from_start = source in ("", "0") or initial
        seconds = count(query, "timeoutSeconds") or random.randint(_SHORTEST_DEFAULT, _LONGEST_DEFAULT)
        bookmarks = flag(query, "allowWatchBookmarks")
        return cls(None if from_start else parse_version(source), seconds, bookmarks, initial and bookmarks)


def watch(
    store: ObjectStore,
    watches: OpenWatches,
    resource: Resource,
    selection: Selection,
    renderer: Renderer,
    query: Mapping[str, str],
) -> Response:
    """The response to a watch of the selection, rendered as the request asked; open in `watches` while it runs."""
    stream = _Stream(store, watches, resource, selection, renderer, WatchOptions.parse(query))
    return StreamingResponse(stream.lines(), media_type="application/json")


class _Stream:
    def __init__(
        self,
        store: ObjectStore,
        watches: OpenWatches,
        resource: Resource,
        selection: Selection,
        renderer: Renderer,
        options: WatchOptions,
    ) -> None:
        self._store = store
        self._watches = watches
        self._resource = resource
        self._key = stored_resource(resource).key
        self._selection = selection
        self._renderer = renderer
        self._options = options
        # What exists is read before the response begins, so that a client that sees it begin misses nothing after.
        self._initial: list[JsonObject] = []
        if options.version is None:
            page = read_page(store.storage, self._key, selection, PageRequest())
            self._initial, self._told = page.items, page.version
        else:
            self._told = options.version

    async def lines(self) -> AsyncIterator[bytes]:
        clock = asyncio.get_running_loop().time
        ends = clock() + self._options.seconds
        with self._watches.opened() as watch:
            unsubscribe = self._store.subscribe(partial(_tell, watch, self._key))
            try:
                yield b"".join(self._start())
                while not watch.ended and (now := clock()) < ends:
                    yield b"".join(self._news())
                    woken = await watch.woken(min(ends - now, SECONDS_BETWEEN_BOOKMARKS))
                    if self._options.bookmarks and not woken:
                        yield self._bookmark()
            except ApiFailure as failure:
                yield _line("ERROR", failure.to_status())
            finally:
                unsubscribe()

    def _start(self) -> Iterator[bytes]:
        """The objects that exist, for a watch from the start."""
        for obj in self._initial:
            yield self._event(ChangeKind.ADDED, obj)
        self._initial = []
        if self._options.marks_initial_end:
            yield self._bookmark({_INITIAL_END: "true"})

    def _news(self) -> Iterator[bytes]:
        storage = self._store.storage
        with storage.lock:
            changes = storage.changes(self._key, self._told)
            self._told = max(self._told, storage.version)
        for change in changes:
            seen = self._selection.seen(change)
            if seen is not None:
                yield self._event(*seen)

    def _event(self, kind: ChangeKind, obj: JsonObject) -> bytes:
        return _line(kind.value, self._renderer.render(to_served(self._resource, obj)))

    def _bookmark(self, annotations: JsonObject | None = None) -> bytes:
        meta: JsonObject = {"resourceVersion": str(self._told), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        bare = {"kind": self._resource.kind, "apiVersion": self._resource.group_version, "metadata": meta}
        return _line("BOOKMARK", bare if self._renderer.form is not Form.METADATA else self._renderer.render(bare))


def _tell(watch: OpenWatch, key: ResourceKey, change: Change) -> None:
    if change.resource == key:
        watch.wake()


def _line(kind: str, obj: JsonObject) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"
