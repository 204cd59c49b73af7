"""What the nodes of a group offer: what pods ask for there, and how many of it a node has. The one place that knows
that a slice of a GPU is no GPU."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from gpuyard import catalogue
from gpuyard.components.node_groups.partition import Divided, Mig, Mps
from gpuyard.components.spec import GIB

GB = 10**9
"""Bytes of a GB, which makers of accelerators count in."""

SHARED = "nvidia.com/gpu.shared"
"""What the device plugin calls a GPU that several pods share, where it is told to rename it. Source:
NVIDIA/k8s-device-plugin README, renameByDefault."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Accelerators, or parts of them, of one kind."""

    resource: str
    """What pods ask for, such as nvidia.com/gpu or nvidia.com/mig-1g.10gb."""
    a_node: int
    """How many a node has."""
    taint: str
    """Key of the taint that keeps other pods off the node: the resource of the whole accelerator."""
    machine_share: Fraction
    """Part of the machine that goes with one."""
    memory: float
    """Bytes of memory that one has, by the most generous source; 0 where no source knows it."""
    profile: str | None = None
    """MIG profile of a slice."""
    part: str | None = None
    """What tells it from others of the same nodes: the profile, where a group has slices of several."""
    kind: Literal["mig", "mps", "time_slicing"] | None = None
    """How the accelerator is divided of which it is a part; None where it is whole."""

    @property
    def divided(self) -> bool:
        """Whether it is less than an accelerator: no pod can use two of them as one."""
        return self.kind is not None


def offers(machine: catalogue.Machine, partition: Divided | None = None) -> tuple[Offer, ...]:
    """What a node of this machine offers; nothing where it has no accelerator, and several where it is cut into slices
    of several profiles.

    A shared GPU is renamed, so that nobody takes it for a whole one, except on GKE, whose plugin has one name for all.
    """
    if not machine.resource:
        return ()
    memory = _memory(machine)
    if partition is None:
        share = Fraction(1, machine.accelerators)
        return (Offer(machine.resource, machine.accelerators, machine.resource, share, memory),)
    if isinstance(partition, Mig):
        return _slices(machine, partition)
    count = machine.accelerators * partition.clients
    # By MPS each client has its part of the memory; whoever takes turns sees all of it.
    each = memory / partition.clients if isinstance(partition, Mps) else memory
    name = machine.resource if machine.cloud == "gcp" else SHARED
    return (Offer(name, count, machine.resource, Fraction(1, count), each, kind=partition.kind),)


def part_name(group: str, offer: Offer | None) -> str:
    """How the cluster calls what is declared for a group, by its name there, or for its slices of one profile."""
    return f"{group}-{offer.part.replace('+', '.')}" if offer and offer.part else group


def _slices(machine: catalogue.Machine, partition: Mig) -> tuple[Offer, ...]:
    known = catalogue.partitions(machine.accelerator or "")
    whole = sum(known[profile].compute_slices * count for profile, count in partition.profiles.items())
    resource = machine.resource or ""
    return tuple(
        Offer(
            resource=known[profile].resource if partition.mixed else resource,
            a_node=machine.accelerators * count,
            taint=resource,
            machine_share=Fraction(known[profile].compute_slices, whole * machine.accelerators),
            memory=(known[profile].memory_gib or 0) * GIB,
            profile=profile,
            part=profile if len(partition.profiles) > 1 else None,
            kind=partition.kind,
        )
        for profile, count in partition.profiles.items()
    )


def _memory(machine: catalogue.Machine) -> float:
    """Memory of one accelerator by the most generous source, bytes; 0 where no source knows it."""
    known = [float(machine.accelerator_memory_mib * 2**20)]
    if machine.accelerator is not None:
        accelerator = catalogue.accelerator(machine.accelerator)
        known += [(accelerator.memory_gib or 0) * GIB, (accelerator.memory_gb or 0) * GB]
    return max(known)
