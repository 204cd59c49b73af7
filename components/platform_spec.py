"""What every platform says, whatever its cloud, and what its parts demand of each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.accelerators import nvidia
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.monitoring import monitoring as metrics
from gpuyard.components.node_groups import base
from gpuyard.components.serving import placement as serving
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.spec import LabelValue, Name, Spec
from gpuyard.components.tenancy import tenant as tenancy

NVIDIA = "nvidia.com/gpu"

PROMETHEUS = f"http://{metrics.CHART}-prometheus.{metrics.NAMESPACE}.svc:9090"
"""Where the chart's Prometheus answers inside the cluster; the release has the chart's name."""


class PlatformSpec(Spec):
    """What every platform says, whatever its cloud."""

    owner: Annotated[LabelValue, Field(min_length=1)]
    """Team that answers for the platform; a tag of everything that costs money."""
    cost_center: Annotated[LabelValue, Field(min_length=1)]
    """Where its cost is booked, quoted: "4711"; a tag too."""
    artifacts: ArtifactsSpec = ArtifactsSpec()
    """Mirrors of images and charts."""
    cluster: Any
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

    @abstractmethod
    def most_nodes(self, group: str) -> int:
        """Nodes that a group can have."""

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        return base.node_labels(group, {})

    def machine(self, group: str) -> catalogue.Machine:
        """The machine of a group."""
        return catalogue.machine(self.node_groups[group].machine)

    def placement(self, group: str, tenant: str) -> serving.Placement:
        """A group, as an endpoint of a tenant sees it."""
        share = self.tenants[tenant].accelerators.get(group)
        endpoints = [e for e in self.endpoints.values() if (e.tenant, e.on) == (tenant, group)]
        taken = sum(endpoint.replicas.max * endpoint.accelerators for endpoint in endpoints)
        return serving.Placement(
            group=group,
            machine=self.machine(group),
            nodes=self.most_nodes(group),
            selector=self.selector(group),
            region=self.region,
            prometheus=self.prometheus,
            spare=max(share.most - taken, 0) if share else 0,
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
            elif problems := serving.problems(name, endpoint, self.placement(endpoint.on, endpoint.tenant)):
                yield from problems
            else:
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

    @abstractmethod
    def image(self, group: str) -> str:
        """Node image of a group."""

    def _cluster_problems(self) -> Iterator[str]:
        try:
            if images := self.nvidia_images():
                nvidia.decide(self.cluster.cloud, images)
        except ValueError as error:
            yield f"node_groups: {error}"


def _choices(known: Mapping[str, Any]) -> str:
    return f"give one of {', '.join(known)}" if known else "add one first"
