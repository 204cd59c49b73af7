"""Finds the node groups in a resource document, whatever program and cloud they come from.

EKS node groups, GKE node pools and default pools, NodePools of Karpenter, and gpuyard's inventories. Not seen:
self-managed Auto Scaling groups, single instances, and nodes that GKE provisions by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuyard import catalogue
from gpuyard.review import karpenter, quotas
from gpuyard.review.disks import Disk, of_pool, of_template
from gpuyard.review.partitions import Part, parts
from gpuyard.review.windows import COMPONENTS, window_of

GROUP_LABEL = "gpuyard.io/node-group"
EKS = "aws:eks/nodeGroup:NodeGroup"
GKE = "gcp:container/nodePool:NodePool"
INVENTORY = "gpuyard:index:NodeInventory"
SHARED = "gpuyard:index:SharedNodes"
ENDPOINT = "gpuyard:index:Endpoint"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
EKS_CLUSTER = "aws:eks/cluster:Cluster"
GKE_CLUSTER = "gcp:container/cluster:Cluster"

ZONES_OF_A_REGION = 3
"""A regional GKE cluster that names no zones runs its node pools in three. Source: GKE's NodePool.locations."""

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that scale as one. Counts are totals over all zones; None is not known yet."""

    urn: str
    name: str
    cloud: str
    region: str | None
    machine: str | None
    """Of several machine types, the one with most accelerators: the group may grow by it alone."""
    machine_path: str
    """JSON pointer to the machine in the resource's inputs."""
    market: str
    """on_demand, spot, reservation, capacity_block, flex_start, owned, or shared: nodes of somebody else's cluster."""
    minimum: int | None
    initial: int | None
    maximum: int | None
    reserved: int | None = None
    """Machines of the reservation or the Capacity Block, charged while idle, where the program says how many."""
    usd_hour: float | None = None
    """Price of one owned or shared machine an hour, as its owner says."""
    attached: tuple[str, int] | None = None
    """Accelerators that the group adds to each machine, as GKE does to N1: type, and how many."""
    taken: tuple[float, float, float] | None = None
    """Accelerators that the program's endpoints take of shared nodes: least, at creation, most."""
    parts: tuple[Part, ...] = ()
    """What the GPUs are divided into; empty where they are whole."""
    then: tuple[str, ...] = ()
    """Markets that are tried in this order when `market` has no machine."""
    window: tuple[str, str] | None = None
    """When the machines of a Capacity Block begin and end."""
    disks: tuple[Disk, ...] | None = None
    """Of each node; None where they are in the machine's price."""
    account: str | None = None
    """Account of AWS or project of Google Cloud, where the program says it: its quotas count the nodes."""


def node_groups(resources: Sequence[Resource], defaults: Mapping[str, Any] | None = None) -> list[NodeGroup]:
    """Every node group of the document, in the order of the document. `defaults` are its default providers."""
    # A default provider is no resource of the recording: it goes by the name of its package.
    by_urn = {**(defaults or {}), **{resource["urn"]: resource for resource in resources}}
    taken = _taken(resources)
    found = [group for resource in resources for group in _read(resource, by_urn, taken)]
    return list(_held([_divided(group, by_urn, taken) for group in found], taken))


def _taken(resources: Sequence[Resource]) -> Mapping[str, tuple[int, int]]:
    """By node group, or part of one, what the program's endpoints take of it, at the least and at the most."""
    taken: dict[str, tuple[int, int]] = {}
    for inputs in (resource["inputs"] for resource in resources if resource["type"] == ENDPOINT):
        group, replicas = _text(inputs.get("on")) or "", _mapping(inputs.get("replicas"))
        each = _number(inputs.get("tensor_parallel")) or 1
        least, most = taken.get(group, (0, 0))
        least += (_number(replicas.get("min")) or 0) * each
        taken[group] = least, most + (_number(replicas.get("max")) or 0) * each
    return taken


