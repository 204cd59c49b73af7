"""A node group, whatever program and cloud it comes from, and what its readers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import catalogue
from gpuyard.review.disks import Disk
from gpuyard.review.partitions import Part
from gpuyard.review.resources import Resource, component_of
from gpuyard.review.values import mapping, sequence, text

GROUP_LABEL = "gpuyard.io/node-group"

PAID_WHILE_IDLE = ("reservation", "capacity_block")
"""Markets whose machines are paid for, used or not."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that scale as one. Counts are totals over all zones; None is not known yet."""

    urn: str
    name: str
    cloud: str
    region: str | None
    machine: str | None
    """Of several machine types, the one by which the group has most accelerators: it may grow by it alone."""
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
    also: tuple[tuple[str, int | None], ...] = ()
    """The other machine types that it may have, and how many nodes of each alone at the most."""
    paid: tuple[tuple[str, int | None, tuple[str, str] | None], ...] = ()
    """Of several reservations and Capacity Blocks each: its market, its machines, and a block's beginning and end."""
    reservations: tuple[str | None, ...] = ()
    """What tells the reservation from others, or, in the order of `paid`, each; None where nobody knows."""
    surge: int | None = 0
    """Nodes that it has beyond its others while they move to another version; None where that is not known."""
    account: str | None = None
    """Account of AWS or project of Google Cloud, where the program says it: its quotas count the nodes."""


def most_nodes(group: NodeGroup) -> int | None:
    """Nodes that a group has at the most, whichever of its machines they are."""
    counts = [group.maximum, *(count for _, count in group.also)]
    return None if None in counts else max(count for count in counts if count is not None)


def others(machines: Any, largest_: str | None, most: int | None) -> tuple[tuple[str, int | None], ...]:
    """The machine types that a group may use beside its largest, as many of each as of that."""
    names = dict.fromkeys(name for name in sequence(machines) if isinstance(name, str) and name != largest_)
    return tuple((name, most) for name in names)


def known_machine(name: str | None) -> catalogue.Machine | None:
    """The catalogue's row, or None: a program may use machines that the catalogue lacks."""
    # Not catalogue.machine, which looks for names that are near to one that is not known.
    return catalogue.machines().get(name) if name else None


def largest(machines: Any, most: Mapping[str, int | None] | None = None) -> str | None:
    """Of the machine types that a group may use, the one by which it has most accelerators, and of these the last by
    size. `most` says of how many nodes of each it may be, where that differs."""
    names = [name for name in sequence(machines) if isinstance(name, str)]
    rows = []
    for name in names:
        row, nodes = known_machine(name), (most or {}).get(name)
        if row is None:
            return name
        rows.append((row.accelerators * (1 if nodes is None else nodes), row.accelerators, row.vcpus, name))
    return max(rows)[3] if rows else None


def group_name(labels: Any, resource: Resource, by_urn: Mapping[str, Resource]) -> str:
    """The name that tenants and endpoints say: the component's, for a renamed group keeps its former one as a label."""
    component = component_of(resource, by_urn)
    if component is not None:
        return str(component["name"])
    return text(mapping(labels).get(GROUP_LABEL)) or str(resource["name"])
