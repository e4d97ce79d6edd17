"""Disruption budgets and DaemonSets of the API to records."""

from __future__ import annotations

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.fragments import Fragments
from exoscaler.adapters.kubernetes.decoding.selectors import label_selector
from exoscaler.core.model import DaemonSet, DisruptionBudget, LabelSelector


def budget(found: wire.DisruptionBudget) -> DisruptionBudget:
    """The record of a budget. Without a selector it covers nothing, with an empty one the whole namespace (policy/v1).

    Raises:
        ValueError: its selector has an operator that is not known.
    """
    selector = found.spec.selector if found.spec is not None else None
    allowed = found.status.disruptions_allowed if found.status is not None else None
    return DisruptionBudget(
        found.metadata.namespace,
        found.metadata.name,
        label_selector(selector) if selector is not None else None,
        max(0, allowed or 0),
    )


def unreadable_budget(found: Fragments) -> DisruptionBudget:
    """What stands for a budget that is not understood: it covers its whole namespace and allows nothing.

    Raises:
        ValueError: not even its name and namespace are certain.
    """
    namespace = found.certain_text("metadata", "namespace")
    return DisruptionBudget(namespace, found.certain_text("metadata", "name"), LabelSelector(), 0)


def daemonset(found: wire.DaemonSet) -> DaemonSet:
    """The record of a DaemonSet."""
    ready = found.status.number_ready if found.status is not None else None
    return DaemonSet(found.metadata.namespace, found.metadata.name, found.metadata.uid, max(0, ready or 0))


def unreadable_daemonset(_: Fragments) -> None:
    """A DaemonSet that is not understood is left out: its own report then checks the list of pods no more."""
    return
