"""A node group on EKS: what a stack file says of it, what is refused, and what follows from it whoever scales it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.aws import Zone
from gpuyard.components.cluster.existing import KubernetesVersion
from gpuyard.components.node_groups import aws_capacity, base, efa
from gpuyard.components.node_groups.aws_capacity import Capacity, OneCapacity, Scaler
from gpuyard.components.node_groups.aws_template import (
    DISK_GIB,
    LARGE_DISK_GIB,
    NVIDIA,
    SMALL_DISK_GIB,
)
from gpuyard.components.node_groups.aws_upgrade import (
    AL2023_KNOWN,
    FORMS,
    form_refusals,
    release_of,
    version_refusals,
)
from gpuyard.components.node_groups.capacity import OnDemand
from gpuyard.components.node_groups.interconnect import Efa, efa_refusals
from gpuyard.components.node_groups.offers import offers
from gpuyard.components.node_groups.partition import Divided, Mig, operator_labels
from gpuyard.components.node_groups.upgrade import Upgrade
from gpuyard.components.spec import Quantity, in_gib, pattern

TAINTS = 50
"""Taints of a managed node group at most. Source: EKS API, CreateNodegroup."""

SYSTEMS = ("al2023", "bottlerocket")
"""Operating systems that a group may have."""

COHERENT = ("GB200", "GB300")
"""GPUs whose memory EKS's images have managed by the driver (CDMM), where there is no MIG. Sources: amazon-eks-ami,
nvidia-kmod-load.sh; EKS user guide, "Use P6e-GB200 UltraServers with Amazon EKS"."""

KARPENTER_LABELS = ("karpenter.sh", "karpenter.k8s.aws")
"""Domains of labels that Karpenter sets alone. Sources: karpenter and karpenter-provider-aws v1.14.1, pkg/apis/v1,
RestrictedLabelDomains."""

KARPENTER_DISK_GIB = 59_000
"""Largest volume that Karpenter takes. Source: EC2NodeClass, blockDeviceMappings[].ebs.volumeSize."""

KUBELET_LABELS = ("node.kubernetes.io", "kubelet.kubernetes.io")
"""Namespaces of Kubernetes in which a node may label itself. Source: Kubernetes, NodeRestriction admission."""


class NodeGroupSpec(base.ScaledNodeGroupSpec):
    """Machines of one kind in the private subnets of an EKS cluster."""

    capacity: Capacity = OnDemand()
    """How the machines are paid for: one way, or several in the order in which they are tried, where Karpenter scales
    the group: reservations, then Capacity Blocks, then spot, then on_demand."""
    scaled_by: Scaler = "node_group"
    """Who adds and removes nodes. node_group: a managed node group of EKS and the cluster autoscaler; EKS updates,
    repairs and, on spot, replaces nodes by itself. karpenter: a NodePool of Karpenter, which falls back from one
    capacity to the next, uses several reservations, and keeps no node that no pod needs, so nodes.min is 0. Karpenter
    buys spot only where the account has the role AWSServiceRoleForEC2Spot."""
    zones: Annotated[list[Zone], Field(min_length=1)] | None = None
    """Zones of the group; all of the cluster's when left out, and the reservation's where there is one."""
    os: Literal["al2023", "bottlerocket"] = "al2023"
    """Operating system of the nodes. Bottlerocket brings its own NVIDIA device plugin."""
    release: str | None = None
    """Release of EKS's image, and with it of kubelet and of NVIDIA's driver: 1.35.0-20260714 of al2023 or, of
    bottlerocket, 1.47.0-6154605b. Left out, al2023 has cluster.node_release; without that a managed node group gets the
    latest when it is made or changes its version, and Karpenter's nodes of al2023 one that gpuyard knows."""
    kubernetes: KubernetesVersion | None = None
    """Minor version of the nodes, quoted, while they stay behind the cluster's: three versions at most. The cluster's
    when left out. Karpenter's nodes always have the cluster's."""
    upgrade: Upgrade = Upgrade()
    """How nodes move to another release, version or launch template (docs/upgrading.md)."""
    expire_after: Annotated[str, pattern(r"^[1-9][0-9]{0,4}h$", "hours such as 720h")] | None = None
    """Age at which Karpenter drains a node, whatever runs there, and outside of what it does one at a time. Left out,
    nodes live until no pod needs them, or their image changes."""
    disk: Quantity | None = None
    """Root volume of a node, gp3 and encrypted; left out, 200Gi where an accelerator's images lie on it, and 50Gi where
    there is no accelerator or local disks hold the images."""
    interconnect: Efa | None = None
    """Fast network between the nodes, for jobs on several of them (docs/interconnect.md); none when left out."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for refusal in _refusals(self):
            raise ValueError(refusal)
        return self


def group_zones(spec: NodeGroupSpec, cluster_zones: list[str]) -> list[str]:
    """The zones of a group in a cluster of these zones. Raises ValueError for a zone that the cluster lacks, and for
    several where the nodes' fast network has one."""
    chosen = aws_capacity.bound_to(spec.capacity) or spec.zones or cluster_zones
    for zone in [*chosen, *(way.zone for way in aws_capacity.reserved(spec.capacity))]:
        if zone not in cluster_zones:
            raise ValueError(
                f"zone {zone} is not one of the cluster's ({', '.join(cluster_zones)}): "
                "choose one of these, or add the zone to the cluster's network"
            )
    if spec.interconnect:
        for refusal in efa.zone_refusals(chosen):
            raise ValueError(refusal)
    return chosen


