"""One stack file as one spec: the platform of each cloud, how it is read, and its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from gpuyard import catalogue
from gpuyard.components.accelerators import network_operator, nvidia_driver
from gpuyard.components.accelerators.network_operator import Infiniband
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import base, efa, gcp_gpudirect, gcp_upgrade
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.node_groups.upgrade import DriverUpgrade
from gpuyard.components.platform_spec import NVIDIA, ManagedPlatformSpec, PlatformSpec
from gpuyard.components.scheduling import topology
from gpuyard.components.spec import Name
from gpuyard.components.validation import InvalidStack, validate

ROOT = "gpuyard:platform"
"""How the stack's one key is called in messages."""


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
        version = self.node_groups[group].kubernetes or self.cluster.kubernetes
        return catalogue.node_driver("aws", self.image(group), version)

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        zones = list(self.cluster.network.zones)
        for name, group in self.node_groups.items():
            yield from _problem(f"node_groups.{name}", aws_groups.group_zones, group, zones)
            versions = self.cluster.kubernetes, self.cluster.node_release
            yield from _problem(f"node_groups.{name}", aws_groups.check_version, group, *versions)
        if self.with_efa():
            for refusal in efa.addon_refusals(self.cluster.addons.get("vpc-cni")):
                yield f"cluster.addons: {refusal}"


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

    def driver(self, group: str) -> str | None:
        """The driver that the stack says GKE installs."""
        return self.cluster.driver_version

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        yield from _problem("tenants", gcp_cluster.check_groups, self.cluster, people(self))
        for name, group in self.node_groups.items():
            path, where = f"node_groups.{name}", (self.cluster.kubernetes, self.cluster.network.addresses)
            yield from _problem(path, gcp_groups.check_name, name, group)
            yield from _problem(path, gcp_groups.group_zones, group, self.cluster.zones)
            yield from _problem(path, gcp_gpudirect.check_cluster, group.machine, group.interconnect, *where)
        room = gcp_cluster.most_nodes(self.cluster.network)
        needed = sum(
            group.nodes.max + gcp_upgrade.extra_nodes(self.machine(name), group.upgrade, group.nodes)
            for name, group in self.node_groups.items()
        )
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
        yield from onprem_groups.problems(self.node_groups, self.cluster.kubernetes)

    def _branches(self) -> Iterator[str]:
        """Drivers of groups that the GPU Operator could not find."""
        if self.cluster.driver == "operator":
            for name, group in self.node_groups.items():
                if problem := nvidia_driver.version_problem(group.driver_version):
                    yield f"node_groups.{name}: {problem}"


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

    def priority_class(self, part: str) -> str | None:
        """PriorityClass by which the cluster's quotas tell a group from others."""
        group, offer = self.part(part)
        return existing_groups.priority_class(self.node_groups[group], offer)


LONG_NAME = re.compile(r"gpuyard__components__[a-z_]+?__(?P<cloud>[a-z]+)(_[a-z]+)?__(?P<name>[A-Za-z]+)")

CLOUDS: dict[str, type[PlatformSpec]] = {
    "aws": AwsPlatformSpec,
    "gcp": GcpPlatformSpec,
    "onprem": OnPremPlatformSpec,
    "existing": ExistingPlatformSpec,
}


def load(value: Any, stack: str) -> PlatformSpec:
    """The platform that a stack's configuration describes.

    Raises InvalidStack with one line a problem.
    """
    if value is None:
        raise InvalidStack(f"{ROOT}: stack {stack} does not have this key: put the platform under it")
    if not isinstance(value, dict):
        raise InvalidStack(f"{ROOT}: {value!r} given: give a mapping of keys to values")
    cluster = value.get("cluster")
    cloud = cluster.get("cloud") if isinstance(cluster, dict) else None
    if not isinstance(cloud, str) or cloud not in CLOUDS:
        given = "is missing" if cloud is None else f"is {cloud!r}"
        raise InvalidStack(f"{ROOT}.cluster.cloud: {given}: give one of {', '.join(CLOUDS)}")
    spec = validate(CLOUDS[cloud], value, ROOT)
    check_name = {AwsPlatformSpec: aws_cluster.check_name, GcpPlatformSpec: gcp_cluster.check_name}.get(type(spec))
    if check_name:
        for problem in _problem("stack", check_name, stack):
            raise InvalidStack(problem)
    return spec


def stack_schema() -> dict[str, Any]:
    """The JSON schema of a stack file."""
    platform = TypeAdapter(AwsPlatformSpec | GcpPlatformSpec | OnPremPlatformSpec | ExistingPlatformSpec)
    found = json.loads(LONG_NAME.sub(_short_name, json.dumps(platform.json_schema())))
    definitions = found.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A gpuyard stack",
        "type": "object",
        "properties": {"config": {"type": "object", "properties": {ROOT: found}, "required": [ROOT]}},
        "required": ["config"],
        "$defs": definitions,
    }


def _short_name(long: re.Match[str]) -> str:
    """Where clouds have specs of one name, pydantic spells out modules: aws's ClusterSpec becomes AwsClusterSpec."""
    return f"{long['cloud'].capitalize()}{long['name']}"


def people(spec: PlatformSpec) -> list[str]:
    """Every group of the identity provider that a tenant names."""
    return sorted({group for tenant in spec.tenants.values() for group in (*tenant.groups, *tenant.viewers)})


def hosts_system_pods(group: base.ScaledNodeGroupSpec) -> bool:
    """Whether pods without tolerations run there as soon as it is made."""
    return catalogue.machine(group.machine).resource is None and not group.taints and group.nodes.min > 0


def _problem(path: str, check: Any, *arguments: Any) -> Iterator[str]:
    try:
        check(*arguments)
    except ValueError as error:
        yield f"{path}: {error}"
