"""Node pools of GKE, and default pools of its clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.review.disks import of_pool
from gpuyard.review.node_group import NodeGroup, group_name
from gpuyard.review.resources import GKE_CLUSTER, Resource, dependency, of_provider
from gpuyard.review.values import at, mapping, number, sequence, text

ZONES_OF_A_REGION = 3
"""A regional GKE cluster that names no zones runs its node pools in three. Source: GKE's NodePool.locations."""


def has_default_pool(cluster: Mapping[str, Any]) -> bool:
    """Whether a cluster, by its inputs, keeps the pool that GKE makes with it."""
    removed = cluster.get("removeDefaultNodePool") or cluster.get("enableAutopilot")
    return not removed and "initialNodeCount" in cluster


def gke_group(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    """Reads a node pool, or a cluster as its default pool."""
    inputs = resource["inputs"]
    config = mapping(inputs.get("nodeConfig"))
    found = dependency(resource, by_urn, GKE_CLUSTER)
    cluster = found["inputs"] if found else {}
    location = text(inputs.get("location")) or text(cluster.get("location"))
    location = location or of_provider(resource, by_urn, "zone") or of_provider(resource, by_urn, "region")
    zones = _zones(inputs, cluster, location)
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
        machine=text(config.get("machineType")),
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


def _zones(inputs: Mapping[str, Any], cluster: Mapping[str, Any], location: str | None) -> int:
    named = sequence(inputs.get("nodeLocations")) or sequence(cluster.get("nodeLocations"))
    if named:
        return len(named)
    return 1 if location is not None and location != _region(location) else ZONES_OF_A_REGION


def _total(scaling: Mapping[str, Any], total: str, per_zone: str, zones: int) -> int | None:
    if scaling.get(total) is not None:
        return number(scaling[total])
    return _times(number(scaling.get(per_zone, 0)), zones)


def _times(count: int | None, zones: int) -> int | None:
    return None if count is None else count * zones
