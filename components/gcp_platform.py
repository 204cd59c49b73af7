"""A platform on Google GKE, as a stack file says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.managed_platform import CloudPlatformSpec
from gpuyard.components.node_groups import base, gcp_capacity, gcp_gpudirect, gcp_upgrade
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.scheduling import topology
from gpuyard.components.spec import Name
from gpuyard.components.validation import problem


class GcpPlatformSpec(CloudPlatformSpec):
    """A platform on Google GKE."""

    cluster: gcp_cluster.ClusterSpec
    """The GKE cluster."""
    node_groups: dict[Name, gcp_groups.NodeGroupSpec]
    """Node pools."""

    def image(self, group: str) -> str:
        """Image type of a group."""
        return gcp_groups.IMAGE_TYPE

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group, and GKE knows which to add for it."""
        return gcp_groups.selector(self.node_groups[group].known_as(group), self.node_groups[group])

    def taints(self, group: str) -> Sequence[base.Taint]:
        """Taints of a group's nodes, beside the one that keeps other pods off accelerators."""
        return gcp_groups.taints(self.node_groups[group].known_as(group), self.node_groups[group])

    def tolerated(self, group: str) -> Sequence[str]:
        """Keys of taints that jobs of a group tolerate without saying so."""
        return gcp_groups.tolerated(self.node_groups[group])

    def provisioning(self, group: str) -> Mapping[str, str] | None:
        """Parameters by which Kueue asks for a job's nodes; None where the scaler adds them one by one."""
        return gcp_groups.provisioning(self.node_groups[group])

    def levels(self, group: str) -> Sequence[str]:
        """GKE's labels, of nodes that are placed together or reserved: others do not carry them."""
        spec = self.node_groups[group]
        ways = spec.capacity if isinstance(spec.capacity, list) else [spec.capacity]
        together = spec.placement is not None or all(way.kind == "reservation" for way in ways)
        return topology.GCP if spec.interconnect and together and self.fixed(group) else ()

    def device_class(self, group: str) -> str | None:
        """The class of the cards of a group with RDMA."""
        spec = self.node_groups[group]
        return gcp_gpudirect.device_class(spec.machine, spec.interconnect)

    def driver(self, group: str) -> str | None:
        """The driver that the stack says GKE installs."""
        return self.cluster.driver_version

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        yield from problem("tenants", gcp_cluster.check_groups, self.cluster, people(self))
        for name, group in self.node_groups.items():
            path, where = f"node_groups.{name}", (self.cluster.kubernetes, self.cluster.network.addresses)
            yield from problem(path, gcp_groups.check_name, name, group)
            yield from problem(path, gcp_groups.group_zones, group, self.cluster.zones)
            yield from problem(path, gcp_gpudirect.check_cluster, group.machine, group.interconnect, *where)
        extra = {
            name: gcp_upgrade.extra_nodes(self.machine(name), group.upgrade, group.ways, group.nodes)
            for name, group in self.node_groups.items()
        }
        users = {
            name: gcp_capacity.User(group.machine, group.ways, group.nodes, extra[name])
            for name, group in self.node_groups.items()
        }
        yield from gcp_capacity.shared_refusals(users, self.cluster.project)
        room = gcp_cluster.most_nodes(self.cluster.network)
        needed = sum(group.nodes.max + extra[name] for name, group in self.node_groups.items())
        if room is not None and needed > room:
            yield (
                f"cluster.network: its addresses suffice for {room} nodes, and the node groups may need {needed}: "
                "give a wider cidr, or lower nodes.max"
            )

    def _endpoint_problems(self) -> Iterator[str]:
        yield from super()._endpoint_problems()
        for name, endpoint in self.endpoints.items():
            group = self.node_groups.get(endpoint.on)
            if group and group.queued:
                yield (
                    f"endpoints.{name}.on: nodes of {endpoint.on} come for queued jobs alone (flex_start, queued): "
                    "choose another node group, or leave queued out"
                )


def people(spec: PlatformSpec) -> list[str]:
    """Every group of the identity provider that a tenant names."""
    return sorted({group for tenant in spec.tenants.values() for group in (*tenant.groups, *tenant.viewers)})
