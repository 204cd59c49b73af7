"""How GKE divides GPUs: it does so itself, by fields of the node pool, and calls every part nvidia.com/gpu."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuyard import catalogue
from gpuyard.components.node_groups.partition import Divided, Mig


def refusals(partition: Divided | None, machine: catalogue.Machine) -> Iterator[str]:
    """Why GKE would not divide the machine's GPUs so."""
    if partition is None:
        return
    if partition.kind == "mps":
        # GKE, "Share GPUs with multiple workloads using NVIDIA MPS".
        yield (
            "partition mps is given, and GKE's needs pods on the host's IPC, which tenants' namespaces forbid: "
            "choose kind mig or time_slicing"
        )
    elif isinstance(partition, Mig):
        yield from _mig_refusals(partition, machine)


def _mig_refusals(partition: Mig, machine: catalogue.Machine) -> Iterator[str]:
    known = {profile: row.most for profile, row in catalogue.partitions(machine.accelerator or "").items() if row.gke}
    given = ", ".join(f"{profile}: {count}" for profile, count in partition.profiles.items())
    choices = ", ".join(f"{{{profile}: {most}}}" for profile, most in known.items())
    if not known:
        yield f"partition mig is given, and GKE does not cut {machine.accelerator}: choose kind time_slicing"
    elif partition.strategy == "mixed":
        yield "partition.strategy mixed is given, and GKE calls every slice nvidia.com/gpu: leave strategy out"
    elif len(partition.profiles) > 1 or any(known.get(key) != count for key, count in partition.profiles.items()):
        yield (
            f"partition.profiles {{{given}}} is given, and GKE cuts a whole GPU into slices of one profile: "
            f"give one of {choices}"
        )


def accelerator_inputs(partition: Divided | None) -> dict[str, Any]:
    """What the accelerator of a node pool says of it."""
    if partition is None:
        return {}
    if isinstance(partition, Mig):
        return {"gpu_partition_size": next(iter(partition.profiles))}
    sharing = {"gpu_sharing_strategy": "TIME_SHARING", "max_shared_clients_per_gpu": partition.clients}
    return {"gpu_sharing_config": sharing}
