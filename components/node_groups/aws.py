"""EKS managed node groups: one machine, one AMI family, one way to pay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import pulumi
import pulumi_aws as aws
from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.aws import Zone
from gpuyard.components.node_groups import base, capacity
from gpuyard.components.node_groups.aws_template import (
    DISK_GIB,
    LARGE_DISK_GIB,
    NVIDIA,
    SMALL_DISK_GIB,
    Image,
    ami_type,
    ephemeral_storage,
    template_inputs,
)
from gpuyard.components.renaming import renamed
from gpuyard.components.spec import Quantity, in_gib

TAINTS = 50
"""Taints of a managed node group at most. Source: EKS API, CreateNodegroup."""

EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Kubernetes' effects as the EKS API calls them."""

FAMILIES = {
    "g7": "needs NVIDIA driver 595, and EKS's image has 580 (amazon-eks-ami, doc/usage/g7-ami.md): take g7e or g6e",
    "g6f": "has a fraction of a GPU, which cannot be counted: take g6",
    "gr6f": "has a fraction of a GPU, which cannot be counted: take gr6",
}
"""Families that no managed node group serves yet, and what to take."""

KUBELET_LABELS = ("node.kubernetes.io", "kubelet.kubernetes.io")
"""Namespaces of Kubernetes in which a node may label itself. Source: Kubernetes, NodeRestriction admission."""

APPLICATION_ERRORS = (13, 31)
"""XIDs that a program's own fault raises: one tenant's bug must not restart a node that others use, as EKS would after
ten minutes. Source: EKS user guide, "Automatically repair nodes", whose example overrides 31."""

TEMPLATE = "k8s.io/cluster-autoscaler/node-template/resources/"
"""Tags by which the autoscaler knows what a node of an empty group will have (cloudprovider/aws/aws_manager.go)."""


class Reservation(capacity.Reservation):
    """An On-Demand Capacity Reservation."""

    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{17}$")]
    """The reservation, such as "cr-0123456789abcdef0"."""


Capacity = Annotated[capacity.OnDemand | capacity.Spot | Reservation, Field(discriminator="kind")]


class NodeGroupSpec(base.ScaledNodeGroupSpec):
    """Machines of one kind in the private subnets of an EKS cluster."""

    capacity: Capacity = capacity.OnDemand()
    """How the machines are paid for."""
    zones: Annotated[list[Zone], Field(min_length=1)] | None = None
    """Zones of the group; all of the cluster's when left out, and the reservation's where there is one."""
    os: Literal["al2023", "bottlerocket"] = "al2023"
    """Operating system of the nodes. Bottlerocket brings its own NVIDIA device plugin."""
    disk: Quantity | None = None
    """Root volume of a node, gp3 and encrypted; left out, 200Gi where an accelerator's images lie on it, and 50Gi where
    there is no accelerator or local disks hold the images."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for refusal in _refusals(self):
            raise ValueError(refusal)
        return self


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
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:EksNodeGroup", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        known_as = spec.known_as(name)
        child = pulumi.ResourceOptions(parent=self)
        template = aws.ec2.LaunchTemplate(name, **template_inputs(known_as, _image(spec), tags), opts=child)
        self.group = aws.eks.NodeGroup(
            name,
            **group_inputs(known_as, spec, kubernetes_version, tags),
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


def group_inputs(name: str, spec: NodeGroupSpec, kubernetes_version: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """The node group, but for what only the cluster knows."""
    machine = catalogue.machine(spec.machine)
    inputs = {
        "ami_type": node_image(spec),
        "capacity_type": "SPOT" if spec.capacity.kind == "spot" else "ON_DEMAND",
        "instance_types": [spec.machine],
        "version": kubernetes_version,
        "scaling_config": {"min_size": spec.nodes.min, "desired_size": spec.nodes.start, "max_size": spec.nodes.max},
        "labels": base.node_labels(name, spec.labels) | accelerator_labels(machine, spec.os),
        "taints": [
            {"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]} for taint in all_taints(spec)
        ],
        "update_config": update_config(spec),
        "tags": {**tags, **autoscaler_tags(spec)},
    }
    if machine.resource:
        inputs["node_repair_config"] = node_repair(machine)
    return inputs


def group_zones(spec: NodeGroupSpec, cluster_zones: list[str]) -> list[str]:
    """The zones of a group in a cluster of these zones. Raises ValueError for a zone that the cluster lacks."""
    chosen = [spec.capacity.zone] if isinstance(spec.capacity, Reservation) else spec.zones or cluster_zones
    for zone in chosen:
        if zone not in cluster_zones:
            raise ValueError(
                f"zone {zone} is not one of the cluster's ({', '.join(cluster_zones)}): "
                "choose one of these, or add the zone to the cluster's network"
            )
    return chosen


def node_image(spec: NodeGroupSpec) -> str:
    """EKS's image family of the nodes, by which other software knows what they bring."""
    image = ami_type(catalogue.machine(spec.machine), spec.os)
    if image is None:
        raise ValueError(f"EKS has no {spec.os} image for {spec.machine}: choose another machine")
    return image


