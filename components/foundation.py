"""The ground that everything in a cluster stands on: the cluster and its nodes, on each cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_gcp as gcp

from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import aws_services
from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.stack import (
    AwsPlatformSpec,
    ExistingPlatformSpec,
    GcpPlatformSpec,
    OnPremPlatformSpec,
    hosts_system_pods,
    people,
)


@dataclass(frozen=True)
class Foundation:
    """A cluster with nodes."""

    kubernetes: pulumi.ProviderResource
    """Declares objects in the cluster."""
    ready: list[pulumi.Resource]
    """What pods of the cluster's own software need: nodes, and what makes their volumes."""


def declare(name: str, spec: PlatformSpec, tags: Mapping[str, str], child: pulumi.ResourceOptions) -> Foundation:
    """Declares the cluster and the node groups of a platform."""
    match spec:
        case AwsPlatformSpec():
            return _aws(name, spec, tags, child)
        case GcpPlatformSpec():
            return _gcp(name, spec, tags, child)
        case OnPremPlatformSpec():
            return _onprem(name, spec, child)
        case ExistingPlatformSpec():
            return _existing(name, spec, child)
    raise TypeError(f"{type(spec).__name__} has no foundation")


def _aws(name: str, spec: AwsPlatformSpec, tags: Mapping[str, str], child: pulumi.ResourceOptions) -> Foundation:
    provider = aws.Provider(name, **aws_cluster.provider_inputs(spec.cluster), opts=child)
    cloud = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=provider))
    cluster = aws_cluster.Cluster(name, spec.cluster, tags=tags, protect=spec.protect, opts=cloud)
    nodes = pulumi.ResourceOptions.merge(cloud, pulumi.ResourceOptions(depends_on=cluster.ready))
    system = [
        aws_groups.NodeGroup(
            group,
            part,
            cluster_name=cluster.cluster_name,
            node_role_arn=cluster.node_role_arn,
            subnets=cluster.subnets,
            kubernetes_version=spec.cluster.kubernetes,
            tags=tags,
            protect=spec.protect,
            opts=nodes,
        ).group
        for group, part in spec.node_groups.items()
    ]
    first = [group for group, part in zip(system, spec.node_groups.values(), strict=True) if hosts_system_pods(part)]
    inside = pulumi.ResourceOptions.merge(
        child, pulumi.ResourceOptions(providers=[provider, cluster.kubernetes], depends_on=first)
    )
    addons = aws_services.Addons(
        f"{name}-addons", spec.cluster, cluster_name=cluster.cluster_name, tags=tags, opts=inside
    )
    aws_services.Autoscaler(
        f"{name}-autoscaler",
        spec.cluster,
        cluster_name=cluster.cluster_name,
        artifacts=spec.artifacts,
        tags=tags,
        opts=inside,
    )
    return Foundation(cluster.kubernetes, [*first, addons])


def _gcp(name: str, spec: GcpPlatformSpec, tags: Mapping[str, str], child: pulumi.ResourceOptions) -> Foundation:
    provider = gcp.Provider(name, project=spec.cluster.project, region=spec.cluster.region, opts=child)
    cloud = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=provider))
    cluster = gcp_cluster.Cluster(name, spec.cluster, groups=people(spec), tags=tags, protect=spec.protect, opts=cloud)
    pools: list[pulumi.Resource] = []
    # GKE taints a GPU pool by itself only beside a pool without GPUs, and its own pods need one: that one comes first.
    for group, part in sorted(spec.node_groups.items(), key=lambda item: not hosts_system_pods(item[1])):
        after = [] if hosts_system_pods(part) else list(pools)
        made = gcp_groups.NodeGroup(
            group,
            part,
            cluster=cluster.cluster_id,
            location=cluster.location,
            zones=cluster.zones,
            service_account=cluster.service_account,
            tags=tags,
            protect=spec.protect,
            opts=pulumi.ResourceOptions.merge(cloud, pulumi.ResourceOptions(depends_on=after)),
        )
        if hosts_system_pods(part):
            pools.append(made.pool)
    return Foundation(cluster.kubernetes, pools)


def _onprem(name: str, spec: OnPremPlatformSpec, child: pulumi.ResourceOptions) -> Foundation:
    cluster = onprem_cluster.Cluster(name, spec.cluster, protect=spec.protect, opts=child)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=cluster.kubernetes))
    for group, part in spec.node_groups.items():
        onprem_groups.NodeGroup(group, part, opts=inside)
    return Foundation(cluster.kubernetes, [])


def _existing(name: str, spec: ExistingPlatformSpec, child: pulumi.ResourceOptions) -> Foundation:
    cluster = existing_cluster.Cluster(name, spec.cluster, opts=child)
    for group, part in spec.node_groups.items():
        existing_groups.NodeGroup(group, part, opts=child)
    return Foundation(cluster.kubernetes, [])
