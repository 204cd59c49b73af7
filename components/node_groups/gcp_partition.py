"""How GKE divides GPUs: it does so itself, by fields of the node pool, and calls every part nvidia.com/gpu."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard import catalogue
from gpuyard.components.node_groups.partition import NVIDIA, Divided, Mig
from gpuyard.components.node_groups.partition import refusals as divisible


def refusals(partition: Divided | None, machine: catalogue.Machine) -> Iterator[str]:
    """Why GKE would not divide the machine's GPUs so. What it says to give instead, GKE takes."""
    if partition is None:
        return
    if machine.resource != NVIDIA or machine.cloud != "gcp":
        # GKE has no say in these.
        yield from divisible(partition, machine)
        return
    most = {profile: row.most for profile, row in catalogue.partitions(machine.accelerator or "").items() if row.gke}
    if partition.kind == "mps":
        # GKE, "Share GPUs with multiple workloads using NVIDIA MPS".
        others = "kind mig or time_slicing" if most else "kind time_slicing"
        yield (
            "partition mps is given, and GKE's needs pods on the host's IPC, which tenants' namespaces forbid: "
            f"choose {others}"
        )
    elif isinstance(partition, Mig):
        yield from _mig_refusals(partition, machine, most)


def _mig_refusals(partition: Mig, machine: catalogue.Machine, most: Mapping[str, int]) -> Iterator[str]:
    given = ", ".join(f"{profile}: {count}" for profile, count in partition.profiles.items())
    choices = ", ".join(f"{{{profile}: {count}}}" for profile, count in most.items())
    if not most:
        yield (
            f"partition mig is given, and GKE does not cut {machine.accelerator} ({machine.name}): "
            "choose kind time_slicing, or another machine"
        )
    elif len(partition.profiles) > 1 or any(most.get(key) != count for key, count in partition.profiles.items()):
        yield (
            f"partition.profiles {{{given}}} is given, and GKE cuts a whole GPU ({machine.name}) into slices of one "
            f"profile: give one of {choices}"
        )
    elif partition.strategy == "mixed":
        yield "partition.strategy mixed is given, and GKE calls every slice nvidia.com/gpu: leave strategy out"


def accelerator_inputs(partition: Divided | None) -> dict[str, Any]:
    """What the accelerator of a node pool says of it."""
    if partition is None:
        return {}
    if isinstance(partition, Mig):
        return {"gpu_partition_size": next(iter(partition.profiles))}
    sharing = {"gpu_sharing_strategy": "TIME_SHARING", "max_shared_clients_per_gpu": partition.clients}
    return {"gpu_sharing_config": sharing}
