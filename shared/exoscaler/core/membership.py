"""Which node belongs to which group, and which instances have no node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from exoscaler.core.model import Node, NodeGroup


@dataclass(frozen=True)
class Membership:
    """Nodes and groups tied together by instance id.

    Attributes:
        group_by_node: node name -> group id, for nodes whose instance is a member of a known pool.
        nodes_by_group: the registered members of each group, sorted by name; every group has an entry.
        unregistered: for each group the members that no node stands for, sorted.
    """

    group_by_node: Mapping[str, str]
    nodes_by_group: Mapping[str, tuple[Node, ...]]
    unregistered: Mapping[str, tuple[str, ...]]

    def group_of(self, node_name: str) -> str | None:
        """The id of the node's group, None for a node that no known pool lists."""
        return self.group_by_node.get(node_name)


def tie(nodes: Iterable[Node], groups: Iterable[NodeGroup], provider_prefix: str) -> Membership:
    """Tie nodes to groups.

    A pool's own list of members decides, not a label: a label says where an instance came from, not that the pool still
    owns it. Two nodes that claim one instance are both its nodes, so that neither is mistaken for an unregistered one.
    """
    groups = tuple(groups)
    group_by_instance = {instance: group.id for group in groups for instance in group.pool.members}
    group_by_node: dict[str, str] = {}
    nodes_by_group: dict[str, list[Node]] = {group.id: [] for group in groups}
    seen: set[str] = set()
    for node in sorted(nodes, key=lambda n: n.name):
        instance = node.instance_id(provider_prefix)
        if instance is None or instance not in group_by_instance:
            continue
        seen.add(instance)
        group_by_node[node.name] = group_by_instance[instance]
        nodes_by_group[group_by_instance[instance]].append(node)
    unregistered = {group.id: tuple(i for i in sorted(group.pool.members) if i not in seen) for group in groups}
    return Membership(group_by_node, {g: tuple(n) for g, n in nodes_by_group.items()}, unregistered)
