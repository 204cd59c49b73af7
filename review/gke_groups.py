"""Node pools of GKE, and default pools of its clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpuyard.review import upgrades
from gpuyard.review.disks import of_pool
from gpuyard.review.node_group import NodeGroup, group_name
from gpuyard.review.resources import GKE, GKE_CLUSTER, Resource, dependency, of_provider
from gpuyard.review.values import at, mapping, number, sequence, text

ZONES_OF_A_REGION = 3
"""A regional GKE cluster that names no zones runs its node pools in three. Source: GKE's NodePool.locations."""

SPOT = ("spot", "preemptible")
"""What a pool says whose machines Google Cloud may take back. Source: container API, NodeConfig; the older kind costs
the same, and ends after a day."""

_RESERVATION = re.compile(
    r"(projects/(?P<project>[^/]+)/reservations/)?(?P<name>[^/]+)(/reservationBlocks/(?P<block>[^/]+))?"
)

DEFAULT_MACHINE = "e2-medium"
"""What a pool has that names no machine. Source: GKE, NodeConfig.machineType."""


def has_default_pool(cluster: Mapping[str, Any]) -> bool:
    """Whether a cluster, by its inputs, keeps the pool that GKE makes with it."""
    removed = cluster.get("removeDefaultNodePool") or cluster.get("enableAutopilot")
    return not removed and "initialNodeCount" in cluster


def of_cluster(resource: Resource, by_urn: Mapping[str, Resource]) -> Iterator[NodeGroup]:
    """Reads the pools of a cluster itself: the default one, or those that it lists."""
    inputs = resource["inputs"]
    if has_default_pool(inputs):
        yield gke_group(resource, by_urn)
    for position, listed in enumerate(map(mapping, sequence(inputs.get("nodePools")))):
        at_home = {key: inputs[key] for key in ("location", "project") if key in inputs}
        pool = {**resource, "type": GKE, "inputs": at_home | listed, "name": f"{resource['name']}-{position}"}
        group = gke_group(pool, by_urn, resource)
        yield replace(group, machine_path=f"/nodePools/{position}{group.machine_path}")


