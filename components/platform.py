"""A platform: the cluster, its nodes, the software that makes GPUs usable, tenants and endpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from gpuyard.components import foundation
from gpuyard.components.accelerators.efa_plugin import EfaPlugin
from gpuyard.components.accelerators.families import AcceleratorSoftware
from gpuyard.components.accelerators.network_operator import NetworkOperator
from gpuyard.components.accelerators.nvidia import NvidiaSoftware
from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.monitoring.monitoring import Monitoring
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.scheduling.groups import GroupClasses
from gpuyard.components.scheduling.keda import Keda
from gpuyard.components.scheduling.kueue import Kueue
from gpuyard.components.serving.endpoint import Endpoint
from gpuyard.components.tenancy.tenant import Tenant
from gpuyard.components.tenancy.walls import TenantWalls

__all__ = ["Platform", "labels", "tags"]


class Platform(pulumi.ComponentResource):
    """Everything that one stack file describes."""

    urls: dict[str, pulumi.Output[str]]
    """Where each endpoint is reached from its tenant's namespace."""

    def __init__(self, name: str, spec: PlatformSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpuyard:index:Platform", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        ground = foundation.declare(name, spec, tags(spec, name), child)
        inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=ground.kubernetes))
        shared: list[pulumi.Resource] = []
        before: dict[str, list[pulumi.Resource]] = {}
        if isinstance(spec, ManagedPlatformSpec):
            shared = _shared_software(spec, ground.ready, inside)
            before = _sharing(spec, ground.ready, inside)
        # A namespace goes before what its volumes, and the objects of others' kinds in it, need for their own end.
        before = {name: [*ground.ready, *shared, *before.get(name, [])] for name in spec.tenants}
        tenants = _tenants(spec, before, inside)
        self.urls = {
            endpoint: Endpoint(
                endpoint,
                part,
                placement=spec.placement(part.on, part.tenant),
                artifacts=spec.artifacts,
                labels=labels(spec),
                needs=[tenants[part.tenant], *shared],
                opts=inside,
            ).url
            for endpoint, part in spec.endpoints.items()
        }
        self.register_outputs({"urls": self.urls})


def tags(spec: PlatformSpec, stack: str) -> dict[str, str]:
    """Tags of everything that costs money."""
    return {"owner": spec.owner, "cost-center": spec.cost_center, "stack": stack}


def labels(spec: PlatformSpec) -> dict[str, str]:
    """The same for objects in the cluster, under gpuyard's own prefix."""
    return {"gpuyard.io/owner": spec.owner, "gpuyard.io/cost-center": spec.cost_center}


def _shared_software(
    spec: ManagedPlatformSpec, ready: Sequence[pulumi.Resource], inside: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Monitoring, KEDA, and the software of accelerators and of their networks, as far as the platform needs them;
    returns what tenants and endpoints wait for, and must be gone before."""
    common: dict[str, Any] = {"artifacts": spec.artifacts, "needs": ready, "opts": inside}
    monitoring = Monitoring("monitoring", spec.monitoring, protect=spec.protect, **common) if spec.monitoring else None
    cards = spec.infiniband()
    release = monitoring.release if monitoring else None
    if software := spec.nvidia_software():
        NvidiaSoftware("nvidia", software, monitors=release, **common)
    for family, there in spec.families():
        AcceleratorSoftware(family, there, monitors=release, **common)
    if groups := spec.with_efa():
        EfaPlugin("efa", groups, **common)
    if cards:
        NetworkOperator("network-operator", cards, **common)
    if monitoring is None:
        return []
    # Whether or not this stack has an endpoint that scales: tenants and their own stacks may, and would lose theirs.
    return [monitoring.release, Keda("keda", kubernetes=spec.cluster.kubernetes, **common).release]


def _sharing(
    spec: ManagedPlatformSpec, ready: Sequence[pulumi.Resource], inside: pulumi.ResourceOptions
) -> dict[str, list[pulumi.Resource]]:
    """What keeps tenants apart, and shares the accelerators out among them; returns what the namespace of each of them
    waits for."""
    groups = list(spec.accelerator_groups().values())
    if not spec.tenants:
        return {}
    walls = TenantWalls("walls", opts=inside)
    if not groups:
        return {name: [walls] for name in spec.tenants}
    classes = GroupClasses("groups", groups, opts=inside)
    kueue = Kueue(
        "kueue",
        groups,
        tenants=spec.queued(),
        free=spec.free(),
        kubernetes=spec.cluster.kubernetes,
        artifacts=spec.artifacts,
        needs=ready,
        opts=inside,
    )
    return {name: [walls, classes, kueue.queues[tenant.known_as(name)]] for name, tenant in spec.tenants.items()}


def _tenants(
    spec: PlatformSpec, before: Mapping[str, Sequence[pulumi.Resource]], inside: pulumi.ResourceOptions
) -> dict[str, Tenant]:
    groups = spec.accelerator_groups()
    return {
        name: Tenant(
            name,
            tenant,
            groups=groups,
            kubernetes=spec.cluster.kubernetes,
            labels=labels(spec),
            needs=before[name],
            protect=isinstance(spec, ManagedPlatformSpec) and spec.protect,
            namespace_exists=not isinstance(spec, ManagedPlatformSpec),
            opts=inside,
        )
        for name, tenant in spec.tenants.items()
    }
