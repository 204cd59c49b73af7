"""GKE node pools: one machine, one way to pay, counts that are totals over the zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp

from gpuyard import catalogue
from gpuyard.components.gcp import node_security, resource_labels
from gpuyard.components.node_groups import base, capacity
from gpuyard.components.node_groups.gcp_spec import (
    LARGE_DISK_GIB,
    SMALL_DISK_GIB,
    NodeGroupSpec,
    Reservation,
)
from gpuyard.components.renaming import renamed
from gpuyard.components.spec import in_gib

__all__ = ["NodeGroup", "NodeGroupSpec", "check_name", "group_zones"]

NAME_LENGTH = 32
"""A node pool's name has at most 40 characters, and 8 of them are Pulumi's random suffix. Source: GKE."""

RESERVATION_KEY = "compute.googleapis.com/reservation-name"
"""The label that names a reservation. Source: container API, ReservationAffinity.key."""

LOCAL_SSD_GB = 375
"""Size of a local SSD. Source: container API, EphemeralStorageLocalSsdConfig."""

IMAGE_TYPE = "COS_CONTAINERD"
"""Container-Optimized OS, the one image for which GKE installs either of its driver versions."""

EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Kubernetes' effects as the container API calls them."""


class NodeGroup(pulumi.ComponentResource):
    """A node pool that pods select as one group. One with GPUs depends on one without: GKE's own pods need a node
    that has no taint."""

    pool: gcp.container.NodePool
    """The node pool: what needs its nodes depends on it."""

    def __init__(
        self,
        name: str,
        spec: NodeGroupSpec,
        *,
        cluster: pulumi.Input[str],
        location: str,
        zones: Sequence[str],
        service_account: pulumi.Input[str],
        tags: Mapping[str, str],
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = spec.model_dump(mode="json")
        super().__init__("gpuyard:index:GkeNodeGroup", check_name(name), props, renamed(opts, name, spec))
        self.pool = gcp.container.NodePool(
            name,
            **node_pool_inputs(spec, location=location, zones=zones),
            cluster=cluster,
            node_config=node_config(spec.known_as(name), spec, service_account=service_account, tags=tags),
            # The autoscaler owns the number of nodes, and a new initial one would replace the pool. Nodes need what
            # the component depends on, and Pulumi orders a component's children by it only when each says so.
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=protect,
                ignore_changes=["initialNodeCount"],
                depends_on=opts.depends_on if opts else None,
            ),
        )
        self.register_outputs({"name": self.pool.name})


def check_name(name: str) -> str:
    """The name of a group, when it leaves room for the node pool's.

    Raises ValueError otherwise.
    """
    if len(name) > NAME_LENGTH:
        raise ValueError(f"the name {name} has {len(name)} characters: give a node group on GKE {NAME_LENGTH} at most")
    return name


def group_zones(spec: NodeGroupSpec, cluster_zones: Sequence[str]) -> list[str]:
    """The zones of a group in a cluster of these zones.

    Raises ValueError for a zone that the cluster lacks, and for zones that cannot start with equal numbers of nodes,
    which is the only way that GKE starts them.
    """
    chosen = [spec.capacity.zone] if isinstance(spec.capacity, Reservation) else list(spec.zones or cluster_zones)
    for zone in chosen:
        if zone not in cluster_zones:
            raise ValueError(
                f"zone {zone} is not one of the cluster's ({', '.join(cluster_zones)}): "
                "choose one of these, or add the zone to the cluster's zones"
            )
    if spec.nodes.start % len(chosen):
        raise ValueError(_uneven(spec, len(chosen)))
    return chosen