def gke_group(resource: Resource, by_urn: Mapping[str, Resource], within: Resource | None = None) -> NodeGroup:
    """Reads a node pool, or a cluster as its default pool. `within` is the pool's cluster, where it is known."""
    inputs = resource["inputs"]
    config = mapping(inputs.get("nodeConfig"))
    found = within or dependency(resource, by_urn, GKE_CLUSTER)
    cluster = found["inputs"] if found else {}
    location = text(inputs.get("location")) or text(cluster.get("location"))
    location = location or of_provider(resource, by_urn, "zone") or of_provider(resource, by_urn, "region")
    zones = _zones(resource, cluster, location)
    project = text(inputs.get("project")) or of_provider(resource, by_urn, "project")
    scaling = mapping(inputs.get("autoscaling"))
    fixed = _times(number(inputs.get("nodeCount")), zones)
    initial = _times(number(inputs.get("initialNodeCount")), zones)
    # A pool without a scaler stays as large as it was made.
    minimum = maximum = fixed if inputs.get("nodeCount") is not None else initial
    if scaling:
        minimum = _total(scaling, "totalMinNodeCount", "minNodeCount", zones)
        maximum = _total(scaling, "totalMaxNodeCount", "maxNodeCount", zones)
    reserved = at(config, "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION"
    named = _reservation(config, project) if reserved else None
    zone = _only_zone(inputs, location)
    market = "spot" if any(config.get(name) is True for name in SPOT) else "reservation" if reserved else "on_demand"
    if config.get("flexStart") is True or at(inputs, "queuedProvisioning", "enabled") is True:
        market = "flex_start"
    return NodeGroup(
        urn=resource["urn"],
        name=group_name(config.get("labels"), resource, by_urn),
        cloud="gcp",
        region=_region(location),
        account=project,
        machine=text(config.get("machineType", DEFAULT_MACHINE)) if config or "nodeConfig" not in inputs else None,
        machine_path="/nodeConfig/machineType",
        market=market,
        minimum=minimum,
        initial=initial if initial is not None else minimum,
        maximum=maximum,
        reserved=_reserved_count(resource, by_urn, named, zone) if reserved else None,
        reservations=(named.called(zone) if named and zone else None,) if reserved else (),
        attached=_attached(config.get("guestAccelerators")),
        disks=of_pool(config),
        surge=upgrades.of_gke(inputs, maximum),
    )


def _attached(accelerators: Any) -> tuple[str, int] | None:
    first = mapping(next(iter(sequence(accelerators)), None))
    kind, count = text(first.get("type")), number(first.get("count"))
    return (kind, count) if kind and count else None


@dataclass(frozen=True, slots=True)
class _Reservation:
    """What a pool says of its reservation. Its name is one in its project and zone only."""

    project: str | None
    name: str
    block: str | None

    def called(self, zone: str) -> str:
        """As Compute Engine calls it."""
        block = f"/reservationBlocks/{self.block}" if self.block else ""
        return f"projects/{self.project or ''}/zones/{zone}/reservations/{self.name}{block}"


def _reservation(config: Mapping[str, Any], project: str | None) -> _Reservation | None:
    """Reads `name`, or `projects/P/reservations/name`, with or without a block. Source: container API,
    ReservationAffinity."""
    values = sequence(at(config, "reservationAffinity", "values"))
    value = text(values[0]) if len(values) == 1 else None
    found = _RESERVATION.fullmatch(value or "")
    return _Reservation(found["project"] or project, found["name"], found["block"]) if found else None


def _only_zone(inputs: Mapping[str, Any], location: str | None) -> str | None:
    """The zone of a pool that has one; None where it has several, or none is known."""
    zones = sequence(inputs.get("nodeLocations"))
    if zones:
        return text(zones[0]) if len(zones) == 1 else None
    return location if location != _region(location) else None


def _reserved_count(
    resource: Resource, by_urn: Mapping[str, Resource], named: _Reservation | None, zone: str | None
) -> int | None:
    """The component around the pool says how many machines the reservation has; Google's own inputs do not."""
    capacity = at(by_urn.get(resource["parent"]), "inputs", "capacity")
    if not isinstance(capacity, list):
        return number(mapping(capacity).get("count"))
    # Of several ways, the pool is of the reservation that it names.
    for way in map(mapping, capacity):
        if named and (way.get("name"), way.get("block")) == (named.name, named.block):
            same = text(way.get("project")) in (None, named.project) and text(way.get("zone")) in (None, zone)
            if same:
                return number(way.get("count"))
    return None


def _region(location: str | None) -> str | None:
    if location is None:
        return None
    region, _, zone = location.rpartition("-")
    return region if len(zone) == 1 else location


def _zones(resource: Resource, cluster: Mapping[str, Any], location: str | None) -> int | None:
    """In how many zones a pool is: those that it names, or its cluster's. Those of a zonal cluster come on top of its
    own zone. Source: GKE, Cluster.locations, and node_locations of the provider."""
    zonal = location is not None and location != _region(location)
    inputs = resource["inputs"]
    if resource["type"] == GKE_CLUSTER:
        inputs, cluster = {}, inputs
    for holder, more in ((inputs, 0), (cluster, int(zonal))):
        if "nodeLocations" in holder and not isinstance(holder["nodeLocations"], list):
            return None
        if holder.get("nodeLocations"):
            return len(holder["nodeLocations"]) + more
    return 1 if zonal else ZONES_OF_A_REGION


def _total(scaling: Mapping[str, Any], total: str, per_zone: str, zones: int | None) -> int | None:
    if scaling.get(total) is not None:
        return number(scaling[total])
    return _times(number(scaling.get(per_zone, 0)), zones)


def _times(count: int | None, zones: int | None) -> int | None:
    if count == 0:
        return 0
    return None if count is None or zones is None else count * zones
