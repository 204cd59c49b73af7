"""How machines of a node group on AWS are paid for, in which order, and what EKS, EC2 and Karpenter refuse of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from gpuyard import catalogue
from gpuyard.components.aws import Zone
from gpuyard.components.node_groups import capacity
from gpuyard.components.node_groups.base import Nodes
from gpuyard.components.spec import Spec, pattern

BLOCK_MACHINES = 64
"""Machines of a Capacity Block at most. Source: EC2 API, DescribeCapacityBlockOfferings, InstanceCount."""

BLOCK_DAYS = 182
"""Days of a Capacity Block at most, its extensions included. Source: EC2 user guide, "Extend Capacity Blocks"."""

BLOCK_END = "11:30"
"""Time of day, UTC, at which every Capacity Block ends; so it lasts up to a day more or less than the days that were
asked for. Source: EC2 user guide, "Find and purchase Capacity Blocks"."""

MOST_WAYS = 30
"""Reservations that Karpenter takes for one class of nodes. Source: EC2NodeClass, capacityReservationSelectorTerms."""

Scaler = Literal["node_group", "karpenter"]

ReservationId = Annotated[str, pattern(r"^cr-[0-9a-f]{17}$", 'the id of a reservation, such as "cr-0123456789abcdef0"')]

Moment = Annotated[
    str,
    pattern(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        'a moment in UTC, in quotes, such as "2026-12-15T11:30:00Z"',
    ),
]
"""A moment in UTC, in quotes: "2026-12-15T11:30:00Z"."""


class Reservation(capacity.Reservation):
    """An On-Demand Capacity Reservation."""

    id: ReservationId
    """The reservation, such as "cr-0123456789abcdef0"."""


class CapacityBlock(Spec):
    """A Capacity Block for ML: machines that are paid up front for a window of time, used or not.

    Nothing runs outside the window, so the group starts without nodes, and grows when pods ask for them: before the
    start, launches fail and are tried again. EC2 ends what still runs 30 minutes before the end. EKS, or Karpenter,
    drains the nodes 10 minutes before that, so pods have until 40 minutes before the end. An update of the group needs
    it empty (EKS user guide, "Create a managed node group with Capacity Blocks").
    """

    kind: Literal["capacity_block"]
    """How the machines are paid for."""
    id: ReservationId
    """The block's reservation, such as "cr-0123456789abcdef0"."""
    zone: Zone
    """The zone that the block is in."""
    count: Annotated[int, Field(ge=1, le=BLOCK_MACHINES)]
    """Machines of the block: with no other capacity, the group's `nodes.max` cannot be above it."""
    start: Moment
    """When the block begins, as EC2 says it, in UTC."""
    end: Moment
    """When it ends, in UTC: always 11:30. An extension moves it, and the reservation stays the same."""

    @model_validator(mode="after")
    def _window(self) -> Self:
        start, end = _moment("start", self.start), _moment("end", self.end)
        if end <= start:
            raise ValueError(f"end {self.end} is not after start {self.start}: give the window as EC2 says it")
        if end.strftime("%H:%M:%S") != f"{BLOCK_END}:00":
            raise ValueError(f"end {self.end} is not the end of a block, which is always {BLOCK_END} UTC: look it up")
        if end - start >= timedelta(days=BLOCK_DAYS + 1):
            raise ValueError(
                f"start {self.start} to end {self.end} is longer than the {BLOCK_DAYS} days of a block: "
                "give the window as EC2 says it"
            )
        return self


OneCapacity = Annotated[capacity.OnDemand | capacity.Spot | Reservation | CapacityBlock, Field(discriminator="kind")]


def _shape(value: Any) -> str:
    return "several" if isinstance(value, list) else "one"


Capacity = Annotated[
    Annotated[OneCapacity, Tag("one")]
    | Annotated[list[OneCapacity], Field(min_length=1, max_length=MOST_WAYS), Tag("several")],
    Discriminator(_shape),
]
"""One way to pay, or several in the order in which they are tried."""

Reserved = Reservation | CapacityBlock

ORDER = ("reservation", "capacity_block", "spot", "on_demand")
"""The order in which Karpenter tries what a NodePool may use; it has no other. Sources: karpenter-provider-aws v1.14.1,
concepts/nodepools.md, "Capacity Type", and pkg/providers/instance/filter/filter.go."""

CAPACITY_TYPES = {
    "reservation": "reserved",
    "capacity_block": "reserved",
    "spot": "spot",
    "on_demand": "on-demand",
}
"""Kinds as Karpenter's label karpenter.sh/capacity-type has them."""


def ways(given: OneCapacity | list[OneCapacity]) -> list[OneCapacity]:
    """What may be used, in order."""
    return given if isinstance(given, list) else [given]


def reserved(given: OneCapacity | list[OneCapacity]) -> list[Reserved]:
    """What is paid for whether or not it is used, in order."""
    return [way for way in ways(given) if isinstance(way, Reserved)]


def bound_to(given: OneCapacity | list[OneCapacity]) -> list[str]:
    """The zones of the reservations, where nothing else may be used; empty where nodes may be anywhere."""
    paid = reserved(given)
    return list(dict.fromkeys(way.zone for way in paid)) if len(paid) == len(ways(given)) else []