def node_pool_inputs(spec: NodeGroupSpec, *, location: str, zones: Sequence[str]) -> dict[str, Any]:
    """Inputs of the node pool, besides its cluster and its nodes' configuration. `zones` are the cluster's."""
    chosen = group_zones(spec, zones)
    gpus = catalogue.machine(spec.machine).accelerators > 0
    return {
        "location": location,
        "node_locations": chosen,
        # The API counts these in each zone; group_zones sees to it that the zones share them evenly.
        "initial_node_count": spec.nodes.start // len(chosen),
        "autoscaling": {
            "total_min_node_count": spec.nodes.min,
            "total_max_node_count": spec.nodes.max,
            # GPUs are taken where there are any; other nodes are spread for the sake of availability.
            "location_policy": "ANY" if gpus else "BALANCED",
        },
        "management": {"auto_repair": True, "auto_upgrade": True},
        # Nobody has a spare GPU to upgrade by, least of all within a reservation: one node at a time makes room.
        "upgrade_settings": {"strategy": "SURGE", "max_surge": 0 if gpus else 1, "max_unavailable": 1 if gpus else 0},
        "network_config": {"enable_private_nodes": True},
    }


def node_config(name: str, spec: NodeGroupSpec, *, service_account: Any, tags: Mapping[str, str]) -> dict[str, Any]:
    """The configuration of each node. `service_account` is an e-mail address, and may be an Output."""
    machine = catalogue.machine(spec.machine)
    return {
        **node_security(service_account),
        "machine_type": machine.name,
        "image_type": IMAGE_TYPE,
        "gvnic": {"enabled": True},
        "labels": base.node_labels(name, spec.labels),
        "taints": _taints(spec, machine),
        "resource_labels": resource_labels(tags),
        **_market(spec.capacity),
        **_accelerators(spec, machine),
        **_disks(spec, machine),
    }


def _taints(spec: NodeGroupSpec, machine: catalogue.Machine) -> list[dict[str, str]]:
    """GKE adds the accelerator's taint by itself only where the cluster has another pool already."""
    taints = [*base.accelerator_taints(machine), *spec.taints]
    return [{"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]} for taint in taints]


def _market(paid: capacity.OnDemand | capacity.Spot | Reservation) -> dict[str, Any]:
    """A group uses a reservation if it names it, and never one that it does not name."""
    if not isinstance(paid, Reservation):
        unreserved = {"consume_reservation_type": "NO_RESERVATION"}
        return {"spot": isinstance(paid, capacity.Spot), "reservation_affinity": unreserved}
    value = f"projects/{paid.project}/reservations/{paid.name}" if paid.project else paid.name
    affinity = {"consume_reservation_type": "SPECIFIC_RESERVATION", "key": RESERVATION_KEY, "values": [value]}
    return {"spot": False, "reservation_affinity": affinity}


def _accelerators(spec: NodeGroupSpec, machine: catalogue.Machine) -> dict[str, Any]:
    if not machine.accelerators:
        return {}
    accelerator = {
        # The machine type implies both, yet only with them can the driver be asked for.
        "type": machine.cloud_accelerator,
        "count": machine.accelerators,
        "gpu_driver_installation_config": {"gpu_driver_version": spec.driver.upper()},
    }
    return {"guest_accelerators": [accelerator]}


def _disks(spec: NodeGroupSpec, machine: catalogue.Machine) -> dict[str, Any]:
    """The boot disk, and local SSDs that come with the machine: these hold images and what pods write."""
    local = {"local_ssd_count": machine.local_disk_gb // LOCAL_SSD_GB}
    default = LARGE_DISK_GIB if machine.accelerators and not machine.local_disk_gb else SMALL_DISK_GIB
    return {
        "disk_size_gb": in_gib(spec.disk) if spec.disk else default,
        "disk_type": spec.disk_type or machine.boot_disks[0],
        **({"ephemeral_storage_local_ssd_config": local} if machine.local_disk_gb else {}),
    }


def _uneven(spec: NodeGroupSpec, zones: int) -> str:
    start = spec.nodes.start
    fitting = [n for n in range(spec.nodes.min, spec.nodes.max + 1) if n % zones == 0]
    initial = f"set nodes.initial to {min(fitting, key=lambda n: abs(n - start))}, or " if fitting else ""
    return (
        f"{start} nodes cannot start in {zones} zones, because GKE starts as many in each: "
        f"{initial}name fewer zones for this group"
    )