def all_taints(spec: NodeGroupSpec) -> list[base.Taint]:
    """The taints of every node, those of its accelerator included."""
    return [*base.accelerator_taints(catalogue.machine(spec.machine)), *spec.taints]


def accelerator_labels(machine: catalogue.Machine, system: str) -> dict[str, str]:
    """Labels that software on the node goes by.

    The autoscaler waits for the GPUs of a node that has the first before it adds another (cloudprovider/aws/README.md).
    The second keeps a GPU Operator off Bottlerocket, which has a device plugin of its own (NVIDIA/gpu-operator,
    controllers/state_manager.go).
    """
    if machine.resource != NVIDIA:
        return {}
    own_plugin = {"nvidia.com/gpu.deploy.operands": "false"} if system == "bottlerocket" else {}
    return {"k8s.amazonaws.com/accelerator": machine.cloud_accelerator or "nvidia", **own_plugin}


def update_config(spec: NodeGroupSpec) -> dict[str, Any]:
    """How nodes are replaced: one at a time. A full reservation has no room for the new node beside the old one."""
    strategy = {"update_strategy": "MINIMAL"} if isinstance(spec.capacity, Reservation) else {}
    return {"max_unavailable": 1, **strategy}


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
    """What the autoscaler cannot read from the instance type: disks, and accelerators that are not NVIDIA's."""
    machine = catalogue.machine(spec.machine)
    tags = {f"{TEMPLATE}ephemeral-storage": ephemeral_storage(_image(spec))}
    if machine.resource and machine.resource != NVIDIA:
        tags[f"{TEMPLATE}{machine.resource}"] = str(machine.accelerators)
    return tags


def _image(spec: NodeGroupSpec) -> Image:
    reservation = spec.capacity.id if isinstance(spec.capacity, Reservation) else None
    return Image(catalogue.machine(spec.machine), spec.os, _disk_gib(spec), reservation)


def _disk_gib(spec: NodeGroupSpec) -> int:
    machine = catalogue.machine(spec.machine)
    if spec.disk:
        return in_gib(spec.disk)
    return LARGE_DISK_GIB if machine.resource and not machine.local_disk_gb else SMALL_DISK_GIB


def _refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """Why EKS or EC2 would refuse the group, or its nodes would never be of use."""
    machine = catalogue.machine(spec.machine)
    if machine.cloud != "aws":
        yield f"machine {machine.name} is of {machine.cloud}, and the group is on AWS: choose one of AWS"
        return
    yield from _machine_refusals(spec, machine)
    yield from _capacity_refusals(spec, machine)
    if spec.disk and not DISK_GIB.start <= in_gib(spec.disk) <= DISK_GIB.stop:
        yield f"disk {spec.disk} is not a root volume: give {DISK_GIB.start}Gi to {DISK_GIB.stop}Gi"
    if len(all_taints(spec)) > TAINTS:
        yield f"{len(all_taints(spec))} taints are more than the {TAINTS} of a managed node group: take some out"
    for label in spec.labels:
        if _kept_by_kubernetes(label):
            yield f"label {label} is Kubernetes' own, and kubelet would not start with it: use a prefix of yours"


def _machine_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    family = machine.name.partition(".")[0]
    if family in FAMILIES:
        yield f"machine {machine.name} {FAMILIES[family]}"
    elif ami_type(machine, spec.os) is None:
        on = "al2023" if ami_type(machine, "al2023") else None
        remedy = f"choose os {on}" if on else "choose a machine with NVIDIA GPUs or Neuron"
        yield f"machine {machine.name} has {machine.accelerator}, for which EKS has no {spec.os} image: {remedy}"


def _capacity_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    kind = spec.capacity.kind
    if kind not in machine.purchase:
        yield (
            f"machine {machine.name} is not sold as {kind}, only as {', '.join(machine.purchase)}: "
            "choose one of these, or another machine"
        )
    if isinstance(spec.capacity, Reservation):
        yield from capacity.reservation_refusals(spec.capacity, spec.capacity.id, spec.nodes.max, spec.zones)


def _kept_by_kubernetes(label: str) -> bool:
    return (base.kubernetes_owns(label) and not base.within(label, KUBELET_LABELS)) or base.within(
        label, ("eks.amazonaws.com",)
    )
