"""Node pools of GKE, and default pools of its clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gpuyard.review.disks import of_pool
from gpuyard.review.node_group import NodeGroup, group_name
from gpuyard.review.resources import GKE, GKE_CLUSTER, Resource, dependency, of_provider
from gpuyard.review.values import at, mapping, number, sequence, text

ZONES_OF_A_REGION = 3
"""A regional GKE cluster that names no zones runs its node pools in three. Source: GKE's NodePool.locations."""

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
    scaling = mapping(inputs.get("autoscaling"))
    fixed = _times(number(inputs.get("nodeCount")), zones)
    initial = _times(number(inputs.get("initialNodeCount")), zones)
    # A pool without a scaler stays as large as it was made.
    minimum = maximum = fixed if inputs.get("nodeCount") is not None else initial
    if scaling:
        minimum = _total(scaling, "totalMinNodeCount", "minNodeCount", zones)
        maximum = _total(scaling, "totalMaxNodeCount", "maxNodeCount", zones)
    reserved = at(config, "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION"
    market = "spot" if config.get("spot") is True else "reservation" if reserved else "on_demand"
    if config.get("flexStart") is True:
        market = "flex_start"
    return NodeGroup(
        urn=resource["urn"],
        name=group_name(config.get("labels"), resource, by_urn),
        cloud="gcp",
        region=_region(location),
        account=text(inputs.get("project")) or of_provider(resource, by_urn, "project"),
        machine=text(config.get("machineType", DEFAULT_MACHINE)) if config or "nodeConfig" not in inputs else None,
        machine_path="/nodeConfig/machineType",
        market=market,
        minimum=minimum,
        initial=initial if initial is not None else minimum,
        maximum=maximum,
        reserved=_reserved_count(resource, by_urn) if reserved else None,
        attached=_attached(config.get("guestAccelerators")),
        disks=of_pool(config),
    )


def _attached(accelerators: Any) -> tuple[str, int] | None:
    first = mapping(next(iter(sequence(accelerators)), None))
    kind, count = text(first.get("type")), number(first.get("count"))
    return (kind, count) if kind and count else None


def _reserved_count(resource: Resource, by_urn: Mapping[str, Resource]) -> int | None:
    """The component around the pool says how many machines the reservation has; Google's own inputs do not."""
    capacity = at(by_urn.get(resource["parent"]), "inputs", "capacity")
    if not isinstance(capacity, list):
        return number(mapping(capacity).get("count"))
    # Of several ways, the pool is of the reservation whose name is in its path.
    named = sequence(at(resource["inputs"], "nodeConfig", "reservationAffinity", "values"))
    path = str(named[0]).split("/") if named else []
    return next((number(way.get("count")) for way in map(mapping, capacity) if way.get("name") in path), None)


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
