"""Machines that node groups are made of, and the accelerators in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import find, load, number


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine type of a cloud, or a machine that one owns."""

    name: str
    """As its cloud calls it. On-prem: `dgx-…`, or `onprem-<accelerator>-x<count>` for a machine of any maker."""
    cloud: str
    """aws, gcp or onprem."""
    architecture: str
    """amd64 or arm64."""
    vcpus: int
    """CPU threads that Kubernetes sees; 0 is not known (on-prem)."""
    memory_gib: float
    """Main memory in GiB; 0 is not known (on-prem)."""
    accelerator: str | None
    """A key of the accelerators; None for a machine that has none."""
    accelerators: int
    """Accelerators a machine, as its device plugin counts them: GPUs, Neuron devices, TPU chips. A share of an L4 (AWS
    g6f) counts as one `L4-3`."""
    accelerator_memory_mib: int
    """MiB of one accelerator as the cloud reports it; 0 is not known: Compute Engine and on-prem report none."""
    resource: str | None
    """What pods ask for: nvidia.com/gpu, amd.com/gpu, google.com/tpu, aws.amazon.com/neuron, habana.ai/gaudi or
    qualcomm.com/qaic."""
    cloud_accelerator: str | None
    """The accelerator as the cloud labels it: GKE's accelerator or TPU type; on AWS what Karpenter's label
    instance-gpu-name says, or instance-accelerator-name."""
    local_disk_gb: int
    """Local NVMe disks that come with the machine, in GB as the cloud counts; those one may add are not counted."""
    network_gbps: float | None
    """All network cards together, in Gb/s. AWS: what lasts, not the burst of an "up to" type. GCP: the maximum."""
    purchase: tuple[str, ...]
    """How it is sold: on_demand, spot, reservation, capacity_block, flex_start. Empty for a machine that one owns.

    EC2 names on-demand, spot and capacity blocks; a reservation there is one of on-demand capacity.
    """
    boot_disks: tuple[str, ...]
    """GCP: the boot disks it takes, first the one to take when nothing is asked. Elsewhere empty."""
    source: str
    date: str
    """The day that the source is of, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A model of accelerator."""

    name: str
    """Its model, and its memory where the model is sold with several: A100-40, A100-80."""
    vendor: str
    """nvidia, amd, google, aws, intel or qualcomm."""
    generation: str
    """The architecture, such as hopper; for what is neither NVIDIA's nor AMD's, the vendor's name of the chip."""
    part_of: str | None
    """The accelerator that it is a share of, by the cloud's own cutting; None for a whole one."""
    compute_capability: str | None
    """CUDA compute capability, such as 9.0, or AMD's gfx target; None for other vendors."""
    memory_gb: float
    """GB of memory on the label."""
    memory_gib: float | None
    """GiB that a process sees, which is what a model has to fit into; None is not known.

    The total that PyTorch reports on NVIDIA and AMD, less than a driver's tools print; the vendor's figure elsewhere.
    """
    formats: frozenset[str]
    """Number formats that it multiplies natively: fp16, bf16, fp8, fp4, int8. Empty where that is not known."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def machines() -> Mapping[str, Machine]:
    """Every machine by its name."""
    return load("machines/*.csv", machine_of)


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """Every accelerator by its name."""
    return load("accelerators.csv", _accelerator)


def machine(name: str) -> Machine:
    """The machine called `name`; raises Unknown."""
    return find("machine", machines(), name)


def accelerator(name: str) -> Accelerator:
    """The accelerator called `name`; raises Unknown."""
    return find("accelerator", accelerators(), name)


def machine_of(columns: Mapping[str, str]) -> tuple[str, Machine]:
    """The machine of a row, and its name. Raises ValueError for a value of another kind."""
    row = Machine(
        name=columns["name"],
        cloud=columns["cloud"],
        architecture=columns["architecture"],
        vcpus=int(columns["vcpus"]),
        memory_gib=float(columns["memory_gib"]),
        accelerator=columns["accelerator"] or None,
        accelerators=int(columns["accelerators"]),
        accelerator_memory_mib=int(columns["accelerator_memory_mib"]),
        resource=columns["resource"] or None,
        cloud_accelerator=columns["cloud_accelerator"] or None,
        local_disk_gb=int(columns["local_disk_gb"]),
        network_gbps=number(columns["network_gbps"]),
        purchase=tuple(columns["purchase"].split()),
        boot_disks=tuple(columns["boot_disks"].split()),
        source=columns["source"],
        date=columns["date"],
    )
    return row.name, row


def _accelerator(columns: dict[str, str]) -> tuple[str, Accelerator]:
    row = Accelerator(
        name=columns["name"],
        vendor=columns["vendor"],
        generation=columns["generation"],
        part_of=columns["part_of"] or None,
        compute_capability=columns["compute_capability"] or None,
        memory_gb=float(columns["memory_gb"]),
        memory_gib=number(columns["memory_gib"]),
        formats=frozenset(columns["formats"].split()),
        source=columns["source"],
        date=columns["date"],
    )
    return row.name, row
