"""A platform on machines of one's own, as a stack file says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuyard import catalogue
from gpuyard.components.accelerators import network_operator, nvidia_driver
from gpuyard.components.accelerators.network_operator import Infiniband
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.managed_platform import NVIDIA, ManagedPlatformSpec
from gpuyard.components.node_groups import base
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.node_groups.upgrade import DriverUpgrade
from gpuyard.components.spec import Name


class OnPremPlatformSpec(ManagedPlatformSpec):
    """A platform on machines of one's own."""

    cluster: onprem_cluster.ClusterSpec
    """The way to the cluster."""
    node_groups: dict[Name, onprem_groups.NodeGroupSpec]
    """Its nodes, by kind."""

    def most_nodes(self, group: str) -> int:
        """Nodes that a group has."""
        return self.node_groups[group].count

    def taints(self, group: str) -> Sequence[base.Taint]:
        """Taints that a group's nodes carry, beside the one that keeps other pods off accelerators."""
        return self.node_groups[group].taints

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        found = self.node_groups[group]
        return onprem_groups.node_selector(found.known_as(group), found)

    def image(self, group: str) -> str:
        """Who brings the driver."""
        return self.cluster.driver

    def levels(self, group: str) -> Sequence[str]:
        """Labels that the inventory names."""
        return self.node_groups[group].topology

    def settings(self, group: str) -> Mapping[str, str]:
        """Environment variables of a pod that talks over the group's InfiniBand."""
        spec, resource = self.node_groups[group], self.machine(group).resource
        return catalogue.nccl("infiniband", resource) if spec.interconnect and resource else {}

    def infiniband(self) -> Infiniband | None:
        """What NVIDIA's network operator is told; None where no group has InfiniBand."""
        joined = {name: group for name, group in self.node_groups.items() if group.interconnect}
        drivers = {group.interconnect.driver for group in joined.values() if group.interconnect}
        if not drivers:
            return None
        # The GPU Operator comes with a discovery of its own.
        operated = any(self.machine(name).resource == NVIDIA for name in self.node_groups)
        return Infiniband([self.selector(name) for name in joined], min(drivers), brings_nfd=not operated)

    def driver(self, group: str) -> str | None:
        """The driver that the stack says the machines have, or that the GPU Operator brings."""
        stated = self.node_groups[group].driver_version or self.cluster.driver_version
        return stated if stated or self.cluster.driver == "host" else nvidia_driver.chart_version()

    def installed_drivers(self) -> dict[str, nvidia_driver.DriverSpec]:
        """Drivers that the GPU Operator brings, by the name that the cluster knows a group by."""
        if self.cluster.driver == "host":
            return {}
        cards = self.infiniband()
        return {
            group.known_as(name): nvidia_driver.DriverSpec(
                version=self.driver(name) or nvidia_driver.chart_version(),
                selector=self.selector(name),
                upgrade=group.upgrade or DriverUpgrade(),
                rdma=network_operator.gpu_driver(cards) if cards and group.interconnect else {},
            )
            for name, group in self.node_groups.items()
            if self.machine(name).resource == NVIDIA
        }

    def _cluster_problems(self) -> Iterator[str]:
        branches = list(self._branches())
        yield from branches or super()._cluster_problems()
        drivers = {n: group.interconnect.driver for n, group in self.node_groups.items() if group.interconnect}
        if len(set(drivers.values())) > 1:
            each = ", ".join(f"{name} {driver}" for name, driver in drivers.items())
            yield (
                f"node_groups: the driver of InfiniBand cards is brought in different ways ({each}), and a cluster has "
                "one network operator: give all the same interconnect.driver"
            )
        for name, group in self.node_groups.items():
            if self.cluster.driver == "host" and group.upgrade:
                yield (
                    f"node_groups.{name}.upgrade is what the GPU Operator does with its drivers, and cluster.driver is "
                    "host: leave it out, or give driver: operator"
                )
        yield from existing_groups.overlaps({name: self.selector(name) for name in self.node_groups})
        yield from onprem_groups.problems(self.node_groups, self.cluster.kubernetes)

    def _branches(self) -> Iterator[str]:
        """Drivers of groups that the GPU Operator could not find."""
        if self.cluster.driver == "operator":
            for name, group in self.node_groups.items():
                if problem := nvidia_driver.version_problem(group.driver_version):
                    yield f"node_groups.{name}: {problem}"
