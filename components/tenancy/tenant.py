"""A tenant: one team's namespace, with its share of the accelerators, its walls and its people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Self

import pulumi
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from gpuyard.components import namespace
from gpuyard.components.kubernetes import declare, declare_all
from gpuyard.components.namespace import TENANT_LABEL
from gpuyard.components.renaming import renamed
from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.scheduling.kueue import Queued, local_queue
from gpuyard.components.spec import KeyedSpec, Manifest, PartName, Quantity, Spec, Usd
from gpuyard.components.tenancy.access import bindings, role
from gpuyard.components.tenancy.isolation import network_policies
from gpuyard.components.tenancy.share import limits, quotas

TAKEN = ("default", "gpu-operator", "habana-system", "keda", "kueue-system", "monitoring", "neuron", "network-operator")
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
    """Accelerators that are the tenant's own. It pays for them, used or not. What its endpoints may take at the most is
    kept for them, idle or not; its jobs have the rest."""
    borrow: NonNegativeInt = 0
    """Accelerators that it may use on top: nobody's own, or lent by others. A job that borrows is ended, and queued
    again, when their owner needs them; an endpoint is not, so it may only borrow what is nobody's own."""
    lend: NonNegativeInt | None = None
    """Of its own, how many the jobs of others may borrow while its own jobs leave them idle; all when left out. What
    is kept for endpoints is never lent."""

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

    def queued(self, kept: int) -> Queued:
        """What is left of it for jobs, where so many accelerators are kept for endpoints."""
        own = max(self.quota - kept, 0)
        borrow = min(self.borrow, max(self.most - kept, 0))
        return Queued(own, borrow, None if self.lend is None else min(self.lend, own))


class TenantSpec(KeyedSpec):
    """A team that shares the cluster with others."""

    groups: list[GroupName] = Field(min_length=1)
    """Groups of the identity provider whose people deploy and debug here."""
    viewers: list[GroupName] = Field(default_factory=list)
    """Groups whose people only look."""
    accelerators: dict[PartName, ShareSpec] = Field(default_factory=dict)
    """The tenant's share of each node group. Every pod that takes accelerators names its group, by the priority class
    gpuyard-<group> and the group's node selector, and is counted against this share; any other gets none. Of a group
    whose GPUs are divided, a share is one of slices, or of places on a GPU; where it has slices of several MIG
    profiles, each has shares of its own: slices/1g.10gb, with the class gpuyard-slices-1g.10gb."""
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
        groups: Mapping[str, AcceleratorGroup],
        kubernetes: str,
        labels: Mapping[str, str] | None = None,
        needs: Sequence[pulumi.Resource] = (),
        protect: bool = False,
        namespace_exists: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`groups` is every accelerator group of the cluster by its key, `kubernetes` the cluster's minor version.
        `needs` is what must be there before the namespace, and go after it: the tenant's queue, the policy that keeps
        its pods to their groups, and the controllers without which what the tenant made of their kinds could not be
        deleted. `protect` keeps the namespace, with which all that the tenant has in it would go.

        With `namespace_exists` nothing is declared: whoever made the namespace owns its quota and its walls, and a
        second owner, here a team with a smaller stack, would take turns with the first one in overwriting them.
        """
        super().__init__("gpuyard:index:Tenant", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        if not namespace_exists:
            known_as = spec.known_as(name)
            space, *inside = manifests(known_as, spec, groups=groups, kubernetes=kubernetes, labels=labels)
            made = declare(name, space, pulumi.ResourceOptions(parent=self, protect=protect, depends_on=list(needs)))
            # They name the namespace as plain text, which no dependency follows from.
            declare_all(name, inside, pulumi.ResourceOptions(parent=self, depends_on=[made]), known_as=known_as)
        self.register_outputs({})


def manifests(
    name: str,
    spec: TenantSpec,
    *,
    groups: Mapping[str, AcceleratorGroup],
    kubernetes: str,
    labels: Mapping[str, str] | None = None,
) -> list[Manifest]:
    """The objects of the tenant that the cluster knows as `name`, its namespace first.

    `groups` is every accelerator group by its key; where there is none, there are no queues. `labels` go on the
    namespace, for whoever adds up costs.
    """
    objects = [
        *network_policies(),
        *quotas(_shares(spec, groups), groups=groups.values(), cpu=spec.cpu, memory=spec.memory),
        limits(),
        role(),
        *bindings(spec.groups, spec.viewers),
        *([local_queue(name)] if groups else []),
        *network_settings(groups[group] for group in spec.accelerators),
        *network_claims(groups[group] for group in spec.accelerators),
    ]
    for item in objects:
        item["metadata"] |= {"namespace": name, "labels": {TENANT_LABEL: name}}
    return [namespace.restricted(name, kubernetes, {**(labels or {}), TENANT_LABEL: name}), *objects]


def network_settings(groups: Iterable[AcceleratorGroup]) -> list[Manifest]:
    """What containers set to use the fast network of a group's nodes, for them to load by envFrom."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"nccl-{group.name}"},
            "data": dict(group.settings),
        }
        for group in groups
        if group.settings
    ]


