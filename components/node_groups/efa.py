"""EFA on EKS: the network interfaces of a node, what its pods can ask for, and what a group of such nodes needs.

Every interface is in the cluster's own security group, which lets all traffic to and from itself through, as EFA
demands; EKS puts these rules back whenever the cluster is updated (EKS user guide, "View Amazon EKS security group
requirements for clusters"). So there is no group of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.catalogue import Fabric, machine

RESOURCE = "vpc.amazonaws.com/efa"
"""What pods ask for, one an interface. Source: aws/eks-charts, aws-efa-k8s-device-plugin."""

HUGE_PAGES_MIB = 110
"""MiB in pages of 2 MiB that a node with EFA sets apart for each vCPU, at the least. Source: AWS's own check of EFA
hosts (awslabs/libfabric-ci-scripts, efa-check.sh); Bottlerocket sets apart twice that (bottlerocket-core-kit, corndog).
The EKS user guide names 5128 pages whatever the machine, of which a small one has fewer."""

VPC_CNI = (1, 18, 5)
"""The VPC CNI from which on interfaces may be efa-only. Source: EKS user guide, "Manage EFA devices on Amazon EKS"."""

LOCKED_MEMORY = 2**50
"""Bytes that a container may lock in memory: more than any machine has, and yet a number that nodeadm, which reads it
as a float, writes back whole."""

MEMORY_LIMITS = f"""apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  containerd:
    baseRuntimeSpec:
      process:
        rlimits:
          - type: RLIMIT_NOFILE
            soft: 65536
            hard: 1048576
          - type: RLIMIT_MEMLOCK
            soft: {LOCKED_MEMORY}
            hard: {LOCKED_MEMORY}
"""
"""Lets containers of AL2023 register memory with EFA: Kubernetes has no such field, and the capability IPC_LOCK, which
tenants are refused, would not help a process that is not root. The list takes the place of nodeadm's own, whose one
limit it repeats (amazon-eks-ami, nodeadm/internal/containerd/base-runtime-spec.json). Bottlerocket does the same by
itself where it finds an EFA (bottlerocket-core-kit, pull request 141)."""


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface that a node starts with."""

    card: int
    """Index of its network card."""
    device: int
    """Index among the interfaces of its card."""
    kind: str
    """interface, for IP alone, or efa-only, which takes no address."""


def interfaces(fabric: Fabric) -> list[Interface]:
    """The interfaces of a node: one for IP, and an EFA on each card that carries one.

    Source: EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards": device 0
    of card 0 is no EFA; where card 0 carries one, it is device 1 there, and device 0 of every further card.
    """
    cards = range(fabric.first_card, fabric.first_card + fabric.interfaces)
    return [Interface(0, 0, "interface"), *(Interface(card, 1 if card == 0 else 0, "efa-only") for card in cards)]


def launch_template(fabric: Fabric, security_groups: Sequence[Any]) -> dict[str, Any]:
    """The interfaces as a launch template says them. They name no subnet, which EKS chooses, and security groups are
    theirs: a template that has interfaces has none of its own."""
    return {
        "network_interfaces": [
            {
                "network_card_index": interface.card,
                "device_index": interface.device,
                "interface_type": interface.kind,
                "security_groups": list(security_groups),
                # So that none stays behind its node. A text, because the type of the provider is.
                "delete_on_termination": "true",
            }
            for interface in interfaces(fabric)
        ]
    }


def node_class(fabric: Fabric, system: str) -> dict[str, Any]:
    """The same as Karpenter's EC2NodeClass says it. Without interfaces Karpenter attaches EFAs that take addresses of
    the subnet, and only where the first pod of a node asks for one. `system` is al2023 or bottlerocket."""
    limits = {"userData": MEMORY_LIMITS} if system == "al2023" else {}
    return limits | {
        "networkInterfaces": [
            {
                "networkCardIndex": interface.card,
                "deviceIndex": interface.device,
                "interfaceType": interface.kind,
            }
            for interface in interfaces(fabric)
        ]
    }


def offered(fabric: Fabric) -> dict[str, str]:
    """What a node offers beside its accelerators, by resource name."""
    pages = HUGE_PAGES_MIB * machine(fabric.machine).vcpus
    return {RESOURCE: str(fabric.interfaces), "hugepages-2Mi": f"{pages}Mi"}


def placed_together(kinds: Sequence[str]) -> bool:
    """Whether a group that pays in these ways gets a cluster placement group.

    Machines of a reservation and of a Capacity Block stand where they stand, and those of a block stand together: a
    placement group that was not reserved with them has no room for them (terraform-aws-modules/terraform-aws-eks, pull
    request 3730).
    """
    return not {"reservation", "capacity_block"} & set(kinds)


def zone_refusals(zones: Sequence[str]) -> Iterator[str]:
    """Why a group with EFA could not be in these zones."""
    if len(zones) > 1:
        yield (
            f"EFA reaches no other zone, and the group is in {', '.join(zones)}: give one of them under zones, "
            "and a group a zone where you want several"
        )


def addon_refusals(version: str | None) -> Iterator[str]:
    """Why the VPC CNI of this version does not carry EFA. EKS's default, where none is chosen, does."""
    if version and tuple(int(part) for part in version[1:].partition("-")[0].split(".")) < VPC_CNI:
        least = ".".join(map(str, VPC_CNI))
        yield (
            f"vpc-cni {version} does not know interfaces that are EFA alone: give v{least} or newer, "
            "or leave it out, and EKS takes its default"
        )
