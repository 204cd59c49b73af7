"""EKS managed node groups: one machine, one AMI family, one way to pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from gpuyard import catalogue
from gpuyard.components.node_groups import aws_upgrade, base, efa
from gpuyard.components.node_groups.aws_capacity import CapacityBlock, Reserved, ways
from gpuyard.components.node_groups.aws_spec import (
    NodeGroupSpec,
    accelerator_labels,
    all_taints,
    check_version,
    disk_gib,
    fabric,
    group_zones,
    node_driver,
    node_image,
    node_release,
    only_way,
)
from gpuyard.components.node_groups.aws_template import NVIDIA, Image, ephemeral_storage, template_inputs
from gpuyard.components.node_groups.offers import offers
from gpuyard.components.renaming import renamed

__all__ = ["NodeGroup", "NodeGroupSpec", "check_version", "group_inputs", "group_zones", "node_driver", "node_image"]

EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Kubernetes' effects as the EKS API calls them."""

CAPACITY_TYPES = {
    "on_demand": "ON_DEMAND",
    "reservation": "ON_DEMAND",
    "spot": "SPOT",
    "capacity_block": "CAPACITY_BLOCK",
}
"""Ways to pay as EKS calls them. Source: EKS API, CapacityTypes."""

APPLICATION_ERRORS = (13, 31)
"""XIDs that a program's own fault raises: one tenant's bug must not restart a node that others use, as EKS would after
ten minutes. Source: EKS user guide, "Automatically repair nodes", whose example overrides 31."""

TEMPLATE = "k8s.io/cluster-autoscaler/node-template/resources/"
"""Tags by which the autoscaler knows what a node of an empty group will have (cloudprovider/aws/aws_manager.go)."""


class NodeGroup(pulumi.ComponentResource):
    """An EKS managed node group. Depends on the cluster's `ready`."""

    group: Any
    """The node group: what needs its nodes depends on it."""

    def __init__(
        self,
        name: str,
        spec: NodeGroupSpec,
        *,
        cluster_name: pulumi.Input[str],
        node_role_arn: pulumi.Input[str],
        subnets: Mapping[str, Any],
        kubernetes_version: str,
        tags: Mapping[str, str],
        default_release: str | None = None,
        security_group: pulumi.Input[str] | None = None,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`default_release` is of AL2023, where the group says none; `security_group` is the cluster's own, which nodes
        with a fast network name for each of their interfaces."""
        super().__init__("gpuyard:index:EksNodeGroup", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        known_as = spec.known_as(name)
        child = pulumi.ResourceOptions(parent=self)
        inputs = template_inputs(known_as, _image(spec), tags)
        if fast := fabric(spec):
            inputs |= efa.launch_template(fast, [security_group])
            if placed := placement_group(name, spec, tags, child):
                inputs["placement"] = {"group_name": placed.name}
        template = aws.ec2.LaunchTemplate(name, **inputs, opts=child)
        self.group = aws.eks.NodeGroup(
            name,
            **group_inputs(known_as, spec, kubernetes_version, tags, default_release),
            cluster_name=cluster_name,
            node_role_arn=node_role_arn,
            subnet_ids=[subnets[zone] for zone in group_zones(spec, list(subnets))],
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            # The autoscaler owns the number of nodes. Nodes need what the component depends on, and Pulumi orders a
            # component's children by it only when each says so.
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=protect,
                ignore_changes=["scalingConfig.desiredSize"],
                depends_on=opts.depends_on if opts else None,
            ),
        )
        self.register_outputs({"arn": self.group.arn})


def placement_group(name: str, spec: NodeGroupSpec, tags: Mapping[str, str], opts: pulumi.ResourceOptions) -> Any:
    """Keeps the nodes of a fast network near to each other; None where they stand where they are reserved."""
    if not spec.interconnect or not efa.placed_together([way.kind for way in ways(spec.capacity)]):
        return None
    return aws.ec2.PlacementGroup(name, strategy="cluster", tags=dict(tags), opts=opts)


def group_inputs(
    name: str,
    spec: NodeGroupSpec,
    kubernetes_version: str,
    tags: Mapping[str, str],
    default_release: str | None = None,
) -> dict[str, Any]:
    """The node group, but for what only the cluster knows. `kubernetes_version` is the cluster's."""
    machine = catalogue.machine(spec.machine)
    inputs: dict[str, Any] = {
        "ami_type": node_image(spec),
        "capacity_type": CAPACITY_TYPES[only_way(spec).kind],
        "version": spec.kubernetes or kubernetes_version,
        "scaling_config": {"min_size": spec.nodes.min, "desired_size": spec.nodes.start, "max_size": spec.nodes.max},
        "labels": base.node_labels(name, spec.labels) | accelerator_labels(machine, spec.os, spec.partition),
        "taints": [
            {"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]} for taint in all_taints(spec)
        ],
        "update_config": aws_upgrade.update_config(spec.upgrade, reserved=isinstance(only_way(spec), Reserved)),
        "tags": {**tags, **autoscaler_tags(spec)},
    }
    # EKS wants the machine of a Capacity Block in the launch template, and takes it in one place only.
    if not isinstance(only_way(spec), CapacityBlock):
        inputs["instance_types"] = [spec.machine]
    if release := node_release(spec, default_release):
        inputs["release_version"] = release
    if machine.resource:
        inputs["node_repair_config"] = node_repair(machine)
    return inputs


def node_repair(machine: catalogue.Machine) -> dict[str, Any]:
    """Nodes with a sick accelerator are replaced, but not for a program's own fault."""
    overrides = [
        {
            "node_monitoring_condition": "AcceleratedHardwareReady",
            "node_unhealthy_reason": f"NvidiaXID{code}Error",
            "min_repair_wait_time_mins": 10,
            "repair_action": "NoAction",
        }
        for code in APPLICATION_ERRORS
    ]
    return {"enabled": True} | (
        {"node_repair_config_overrides": overrides} if machine.resource == "nvidia.com/gpu" else {}
    )


def autoscaler_tags(spec: NodeGroupSpec) -> dict[str, str]:
    """What the autoscaler cannot read from the instance type: disks, accelerators that are not NVIDIA's, shares of a
    GPU, which EC2 counts as none (cloudprovider/aws/ec2_instance_types.go), and what becomes of GPUs that are
    divided."""
    machine = catalogue.machine(spec.machine)
    tags = {f"{TEMPLATE}ephemeral-storage": ephemeral_storage(_image(spec))}
    share = machine.accelerator and catalogue.accelerator(machine.accelerator).part_of
    if machine.resource != NVIDIA or spec.partition or share:
        # A tag goes before what the instance type has: GPUs that are divided are there no more.
        there = {NVIDIA: 0} if machine.resource == NVIDIA else {}
        there |= {offer.resource: offer.a_node for offer in offers(machine, spec.partition)}
        tags |= {f"{TEMPLATE}{resource}": str(count) for resource, count in there.items()}
    if fast := fabric(spec):
        tags |= {f"{TEMPLATE}{resource}": amount for resource, amount in efa.offered(fast).items()}
    return tags


def _image(spec: NodeGroupSpec) -> Image:
    way = only_way(spec)
    reservation = way.id if isinstance(way, Reserved) else None
    machine = catalogue.machine(spec.machine)
    return Image(
        machine,
        spec.os,
        disk_gib(spec),
        reservation,
        block=isinstance(way, CapacityBlock),
        efa=fabric(spec),
        partition=spec.partition,
    )
