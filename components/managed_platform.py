"""What a platform says whose cluster-wide software is gpuyard's, and one whose machines a cloud adds and removes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from gpuyard import catalogue
from gpuyard.components.accelerators import FAMILIES, nvidia
from gpuyard.components.accelerators.families import Family, FamilySpec, decide
from gpuyard.components.accelerators.network_operator import Infiniband
from gpuyard.components.accelerators.nvidia_driver import DriverSpec
from gpuyard.components.monitoring import monitoring as metrics
from gpuyard.components.node_groups import base
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.scheduling import kueue
from gpuyard.components.scheduling.groups import class_name
from gpuyard.components.scheduling.kueue import Queued
from gpuyard.components.serving import placement as serving

NVIDIA = "nvidia.com/gpu"

PROMETHEUS = f"http://{metrics.CHART}-prometheus.{metrics.NAMESPACE}.svc:9090"
"""Where the chart's Prometheus answers inside the cluster; the release has the chart's name."""


class ManagedPlatformSpec(PlatformSpec):
    """A platform whose cluster-wide software is gpuyard's: all but those on clusters that others run."""

    protect: bool = True
    """Whether what holds data, or carries all else, refuses to be deleted or replaced: the cluster and the key of its
    secrets, node groups, tenants' namespaces, metrics. docs/teardown.md says how to lift it."""

    monitoring: metrics.MonitoringSpec | None = None
    """Prometheus, alerts and where they go; none when left out."""

    @property
    def prometheus(self) -> str | None:
        """Address of the Prometheus that measures the cluster."""
        return PROMETHEUS if self.monitoring else None

    def priority_class(self, part: str) -> str:
        """PriorityClass by which the cluster's quotas tell a group from others."""
        return class_name(self.known_as(part))

    def kept(self, tenant: str, group: str) -> int:
        """Accelerators of a group that are kept for the endpoints of a tenant: the most that they take, and those of
        one replica more while they are rolled out."""
        endpoints = [e for e in self.endpoints.values() if (e.tenant, e.on) == (tenant, group)]
        placement = self.placement(group, tenant)
        surplus = [endpoint.accelerators for endpoint in endpoints if serving.surges(endpoint, placement)]
        return self.served(tenant, group) + max(surplus, default=0)

    def queued(self) -> dict[str, dict[str, Queued]]:
        """What the jobs of each tenant may hold, by the names that the cluster knows tenants and groups by."""
        return {
            tenant.known_as(name): {
                self.known_as(part): share.queued(self.kept(name, part)) for part, share in tenant.accelerators.items()
            }
            for name, tenant in self.tenants.items()
        }

    def free(self) -> dict[str, int]:
        """Accelerators of each group that are nobody's own, by the name that the cluster knows the group by."""
        return {
            group.name: max(group.accelerators - sum(self._promised(tenant, key) for tenant in self.tenants), 0)
            for key, group in self.accelerator_groups().items()
        }

    def _promised(self, tenant: str, group: str) -> int:
        share = self.tenants[tenant].accelerators.get(group)
        return max(share.quota, self.kept(tenant, group)) if share else 0

    def with_efa(self) -> list[str]:
        """Names by which the cluster knows the groups with EFA."""
        return []

    def infiniband(self) -> Infiniband | None:
        """What NVIDIA's network operator is told; None where no group has InfiniBand."""
        return None

    def installed_drivers(self) -> dict[str, DriverSpec]:
        """Drivers that the GPU Operator brings, by the name that the cluster knows a group by."""
        return {}

    def images(self, resource: str) -> dict[str, str]:
        """Node image of every group with accelerators of one family: by it one knows what software the nodes bring."""
        return {group: self.image(group) for group in self.node_groups if self.machine(group).resource == resource}

    def nvidia_software(self) -> nvidia.NvidiaSpec | None:
        """NVIDIA's software, which finds the nodes of a group by their label. Raises ValueError where it cannot be."""
        images = self.images(NVIDIA)
        if not images:
            return None
        names = {group: self.node_groups[group].known_as(group) for group in images}
        parts = {names[group]: part for group in images if (part := self.node_groups[group].partition)}
        named = {names[group]: image for group, image in images.items()}
        cuttable = [names[group] for group in images if catalogue.partitions(self.machine(group).accelerator or "")]
        return nvidia.decide(self.cluster.cloud, named, parts, self.installed_drivers(), cuttable)

    def families(self) -> list[tuple[Family, FamilySpec]]:
        """The other families of accelerators that the cluster has, with how to find their nodes."""
        found = []
        for family in FAMILIES:
            groups = {
                self.node_groups[group].known_as(group): self.selector(group) for group in self.images(family.resource)
            }
            if groups:
                found.append((family, FamilySpec(groups=groups)))
        return found

    @abstractmethod
    def image(self, group: str) -> str:
        """Node image of a group."""

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        try:
            self.nvidia_software()
            for family in FAMILIES:
                decide(family, self.cluster.cloud, self.images(family.resource))
        except ValueError as error:
            yield f"node_groups: {error}"
        yield from kueue.problems(self.accelerator_groups())


class CloudPlatformSpec(ManagedPlatformSpec):
    """A platform whose machines a cloud adds and removes."""

    node_groups: Mapping[str, base.ScaledNodeGroupSpec]

    @property
    def region(self) -> str | None:
        """Region of the cluster."""
        return str(self.cluster.region)

    def most_nodes(self, group: str) -> int:
        """Nodes that a group can have."""
        return self.node_groups[group].nodes.max

    def taints(self, group: str) -> Sequence[base.Taint]:
        """Taints of a group's nodes, beside the one that keeps other pods off accelerators."""
        return self.node_groups[group].taints

    def fixed(self, group: str) -> bool:
        """Whether the group always has the same number of nodes: only then can jobs choose among them."""
        nodes = self.node_groups[group].nodes
        return nodes.min == nodes.max

    def _cluster_problems(self) -> Iterator[str]:
        if not any(hosts_system_pods(group) for group in self.node_groups.values()):
            yield (
                "node_groups: none has a machine without accelerators, no taints and nodes.min of 1 or more, so the "
                "cluster's own pods would have no node: add one, such as system"
            )
        yield from super()._cluster_problems()


def hosts_system_pods(group: base.ScaledNodeGroupSpec) -> bool:
    """Whether pods without tolerations run there as soon as it is made."""
    return catalogue.machine(group.machine).resource is None and not group.taints and group.nodes.min > 0
