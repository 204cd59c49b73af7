"""What the GPUs of a node group are divided into, as far as a resource document says it: a slice of a GPU is no GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gpuyard import catalogue
from gpuyard.review.values import number

SHARED = "nvidia.com/gpu.shared"
"""What the device plugin calls a shared GPU where it renames it, as gpuyard has it do outside of GKE."""


@dataclass(frozen=True, slots=True)
class Part:
    """What pods of a group ask for instead of a GPU."""

    profile: str | None
    """MIG profile, by which tenants and endpoints tell it from others of the group; None where there is one kind."""
    resource: str
    a_node: int
    share: Fraction
    """Part of a node that one is, by which its price goes."""

    def name(self, group: str) -> str:
        """How tenants and endpoints call it."""
        return f"{group}/{self.profile}" if self.profile else group


def parts(partition: Any, machine: catalogue.Machine | None) -> tuple[Part, ...]:
    """The parts of a node of gpuyard's, from what its component says; empty where its GPUs are whole."""
    if not isinstance(partition, dict) or machine is None or not machine.resource or not machine.accelerators:
        return ()
    profiles, clients = partition.get("profiles"), number(partition.get("clients")) or 0
    if isinstance(profiles, dict):
        return tuple(_slices(profiles, partition.get("strategy"), machine))
    if clients < 1:
        return ()
    count = machine.accelerators * clients
    resource = machine.resource if machine.cloud == "gcp" else SHARED
    return (Part(None, resource, count, Fraction(1, count)),)


def _slices(profiles: Mapping[str, Any], strategy: Any, machine: catalogue.Machine) -> Iterator[Part]:
    known = catalogue.partitions(machine.accelerator or "")
    given = {profile: number(count) or 0 for profile, count in profiles.items() if profile in known}
    counts = {profile: count for profile, count in given.items() if count > 0}
    whole = sum(known[profile].compute_slices * count for profile, count in counts.items())
    several = len(counts) > 1
    for profile, count in counts.items():
        named = several or strategy == "mixed"
        yield Part(
            profile=profile if several else None,
            resource=known[profile].resource if named else str(machine.resource),
            a_node=machine.accelerators * count,
            share=Fraction(known[profile].compute_slices, whole * machine.accelerators),
        )
