"""What the nodes of a number of replicas cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpuyard import catalogue

HOURS_A_MONTH = 730

Priced = Callable[[str, str, str, str], catalogue.Price | None]
"""The price of a machine by cloud, region, machine and market."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where replicas run, and how their machines are paid for."""

    machine: catalogue.Machine
    offered: int
    """Accelerators of one machine, or parts of them, as pods ask for them."""
    region: str | None
    """None where the cluster has none, or none is known."""
    market: str
    """One of the catalogue's markets; a reservation is charged on demand."""
    usd_hour: float | None = None
    """The owner's own price of a machine, where there is one."""
    shared: bool = False
    """Whether the machines are somebody else's, of which one pays for the accelerators that one takes."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What machines cost; a price that is not known is None, never 0."""

    nodes: int
    accelerators: int
    """That the replicas use; the machines may have more."""
    usd_hour: float | None
    """US dollars an hour of one machine."""
    usd_month: float | None
    """US dollars for 730 hours: of whole machines, or of the accelerators taken of shared ones."""
    source: str | None
    """Of the price, with its day."""


def bill(site: Site, replicas: int, accelerators: int, zones: int, priced: Priced) -> Bill:
    """The cost of replicas with so many accelerators each, spread evenly over zones.

    Raises ValueError where a replica needs more accelerators than one machine has.
    """
    machine = site.machine
    if accelerators > site.offered:
        raise ValueError(
            f"a replica takes {accelerators} accelerators, and machine {machine.name} has {site.offered}: spread it "
            "less, or give another machine"
        )
    nodes = zones * math.ceil(math.ceil(replicas / zones) / (site.offered // accelerators))
    usd_hour, source = site.usd_hour, "the stack's own usd_hour"
    if usd_hour is None and site.region:
        price = priced(machine.cloud, site.region, machine.name, site.market)
        if price:
            usd_hour, source = price.usd_hour, f"{site.market}, {site.region}: {price.source}, {price.date}"
    paid = replicas * accelerators / site.offered if site.shared else nodes
    return Bill(
        nodes=nodes,
        accelerators=replicas * accelerators,
        usd_hour=usd_hour,
        usd_month=None if usd_hour is None else round(paid * usd_hour * HOURS_A_MONTH, 2),
        source=None if usd_hour is None else source,
    )
