"""A platform: the cluster, its nodes, the software that makes GPUs usable, tenants and endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from gpuyard.components import foundation
from gpuyard.components.accelerators import nvidia
from gpuyard.components.accelerators.nvidia import NvidiaSoftware
from gpuyard.components.monitoring.monitoring import Monitoring
from gpuyard.components.platform_spec import ManagedPlatformSpec, PlatformSpec
from gpuyard.components.scheduling.keda import Keda
from gpuyard.components.serving.endpoint import Endpoint
from gpuyard.components.stack import ExistingPlatformSpec
from gpuyard.components.tenancy.tenant import Tenant

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
        shared = _shared_software(spec, ground.ready, inside) if isinstance(spec, ManagedPlatformSpec) else []
        tenants = _tenants(spec, inside)
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
    """Monitoring, NVIDIA's software and KEDA, as far as the platform needs them; returns what endpoints wait for."""
    common: dict[str, Any] = {"artifacts": spec.artifacts, "needs": ready, "opts": inside}
    monitoring = Monitoring("monitoring", spec.monitoring, **common) if spec.monitoring else None
    if images := spec.nvidia_images():
        software = nvidia.decide(spec.cluster.cloud, images)
        NvidiaSoftware("nvidia", software, monitors=monitoring.release if monitoring else None, **common)
    brought = [monitoring.release] if monitoring else []
    if any(endpoint.autoscaled for endpoint in spec.endpoints.values()):
        brought.append(Keda("keda", kubernetes=spec.cluster.kubernetes, **common).release)
    return brought


def _tenants(spec: PlatformSpec, inside: pulumi.ResourceOptions) -> dict[str, Tenant]:
    resources = {group: spec.machine(group).resource for group in spec.node_groups}
    return {
        name: Tenant(
            name,
            tenant,
            resources={group: resource for group, resource in resources.items() if resource},
            kubernetes=spec.cluster.kubernetes,
            labels=labels(spec),
            namespace_exists=isinstance(spec, ExistingPlatformSpec),
            opts=inside,
        )
        for name, tenant in spec.tenants.items()
    }