def refusals(
    given: OneCapacity | list[OneCapacity],
    scaled_by: Scaler,
    machine: catalogue.Machine,
    nodes: Nodes,
    zones: Sequence[str] | None,
) -> Iterator[str]:
    """Why a group of these nodes and zones cannot be paid for like that."""
    for kind in dict.fromkeys(way.kind for way in ways(given)):
        if kind not in machine.purchase:
            yield (
                f"machine {machine.name} is not sold as {kind}, only as {', '.join(machine.purchase)}: "
                "choose one of these, or another machine"
            )
    yield from _order_refusals(ways(given), scaled_by)
    yield from _reserved_refusals(given, nodes, zones)
    if scaled_by == "node_group" and any(isinstance(way, CapacityBlock) for way in ways(given)):
        for field, count in (("nodes.min", nodes.min), ("nodes.initial", nodes.start)):
            if count:
                yield (
                    f"{field} is {count}, and before a Capacity Block starts there is no machine, and after it none: "
                    f"give 0, and the autoscaler adds nodes when pods ask for them"
                )
                return


@dataclass(frozen=True, slots=True)
class User:
    """A node group, as its reservations see it."""

    machine: str
    capacity: OneCapacity | list[OneCapacity]
    most: int
    """Nodes that it can have."""


def shared_refusals(groups: Mapping[str, User]) -> Iterator[str]:
    """Why groups, by key, cannot use the same reservation together, a sentence each."""
    users: dict[str, list[tuple[str, Reserved]]] = {}
    for name, group in groups.items():
        for way in reserved(group.capacity):
            users.setdefault(way.id, []).append((name, way))
    for called, ((first, way), *others) in users.items():
        for other, again in others:
            if (groups[other].machine, again) != (groups[first].machine, way):
                yield (
                    f"node_groups.{other}.capacity: {called} is said to be another in group {first}: a reservation has "
                    "one machine, zone, count and window, so give the same in both"
                )
    yield from _together(groups, {called: used[0][1].count for called, used in users.items()})


def _together(groups: Mapping[str, User], counts: Mapping[str, int]) -> Iterator[str]:
    """Why groups that have nothing but reservations may grow to more nodes than these have machines."""
    bound = {
        name: frozenset(way.id for way in reserved(group.capacity))
        for name, group in groups.items()
        if bound_to(group.capacity)
    }
    overlapping = (one | other for one in bound.values() for other in bound.values() if one & other)
    told: set[tuple[str, ...]] = set()
    for ids in sorted(dict.fromkeys(overlapping), key=lambda ids: (len(ids), sorted(ids))):
        alone = tuple(name for name, used in bound.items() if used <= ids)
        most, there = sum(groups[name].most for name in alone), sum(counts[called] for called in ids)
        if most > there and len(alone) > 1 and not any(set(before) <= set(alone) for before in told):
            told.add(alone)
            yield (
                f"node_groups.{alone[-1]}.nodes.max: groups {', '.join(alone)} have nothing but the {there} "
                f"machines of {', '.join(sorted(ids))}, and may grow to {most} nodes together: lower nodes.max"
            )


def _order_refusals(given: Sequence[OneCapacity], scaled_by: Scaler) -> Iterator[str]:
    kinds = [way.kind for way in given]
    if len(kinds) > 1 and scaled_by == "node_group":
        yield (
            f"capacity lists {', '.join(kinds)}, and a managed node group has one way to pay: "
            "give scaled_by karpenter, which tries them in turn, or one capacity"
        )
        return
    ranks = [ORDER.index(kind) for kind in kinds]
    if ranks != sorted(ranks):
        tried = ", ".join(sorted(kinds, key=ORDER.index))
        yield (
            f"capacity lists {', '.join(kinds)}, and Karpenter tries {tried} in this order, whatever is written: "
            "list them so"
        )
    for kind in ("spot", "on_demand"):
        if kinds.count(kind) > 1:
            yield f"capacity lists {kind} twice: give it once"
    ids = [way.id for way in given if isinstance(way, Reserved)]
    if twice := [one for position, one in enumerate(ids) if one in ids[:position]]:
        yield f"capacity lists {twice[0]} twice: give each reservation once, with all its machines"


def _reserved_refusals(
    given: OneCapacity | list[OneCapacity], nodes: Nodes, zones: Sequence[str] | None
) -> Iterator[str]:
    paid = reserved(given)
    called = ", ".join(way.id for way in paid)
    there = bound_to(given)
    count = sum(way.count for way in paid)
    if there and nodes.max > count:
        yield (
            f"nodes.max {nodes.max} is above the {count} machines of {called}: "
            "lower nodes.max, or raise the reservation and its count"
        )
    if there and zones and set(zones) != set(there):
        yield (
            f"zones {', '.join(zones)} is not the zone of {called}, {', '.join(there)}: "
            "leave zones out; a reservation has one"
        )
    for way in paid:
        if not there and zones and way.zone not in zones:
            yield (
                f"zones {', '.join(zones)} lack the zone of {way.id}, {way.zone}, so it would be paid for and never "
                "used: add the zone, or leave zones out"
            )


def _moment(field: str, text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        raise ValueError(f"{field} {text} is no date and time: give one such as 2026-12-15T11:30:00Z") from None
