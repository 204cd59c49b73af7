"""How a node group is paid for: the kinds that all clouds share. Each cloud's module adds its own reservation."""

from __future__ import annotations

from typing import Literal

from gpuyard.components.spec import Spec
from pydantic import PositiveInt


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
