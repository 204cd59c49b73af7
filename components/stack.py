"""One stack file as one spec: the platform of each cloud, and what its parts demand of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, TypeAdapter, model_validator

from gpuyard import catalogue
from gpuyard.components.accelerators import nvidia
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.monitoring import monitoring as metrics
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import base
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.serving import placement as serving
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.spec import LabelValue, Name, Spec
from gpuyard.components.tenancy import tenant as tenancy
from gpuyard.components.validation import InvalidStack, validate

NVIDIA = "nvidia.com/gpu"

PROMETHEUS = f"http://{metrics.CHART}-prometheus.{metrics.NAMESPACE}.svc:9090"
"""Where the chart's Prometheus answers inside the cluster; the release has the chart's name."""

ROOT = "gpuyard:platform"
"""How the stack's one key is called in messages."""


class PlatformSpec(Spec):
    """What every platform says, whatever its cloud."""

    owner: Annotated[LabelValue, Field(min_length=1)]
    """Team that answers for the platform; a tag of everything that costs money."""
    cost_center: Annotated[LabelValue, Field(min_length=1)]
    """Where its cost is booked, quoted: "4711"; a tag too."""
    artifacts: ArtifactsSpec = ArtifactsSpec()
    """Mirrors of images and charts."""
    cluster: Spec
    node_groups: Mapping[str, base.NodeGroupSpec]
    tenants: dict[Name, tenancy.TenantSpec] = Field(default_factory=dict)
    """Teams that share the cluster, by namespace."""
    endpoints: dict[Name, EndpointSpec] = Field(default_factory=dict)
    """Models that are served."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if problems := [*self._cluster_problems(), *self._tenant_problems(), *self._endpoint_problems()]:
            raise ValueError("\n".join(problems))
        return self

    @property
    def prometheus(self) -> str | None:
        """Address of the Prometheus that measures the cluster."""
        return None

    @property
    def region(self) -> str | None:
        """Region of the cluster, where it has one."""
        return None

    def most_nodes(self, group: str) -> int:
        """Nodes that a group can have."""
        raise NotImplementedError

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        return base.node_labels(group, {})

    def machine(self, group: str) -> catalogue.Machine:
        """The machine of a group."""
        return catalogue.machine(self.node_groups[group].machine)

    def placement(self, group: str) -> serving.Placement:
        """A group, as an endpoint sees it."""
        return serving.Placement(
            group=group,
            machine=self.machine(group),
            nodes=self.most_nodes(group),
            selector=self.selector(group),
            region=self.region,
            prometheus=self.prometheus,
        )

    def _cluster_problems(self) -> Iterator[str]:
        yield from ()

    def _tenant_problems(self) -> list[str]:
        accelerators = {g: self.most_nodes(g) * self.machine(g).accelerators for g in self.node_groups}
        return tenancy.problems(self.tenants, accelerators)

    def _endpoint_problems(self) -> Iterator[str]:
        taken: dict[tuple[str, str], int] = {}
        for name, endpoint in self.endpoints.items():
            if endpoint.tenant not in self.tenants:
                yield f"endpoints.{name}.tenant: there is no tenant {endpoint.tenant}: {_choices(self.tenants)}"
            elif endpoint.on not in self.node_groups:
                yield f"endpoints.{name}.on: there is no node group {endpoint.on}: {_choices(self.node_groups)}"
            else:
                yield from serving.problems(name, endpoint, self.placement(endpoint.on))
                share = endpoint.tenant, endpoint.on
                taken[share] = taken.get(share, 0) + endpoint.replicas.max * endpoint.accelerators
        for (tenant, group), count in taken.items():
            given = self.tenants[tenant].accelerators.get(group)
            if given is None:
                yield (
                    f"tenants.{tenant}.accelerators: endpoints of {tenant} run on {group}, of which it has no share: "
                    f"give it a quota of {count}"
                )
            elif count > given.most:
                yield (
                    f"tenants.{tenant}.accelerators.{group}: endpoints may take {count} accelerators, and quota "
                    f"{given.quota} and borrow {given.borrow} allow {given.most}: lower replicas.max, or raise quota"
                )


class ManagedPlatformSpec(PlatformSpec):
    """A platform whose cluster-wide software is gpuyard's: all but those on clusters that others run."""

    monitoring: metrics.MonitoringSpec | None = None
    """Prometheus, alerts and where they go; none when left out."""

    @property
    def prometheus(self) -> str | None:
        """Address of the Prometheus that measures the cluster."""
        return PROMETHEUS if self.monitoring else None

    def nvidia_images(self) -> dict[str, str]:
        """Node image of every group with NVIDIA GPUs: by it one knows what software the nodes bring."""
        return {group: self.image(group) for group in self.node_groups if self.machine(group).resource == NVIDIA}

    def image(self, group: str) -> str:
        """Node image of a group."""
        raise NotImplementedError

    def _cluster_problems(self) -> Iterator[str]:
        try:
            if images := self.nvidia_images():
                nvidia.decide(self.cluster_cloud, images)
        except ValueError as error:
            yield f"node_groups: {error}"

    @property
    def cluster_cloud(self) -> str:
        """The cluster's discriminator."""
        return str(self.cluster.cloud)