def check_version(spec: NodeGroupSpec, kubernetes: str, node_release: str | None) -> None:
    """Sees whether the nodes of a group may be in a cluster of that minor version, whose nodes of AL2023 have that
    release by default. Raises ValueError otherwise."""
    for refusal in version_refusals(spec.os, spec.kubernetes, spec.release, kubernetes, node_release):
        raise ValueError(refusal)


def node_release(spec: NodeGroupSpec, default: str | None) -> str | None:
    """The release of a group's image, where the cluster's nodes of AL2023 have that one by default; None is the
    latest."""
    return release_of(spec.os, spec.release, default)


def node_image(spec: NodeGroupSpec) -> str:
    """EKS's image family of the nodes, by which other software knows what they bring."""
    image = catalogue.eks_image(catalogue.machine(spec.machine), spec.os)
    if image is None:
        raise ValueError(f"EKS has no {spec.os} image for {spec.machine}: choose another machine")
    return image


def node_driver(spec: NodeGroupSpec, kubernetes: str, default_release: str | None) -> str | None:
    """NVIDIA's driver on the nodes of a group in a cluster of that minor version, whose nodes of AL2023 have that
    release by default; None where it is not known."""
    release = node_release(spec, default_release)
    if spec.scaled_by == "karpenter" and spec.os == "al2023":
        release = release or AL2023_KNOWN
    version = spec.kubernetes or kubernetes
    return catalogue.node_driver("aws", node_image(spec), version, machine=spec.machine, release=release)


def all_taints(spec: NodeGroupSpec) -> list[base.Taint]:
    """The taints of every node, those of its accelerator included."""
    return [*base.accelerator_taints(catalogue.machine(spec.machine)), *spec.taints]


def accelerator_labels(machine: catalogue.Machine, system: str, partition: Divided | None = None) -> dict[str, str]:
    """Labels that software on the node goes by.

    The autoscaler waits for the GPUs of a node that has the first before it adds another (cloudprovider/aws/README.md);
    for nvidia.com/gpu, that is: a node whose GPUs have other names would never be ready for it (utils/gpu/gpu.go).
    The second keeps a GPU Operator off Bottlerocket, which has a device plugin of its own (NVIDIA/gpu-operator,
    controllers/state_manager.go).
    """
    if machine.resource != NVIDIA:
        return {}
    plugin = operator_labels(partition)
    if system == "bottlerocket":
        plugin = {"nvidia.com/gpu.deploy.operands": "false"}
    if all(offer.resource != NVIDIA for offer in offers(machine, partition)):
        return plugin
    return {"k8s.amazonaws.com/accelerator": machine.cloud_accelerator or "nvidia", **plugin}


def fabric(spec: NodeGroupSpec) -> catalogue.Fabric | None:
    """The fast network of the group's nodes, where it asks for it."""
    return catalogue.fabric(spec.machine) if spec.interconnect else None


def only_way(spec: NodeGroupSpec) -> OneCapacity:
    """The one way to pay that a managed node group has."""
    return aws_capacity.ways(spec.capacity)[0]


