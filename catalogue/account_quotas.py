"""What an account of a cloud may run at most, and by which of the cloud's quotas a machine is counted.

EC2 counts vCPUs, by family of machines and by how they are bought. Compute Engine counts GPUs: by model, region and
whether they may be taken back, and once more over all regions; and chips of TPU, by generation. A machine that no row
counts has a quota that is not known here: EC2's P6 on spot, and Compute Engine's CPUs, TPU7x and what is reserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal, cast, get_args

from gpuyard.catalogue.tables import load

FAMILIES = {"GPUS_PER_GPU_FAMILY": "gpu_family", "TPUS_PER_TPU_FAMILY": "tpu_family"}
"""Compute Engine's quotas of newer accelerators, and the dimension that tells their families apart; a code here is the
quota, a slash and the family."""

Unit = Literal["vcpus", "gpus", "chips"]


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota of a cloud."""

    cloud: str
    """aws or gcp."""
    code: str
    """EC2's quota code, or Compute Engine's metric."""
    markets: tuple[str, ...]
    """Of `Machine.purchase`: those that it counts."""
    machines: tuple[str, ...]
    """Patterns of the machines that it counts, or of the accelerators that are attached to them."""
    name: str
    """As the cloud's console shows it."""
    unit: Unit
    scope: Literal["region", "global"]
    """Whether it counts one region, or all together."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


def quotas_of(cloud: str, machine: str, market: str, attached: str | None = None) -> list[Quota]:
    """Every quota that counts a machine; `attached` is the accelerator that GKE adds to it, if any."""
    names = [name for name in (machine, attached) if name]
    return [
        row
        for row in quotas().values()
        if row.cloud == cloud
        and market in row.markets
        and any(fnmatchcase(name, pattern) for name in names for pattern in row.machines)
    ]


@cache
def quotas() -> Mapping[tuple[str, str], Quota]:
    """Every quota, by cloud and code."""
    return load("quotas.csv", _quota)


def _quota(columns: dict[str, str]) -> tuple[tuple[str, str], Quota]:
    if columns["unit"] not in get_args(Unit) or columns["scope"] not in ("region", "global"):
        raise ValueError(f"unit {columns['unit']!r} or scope {columns['scope']!r} is none that there is")
    row = Quota(
        cloud=columns["cloud"],
        code=columns["code"],
        markets=tuple(columns["market"].split()),
        machines=tuple(columns["machines"].split()),
        name=columns["name"],
        unit=cast(Unit, columns["unit"]),
        scope=cast(Literal["region", "global"], columns["scope"]),
        source=columns["source"],
        date=columns["date"],
    )
    return (row.cloud, row.code), row