def _divided(group: NodeGroup, by_urn: Mapping[str, Resource], taken: Mapping[str, tuple[int, int]]) -> NodeGroup:
    """The group with what its GPUs are divided into, as its component says."""
    resource = by_urn[group.urn]
    parent = by_urn.get(resource["parent"])
    component = parent if parent is not None and parent["type"] in COMPONENTS else resource
    machine = known_machine(group.machine)
    found = parts(component["inputs"].get("partition"), machine)
    if not machine or not found:
        return group
    if group.taken is None:
        return replace(group, parts=found)
    # Endpoints take parts, and what they cost goes by the accelerators that these make up.
    least, most = (
        float(
            sum(taken.get(part.name(group.name), (0, 0))[bound] * part.share for part in found) * machine.accelerators
        )
        for bound in (0, 1)
    )
    return replace(group, parts=found, taken=(least, least, most))


def _held(groups: Sequence[NodeGroup], taken: Mapping[str, tuple[int, int]]) -> Iterator[NodeGroup]:
    """The groups with no fewer nodes than the program's endpoints keep busy: the scaler cannot go below that. Where
    several node pools are one group, the first has as many of them as it can."""
    placed: dict[str, int] = {}
    for group in groups:
        machine = known_machine(group.machine)
        if not machine or not machine.accelerators or None in (group.minimum, group.initial, group.maximum):
            yield group
            continue
        offered = {part.name(group.name): part.a_node for part in group.parts} or {group.name: machine.accelerators}
        busy = max(-(-taken.get(part, (0, 0))[0] // a_node) for part, a_node in offered.items())
        nodes = max(min(busy - placed.get(group.name, 0), group.maximum or 0), 0)
        least, first = max(group.minimum or 0, nodes), max(group.initial or 0, nodes)
        placed[group.name] = placed.get(group.name, 0) + least
        yield replace(group, minimum=least, initial=first)


def _read(
    resource: Resource, by_urn: Mapping[str, Resource], taken: Mapping[str, tuple[int, int]]
) -> Iterator[NodeGroup]:
    match resource["type"]:
        case "aws:eks/nodeGroup:NodeGroup":
            yield _eks(resource, by_urn)
        case "gcp:container/nodePool:NodePool":
            yield _gke(resource, by_urn)
        case "gcp:container/cluster:Cluster" if _has_default_pool(resource["inputs"]):
            yield _gke(resource, by_urn)
        case "gpuyard:index:NodeInventory":
            yield _inventory(resource)
        case "gpuyard:index:SharedNodes":
            yield _shared(resource, taken.get(resource["name"], (0, 0)))
        case _ if karpenter.is_pool(resource["inputs"]):
            yield _karpenter(resource, by_urn)


def _eks(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    inputs = resource["inputs"]
    template = next((t for t in _dependencies(resource, by_urn) if t["type"] == LAUNCH_TEMPLATE), None)
    template_inputs = template["inputs"] if template else {}
    scaling = _mapping(inputs.get("scalingConfig"))
    reservation = _mapping(template_inputs.get("capacityReservationSpecification"))
    reserved = bool(_mapping(reservation.get("capacityReservationTarget")))
    market = "spot" if inputs.get("capacityType") == "SPOT" else "reservation" if reserved else "on_demand"
    if inputs.get("capacityType") == "CAPACITY_BLOCK":
        market = "capacity_block"
    return NodeGroup(
        urn=resource["urn"],
        name=_group_name(inputs.get("labels"), resource, by_urn),
        cloud="aws",
        region=_text(inputs.get("region")) or of_provider(resource, by_urn, "region"),
        account=_account(resource, by_urn),
        machine=_largest(inputs.get("instanceTypes")) or _text(template_inputs.get("instanceType")),
        machine_path="/instanceTypes",
        market=market,
        minimum=_number(scaling.get("minSize")),
        initial=_number(scaling.get("desiredSize")),
        maximum=_number(scaling.get("maxSize")),
        reserved=_reserved_count(resource, by_urn) if reserved else None,
        window=window_of(by_urn.get(resource["parent"]), market),
        disks=of_template(template_inputs),
    )


def _karpenter(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    inputs, parent = resource["inputs"], by_urn.get(resource["parent"])
    pool = karpenter.pool(inputs)
    component = parent if parent is not None and parent["type"] in COMPONENTS else None
    (market, *then), reserved = karpenter.bought(component["inputs"] if component else None, pool.markets)
    machine = _largest(pool.machines)
    described = karpenter.class_of(pool, (one["inputs"] for one in by_urn.values()))
    clusters = [one for one in by_urn.values() if one.get("type") == EKS_CLUSTER]
    cluster = clusters[0] if len(clusters) == 1 else None
    return NodeGroup(
        urn=resource["urn"],
        name=_group_name(pool.labels, resource, by_urn),
        cloud=pool.cloud,
        region=pool.region or (of_provider(cluster, by_urn, "region") if cluster else None) or _default_region(by_urn),
        account=_account(cluster, by_urn) if cluster else None,
        machine=machine,
        machine_path=pool.machine_path,
        market=market,
        minimum=pool.kept,
        initial=pool.kept,
        maximum=karpenter.most_nodes(inputs, known_machine(machine), alone=len(pool.machines) == 1),
        reserved=reserved,
        then=tuple(then),
        window=window_of(component, "capacity_block"),
        disks=karpenter.disks(described or {}),
    )


def _default_region(by_urn: Mapping[str, Resource]) -> str | None:
    """The region of AWS that the stack's configuration names."""
    default = by_urn.get("aws")
    return _text(default["inputs"].get("region")) if default else None


def _gke(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    inputs = resource["inputs"]
    config = _mapping(inputs.get("nodeConfig"))
    cluster = next((c for c in _dependencies(resource, by_urn) if c["type"] == GKE_CLUSTER), None)
    location = _text(inputs.get("location")) or (_text(cluster["inputs"].get("location")) if cluster else None)
    location = location or of_provider(resource, by_urn, "zone") or of_provider(resource, by_urn, "region")
    zones = _zones(inputs, cluster, location)
    scaling = _mapping(inputs.get("autoscaling"))
    fixed = _times(_number(inputs.get("nodeCount")), zones)
    initial = _times(_number(inputs.get("initialNodeCount")), zones)
    # A pool without a scaler stays as large as it was made.
    minimum = maximum = fixed if inputs.get("nodeCount") is not None else initial
    if scaling:
        minimum = _total(scaling, "totalMinNodeCount", "minNodeCount", zones)
        maximum = _total(scaling, "totalMaxNodeCount", "maxNodeCount", zones)
    affinity = _mapping(config.get("reservationAffinity")).get("consumeReservationType")
    reserved = affinity == "SPECIFIC_RESERVATION"
    market = "spot" if config.get("spot") is True else "reservation" if reserved else "on_demand"
    if config.get("flexStart") is True:
        market = "flex_start"
    return NodeGroup(
        urn=resource["urn"],
        name=_group_name(config.get("labels"), resource, by_urn),
        cloud="gcp",
        region=_gcp_region(location),
        account=_text(inputs.get("project")) or of_provider(resource, by_urn, "project"),
        machine=_text(config.get("machineType")),
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
    first = _mapping(accelerators[0]) if isinstance(accelerators, list) and accelerators else {}
    kind, count = _text(first.get("type")), _number(first.get("count"))
    return (kind, count) if kind and count else None


def _inventory(resource: Resource) -> NodeGroup:
    count = _number(resource["inputs"].get("count"))
    return NodeGroup(
        urn=resource["urn"],
        name=resource["name"],
        cloud="onprem",
        region=None,
        machine=_text(resource["inputs"].get("machine")),
        machine_path="/machine",
        market="owned",
        minimum=count,
        initial=count,
        maximum=count,
        usd_hour=_price(resource),
    )


def _shared(resource: Resource, taken: tuple[int, int]) -> NodeGroup:
    least, most = taken
    return NodeGroup(
        urn=resource["urn"],
        name=resource["name"],
        cloud="existing",
        region=None,
        machine=_text(resource["inputs"].get("machine")),
        machine_path="/machine",
        market="shared",
        minimum=None,
        initial=None,
        maximum=None,
        usd_hour=_price(resource),
        taken=(least, least, most),
    )


def _price(resource: Resource) -> float | None:
    price = resource["inputs"].get("usd_hour")
    return float(price) if isinstance(price, int | float) and not isinstance(price, bool) else None


def _dependencies(resource: Resource, by_urn: Mapping[str, Resource]) -> Iterator[Resource]:
    for urn in resource["options"].get("depends_on", []):
        if urn in by_urn:
            yield by_urn[urn]


def _reserved_count(resource: Resource, by_urn: Mapping[str, Resource]) -> int | None:
    """The component around the group says how many machines the reservation has; the cloud's own inputs do not."""
    parent = by_urn.get(resource["parent"])
    capacity = parent["inputs"].get("capacity") if parent else None
    if not isinstance(capacity, list):
        return _number(_mapping(capacity).get("count"))
    named = _mapping(_mapping(resource["inputs"].get("nodeConfig")).get("reservationAffinity")).get("values")
    path = str(named[0]).split("/") if isinstance(named, list) and named else []
    return next((_number(way.get("count")) for way in capacity if way.get("name") in path), None)


def of_provider(resource: Resource, by_urn: Mapping[str, Resource], key: str) -> str | None:
    """An input of the resource's provider, or of the default provider of its package."""
    provider = by_urn.get(resource["provider"] or resource["type"].partition(":")[0])
    return _text(provider["inputs"].get(key)) if provider else None


def _account(resource: Resource, by_urn: Mapping[str, Resource]) -> str | None:
    provider = by_urn.get(resource["provider"] or resource["type"].partition(":")[0])
    return quotas.only_account(provider["inputs"]) if provider else None


def _gcp_region(location: str | None) -> str | None:
    if location is None:
        return None
    region, _, zone = location.rpartition("-")
    return region if len(zone) == 1 else location


def _zones(inputs: Resource, cluster: Resource | None, location: str | None) -> int:
    for source in (inputs, cluster["inputs"] if cluster else {}):
        named = source.get("nodeLocations")
        if isinstance(named, list) and named:
            return len(named)
    return 1 if location is not None and location != _gcp_region(location) else ZONES_OF_A_REGION


def _total(scaling: Mapping[str, Any], total: str, per_zone: str, zones: int) -> int | None:
    if scaling.get(total) is not None:
        return _number(scaling[total])
    return _times(_number(scaling.get(per_zone, 0)), zones)


def _times(count: int | None, zones: int) -> int | None:
    return None if count is None else count * zones


def _group_name(labels: Any, resource: Resource, by_urn: Mapping[str, Resource]) -> str:
    """The name that tenants and endpoints say: the component's, for a renamed group keeps its former one as a label."""
    parent = by_urn.get(resource["parent"])
    if parent is not None and parent["type"] in COMPONENTS:
        return str(parent["name"])
    return _text(_mapping(labels).get(GROUP_LABEL)) or str(resource["name"])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _has_default_pool(inputs: Resource) -> bool:
    return (
        not inputs.get("removeDefaultNodePool") and not inputs.get("enableAutopilot") and "initialNodeCount" in inputs
    )


def _largest(machines: Any) -> str | None:
    """Of the machine types that a group may use, the one with most accelerators, and of these the last by size."""
    names = [name for name in machines if isinstance(name, str)] if isinstance(machines, list) else []
    rows = [(row.accelerators, row.vcpus, name) for name in names if (row := known_machine(name))]
    unknown = [name for name in names if known_machine(name) is None]
    return unknown[0] if unknown else max(rows)[2] if rows else None


def known_machine(name: str | None) -> catalogue.Machine | None:
    """The catalogue's row, or None: a program may use machines that the catalogue lacks."""
    try:
        return catalogue.machine(name) if name else None
    except catalogue.Unknown:
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
