"""Parts of an accelerator: NVIDIA's Multi-Instance GPU (MIG) profiles, and where on the accelerator each fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gpuyard.catalogue.tables import load, number


@dataclass(frozen=True, slots=True)
class Partition:
    """A MIG profile of an accelerator: a hardware share of its compute and of its memory."""

    accelerator: str
    """A key of the accelerators."""
    profile: str
    """As NVIDIA calls it: `1g.10gb` is one compute slice and 10 GB; `+me` has the media engines, `+gfx` graphics."""
    most: int
    """Instances of this profile alone that one accelerator holds."""
    compute_slices: int
    """Compute slices of an instance, of the 7 of an accelerator (RTX PRO 6000: of 4; RTX PRO 4500: of 2)."""
    memory_slices: int
    """Memory slices of an instance, which it covers from its placement on, of 8 (RTX PRO 6000: of 12; 4500: of 2)."""
    memory_gib: float | None
    """GiB that nvidia-smi lists for an instance, the least where drivers differ; None: no list of it was found."""
    placements: tuple[int, ...]
    """Memory slices, counted from 0, that an instance may begin at.

    Instances of a mix fit where each begins at a placement of its own profile and none covers a slice of another.
    """
    gke: bool
    """Whether GKE partitions its GPUs so; it calls the profile as `resource` does, without `nvidia.com/mig-`."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""

    @property
    def resource(self) -> str:
        """What pods ask for under NVIDIA's mixed strategy; under its single strategy it stays nvidia.com/gpu."""
        return f"nvidia.com/mig-{self.profile.replace('+', '.')}"


@cache
def all_partitions() -> Mapping[tuple[str, str], Partition]:
    """Every profile by its accelerator and its name."""
    return load("mig_profiles.csv", _partition)


@cache
def partitions(accelerator: str) -> Mapping[str, Partition]:
    """MIG profiles of an accelerator, the smallest first; empty for one that cannot be partitioned, or is not known."""
    return MappingProxyType({profile: row for (of, profile), row in all_partitions().items() if of == accelerator})


def _partition(columns: dict[str, str]) -> tuple[tuple[str, str], Partition]:
    row = Partition(
        accelerator=columns["accelerator"],
        profile=columns["profile"],
        most=int(columns["most"]),
        compute_slices=int(columns["compute_slices"]),
        memory_slices=int(columns["memory_slices"]),
        memory_gib=number(columns["memory_gib"]),
        placements=tuple(int(start) for start in columns["placements"].split()),
        gke={"yes": True, "no": False}[columns["gke"]],
        source=columns["source"],
        date=columns["date"],
    )
    return (row.accelerator, row.profile), row
