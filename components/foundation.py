"""The ground that everything in a cluster stands on: the cluster and its nodes, on each cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_gcp as gcp
import pulumi_kubernetes

from gpuyard.components.aws_platform import AwsPlatformSpec
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import aws_karpenter, aws_services
from gpuyard.components.cluster import existing as existing_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.cluster import onprem as onprem_cluster
from gpuyard.components.existing_platform import ExistingPlatformSpec
from gpuyard.components.gcp_platform import GcpPlatformSpec, people
from gpuyard.components.managed_platform import hosts_system_pods
from gpuyard.components.node_groups import aws as aws_groups
from gpuyard.components.node_groups import existing as existing_groups
from gpuyard.components.node_groups import gcp as gcp_groups
from gpuyard.components.node_groups import gcp_gpudirect
from gpuyard.components.node_groups import karpenter as karpenter_groups
from gpuyard.components.node_groups import onprem as onprem_groups
from gpuyard.components.onprem_platform import OnPremPlatformSpec
from gpuyard.components.platform_spec import PlatformSpec


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
    made = {
        group: aws_groups.NodeGroup(
            group,
            part,
            cluster_name=cluster.cluster_name,
            node_role_arn=cluster.node_role.arn,
            subnets=cluster.subnets,
            kubernetes_version=spec.cluster.kubernetes,
            tags=tags,
            default_release=spec.cluster.node_release,
            security_group=cluster.security_group,
            protect=spec.protect,
            opts=nodes,
        ).group
        for group, part in spec.node_groups.items()
        if part.scaled_by == "node_group"
    }
    first = [made[group] for group, part in spec.node_groups.items() if hosts_system_pods(part)]
    inside = pulumi.ResourceOptions.merge(
        child, pulumi.ResourceOptions(providers=[provider, cluster.kubernetes], depends_on=first)
    )
    addons = aws_services.Addons(
        f"{name}-addons", spec.cluster, cluster_name=cluster.cluster_name, tags=tags, opts=inside
    )
    if any(spec.node_groups[group].nodes.min < spec.node_groups[group].nodes.max for group in made):
        aws_services.Autoscaler(
            f"{name}-autoscaler",
            spec.cluster,
            cluster_name=cluster.cluster_name,
            artifacts=spec.artifacts,
            tags=tags,
            opts=inside,
        )
    if len(made) < len(spec.node_groups):
        after = pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=[addons]))
        _karpenter(name, spec, cluster, tags, after)
    return Foundation(cluster.kubernetes, [*first, addons])


def _karpenter(
    name: str,
    spec: AwsPlatformSpec,
    cluster: aws_cluster.Cluster,
    tags: Mapping[str, str],
    inside: pulumi.ResourceOptions,
) -> None:
    nodes = sum(group.nodes.min for group in spec.node_groups.values() if hosts_system_pods(group))
    karpenter = aws_karpenter.Karpenter(
        f"{name}-karpenter",
        spec.cluster,
        cluster_name=cluster.cluster_name,
        node_role=cluster.node_role,
        replicas=min(nodes, aws_karpenter.REPLICAS),
        artifacts=spec.artifacts,
        tags=tags,
        opts=inside,
    )
    after = pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=karpenter.ready))
    for group, part in spec.node_groups.items():
        if part.scaled_by == "karpenter":
            karpenter_groups.NodeGroup(
                group,
                part,
                subnets=cluster.subnets,
                security_group=cluster.security_group,
                instance_profile=karpenter.instance_profile,
                tags=tags,
                default_release=spec.cluster.node_release,
                protect=spec.protect,
                opts=after,
            )


def _gcp(name: str, spec: GcpPlatformSpec, tags: Mapping[str, str], child: pulumi.ResourceOptions) -> Foundation:
    provider = gcp.Provider(name, project=spec.cluster.project, region=spec.cluster.region, opts=child)
    cloud = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=provider))
    groups = spec.node_groups.values()
    cluster = gcp_cluster.Cluster(
        name,
        spec.cluster,
        groups=people(spec),
        tags=tags,
        multi_networking=any(gcp_gpudirect.own_networks(group.machine, group.interconnect) for group in groups),
        protect=spec.protect,
        opts=cloud,
    )
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(providers=[provider, cluster.kubernetes]))
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
            project=spec.cluster.project,
            protect=spec.protect,
            opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=after)),
        )
        if hosts_system_pods(part):
            pools += made.pools
    return Foundation(cluster.kubernetes, pools)


def _onprem(name: str, spec: OnPremPlatformSpec, child: pulumi.ResourceOptions) -> Foundation:
    cluster = onprem_cluster.Cluster(name, spec.cluster, protect=spec.protect, opts=child)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(provider=cluster.kubernetes))
    management = _management(name, spec, child) or cluster.kubernetes
    made = {
        group: onprem_groups.NodeGroup(group, part, management=management, protect=spec.protect, opts=inside)
        for group, part in spec.node_groups.items()
    }
    # Whatever takes down the cluster's own software needs nodes for it that are there until then.
    hosts = [group for group in made if not onprem_groups.machine_taints(spec.node_groups[group])]
    return Foundation(cluster.kubernetes, [machine for group in hosts for machine in made[group].machines])


def _management(
    name: str, spec: OnPremPlatformSpec, child: pulumi.ResourceOptions
) -> pulumi_kubernetes.Provider | None:
    """The way into the cluster that makes the nodes of this one; None where it is this one, or nobody makes any."""
    contexts = {group.managed_by.management_context for group in spec.node_groups.values() if group.managed_by}
    context = next(iter(contexts), None)
    if context in (None, spec.cluster.context):
        return None
    way = spec.cluster.model_copy(update={"context": context, "was": None})
    inputs = existing_cluster.provider_inputs(f"{name}-management", way)
    opts = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=spec.protect))
    return pulumi_kubernetes.Provider(f"{name}-management", **inputs, opts=opts)


def _existing(name: str, spec: ExistingPlatformSpec, child: pulumi.ResourceOptions) -> Foundation:
    cluster = existing_cluster.Cluster(name, spec.cluster, opts=child)
    for group, part in spec.node_groups.items():
        existing_groups.NodeGroup(group, part, opts=child)
    return Foundation(cluster.kubernetes, [])