class AwsPlatformSpec(ManagedPlatformSpec):
    """A platform on Amazon EKS."""

    cluster: aws_cluster.ClusterSpec
    """The EKS cluster."""
    node_groups: dict[Name, aws_groups.NodeGroupSpec]
    """Managed node groups."""

    @property
    def region(self) -> str | None:
        """Region of the cluster."""
        return self.cluster.region

    def most_nodes(self, group: str) -> int:
        """Nodes that a group can have."""
        return self.node_groups[group].nodes.max

    def image(self, group: str) -> str:
        """AMI type of a group."""
        return aws_groups.node_image(self.node_groups[group])

    def _cluster_problems(self) -> Iterator[str]:
        yield from _system_problems(self.node_groups)
        yield from super()._cluster_problems()
        zones = list(self.cluster.network.zones)
        for name, group in self.node_groups.items():
            yield from _problem(f"node_groups.{name}", aws_groups.group_zones, group, zones)


class GcpPlatformSpec(ManagedPlatformSpec):
    """A platform on Google GKE."""

    cluster: gcp_cluster.ClusterSpec
    """The GKE cluster."""
    node_groups: dict[Name, gcp_groups.NodeGroupSpec]
    """Node pools."""

    @property
    def region(self) -> str | None:
        """Region of the cluster."""
        return self.cluster.region

    def most_nodes(self, group: str) -> int:
        """Nodes that a group can have."""
        return self.node_groups[group].nodes.max

    def image(self, group: str) -> str:
        """Image type of a group."""
        return gcp_groups.IMAGE_TYPE

    def _cluster_problems(self) -> Iterator[str]:
        yield from _system_problems(self.node_groups)
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
        return onprem_groups.node_selector(group, self.node_groups[group])

    def image(self, group: str) -> str:
        """Who brings the driver."""
        return self.cluster.driver


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
        return existing_groups.node_selector(group, self.node_groups[group])


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
    if isinstance(spec, GcpPlatformSpec):
        for problem in _problem("stack", gcp_cluster.check_name, stack):
            raise InvalidStack(problem)
    return spec


def stack_schema() -> dict[str, Any]:
    """The JSON schema of a stack file."""
    platform = TypeAdapter(AwsPlatformSpec | GcpPlatformSpec | OnPremPlatformSpec | ExistingPlatformSpec)
    found = platform.json_schema(ref_template="#/$defs/{model}")
    definitions = found.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A gpuyard stack",
        "type": "object",
        "properties": {"config": {"type": "object", "properties": {ROOT: found}, "required": [ROOT]}},
        "required": ["config"],
        "$defs": definitions,
    }


def people(spec: PlatformSpec) -> list[str]:
    """Every group of the identity provider that a tenant names."""
    return sorted({group for tenant in spec.tenants.values() for group in (*tenant.groups, *tenant.viewers)})


def _system_problems(groups: Mapping[str, aws_groups.NodeGroupSpec | gcp_groups.NodeGroupSpec]) -> Iterator[str]:
    if not any(catalogue.machine(g.machine).resource is None and not g.taints and g.nodes.min for g in groups.values()):
        yield (
            "node_groups: none has a machine without accelerators, no taints and nodes.min of 1 or more, so the "
            "cluster's own pods would have no node: add one, such as system"
        )


def _problem(path: str, check: Any, *arguments: Any) -> Iterator[str]:
    try:
        check(*arguments)
    except ValueError as error:
        yield f"{path}: {error}"


def _choices(known: Mapping[str, Any] | Sequence[str]) -> str:
    return f"give one of {', '.join(known)}" if known else "add one first"
