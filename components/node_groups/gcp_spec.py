"""What a stack says about a node group of its GKE cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from gpuyard import catalogue
from gpuyard.components.gcp import ProjectId, Zone
from gpuyard.components.node_groups import base, capacity
from gpuyard.components.spec import Quantity
from pydantic import Field, model_validator

KINDS = ("on_demand", "spot", "reservation")
"""Ways to buy a machine that a group can say."""

DISK_GIB = range(10, 65537)
"""Sizes of a boot disk in GiB, which Compute Engine calls GB. Sources: container API, NodeConfig.disk_size_gb; the
largest persistent disk and Hyperdisk Balanced, 64 TiB."""

LARGE_DISK_GIB = 200
"""Boot disk where a serving image and a model's weights lie on it: the 140 GB of a 70B model in bf16 and 60 more."""

SMALL_DISK_GIB = 100
"""Boot disk elsewhere. Source: GKE's default, NodeConfig.disk_size_gb."""

OWN_PLUGIN_OFF = "gke-no-default-nvidia-gpu-device-plugin"
"""The label that keeps GKE's device plugin off a node."""


class Reservation(capacity.Reservation):
    """A reservation of Compute Engine that only those use who name it (specificReservationRequired)."""

    name: Annotated[str, Field(pattern=r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")]
    """Name of the reservation."""
    project: ProjectId | None = None
    """Project that owns it, where that is not the cluster's and it is shared with the cluster's."""


Capacity = Annotated[capacity.OnDemand | capacity.Spot | Reservation, Field(discriminator="kind")]


class NodeGroupSpec(base.NodeGroupSpec):
    """Machines of one kind on Container-Optimized OS in a GKE cluster: a node pool."""

    nodes: base.Nodes
    """How many, over all zones."""
    capacity: Capacity = capacity.OnDemand()
    """How the machines are paid for."""
    zones: Annotated[list[Zone], Field(min_length=1)] | None = None
    """Zones of the group; all of the cluster's when left out, and the reservation's where there is one."""
    driver: Literal["default", "latest"] = "default"
    """GKE installs the NVIDIA driver and keeps it: the version that it finds stable, or the latest that it has. Nobody
    else may install one. Nothing to a machine without GPUs."""
    disk: Quantity | None = None
    """Boot disk of a node; left out, 200Gi where an accelerator's images lie on it, and 100Gi where there is no
    accelerator or local disks hold the images."""
    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] | None = None
    """Kind of boot disk; left out, the one that the catalogue names first for the machine."""
    taints: list[base.Taint] = Field(default_factory=list)
    """Taints of every node, beside the one that keeps other pods off accelerators."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for refusal in _refusals(self):
            raise ValueError(refusal)
        return self


def gib(quantity: str) -> int:
    """Whole GiB of a quantity in Mi, Gi or Ti; less than one is 0."""
    number, unit = int(quantity[:-2]), quantity[-2:]
    return number * {"Mi": 1, "Gi": 1024, "Ti": 1024**2}[unit] // 1024


def _refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """Why GKE or Compute Engine would refuse the group, or its nodes would never be of use."""
    machine = catalogue.machine(spec.machine)
    if machine.cloud != "gcp":
        yield f"machine {machine.name} is of {machine.cloud}, and the group is on Google Cloud: choose one of gcp"
        return
    yield from _capacity_refusals(spec, machine)
    yield from _disk_refusals(spec, machine)
    for label in spec.labels:
        if _kept_by_kubernetes(label):
            yield f"label {label} is Kubernetes' own, and GKE does not take it: use a prefix of yours"
        if label == OWN_PLUGIN_OFF:
            yield f"label {label} would leave the GPUs without the plugin that offers them, GKE's: leave it out"


def _capacity_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    kind = spec.capacity.kind
    if kind not in machine.purchase:
        ways = " or ".join(way for way in KINDS if way in machine.purchase)
        yield f"machine {machine.name} is not sold as {kind}: give capacity.kind {ways}, or another machine"
    if not isinstance(spec.capacity, Reservation):
        return
    if spec.nodes.max > spec.capacity.count:
        yield (
            f"nodes.max {spec.nodes.max} is above the {spec.capacity.count} machines of {spec.capacity.name}: "
            "lower nodes.max, or raise the reservation and its count"
        )
    if spec.zones and spec.zones != [spec.capacity.zone]:
        yield (
            f"zones {', '.join(spec.zones)} is not the zone of {spec.capacity.name}, {spec.capacity.zone}: "
            "leave zones out; a reservation has one"
        )


def _disk_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    if spec.disk and gib(spec.disk) not in DISK_GIB:
        yield f"disk {spec.disk} is not a boot disk: give {DISK_GIB.start}Gi to {DISK_GIB.stop - 1}Gi"
    if spec.disk_type and spec.disk_type not in machine.boot_disks:
        takes = " or ".join(machine.boot_disks)
        yield f"disk_type {spec.disk_type} is not one that {machine.name} boots from: give {takes}"


def _kept_by_kubernetes(label: str) -> bool:
    prefix = label.rpartition("/")[0]
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io"))
