"""One GPU for several pods: cut into slices by its hardware (MIG), or shared by what runs on it (MPS, time-slicing)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from gpuyard import catalogue
from gpuyard.components.spec import Spec, pattern

NVIDIA = "nvidia.com/gpu"
"""What pods ask for where a GPU is whole."""

MOST_CLIENTS = 48
"""Pods that share one GPU at most. Source: GKE, GPU time-sharing and MPS: max_shared_clients_per_gpu of 2 to 48;
NVIDIA, MPS: 48 clients of a device since Volta."""

Profile = Annotated[
    str, pattern(r"^[1-9]g\.[1-9][0-9]{0,2}gb([+-][a-z.]{1,8})?$", "a MIG profile such as 1g.10gb: slices and memory")
]
"""A slice as NVIDIA names it: compute slices and memory, such as 1g.10gb."""


class Mig(Spec):
    """Every GPU of a node cut the same way, each slice with memory and processors of its own: tenants may share it."""

    kind: Literal["mig"]
    """How the GPUs are divided."""
    profiles: dict[Profile, Annotated[int, Field(ge=1, le=7)]] = Field(min_length=1)
    """Slices of one GPU, by profile: {1g.10gb: 7}, or a mix that fits on it, such as {3g.40gb: 1, 1g.10gb: 3}. Of a
    mix, tenants and endpoints name the slice that they mean: <group>/1g.10gb."""
    strategy: Literal["single", "mixed"] | None = None
    """What pods ask for: nvidia.com/gpu, where all slices are of one profile (single), or nvidia.com/mig-<profile>
    (mixed). Left out, single for one profile and mixed for several. All groups that the GPU Operator runs have one."""

    @property
    def mixed(self) -> bool:
        """Whether slices have resource names of their own."""
        return self.strategy == "mixed" or (self.strategy is None and len(self.profiles) > 1)


class Mps(Spec):
    """Pods that compute on one GPU at once, by its own scheduler. Each has an equal part of the memory; a fault of one
    ends all, so a group is for one tenant."""

    kind: Literal["mps"]
    """How the GPUs are divided."""
    clients: Annotated[int, Field(ge=2, le=MOST_CLIENTS)]
    """Pods that share one GPU."""


class TimeSlicing(Spec):
    """Pods that take turns on one GPU. Nothing keeps one from taking all the memory, so a group is for one tenant."""

    kind: Literal["time_slicing"]
    """How the GPUs are divided."""
    clients: Annotated[int, Field(ge=2, le=MOST_CLIENTS)]
    """Pods that share one GPU."""


Divided = Mig | Mps | TimeSlicing
"""Any of them."""

Partition = Annotated[Divided, Field(discriminator="kind")]
"""Any of them, as a stack file says it."""

MIG_LABEL, SHARING_LABEL = "nvidia.com/mig.config", "nvidia.com/device-plugin.config"
"""Labels by which a node gets its part of the GPU Operator's configuration. Source: NVIDIA/gpu-operator,
controllers/state_manager.go and assets/state-device-plugin."""


def configuration(partition: Divided) -> str:
    """How the GPU Operator's configuration calls it: a label value that says what it is, such as 7x1g.10gb or mps-4."""
    if isinstance(partition, Mig):
        slices = (f"{count}x{profile.replace('+', '.')}" for profile, count in sorted(partition.profiles.items()))
        return "_".join(slices)
    return f"{partition.kind.replace('_', '-')}-{partition.clients}"


def operator_labels(partition: Divided | None) -> dict[str, str]:
    """Labels of nodes whose GPUs the GPU Operator divides."""
    if partition is None:
        return {}
    return {MIG_LABEL if isinstance(partition, Mig) else SHARING_LABEL: configuration(partition)}


def refusals(partition: Divided, machine: catalogue.Machine) -> Iterator[str]:
    """Why the machine's accelerators cannot be divided so."""
    if machine.resource != NVIDIA or machine.accelerator is None:
        has = f"has {machine.accelerator}" if machine.accelerator else "has no accelerator"
        yield f"partition {partition.kind} is of NVIDIA GPUs, and {machine.name} {has}: leave partition out"
    elif isinstance(partition, Mig):
        yield from _mig_refusals(partition, machine, catalogue.partitions(machine.accelerator))


def _mig_refusals(
    partition: Mig, machine: catalogue.Machine, known: Mapping[str, catalogue.Partition]
) -> Iterator[str]:
    what = f"{machine.accelerator} ({machine.name})"
    if not known:
        yield f"partition mig is given, and {what} cannot be cut: choose kind mps or time_slicing, or another machine"
        return
    unknown = [profile for profile in partition.profiles if profile not in known]
    if unknown:
        yield f"partition.profiles {', '.join(unknown)}: {what} has {', '.join(known)}: choose of these"
        return
    if partition.strategy == "single" and len(partition.profiles) > 1:
        yield (
            f"partition.strategy single is for slices of one profile, and {', '.join(partition.profiles)} are given: "
            "leave strategy out, or give one profile"
        )
    for profile, count in partition.profiles.items():
        if count > known[profile].most:
            yield (
                f"partition.profiles {profile}: {count} are given, and {what} has room for {known[profile].most}: "
                "lower it"
            )
            return
    if not fits(partition.profiles, known):
        given = ", ".join(f"{count} of {profile}" for profile, count in partition.profiles.items())
        yield f"partition.profiles: {given} overlap, because {what} has no room for all of them: take some out"


def fits(profiles: Mapping[str, int], known: Mapping[str, catalogue.Partition]) -> bool:
    """Whether slices of these profiles can lie on one GPU at once: each at a place of its profile, none on another, and
    all together within the GPU's compute slices."""
    whole = max(each.compute_slices for each in known.values())
    if sum(known[profile].compute_slices * count for profile, count in profiles.items()) > whole:
        return False
    wanted = [known[profile] for profile, count in profiles.items() for _ in range(count)]
    # Large slices have the fewest places.
    return _placed(sorted(wanted, key=lambda each: len(each.placements)), frozenset())


def _placed(wanted: list[catalogue.Partition], taken: frozenset[int]) -> bool:
    if not wanted:
        return True
    first, *rest = wanted
    for start in first.placements:
        slices = frozenset(range(start, start + first.memory_slices))
        if not slices & taken and _placed(rest, taken | slices):
            return True
    return False
