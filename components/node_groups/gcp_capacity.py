"""How nodes on Google Cloud are paid for: one way, or several in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PositiveInt, Tag

from gpuyard import catalogue
from gpuyard.components.gcp import ProjectId
from gpuyard.components.node_groups import capacity
from gpuyard.components.node_groups.base import Nodes
from gpuyard.components.spec import Duration, Spec, in_seconds, pattern

KINDS = ("on_demand", "spot", "reservation", "flex_start")
"""Ways to buy a machine that a group can say."""

LONGEST_RUN = 7 * 24 * 3600
"""Seconds that a flex-start node lives at the most. Source: GKE, flex-start provisioning mode: seven days."""

RESERVATION_KEY = "compute.googleapis.com/reservation-name"
"""The label that names a reservation. Source: container API, ReservationAffinity.key."""

ResourceName = Annotated[str, pattern(r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$", "lower-case letters, digits and dashes")]
"""A name as Compute Engine takes it."""


class OnDemandNodes(capacity.OnDemand):
    """Machines by the hour, if Google Cloud has them."""

    max: PositiveInt | None = None
    """Nodes paid for this way, where it is one of several."""


class SpotNodes(capacity.Spot):
    """Spare machines that Google Cloud may take back at half a minute's notice."""

    max: PositiveInt | None = None
    """Nodes paid for this way, where it is one of several."""


class Reservation(capacity.Reservation):
    """A reservation of Compute Engine that only those use who name it (specificReservationRequired)."""

    name: ResourceName
    """Name of the reservation. Of a future reservation, the name of the one that it becomes."""
    project: ProjectId | None = None
    """Project that owns it, where that is not the cluster's and it is shared with the cluster's."""
    block: ResourceName | None = None
    """Block of the reservation that the nodes lie in, where one is meant: machines of one block are near each other.
    `count` is then the block's. Given with `project`, though it be the cluster's."""
    active: bool = True
    """False while a future reservation's time has not come: the group is made, and has no nodes until then."""
    max: PositiveInt | None = None
    """Nodes paid for this way, where it is one of several; all of the reservation's when left out."""


class FlexStart(Spec):
    """Machines that Google Cloud gives when it has all that are asked for (Dynamic Workload Scheduler), for a week at
    most. Nothing runs before, and nothing is paid."""

    kind: Literal["flex_start"]
    """How the machines are paid for."""
    max_run_duration: Duration | None = None
    """How long a node lives, 7d at most; as long when left out."""
    queued: bool = False
    """Whether nodes come for a whole job at once: Kueue asks for them and holds the job until they are there. They
    serve no other job, and no endpoint."""
    max: PositiveInt | None = None
    """Nodes paid for this way, where it is one of several."""


Way = Annotated[OnDemandNodes | SpotNodes | Reservation | FlexStart, Field(discriminator="kind")]


def _one_or_several(value: Any) -> str:
    return "several" if isinstance(value, list) else "one"


Capacity = Annotated[
    Annotated[Way, Tag("one")] | Annotated[Annotated[list[Way], Field(min_length=2)], Tag("several")],
    Discriminator(_one_or_several),
]


def most(way: Way) -> int | None:
    """Nodes that one of several ways may give; None where it does not say."""
    return way.max or (way.count if isinstance(way, Reservation) else None)


def shares(ways: Sequence[Way], nodes: Nodes) -> list[Nodes]:
    """The nodes of each way. The first has those that the group starts with and keeps; the others none until needed."""
    if len(ways) == 1:
        return [nodes]
    later = [Nodes(min=0, max=most(way) or nodes.max) for way in ways[1:]]
    return [Nodes(min=nodes.min, initial=nodes.start, max=most(ways[0]) or nodes.max), *later]


def refusals(way: Way, machine: catalogue.Machine, nodes: Nodes, zones: Sequence[str] | None) -> Iterator[str]:
    """Why a node pool of this machine cannot be paid for this way."""
    if way.kind not in machine.purchase:
        ways = " or ".join(kind for kind in KINDS if kind in machine.purchase)
        yield f"machine {machine.name} is not sold as {way.kind}: give capacity.kind {ways}, or another machine"
    if isinstance(way, Reservation):
        yield from capacity.reservation_refusals(way, way.name, nodes.max, zones)
        yield from _reservation_refusals(way, nodes)
    if isinstance(way, FlexStart):
        yield from _flex_start_refusals(way, nodes)


def _reservation_refusals(way: Reservation, nodes: Nodes) -> Iterator[str]:
    if way.block and not way.project:
        yield (
            f"block {way.block} of {way.name} is given without its project: "
            "give capacity.project, the cluster's if it is that"
        )
    if not way.active and nodes.start:
        yield (
            f"the reservation {way.name} is not active, and {nodes.start} nodes are to start: "
            "set nodes.min and nodes.initial to 0 until its time has come"
        )


@dataclass(frozen=True, slots=True)
class User:
    """A node group, as its reservations see it."""

    machine: str
    ways: Sequence[Way]
    nodes: Nodes
    surge: int
    """Nodes that are added while it is upgraded."""


