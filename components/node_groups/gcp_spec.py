"""What a stack says about a node group of its GKE cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.gcp import ProjectId, Zone
from gpuyard.components.node_groups import base, capacity
from gpuyard.components.spec import Quantity, in_gib

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


class NodeGroupSpec(base.ScaledNodeGroupSpec):
    """Machines of one kind on Container-Optimized OS in a GKE cluster: a node pool."""

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

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for refusal in _refusals(self):
            raise ValueError(refusal)
        return self


def _refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """Why GKE or Compute Engine would refuse the group, or its nodes would never be of use."""
    machine = catalogue.machine(spec.machine)
    if machine.cloud != "gcp":
        yield f"machine {machine.name} is of {machine.cloud}, and the group is on Google Cloud: choose one of gcp"
        return
    yield from _capacity_refusals(spec, machine)
    yield from _disk_refusals(spec, machine)
    for label in spec.labels:
        if base.kubernetes_owns(label):
            yield f"label {label} is Kubernetes' own, and GKE does not take it: use a prefix of yours"
        if label == OWN_PLUGIN_OFF:
            yield f"label {label} would leave the GPUs without the plugin that offers them, GKE's: leave it out"


def _capacity_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    kind = spec.capacity.kind
    if kind not in machine.purchase:
        ways = " or ".join(way for way in KINDS if way in machine.purchase)
        yield f"machine {machine.name} is not sold as {kind}: give capacity.kind {ways}, or another machine"
    if isinstance(spec.capacity, Reservation):
        yield from capacity.reservation_refusals(spec.capacity, spec.capacity.name, spec.nodes.max, spec.zones)


def _disk_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    if spec.disk and in_gib(spec.disk) not in DISK_GIB:
        yield f"disk {spec.disk} is not a boot disk: give {DISK_GIB.start}Gi to {DISK_GIB.stop - 1}Gi"
    if spec.disk_type and spec.disk_type not in machine.boot_disks:
        takes = " or ".join(machine.boot_disks)
        yield f"disk_type {spec.disk_type} is not one that {machine.name} boots from: give {takes}"
