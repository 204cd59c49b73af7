"""A platform on Amazon EKS, as a stack file says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuyard import catalogue
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.managed_platform import CloudPlatformSpec
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import aws_capacity, efa
from gpuyard.components.scheduling import topology
from gpuyard.components.spec import Name
from gpuyard.components.validation import problem


class AwsPlatformSpec(CloudPlatformSpec):
    """A platform on Amazon EKS."""

    cluster: aws_cluster.ClusterSpec
    """The EKS cluster."""
    node_groups: dict[Name, aws_groups.NodeGroupSpec]
    """Managed node groups."""

    def image(self, group: str) -> str:
        """AMI type of a group."""
        return aws_groups.node_image(self.node_groups[group])

    def levels(self, group: str) -> Sequence[str]:
        """Layers of EC2's network above the nodes of a fast network, where EC2 tells them."""
        spec = self.node_groups[group]
        return topology.aws_levels(spec.machine) if spec.interconnect and self.fixed(group) else ()

    def settings(self, group: str) -> Mapping[str, str]:
        """Environment variables of a pod that talks over the group's EFA."""
        spec, resource = self.node_groups[group], self.machine(group).resource
        return catalogue.nccl("efa", resource) if spec.interconnect and resource else {}

    def with_efa(self) -> list[str]:
        """Names by which the cluster knows the groups with EFA."""
        return [group.known_as(name) for name, group in self.node_groups.items() if group.interconnect]

    def driver(self, group: str) -> str | None:
        """The driver of the group's AMI."""
        return aws_groups.node_driver(self.node_groups[group], self.cluster.kubernetes, self.cluster.node_release)

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        zones = list(self.cluster.network.zones)
        for name, group in self.node_groups.items():
            yield from problem(f"node_groups.{name}", aws_groups.group_zones, group, zones)
            versions = self.cluster.kubernetes, self.cluster.node_release
            yield from problem(f"node_groups.{name}", aws_groups.check_version, group, *versions)
        users = {
            name: aws_capacity.User(group.machine, group.capacity, group.nodes.max)
            for name, group in self.node_groups.items()
        }
        yield from aws_capacity.shared_refusals(users)
        if self.with_efa():
            for refusal in efa.addon_refusals(self.cluster.addons.get("vpc-cni")):
                yield f"cluster.addons: {refusal}"