def shared_refusals(groups: Mapping[str, User], project: str) -> Iterator[str]:
    """Why groups of a cluster of that project, by key, cannot use the same reservation together, a sentence each.

    Compute Engine lets any number of node pools name one, and gives each its machines while there are some.
    """
    users: dict[tuple[str, str, str, str | None], list[tuple[str, Reservation]]] = {}
    for name, group in groups.items():
        for way in group.ways:
            if isinstance(way, Reservation):
                # A name is one in its project and zone only.
                key = (way.project or project, way.zone, way.name, way.block)
                users.setdefault(key, []).append((name, way))
    for (_, _, called, _), ((first, way), *others) in users.items():
        for other, again in others:
            said = [(groups[key].machine, one.count, one.active) for key, one in ((other, again), (first, way))]
            if said[0] != said[1]:
                yield (
                    f"node_groups.{other}.capacity: {called} is said to be another in group {first}: a reservation has "
                    "one machine and count, and is active or not, so give the same in both"
                )
        # Who has other ways, too, takes the next where no machine is left.
        named = [first, *(other for other, _ in others)]
        alone = {name: groups[name].nodes.max for name in named if len(groups[name].ways) == 1}
        needed = sum(alone.values()) + max((groups[name].surge for name in alone), default=0)
        if needed > way.count and len(alone) > 1:
            yield (
                f"node_groups.{list(alone)[-1]}.nodes.max: groups {', '.join(alone)} have nothing but the {way.count} "
                f"machines of {called}, and may grow to {needed} nodes together: lower nodes.max"
            )


def _flex_start_refusals(way: FlexStart, nodes: Nodes) -> Iterator[str]:
    if nodes.start:
        yield (
            f"flex_start gives nodes when pods wait for them, and {nodes.start} are to start: "
            "set nodes.min and nodes.initial to 0"
        )
    if way.max_run_duration and in_seconds(way.max_run_duration) > LONGEST_RUN:
        yield f"max_run_duration {way.max_run_duration} is above the 7d that flex_start gives: lower it"


def order_refusals(ways: Sequence[Way], nodes: Nodes, zones: Sequence[str] | None) -> Iterator[str]:
    """Why a group cannot try these ways one after the other."""
    twice = sorted(
        {way.kind for way in ways if way.kind != "reservation" and [w.kind for w in ways].count(way.kind) > 1}
    )
    if twice:
        yield f"capacity has {', '.join(twice)} twice: give each way once; only reservations may be several"
    named = [(way.project, way.zone, way.name, way.block) for way in ways if isinstance(way, Reservation)]
    if again := [one[2] for position, one in enumerate(named) if one in named[:position]]:
        yield f"capacity lists the reservation {again[0]} twice: give it once, with all its machines"
    for way in ways:
        if isinstance(way, Reservation) and zones and way.zone not in zones:
            yield (
                f"zones {', '.join(zones)} leave out {way.zone}, where the reservation {way.name} is: "
                "add it, or leave zones out"
            )
        if isinstance(way, FlexStart) and way.queued:
            yield (
                "capacity lists flex_start with queued, whose nodes come for one job at a time, and so after no other "
                "way: leave queued out, or give it a group of its own"
            )
        if most(way) is None:
            yield f"capacity lists {way.kind} without saying how many nodes: give it max; nodes.max is the sum of all"
            return
    total = sum(most(way) or 0 for way in ways)
    if total != nodes.max:
        parts = " + ".join(f"{most(way)} {way.kind}" for way in ways)
        yield (
            f"nodes.max is {nodes.max}, and the ways of capacity may give {parts} = {total} nodes at once: "
            f"set nodes.max to {total}, or change max of the ways"
        )
    if nodes.start > (most(ways[0]) or 0):
        yield (
            f"{nodes.start} nodes are to start, and the first way, {ways[0].kind}, gives {most(ways[0])}: "
            "lower nodes.min and nodes.initial, or raise its max"
        )


def market(way: Way) -> dict[str, Any]:
    """The part of a node's configuration that says how it is paid for. Nodes use a reservation if they name it, and
    never one that they do not name."""
    unreserved = {"consume_reservation_type": "NO_RESERVATION"}
    if isinstance(way, FlexStart):
        run = {"max_run_duration": f"{in_seconds(way.max_run_duration)}s"} if way.max_run_duration else {}
        return {"spot": False, "flex_start": True, **run, "reservation_affinity": unreserved}
    if not isinstance(way, Reservation):
        return {"spot": isinstance(way, capacity.Spot), "reservation_affinity": unreserved}
    value = f"projects/{way.project}/reservations/{way.name}" if way.project else way.name
    if way.block:
        value = f"{value}/reservationBlocks/{way.block}"
    affinity = {"consume_reservation_type": "SPECIFIC_RESERVATION", "key": RESERVATION_KEY, "values": [value]}
    return {"spot": False, "reservation_affinity": affinity}