def disk_gib(spec: NodeGroupSpec) -> int:
    """Size of the volume that holds images and pods."""
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
    yield from machine_refusals(machine, spec.os)
    yield from base.zone_refusals(spec.zones)
    if spec.interconnect:
        yield from efa_refusals(machine)
    yield from form_refusals(spec.os, spec.release)
    yield from _partition_refusals(spec)
    yield from aws_capacity.refusals(spec.capacity, spec.scaled_by, machine, spec.nodes, spec.zones)
    yield from _karpenter_refusals(spec) if spec.scaled_by == "karpenter" else _managed_refusals(spec)
    for label in spec.labels:
        if _kept_by_kubernetes(label):
            yield f"label {label} is Kubernetes' own, and kubelet would not start with it: use a prefix of yours"


def machine_refusals(machine: catalogue.Machine, system: str) -> Iterator[str]:
    """Why no group with that operating system has such a machine, whatever else it says."""
    if catalogue.eks_image(machine, system):
        return
    on = next((other for other in SYSTEMS if catalogue.eks_image(machine, other)), None)
    remedy = f"choose os {on}" if on else "choose a machine with NVIDIA GPUs or Neuron"
    yield f"machine {machine.name} has {machine.accelerator}, for which EKS has no {system} image here: {remedy}"


def _managed_refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """What a managed node group does not do."""
    yield from _disk_refusals(spec, DISK_GIB.stop)
    if len(all_taints(spec)) > TAINTS:
        yield f"{len(all_taints(spec))} taints are more than the {TAINTS} of a managed node group: take some out"
    if spec.expire_after:
        yield (
            f"expire_after {spec.expire_after} is for nodes that Karpenter makes: leave it out, or give scaled_by "
            "karpenter"
        )


def _karpenter_refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """What Karpenter does not do."""
    yield from _disk_refusals(spec, KARPENTER_DISK_GIB)
    for field, count in (("nodes.min", spec.nodes.min), ("nodes.initial", spec.nodes.start)):
        if count:
            yield (
                f"{field} is {count}, and Karpenter keeps no node that no pod needs: give 0, "
                "or scaled_by node_group (its static capacity is alpha)"
            )
            return
    if spec.partition:
        yield (
            f"partition {spec.partition.kind} makes of a GPU what Karpenter knows nothing of before the node is there, "
            "so it would count wrong: give scaled_by node_group, or leave partition out"
        )
    if spec.os == "bottlerocket" and not spec.release:
        yield (
            "release is missing, and no release of bottlerocket is known here: give the one that you tested, "
            f"such as {FORMS[spec.os][1]}, or os al2023"
        )
    if spec.kubernetes:
        yield (
            f"kubernetes {spec.kubernetes} is given, and Karpenter takes images of the cluster's version: leave it "
            "out, or give scaled_by node_group"
        )
    machine = catalogue.machine(spec.machine)
    if machine.accelerator and (whole := catalogue.accelerator(machine.accelerator).part_of):
        yield (
            f"machine {machine.name} has a share of one {whole}, which Karpenter counts as none, so it makes no such "
            "node for a pod: give scaled_by node_group, or a machine of whole GPUs"
        )
    for label in spec.labels:
        if base.within(label, KARPENTER_LABELS):
            yield f"label {label} is Karpenter's own, and its NodePool would be refused: use a prefix of yours"


def _partition_refusals(spec: NodeGroupSpec) -> Iterator[str]:
    if spec.os == "bottlerocket" and isinstance(spec.partition, Mig):
        yield (
            "partition mig is given, and gpuyard divides Bottlerocket's GPUs by mps and time_slicing alone: "
            "choose os al2023, or another kind"
        )
    elif isinstance(spec.partition, Mig) and catalogue.machine(spec.machine).accelerator in COHERENT:
        yield (
            f"partition mig is given, and EKS's images let the driver manage the memory of {spec.machine}, where there "
            "is no MIG: choose mps or time_slicing"
        )


def _disk_refusals(spec: NodeGroupSpec, most: int) -> Iterator[str]:
    if spec.disk and not DISK_GIB.start <= in_gib(spec.disk) <= most:
        yield f"disk {spec.disk} is not a root volume: give {DISK_GIB.start}Gi to {most}Gi"


def _kept_by_kubernetes(label: str) -> bool:
    return (base.kubernetes_owns(label) and not base.within(label, KUBELET_LABELS)) or base.within(
        label, ("eks.amazonaws.com",)
    )
