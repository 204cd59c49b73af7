"""Endpoints on a cluster that others run, as a stack file says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.node_groups import base
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.spec import Name


class ExistingPlatformSpec(PlatformSpec):
    """Endpoints on a cluster that others run: nothing cluster-wide is created."""

    cluster: existing_cluster.ClusterSpec
    """The way to the cluster."""
    node_groups: dict[Name, existing_groups.NodeGroupSpec]
    """What it has, as far as this stack uses it."""

    @property
    def prometheus(self) -> str | None:
        """Address of the cluster's Prometheus."""
        return self.cluster.prometheus

    def driver(self, group: str) -> str | None:
        """The driver that the stack says the nodes have."""
        return self.cluster.driver_version

    def most_nodes(self, group: str) -> int:
        """Nodes that a group has."""
        return self.node_groups[group].count

    def taints(self, group: str) -> Sequence[base.Taint]:
        """Taints that a group's nodes carry, beside the one that keeps other pods off accelerators."""
        return self.node_groups[group].taints

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        return existing_groups.node_selector(self.node_groups[group])

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        yield from existing_groups.overlaps({name: self.selector(name) for name in self.node_groups})

    def priority_class(self, part: str) -> str | None:
        """PriorityClass by which the cluster's quotas tell a group from others."""
        group, offer = self.part(part)
        return existing_groups.priority_class(self.node_groups[group], offer)
