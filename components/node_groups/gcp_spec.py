"""What a stack says about a node group of its GKE cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.gcp import Zone
from gpuyard.components.node_groups import base, compute_class, gcp_capacity, gcp_partition, gcp_upgrade
from gpuyard.components.node_groups import gcp_gpudirect as gpudirect
from gpuyard.components.node_groups import gcp_tpu as tpu
from gpuyard.components.node_groups.gcp_capacity import Capacity, FlexStart, OnDemandNodes, Way
from gpuyard.components.node_groups.gcp_upgrade import Upgrade
from gpuyard.components.spec import Quantity, in_gib, pattern

DISK_GIB = range(10, 65537)
"""Sizes of a boot disk in GiB, which Compute Engine calls GB. Sources: container API, NodeConfig.disk_size_gb; the
largest persistent disk and Hyperdisk Balanced, 64 TiB."""

LARGE_DISK_GIB = 200
"""Boot disk where a serving image and a model's weights lie on it: the 140 GB of a 70B model in bf16 and 60 more."""

SMALL_DISK_GIB = 100
"""Boot disk elsewhere. Source: GKE's default, NodeConfig.disk_size_gb."""

COMPACT_FLEX_START = ("a3-ultragpu-", "a4-")
"""Machines that flex-start places compactly. Source: GoogleCloudPlatform/cluster-toolkit@1047080, gke-node-pool."""

COMPACT_MOST = {"a2-": 150, "g2-": 150, "a3-highgpu-8g": 96, "a4-": 1500}
"""Nodes of one compact placement, by the beginning of the machine's name, where known. Source: machine families of
k8s.io/gke-autoscaling."""

NVLINK_DOMAIN = ("a4x-", "1x72")
"""Machines whose NVLink joins GPUs of several nodes, and how many: their pools say so by a workload policy, and each is
of one domain. Source: GoogleCloudPlatform/cluster-toolkit@1047080, examples/gke-a4x and gke-a4x-max-bm: 18 nodes or
less."""

OWN_PLUGIN_OFF = "gke-no-default-nvidia-gpu-device-plugin"
"""The label that keeps GKE's device plugin off a node."""


FROM_CAPACITY = (compute_class.LABEL, "cloud.google.com/gke-queued", "cloud.google.com/gke-flex-start")
"""Labels and taints that come with a list of capacities, or with flex-start."""


class NodeGroupSpec(base.ScaledNodeGroupSpec):
    """Machines of one kind on Container-Optimized OS in a GKE cluster: a node pool, or one for each way to pay."""

    capacity: Capacity = OnDemandNodes()
    """How the machines are paid for. A list is an order: GKE tries the first way, and the next where it gets no machine
    (a ComputeClass). Each says its `max`, and they may all be in use at once, so `nodes.max` is the sum."""
    topology: (
        Annotated[str, pattern(r"^[1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){1,2}$", "one such as 2x4 or 2x2x4")] | None
    ) = None
    """How the chips of a TPU slice are joined, such as 2x4 or 2x2x4; machines with TPU need it, and no other has it. A
    slice of several nodes is whole or absent, so numbers of nodes are multiples of its nodes."""
    placement: Literal["compact"] | None = None
    """compact puts the nodes near each other, in one zone, for jobs that use several at once. Left out, they are where
    there is room."""
    interconnect: gpudirect.GpuDirectSpec | None = None
    """A network of the GPUs' own between nodes; none when left out."""
    zones: Annotated[list[Zone], Field(min_length=1)] | None = None
    """Zones of the group; all of the cluster's when left out, and the reservation's where there is one."""
    driver: Literal["default", "latest"] = "default"
    """GKE installs the NVIDIA driver and keeps it: the version that it finds stable, or the latest that it has. Nobody
    else may install one. Nothing to a machine without GPUs."""
    upgrade: Upgrade | None = None
    """How the group moves to another version of GKE's (docs/upgrading.md). Left out, one node at a time: one that has
    accelerators, or is reserved, goes before its successor comes, another after."""
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

    def partition_refusals(self) -> Iterator[str]:
        """Why GKE would not divide the GPUs of the nodes so."""
        yield from gcp_partition.refusals(self.partition, catalogue.machine(self.machine))

    @property
    def ways(self) -> list[Way]:
        """How the machines are paid for, in the order in which the ways are tried."""
        return self.capacity if isinstance(self.capacity, list) else [self.capacity]

    @property
    def queued(self) -> FlexStart | None:
        """The way to pay, where nodes come for a whole job at once."""
        return next((way for way in self.ways if isinstance(way, FlexStart) and way.queued), None)


