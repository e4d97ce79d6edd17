"""Which objects a list, a watch or a collective deletion is about."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.sandbox.kubernetes.field_selectors import EVERY_FIELD, FieldSelector, parse_field_selector
from exoscaler.sandbox.kubernetes.history import Change, ChangeKind
from exoscaler.sandbox.kubernetes.label_selectors import EVERY_LABEL, LabelSelector, parse_label_selector
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject


@dataclass(frozen=True, slots=True)
class Selection:
    """Namespace (empty: all), labels and fields together."""

    namespace: str = ""
    labels: LabelSelector = EVERY_LABEL
    fields: FieldSelector = EVERY_FIELD

    @property
    def is_everything(self) -> bool:
        """True when no selector narrows it down within the namespace."""
        return not self.labels.requirements and not self.fields.terms

    def matches(self, obj: JsonObject) -> bool:
        """True when both selectors match; the namespace is not looked at."""
        meta = obj["metadata"]
        return self.labels.matches(meta.get("labels") or {}) and self.fields.matches(obj)

    def seen(self, change: Change) -> tuple[ChangeKind, JsonObject] | None:
        """The change as a watcher of this selection sees it; None when it is outside.

        An object that leaves the selection is DELETED to the watcher, one that enters is ADDED.
        """
        if self.namespace and change.key[0] != self.namespace:
            return None
        was = change.before is not None and self.matches(change.before)
        stays = change.kind is not ChangeKind.DELETED and self.matches(change.after)
        if stays:
            return (ChangeKind.MODIFIED if was else ChangeKind.ADDED, change.after)
        if not was or change.before is None:
            return None
        version = change.after["metadata"]["resourceVersion"]
        last = {**change.before, "metadata": {**change.before["metadata"], "resourceVersion": version}}
        return (ChangeKind.DELETED, last)


def parse_selection(resource: Resource, namespace: str, labels: str, fields: str) -> Selection:
    """The selection that a query asks for; 400 when a selector is malformed or a field is not offered."""
    return Selection(namespace, parse_label_selector(labels), parse_field_selector(resource, fields))
