"""One stack file as one spec: the platform of each cloud, how it is read, and its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from gpuyard import catalogue
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import base
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.platform_spec import ManagedPlatformSpec, PlatformSpec
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

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        zones = list(self.cluster.network.zones)
        for name, group in self.node_groups.items():
            yield from _problem(f"node_groups.{name}", aws_groups.group_zones, group, zones)


class GcpPlatformSpec(CloudPlatformSpec):
    """A platform on Google GKE."""

    cluster: gcp_cluster.ClusterSpec
    """The GKE cluster."""
    node_groups: dict[Name, gcp_groups.NodeGroupSpec]
    """Node pools."""

    def image(self, group: str) -> str:
        """Image type of a group."""
        return gcp_groups.IMAGE_TYPE

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        yield from _problem("tenants", gcp_cluster.check_groups, self.cluster, people(self))
        for name, group in self.node_groups.items():
            yield from _problem(f"node_groups.{name}", gcp_groups.check_name, name)
            yield from _problem(f"node_groups.{name}", gcp_groups.group_zones, group, self.cluster.zones)
        room = gcp_cluster.most_nodes(self.cluster.network)
        # A group without accelerators is upgraded by one node more than it has.
        needed = sum(g.nodes.max + (self.machine(name).accelerators == 0) for name, g in self.node_groups.items())
        if room is not None and needed > room:
            yield (
                f"cluster.network: its addresses suffice for {room} nodes, and the node groups may need {needed}: "
                "give a wider cidr, or lower nodes.max"
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

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        found = self.node_groups[group]
        return onprem_groups.node_selector(found.known_as(group), found)

    def image(self, group: str) -> str:
        """Who brings the driver."""
        return self.cluster.driver

    def _cluster_problems(self) -> Iterator[str]:
        yield from super()._cluster_problems()
        owner: dict[str, str] = {}
        patches: dict[str, tuple[str, str]] = {}
        for name, group in self.node_groups.items():
            for node in group.names:
                other, its = patches.setdefault(onprem_groups.patch_name(name, node), (name, node))
                if other != name and its != node:
                    yield (
                        f"node_groups.{name}: its node {node} and node {its} of group {other} would both be "
                        f"{onprem_groups.patch_name(name, node)} in the stack's state: give the group another name"
                    )
            if twice := [node for node in group.names if owner.setdefault(node, name) != name]:
                first = owner[twice[0]]
                yield f"node_groups.{name}.names: {', '.join(twice)} of group {first}: name each node in one group"


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

    def most_nodes(self, group: str) -> int:
        """Nodes that a group has."""
        return self.node_groups[group].count

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        return existing_groups.node_selector(self.node_groups[group])

    def priority_class(self, group: str) -> str | None:
        """PriorityClass by which the cluster's quotas tell a group from others."""
        return existing_groups.priority_class(self.node_groups[group])


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