def _refusals(spec: NodeGroupSpec) -> Iterator[str]:
    """Why GKE or Compute Engine would refuse the group, or its nodes would never be of use."""
    machine = catalogue.machine(spec.machine)
    if machine.cloud != "gcp":
        yield f"machine {machine.name} is of {machine.cloud}, and the group is on Google Cloud: choose one of gcp"
        return
    yield from base.zone_refusals(spec.zones)
    yield from tpu.refusals(machine, spec.topology, spec.nodes, spec.zones)
    yield from _capacity_refusals(spec, machine)
    yield from _placement_refusals(spec, machine)
    yield from gpudirect.refusals(spec.interconnect, machine, spec.nodes.max, spec.zones)
    yield from _disk_refusals(spec, machine)
    compact = spec.placement is not None
    yield from gcp_upgrade.refusals(
        spec.upgrade, machine, spec.ways, spec.nodes, compact=compact, topology=spec.topology
    )
    for label in spec.labels:
        if base.kubernetes_owns(label):
            yield f"label {label} is Kubernetes' own, and GKE does not take it: use a prefix of yours"
        if label == OWN_PLUGIN_OFF:
            yield f"label {label} would leave the GPUs without the plugin that offers them, GKE's: leave it out"
    for key in (*spec.labels, *(taint.key for taint in spec.taints)):
        if key in FROM_CAPACITY:
            yield f"{key} follows from how the nodes are paid for, and gpuyard or GKE sets it: leave it out"


def _capacity_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    several = len(spec.ways) > 1
    if several:
        yield from gcp_capacity.order_refusals(spec.ways, spec.nodes, spec.zones)
        if tpu.is_tpu(machine):
            yield "capacity is a list, and a TPU slice is paid for in one way: give each way a group of its own"
        if not machine.accelerators:
            yield (
                f"capacity is a list, and {machine.name} has no accelerators: only pods that select the group get such "
                "nodes, and the cluster's own do not; give one way"
            )
    elif spec.ways[0].max:
        yield f"capacity.max {spec.ways[0].max} is for one of several ways: say nodes.max, and leave it out"
    for way, nodes in zip(spec.ways, gcp_capacity.shares(spec.ways, spec.nodes), strict=True):
        yield from gcp_capacity.refusals(way, machine, nodes, None if several else spec.zones)
        yield from _domain_refusals(machine, nodes.max)


def _domain_refusals(machine: catalogue.Machine, most: int) -> Iterator[str]:
    family, joined = NVLINK_DOMAIN
    room = int(joined.partition("x")[2]) // machine.accelerators if machine.name.startswith(family) else most
    if most > room:
        yield (
            f"a node pool of {machine.name} is one NVLink domain, which has {room} nodes, and {most} are the most: "
            f"give {room} at most, and each domain a group of its own"
        )


def _placement_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    if spec.placement is None:
        return
    if tpu.is_tpu(machine):
        yield "placement compact is given, and a TPU slice is placed by its topology: leave placement out"
    elif not machine.accelerators:
        yield f"placement compact is for nodes with accelerators, and {machine.name} has none: leave placement out"
    if spec.queued:
        yield "placement compact is given, and queued flex_start places nodes by itself: leave one of them out"
    flex_start = any(isinstance(way, FlexStart) for way in spec.ways)
    if flex_start and not machine.name.startswith(COMPACT_FLEX_START):
        yield f"placement compact is given, and flex_start does not place {machine.name} so: leave one of them out"
    if spec.zones and len(spec.zones) > 1:
        yield f"placement compact is given, and zones {', '.join(spec.zones)}: name one zone"
    room = next((most for start, most in COMPACT_MOST.items() if machine.name.startswith(start)), None)
    if room and spec.nodes.max > room:
        yield f"placement compact holds {room} nodes of {machine.name}, and nodes.max is {spec.nodes.max}: lower it"


def _disk_refusals(spec: NodeGroupSpec, machine: catalogue.Machine) -> Iterator[str]:
    if spec.disk and in_gib(spec.disk) not in DISK_GIB:
        yield f"disk {spec.disk} is not a boot disk: give {DISK_GIB.start}Gi to {DISK_GIB.stop - 1}Gi"
    if spec.disk_type and spec.disk_type not in machine.boot_disks:
        takes = " or ".join(machine.boot_disks)
        yield f"disk_type {spec.disk_type} is not one that {machine.name} boots from: give {takes}"
