"""How a node group is paid for: the kinds that all clouds share. Each cloud's module adds its own reservation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import PositiveInt

from gpuyard.components.spec import Spec


class OnDemand(Spec):
    """Machines by the hour, if the cloud has them."""

    kind: Literal["on_demand"] = "on_demand"
    """How the machines are paid for."""


class Spot(Spec):
    """Spare machines that the cloud may take back at two minutes' (AWS) or half a minute's (GCP) notice."""

    kind: Literal["spot"]
    """How the machines are paid for."""


class Reservation(Spec):
    """Machines that are reserved already, and charged while idle. A cloud's subclass says how it names them."""

    kind: Literal["reservation"]
    """How the machines are paid for."""
    zone: str
    """The zone that the reservation is in."""
    count: PositiveInt
    """Machines reserved: the group's `nodes.max` cannot be above it."""


def reservation_refusals(
    reservation: Reservation, called: str, most_nodes: int, zones: Sequence[str] | None
) -> Iterator[str]:
    """Why a group of at most so many nodes in these zones does not fit its reservation."""
    if most_nodes > reservation.count:
        yield (
            f"nodes.max {most_nodes} is above the {reservation.count} machines of {called}: "
            "lower nodes.max, or raise the reservation and its count"
        )
    if zones and list(zones) != [reservation.zone]:
        yield (
            f"zones {', '.join(zones)} is not the zone of {called}, {reservation.zone}: "
            "leave zones out; a reservation has one"
        )