def network_claims(groups: Iterable[AcceleratorGroup]) -> list[Manifest]:
    """By which pods claim all cards of their node, where a group's nodes have them handed out. Tenants write none of
    their own: a claim may be of any class of devices, and quotas count none."""
    every = {"allocationMode": "All"}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": f"rdma-{group.name}"},
            "spec": {
                "spec": {
                    "devices": {
                        "requests": [{"name": "cards", "exactly": {"deviceClassName": group.device_class, **every}}]
                    }
                }
            },
        }
        for group in groups
        if group.device_class
    ]


def _shares(spec: TenantSpec, groups: Mapping[str, AcceleratorGroup]) -> dict[str, int]:
    """The most that a tenant may hold of each group, by the name that the cluster knows it by."""
    return {groups[group].name: share.most for group, share in spec.accelerators.items()}


def problems(
    tenants: Mapping[str, TenantSpec], accelerators: Mapping[str, int], served: Mapping[tuple[str, str], int]
) -> list[str]:
    """What tenants say that their cluster cannot do, one sentence each, which starts with its path.

    `accelerators` is the most that each node group of the cluster ever has; 0 for a group without any. `served` is the
    most that the endpoints of a tenant take of a group.
    """
    found = []
    for name, spec in tenants.items():
        taken = [key for key in dict.fromkeys((name, spec.known_as(name))) if key in TAKEN or key.startswith("kube-")]
        found += [
            f"tenants.{name}: a namespace {key} has another use in the cluster: choose another name" for key in taken
        ]
        for group, share in spec.accelerators.items():
            path = f"tenants.{name}.accelerators.{group}"
            if slices := sorted(part for part in accelerators if part.startswith(f"{group}/")):
                found.append(f"{path}: the GPUs of this node group are cut: give a share of {' or '.join(slices)}")
            elif group not in accelerators:
                known = ", ".join(sorted(group for group, count in accelerators.items() if count)) or "none"
                found.append(f"{path}: there is no such node group: groups with accelerators are {known}")
            elif not accelerators[group]:
                found.append(f"{path}: the machines of this node group have no accelerator: take it out")
            elif share.most > accelerators[group]:
                found.append(
                    f"{path}: quota {share.quota} and borrow {share.borrow} are {share.most} accelerators, and the "
                    f"group never has more than {accelerators[group]}: lower them, or raise the group's nodes.max"
                )
    for group, count in accelerators.items():
        found += _promised_twice(group, count, tenants, served)
    return found


def _promised_twice(
    group: str, count: int, tenants: Mapping[str, TenantSpec], served: Mapping[tuple[str, str], int]
) -> Iterator[str]:
    """Whether a group that never has more than `count` accelerators cannot keep what its tenants' quotas promise."""
    shares = {name: spec.accelerators[group] for name, spec in tenants.items() if group in spec.accelerators}
    if any(share.most > count for share in shares.values()):
        return  # It has its own sentence.
    quotas = {name: share.quota for name, share in shares.items() if share.quota}
    total = sum(quotas.values())
    if total > count:
        each = ", ".join(f"{name} {quota}" for name, quota in quotas.items())
        yield (
            f"tenants: their quotas of {group} are {total} accelerators ({each}), and the group never has more than "
            f"{count}: lower them, or raise the group's nodes.max"
        )
        return
    beyond = {name: min(served.get((name, group), 0), share.most) - share.quota for name, share in shares.items()}
    borrowing = {name: excess for name, excess in beyond.items() if excess > 0}
    if total + sum(borrowing.values()) > count:
        name, excess = next(iter(borrowing.items()))
        yield (
            f"tenants.{name}.accelerators.{group}: endpoints may take {excess} accelerators more than the quota "
            f"{shares[name].quota}, and do not give them back, but only {count - total} are nobody's own: "
            "lower replicas.max, or raise quota"
        )
