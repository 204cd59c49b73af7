"""A tenant: one team's namespace, with its share of the accelerators, its walls and its people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

import pulumi
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from gpuyard.components import namespace
from gpuyard.components.kubernetes import declare, declare_all
from gpuyard.components.spec import Manifest, Name, Quantity, Spec, Usd
from gpuyard.components.tenancy.access import bindings, role
from gpuyard.components.tenancy.isolation import network_policies
from gpuyard.components.tenancy.share import limits, quota

TENANT_LABEL = "gpuyard.io/tenant"
"""The namespace of a tenant, and everything that gpuyard puts there, carries the tenant's name under this key."""

TAKEN = ("default", "gpu-operator", "keda", "monitoring")
"""Namespaces that are there already, or that gpuyard makes for software of the cluster."""


def _of_the_provider(group: str) -> str:
    if group.startswith("system:"):
        raise ValueError(
            f"group {group!r} is Kubernetes' own, and holds everybody or rules the cluster: "
            "name a group of the identity provider"
        )
    return group


GroupName = Annotated[str, Field(pattern=r"^\S(.{0,253}\S)?$"), AfterValidator(_of_the_provider)]
"""A group as the cluster's identity provider calls it."""


class ShareSpec(Spec):
    """What a tenant gets of one node group, in accelerators."""

    quota: NonNegativeInt
    """Accelerators that are the tenant's own. It pays for them, used or not."""
    borrow: NonNegativeInt = 0
    """Accelerators that it may use on top while nobody else needs them."""
    lend: NonNegativeInt | None = None
    """Of its own, how many others may use while they are idle; all when left out. Queues act on it: without them an
    idle accelerator is simply free."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.lend is not None and self.lend > self.quota:
            raise ValueError(f"lend {self.lend} is above quota {self.quota}: nobody lends more than is theirs")
        if self.quota + self.borrow == 0:
            raise ValueError("quota and borrow are both 0, which is no share: raise one, or take the group out")
        return self

    @property
    def most(self) -> int:
        """Accelerators that the tenant may hold at once."""
        return self.quota + self.borrow


class TenantSpec(Spec):
    """A team that shares the cluster with others."""

    groups: list[GroupName] = Field(min_length=1)
    """Groups of the identity provider whose people deploy and debug here."""
    viewers: list[GroupName] = Field(default_factory=list)
    """Groups whose people only look."""
    accelerators: dict[Name, ShareSpec] = Field(default_factory=dict)
    """The tenant's share of each node group. Groups whose accelerators share a resource name, as all of NVIDIA's do,
    are capped as one sum: the namespace's quota cannot tell them apart."""
    monthly_budget: Usd
    """What the tenant's accelerators may cost a month, borrowed ones included."""
    cpu: PositiveInt | None = None
    """Cores that all its pods together may request; no limit when left out."""
    memory: Quantity | None = None
    """Memory that all its pods together may request; no limit when left out."""

    @model_validator(mode="after")
    def _each_group_once(self) -> Self:
        everyone = [*self.groups, *self.viewers]
        if twice := sorted({group for group in everyone if everyone.count(group) > 1}):
            raise ValueError(f"group {', '.join(twice)} is named twice: name it under groups or under viewers, once")
        return self


class Tenant(pulumi.ComponentResource):
    """Everything that makes a namespace one team's, and keeps the team inside it."""

    def __init__(
        self,
        name: str,
        spec: TenantSpec,
        *,
        resources: Mapping[str, str],
        kubernetes: str,
        labels: Mapping[str, str] | None = None,
        namespace_exists: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`resources` is the resource name of every accelerator group of the cluster, `kubernetes` its minor version.

        With `namespace_exists` nothing is declared: whoever made the namespace owns its quota and its walls, and a
        second owner, here a team with a smaller stack, would take turns with the first one in overwriting them.
        """
        super().__init__("gpuyard:index:Tenant", name, spec.model_dump(mode="json"), opts)
        if not namespace_exists:
            space, *inside = manifests(name, spec, resources=resources, kubernetes=kubernetes, labels=labels)
            made = declare(name, space, pulumi.ResourceOptions(parent=self))
            # They name the namespace as plain text, which no dependency follows from.
            declare_all(name, inside, pulumi.ResourceOptions(parent=self, depends_on=[made]))
        self.register_outputs({})


def manifests(
    name: str,
    spec: TenantSpec,
    *,
    resources: Mapping[str, str],
    kubernetes: str,
    labels: Mapping[str, str] | None = None,
) -> list[Manifest]:
    """The tenant's objects, its namespace first. `labels` go on the namespace, for whoever adds up costs."""
    shares = {group: share.most for group, share in spec.accelerators.items()}
    objects = [
        *network_policies(),
        quota(shares, resources=resources, cpu=spec.cpu, memory=spec.memory),
        limits(),
        role(),
        *bindings(spec.groups, spec.viewers),
    ]
    for item in objects:
        item["metadata"] |= {"namespace": name, "labels": {TENANT_LABEL: name}}
    return [namespace.restricted(name, kubernetes, {**(labels or {}), TENANT_LABEL: name}), *objects]


def problems(tenants: Mapping[str, TenantSpec], accelerators: Mapping[str, int]) -> list[str]:
    """What tenants say that their cluster cannot do, one sentence each, which starts with its path.

    `accelerators` is the most that each node group of the cluster ever has; 0 for a group without any.
    """
    found = []
    for name, spec in tenants.items():
        if name in TAKEN or name.startswith("kube-"):
            found.append(
                f"tenants.{name}: a namespace of this name has another use in the cluster: choose another name"
            )
        for group, share in spec.accelerators.items():
            path = f"tenants.{name}.accelerators.{group}"
            if group not in accelerators:
                known = ", ".join(sorted(group for group, count in accelerators.items() if count)) or "none"
                found.append(f"{path}: there is no such node group: groups with accelerators are {known}")
            elif not accelerators[group]:
                found.append(f"{path}: the machines of this node group have no accelerator: take it out")
            elif share.most > accelerators[group]:
                found.append(
                    f"{path}: quota {share.quota} and borrow {share.borrow} are {share.most} accelerators, and the "
                    f"group never has more than {accelerators[group]}: lower them, or raise the group's nodes.max"
                )
    return found
