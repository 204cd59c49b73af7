"""Node groups that Karpenter scales: a class of nodes, and a pool that makes and removes them as pods need them.

Written for Karpenter 1.14.1: fields are those of its custom resource definitions, and what is said of its behaviour is
from the concepts pages of its documentation and from pkg/ of karpenter and karpenter-provider-aws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from gpuyard import catalogue
from gpuyard.components import kubernetes
from gpuyard.components.node_groups import aws_capacity, base, efa
from gpuyard.components.node_groups.aws import placement_group
from gpuyard.components.node_groups.aws_spec import (
    NodeGroupSpec,
    accelerator_labels,
    all_taints,
    disk_gib,
    fabric,
    group_zones,
    node_release,
)
from gpuyard.components.node_groups.aws_template import BOTTLEROCKET_SYSTEM_GIB
from gpuyard.components.node_groups.aws_upgrade import AL2023_KNOWN, karpenter_alias
from gpuyard.components.renaming import renamed
from gpuyard.components.spec import Manifest

IDLE = "10m"
"""How long a node without use is kept: as long as the autoscaler keeps one by default (kubernetes/autoscaler,
cluster-autoscaler/FAQ.md, scale-down-unneeded-time)."""

GOING = pulumi.CustomTimeouts(delete="30m")
"""Time for a group to go: it waits until all its nodes are drained and gone."""


class NodeGroup(pulumi.ComponentResource):
    """A node group that Karpenter scales. Depends on Karpenter, which must run for as long as there is a node."""

    pool: pulumi.Resource
    """The pool: nodes come when pods ask for them."""

    def __init__(
        self,
        name: str,
        spec: NodeGroupSpec,
        *,
        subnets: Mapping[str, Any],
        security_group: pulumi.Input[str],
        instance_profile: pulumi.Input[str],
        tags: Mapping[str, str],
        default_release: str | None = None,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`instance_profile` has the role of the cluster's nodes, `security_group` is the cluster's own, and
        `default_release` is of AL2023, where the group says none."""
        super().__init__(
            "gpuyard:index:KarpenterNodeGroup", name, spec.model_dump(mode="json"), renamed(opts, name, spec)
        )
        known_as, zones = spec.known_as(name), group_zones(spec, list(subnets))
        # Pulumi orders a component's children by what it depends on only when each says so.
        child = pulumi.ResourceOptions(
            parent=self, protect=protect, custom_timeouts=GOING, depends_on=opts.depends_on if opts else None
        )
        described = node_class(
            known_as,
            spec,
            subnets=[subnets[zone] for zone in zones],
            security_group=security_group,
            instance_profile=instance_profile,
            tags=tags,
            default_release=default_release,
        )
        if placed := placement_group(name, spec, tags, pulumi.ResourceOptions(parent=self)):
            described["spec"]["placementGroupSelector"] = {"name": placed.name}
        made = kubernetes.declare(name, described, child)
        # The pool names its class as plain text.
        after = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[made]))
        self.pool = kubernetes.declare(name, node_pool(known_as, spec, zones), after)
        self.register_outputs({})


def node_class(
    name: str,
    spec: NodeGroupSpec,
    *,
    subnets: Sequence[Any],
    security_group: Any,
    instance_profile: Any,
    tags: Mapping[str, str],
    default_release: str | None = None,
) -> Manifest:
    """What a node boots from, and where.

    Places are named by their ids: a tag that somebody else sets too would widen them.
    """
    described: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": image_alias(spec, default_release)}],
        # Not `role`: then Karpenter would make instance profiles, and need the right to.
        "instanceProfile": instance_profile,
        "subnetSelectorTerms": [{"id": subnet} for subnet in subnets],
        "securityGroupSelectorTerms": [{"id": security_group}],
        "blockDeviceMappings": block_devices(spec),
        # One hop: processes of the node, and no pod but those on the host's network.
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "tags": dict(tags),
    }
    if catalogue.machine(spec.machine).local_disk_gb:
        # Otherwise Karpenter does not count them, and nobody mounts them.
        described["instanceStorePolicy"] = "RAID0"
    if paid := aws_capacity.reserved(spec.capacity):
        described["capacityReservationSelectorTerms"] = [{"id": way.id} for way in paid]
    if fast := fabric(spec):
        described |= efa.node_class(fast, spec.os)
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": described,
    }


