"""Whether a node is one that the pod's node selector and required node affinity ask for (R206)."""

from __future__ import annotations

from collections.abc import Mapping

from exoscaler.core.model import NodeSelectorTerm, Pod, PodSpec
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling.place import Place

NODE_NAME_FIELD = "metadata.name"
"""The only field of a node that a term can name."""

_MISMATCH = (WhyNot(Obstacle.NODE_AFFINITY),)


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:
    """Nothing when all labels of the selector match and, with an affinity, at least one of its terms does.

    A node that does not exist yet has a name that no pod can ask for.
    """
    spec, node = pod.spec, place.node
    if not spec.node_selector and spec.node_affinity is None:
        return ()
    if not _selected(spec, node.labels):
        return _MISMATCH
    if spec.node_affinity is None or any(_meets(term, node.labels, node.name) for term in spec.node_affinity):
        return ()
    return _MISMATCH


def wants_node_labelled(spec: PodSpec, labels: Mapping[str, str]) -> bool:
    """Whether a pod would be content with some node of these labels, whatever the node's name.

    This is the question for a pod that is bound to one node by name and has twins on others: a DaemonSet's.
    """
    if not _selected(spec, labels):
        return False
    terms = spec.node_affinity
    return terms is None or any(all(e.matches(labels) for e in term.expressions) for term in terms)


def _selected(spec: PodSpec, labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in spec.node_selector.items())


def _meets(term: NodeSelectorTerm, labels: Mapping[str, str], name: str) -> bool:
    """A term without any condition meets nothing; so does one about a field that nodes do not offer."""
    if not term.expressions and not term.fields:
        return False
    if not all(expression.matches(labels) for expression in term.expressions):
        return False
    fields = {NODE_NAME_FIELD: name}
    return all(condition.key in fields and condition.matches(fields) for condition in term.fields)
