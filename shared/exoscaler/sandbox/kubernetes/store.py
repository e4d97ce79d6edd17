"""The API server's semantics over the storage: what create, update, patch and delete do to objects.

Every write runs under one lock from the read it depends on to its record, so writers never lose each other's changes:
they either meet the current object or get a 409.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes.admission import admit, check_deletion
from exoscaler.sandbox.kubernetes.defaulting import apply_defaults
from exoscaler.sandbox.kubernetes.deletion import DeleteOptions, check_preconditions, is_finished, marked
from exoscaler.sandbox.kubernetes.dependents import finish_namespace, orphan_dependents
from exoscaler.sandbox.kubernetes.event_expiry import expire_events
from exoscaler.sandbox.kubernetes.event_forms import stored_resource, to_served, to_stored
from exoscaler.sandbox.kubernetes.failures import (
    FieldProblem,
    already_exists,
    bad_request,
    invalid,
    modified_meanwhile,
    not_found,
)
from exoscaler.sandbox.kubernetes.history import Change, ObjectKey
from exoscaler.sandbox.kubernetes.json_values import metadata, without_nulls
from exoscaler.sandbox.kubernetes.object_metadata import begin, carry_over, check_identity, count_generation
from exoscaler.sandbox.kubernetes.paging import Page, PageRequest, read_page
from exoscaler.sandbox.kubernetes.resources import EVENTS, NAMESPACES, RESOURCES, Resource
from exoscaler.sandbox.kubernetes.selection import Selection
from exoscaler.sandbox.kubernetes.status_parts import begin_status, keep_other_part
from exoscaler.sandbox.kubernetes.storage import DEFAULT_HISTORY, Storage
from exoscaler.sandbox.kubernetes.validation import creation_problems, update_problems
from exoscaler.sandbox.kubernetes.wire import fill_zero_values
from exoscaler.sandbox.objects import JsonObject

Edit: TypeAlias = Callable[[JsonObject], JsonObject]
"""Makes the new state from the current one, without modifying that."""


class ObjectStore:
    """All objects of one cluster. Objects handed out are shared: clone before modifying.

    Every method may raise `ApiFailure`: 400 malformed, 404 missing, 409 taken or stale, 410 forgotten, 422 invalid.
    """

    def __init__(self, clock: SandboxClock, *, history: int = DEFAULT_HISTORY) -> None:
        self.clock = clock
        self.storage = Storage(history)

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` after every write; it must be quick and must not write. Returns what ends it."""
        return self.storage.subscribe(listener)

    def get(self, resource: Resource, name: str, *, namespace: str = "") -> JsonObject:
        """One object."""
        return to_served(resource, self.current(stored_resource(resource), name, namespace=namespace))

    def list_objects(self, resource: Resource, selection: Selection, request: PageRequest | None = None) -> Page:
        """A page of the objects in the selection, all of them without a request."""
        page = read_page(self.storage, stored_resource(resource).key, selection, request or PageRequest())
        if resource.stored_as is None:
            return page
        served = [to_served(resource, obj) for obj in page.items]
        return Page(served, page.version, page.continue_token, page.remaining)

    def create(self, resource: Resource, body: JsonObject, *, namespace: str = "", dry_run: bool = False) -> JsonObject:
        """Create an object from `body`, which is not modified."""
        kept = stored_resource(resource)
        obj = to_stored(resource, without_nulls(body))
        check_identity(kept, obj, namespace=namespace, name="")
        with self.storage.lock:
            if kept is EVENTS:
                expire_events(self.storage, self.clock.now())
            begin(kept, obj, self.clock.now())
            name = metadata(obj).get("name", "")
            begin_status(kept, obj)
            apply_defaults(kept, obj)
            fill_zero_values(obj, kept.group_version, kept.kind)
            admit(self.storage, kept, obj)
            self._refuse(kept, name, creation_problems(kept, obj))
            key = self._key(kept, namespace, name)
            if self.storage.read(kept.key, key) is not None:
                raise already_exists(kept, name)
            stored = obj if dry_run else self.storage.write(kept.key, key, obj)
        return to_served(resource, stored)

    def update(
        self,
        resource: Resource,
        body: JsonObject,
        *,
        namespace: str = "",
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> tuple[JsonObject, bool]:
        """Replace an object, or its status; the second result is True when it was created."""
        kept = stored_resource(resource)
        new = to_stored(resource, without_nulls(body))
        name = name or metadata(new).get("name", "")
        check_identity(kept, new, namespace=namespace, name=name)
        with self.storage.lock:
            old = self.storage.read(kept.key, self._key(kept, namespace, name))
            if old is None:
                if not resource.updates_create or subresource:
                    raise not_found(kept, name)
                metadata(new).pop("resourceVersion", None)
                return self.create(resource, to_served(resource, new), namespace=namespace, dry_run=dry_run), True
            if resource.demands_version and not metadata(new).get("resourceVersion"):
                problem = FieldProblem.invalid("metadata.resourceVersion", "0x0", "must be specified for an update")
                raise invalid(kept, name, [problem])
            stored = self.replace(kept, old, new, subresource=subresource, dry_run=dry_run)
        return to_served(resource, stored), False

    def patch(
        self,
        resource: Resource,
        name: str,
        edit: Edit,
        *,
        namespace: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> JsonObject:
        """Apply `edit` to the current object, or through its status; never conflicts unless it sets a version."""
        kept = stored_resource(resource)
        with self.storage.lock:
            old = self.current(kept, name, namespace=namespace)
            new = to_stored(resource, without_nulls(edit(to_served(resource, old))))
            check_identity(kept, new, namespace=namespace, name=name)
            stored = self.replace(kept, old, new, subresource=subresource, dry_run=dry_run)
        return to_served(resource, stored)

    def delete(
        self, resource: Resource, name: str, options: DeleteOptions | None = None, *, namespace: str = ""
    ) -> tuple[JsonObject, bool]:
        """Delete an object as far as that goes now: its last state, and True when it is gone."""
        kept = stored_resource(resource)
        options = options or DeleteOptions()
        check_deletion(kept, name)
        with self.storage.lock:
            old = self.current(kept, name, namespace=namespace)
            check_preconditions(kept, old, options)
            new = marked(kept, old, options, self.clock.now())
            if options.dry_run:
                return to_served(resource, new), is_finished(new)
            if options.propagation == "Orphan":
                orphan_dependents(self.storage, old)
            last, gone = self._settle(kept, old, new)
            if kept is NAMESPACES and not gone:
                self._empty_namespace(name)
                gone = self.storage.read(kept.key, ("", name)) is None
        return to_served(resource, last), gone

    def delete_collection(
        self, resource: Resource, selection: Selection, options: DeleteOptions | None = None
    ) -> list[JsonObject]:
        """Delete every object in the selection; returns them as they were."""
        with self.storage.lock:
            items = self.list_objects(resource, selection).items
            for item in items:
                meta = metadata(item)
                self.delete(resource, meta["name"], options, namespace=meta.get("namespace", ""))
        return items

    def current(self, resource: Resource, name: str, *, namespace: str = "") -> JsonObject:
        """The stored object; 404 when it does not exist."""
        found = self.storage.read(resource.key, self._key(resource, namespace, name))
        if found is None:
            raise not_found(resource, name)
        return found

    def replace(
        self, resource: Resource, old: JsonObject, new: JsonObject, *, subresource: str = "", dry_run: bool = False
    ) -> JsonObject:
        """Put `new` in the place of `old`, under the lock, as an update of the object or of the subresource does."""
        meta = metadata(new)
        name = meta["name"]
        if meta.get("resourceVersion", "") not in ("", metadata(old)["resourceVersion"]):
            raise modified_meanwhile(resource, name)
        self._refuse(resource, name, carry_over(resource, old, new))
        keep_other_part(resource, old, new, subresource)
        if subresource != "status":
            apply_defaults(resource, new)
            self._refuse(resource, name, update_problems(resource, old, new))
        fill_zero_values(new, resource.group_version, resource.kind)
        count_generation(resource, old, new)
        if dry_run:
            meta["resourceVersion"] = metadata(old)["resourceVersion"]
            return new
        return self._settle(resource, old, new)[0]

    def _settle(self, resource: Resource, old: JsonObject, new: JsonObject) -> tuple[JsonObject, bool]:
        meta = metadata(new)
        key = (meta.get("namespace", ""), meta["name"])
        if is_finished(new):
            last = self.storage.remove(resource.key, key)
            finish_namespace(self.storage, key[0])
            return last, True
        meta["resourceVersion"] = metadata(old)["resourceVersion"]
        return (old if new == old else self.storage.write(resource.key, key, new)), False

    def _empty_namespace(self, name: str) -> None:
        for resource in RESOURCES.values():
            if resource.namespaced and resource.stored_as is None:
                self.delete_collection(resource, Selection(name))
        finish_namespace(self.storage, name)

    @staticmethod
    def _key(resource: Resource, namespace: str, name: str) -> ObjectKey:
        if resource.namespaced and not namespace:
            raise bad_request(f"{resource.qualified} live in a namespace: name one")
        return (namespace if resource.namespaced else "", name)

    @staticmethod
    def _refuse(resource: Resource, name: str, problems: Sequence[FieldProblem]) -> None:
        if problems:
            raise invalid(resource, name, problems)
