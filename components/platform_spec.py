"""What every platform says, whatever its cloud, and what its parts demand of each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components import renaming
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups import base
from gpuyard.components.node_groups.offers import Offer, offers, part_name
from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.serving import compatibility
from gpuyard.components.serving import placement as serving
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.spec import LabelValue, Name, Spec
from gpuyard.components.tenancy import divided
from gpuyard.components.tenancy import tenant as tenancy


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
        found = [*self._cluster_problems(), *self._tenant_problems(), *self._endpoint_problems()]
        for part in ("node_groups", "tenants", "endpoints"):
            found += renaming.problems(part, getattr(self, part))
        if found:
            raise ValueError("\n".join(found))
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

    def offers(self, group: str) -> tuple[Offer, ...]:
        """What a node of a group offers."""
        return offers(self.machine(group), self.node_groups[group].partition)

    def part(self, name: str) -> tuple[str, Offer | None]:
        """The node group that tenants and endpoints mean by a name, and what they take of it: its slices of one profile
        in the case of <group>/<profile>. None where the group does not offer that."""
        group, _, profile = name.partition("/")
        found = (offer for offer in self.offers(group) if (offer.part or "") == profile)
        return group, next(found, None)

    def parts(self) -> dict[str, tuple[str, Offer | None]]:
        """All names that `part` understands; a group without accelerators is one too."""
        return {
            name: self.part(name)
            for group in self.node_groups
            for name in [f"{group}/{offer.part}" if offer.part else group for offer in self.offers(group)] or [group]
        }

    def selector(self, group: str) -> dict[str, str]:
        """Labels by which a pod finds a node of a group."""
        return base.node_labels(self.node_groups[group].known_as(group), {})

    def taints(self, group: str) -> Sequence[base.Taint]:
        """Taints of a group's nodes, as far as they are known, beside the one that keeps pods off accelerators."""
        return ()

    def tolerated(self, group: str) -> Sequence[str]:
        """Keys of taints that jobs of a group tolerate without saying so, beside the one of its accelerators."""
        return ()

    def provisioning(self, group: str) -> Mapping[str, str] | None:
        """Parameters by which Kueue asks for a job's nodes; None where the scaler adds them one by one."""
        return None

    @abstractmethod
    def priority_class(self, part: str) -> str | None:
        """PriorityClass by which the cluster's quotas tell a group from others; None where they do not."""

    def levels(self, group: str) -> Sequence[str]:
        """Labels of a group's nodes that say how near they are to each other, the farthest level first; none where jobs
        do not choose by it."""
        return ()

    def settings(self, group: str) -> Mapping[str, str]:
        """Environment variables of a pod that talks over the fast network of a group's nodes."""
        return {}

    def device_class(self, group: str) -> str | None:
        """Class of the devices that a pod claims to use the fast network of a group's nodes; None where it claims
        none."""
        return None

    def machine(self, group: str) -> catalogue.Machine:
        """The machine of a group."""
        return catalogue.machine(self.node_groups[group].machine)

    def accelerators(self, part: str) -> int:
        """What a group ever has of what it offers: accelerators, or parts of them."""
        group, offer = self.part(part)
        return self.most_nodes(group) * offer.a_node if offer else 0

    def known_as(self, part: str) -> str:
        """The name by which the cluster knows a group, or its slices of one profile."""
        group, offer = self.part(part)
        return part_name(self.node_groups[group].known_as(group), offer)

    def accelerator_groups(self) -> dict[str, AcceleratorGroup]:
        """Every group with accelerators, as quotas and queues see it, by its key; where it has slices of several
        profiles, each of them."""
        return {
            part: AcceleratorGroup(
                name=self.known_as(part),
                resource=offer.resource,
                accelerators=self.accelerators(part),
                selector=self.selector(group),
                taints=self.taints(group),
                taint=offer.taint,
                tolerated=self.tolerated(group),
                provisioning=self.provisioning(group),
                levels=self.levels(group),
                settings=self.settings(group),
                device_class=self.device_class(group),
            )
            for part, (group, offer) in self.parts().items()
            if offer
        }

    def served(self, tenant: str, group: str) -> int:
        """Accelerators of a group that the endpoints of a tenant take at the most."""
        return sum(
            e.replicas.max * e.accelerators for e in self.endpoints.values() if (e.tenant, e.on) == (tenant, group)
        )

    def spare(self, tenant: str, group: str) -> int:
        """Accelerators of a group that a tenant's endpoints may take for a rollout: left in its share, and promised to
        nobody else."""
        share = self.tenants[tenant].accelerators.get(group)
        if share is None:
            return 0
        served = self.served(tenant, group)
        promised = sum(
            max(other.accelerators[group].quota, self.served(name, group))
            for name, other in self.tenants.items()
            if group in other.accelerators
        )
        left = max(share.quota - served, 0) + self.accelerators(group) - promised
        return max(min(share.most - served, left), 0)

    def promised(self, group: str) -> int:
        """Accelerators of a group that all tenants together may hold, borrowed ones included."""
        shares = [tenant.accelerators[group].most for tenant in self.tenants.values() if group in tenant.accelerators]
        return min(sum(shares), self.accelerators(group))

    def placement(self, part: str, tenant: str) -> serving.Placement:
        """A group, as an endpoint of a tenant sees it."""
        group, offer = self.part(part)
        return serving.Placement(
            group=part,
            namespace=self.tenants[tenant].known_as(tenant),
            machine=self.machine(group),
            nodes=self.most_nodes(group),
            selector=self.selector(group),
            offer=offer,
            region=self.region,
            prometheus=self.prometheus,
            spare=self.spare(tenant, part),
            promised=self.promised(part),
            priority_class=self.priority_class(part),
            taints=self.taints(group),
            driver=self.driver(group),
        )

    def driver(self, group: str) -> str | None:
        """NVIDIA's driver on the nodes of a group, by version or branch; None where it is not known."""
        return None

    def _cluster_problems(self) -> Iterator[str]:
        for group in self.node_groups:
            if refusal := compatibility.group_problem(self.machine(group), self.driver(group)):
                yield f"node_groups.{group}: {refusal}"

    def _tenant_problems(self) -> list[str]:
        there = {part: self.accelerators(part) for part in self.parts()}
        served = {(tenant, part): self.served(tenant, part) for tenant in self.tenants for part in there}
        return [
            *tenancy.problems(self.tenants, there, served),
            *divided.problems(self.node_groups, self.tenants, self.endpoints),
        ]

    def _endpoint_problems(self) -> Iterator[str]:
        taken: dict[tuple[str, str], int] = {}
        there = self.parts()
        for name, endpoint in self.endpoints.items():
            if endpoint.tenant not in self.tenants:
                yield f"endpoints.{name}.tenant: there is no tenant {endpoint.tenant}: {_choices(self.tenants)}"
            elif endpoint.on not in there:
                yield f"endpoints.{name}.on: there is no node group {endpoint.on}: {_choices(there)}"
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


def _choices(known: Mapping[str, Any]) -> str:
    return f"give one of {', '.join(known)}" if known else "add one first"