def node_pool(name: str, spec: NodeGroupSpec, zones: Sequence[str]) -> Manifest:
    """Which nodes may be made, how many, and when one goes.

    A node is there for pods when its device plugin has told of the accelerators: Karpenter waits for that by itself, so
    there is no startup taint.
    """
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "template": {
                "metadata": {"labels": node_labels(name, spec)},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
                    "requirements": [
                        _one_of("node.kubernetes.io/instance-type", [spec.machine]),
                        _one_of("karpenter.sh/capacity-type", capacity_types(spec)),
                        _one_of("topology.kubernetes.io/zone", zones),
                    ],
                    "taints": [_taint(taint) for taint in all_taints(spec)],
                    "expireAfter": spec.expire_after or "Never",
                },
            },
            "limits": limits(spec),
            "disruption": {
                "consolidationPolicy": consolidation(spec),
                "consolidateAfter": IDLE,
                "budgets": budgets(spec),
            },
        },
    }


def node_labels(name: str, spec: NodeGroupSpec) -> dict[str, str]:
    """Labels of every node of the group that the cluster knows as `name`."""
    machine = catalogue.machine(spec.machine)
    return base.node_labels(name, spec.labels) | accelerator_labels(machine, spec.os, spec.partition)


def capacity_types(spec: NodeGroupSpec) -> list[str]:
    """What Karpenter may buy. It tries reserved, then spot, then on-demand, in whatever order they are listed."""
    return list(dict.fromkeys(aws_capacity.CAPACITY_TYPES[way.kind] for way in aws_capacity.ways(spec.capacity)))


def limits(spec: NodeGroupSpec) -> dict[str, str]:
    """How far the pool grows: so many nodes, and their accelerators.

    Karpenter counts whole accelerators of a machine. It makes nodes at the same time and counts after, so a burst of
    pods may overrun a limit for a while (concepts/nodepools.md, spec.limits), and while a node of a full group is
    replaced, the one that takes its place is one more.
    """
    machine = catalogue.machine(spec.machine)
    accelerators = {machine.resource: str(spec.nodes.max * machine.accelerators)} if machine.resource else {}
    return {"nodes": str(spec.nodes.max), **accelerators}


def consolidation(spec: NodeGroupSpec) -> str:
    """When a node goes that is not needed. With accelerators only an empty one: a model takes long to load elsewhere,
    and a job that is moved begins again. So a node that was bought as a fallback stays until it is empty, too."""
    return "WhenEmpty" if catalogue.machine(spec.machine).resource else "WhenEmptyOrUnderutilized"


def budgets(spec: NodeGroupSpec) -> list[dict[str, Any]]:
    """How many nodes go at once: as many as the group says where pods must move, as in a managed node group, and all
    that are empty. What takes the place of a node comes first, so one on a full reservation is not replaced before it
    is empty."""
    return [
        {"nodes": str(spec.upgrade.max_unavailable), "reasons": ["Drifted", "Underutilized"]},
        {"nodes": "100%", "reasons": ["Empty"]},
    ]


def image_alias(spec: NodeGroupSpec, default_release: str | None = None) -> str:
    """The image of EKS that fits the machine, in one release: `latest` would replace nodes as soon as there is a new
    one."""
    release = node_release(spec, default_release)
    return karpenter_alias(spec.os, release) if release else f"al2023@v{AL2023_KNOWN}"


def block_devices(spec: NodeGroupSpec) -> list[dict[str, Any]]:
    """The volumes of a node. Bottlerocket keeps its system on the first, and images and pods on the second."""
    if spec.os == "bottlerocket":
        return [_volume("/dev/xvda", BOTTLEROCKET_SYSTEM_GIB), _volume("/dev/xvdb", disk_gib(spec))]
    return [_volume("/dev/xvda", disk_gib(spec))]


def _volume(device: str, size_gib: int) -> dict[str, Any]:
    disk = {"volumeSize": f"{size_gib}Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True}
    return {"deviceName": device, "ebs": disk}


def _taint(taint: base.Taint) -> dict[str, str]:
    # The definition takes no empty value.
    return {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect}


def _one_of(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}
