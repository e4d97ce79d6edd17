"""The report as metrics. Counters come from the state, so they survive the process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from exoscaler.core.state import State


class StateCollector(Collector):
    """Hands out the metrics of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterable[Metric]:
        """The gauges of each group, what is in flight, and every counter."""
        yield from self._groups()
        operations, seen = self._state.operations, self._state.observations
        yield _gauge("exoscaler_growths_in_flight", "Growths not ended yet", len(operations.growing))
        yield _gauge("exoscaler_removals_in_flight", "Removals not ended yet", len(operations.shrinking))
        yield _gauge("cluster_autoscaler_unneeded_nodes_count", "Nodes found removable", len(seen.unneeded))
        yield _gauge(
            "cluster_autoscaler_cluster_safe_to_autoscale", "Whether the cluster is well", int(not seen.unhealthy_since)
        )
        for name, value in sorted(seen.counters.items()):
            yield CounterMetricFamily(
                f"exoscaler_{name.value.replace('-', '_')}", f"Number of {name.value}", value=value
            )

    def _groups(self) -> Iterable[Metric]:
        sizes = GaugeMetricFamily("cluster_autoscaler_node_group_target_count", "Target size", labels=["node_group"])
        least = GaugeMetricFamily("cluster_autoscaler_node_group_min_count", "Minimum size", labels=["node_group"])
        most = GaugeMetricFamily("cluster_autoscaler_node_group_max_count", "Maximum size", labels=["node_group"])
        for group in self._state.node_groups.groups.values():
            labels = [f"{group.name}/{group.id}"]
            sizes.add_metric(labels, group.pool.size)
            least.add_metric(labels, group.min_size)
            most.add_metric(labels, group.max_size)
        return (sizes, least, most)


def _gauge(name: str, text: str, value: int) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def exposition(state: State) -> tuple[bytes, Mapping[str, str]]:
    """The metrics as a scraper reads them, and the headers that say so."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StateCollector(state))
    return generate_latest(registry), {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
