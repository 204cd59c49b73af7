"""What machines and services cost. A price that is not known is None, never 0 and never a guess."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as day
from functools import cache
from math import isfinite
from pathlib import Path

from gpuyard.catalogue.tables import load, read

# Google's node autoscalers carry a price table of their own, and it is not used here: it says no date, it has one
# placeholder of 140.1 for A3 Ultra, A4 and A4X, and its figures for whole G2 machines (0.76 for a g2-standard-4)
# disagree with the sum of its own prices of a vCPU, a GiB and the L4 (0.7068), which is what Google's billing
# catalogue gives. The GCP rows come from that catalogue, so they carry its day.

COLUMNS = ("cloud", "region", "machine", "market", "usd_hour", "source", "date")
"""Of a table of prices, the catalogue's and a file of one's own."""

MARKETS = ("on_demand", "spot", "capacity_block", "flex_start", "committed")
"""How the machines of a file of one's own are bought. Reservations are charged at the on-demand price; `committed` is
what a machine costs under a commitment: a savings plan, reserved instances, a committed use discount."""

DAY = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
"""How a day is written; Python takes weeks, such as 2026-W48-1, for days too, and they sort otherwise."""

EVERYWHERE = "*"
"""The region of a service that costs the same in all of them."""


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of one machine: no discount, no commitment, no tax."""

    usd_hour: float
    """US dollars an hour for a whole machine, with the accelerators and local disks that come with it."""
    source: str
    date: str
    """The day of the price, YYYY-MM-DD."""
    machines: int | None = None
    """Of a committed price: how many machines the commitment covers."""


@dataclass(frozen=True, slots=True)
class ServicePrice:
    """The list price of one unit of something that is no machine: an hour of a gateway, a GiB of a disk for a month."""

    usd: float
    """US dollars a unit."""
    unit: str
    """hour, or month: 730 hours."""
    source: str
    date: str
    """The day of the price, YYYY-MM-DD; of a page that says none, the day on which it was read."""


Sold = tuple[str, str, str, str]
"""Cloud, region, machine and market."""


@cache
def prices() -> Mapping[Sold, Price]:
    """Every price of a machine that is known."""
    return load("prices/*.csv", _price)


@cache
def service_prices() -> Mapping[tuple[str, str, str], ServicePrice]:
    """Every price of a service that is known, by cloud, region and service."""
    return load("services.csv", _service)


def price(cloud: str, region: str, machine: str, market: str) -> Price | None:
    """The price of a machine, or None where it is not known.

    `market` is one of `Machine.purchase`. Spot prices are those of one day: they move. A reservation is charged at
    the on-demand price, so it has no row of its own.
    """
    return prices().get((cloud, region, machine, market))


def service_price(cloud: str, region: str | None, service: str) -> ServicePrice | None:
    """The price of a service, as services.csv calls it, or None where it is not known. What costs the same in every
    region has a price in one that is not known, too."""
    found = service_prices().get((cloud, region, service)) if region else None
    return found or service_prices().get((cloud, EVERYWHERE, service))


def read_prices(path: Path) -> Mapping[Sold, Price]:
    """The prices of a file of one's own: the columns of the catalogue's tables, and `machines` for committed ones.

    Raises ValueError, with the file and the line, for a row that is none, and OSError for a file that cannot be read.
    """
    return read(path, _own_price, COLUMNS)


def _price(columns: dict[str, str]) -> tuple[Sold, Price]:
    sold = (columns["cloud"], columns["region"], columns["machine"], columns["market"])
    return sold, Price(float(columns["usd_hour"]), columns["source"], columns["date"])


def _own_price(columns: dict[str, str]) -> tuple[Sold, Price]:
    sold, found = _price(columns)
    market, machines = columns["market"], columns.get("machines") or None
    if market not in MARKETS:
        charged = ": a reservation is charged at the on_demand price" if market == "reservation" else ""
        raise ValueError(f"market {market!r} has no price{charged}: give one of {', '.join(MARKETS)}")
    if not found.usd_hour > 0 or not isfinite(found.usd_hour):
        raise ValueError(f"usd_hour {columns['usd_hour']} is no price: leave out the row of a price that is not known")
    if not all((*sold, found.source)):
        raise ValueError("cloud, region, machine and source must be given")
    if not DAY.match(found.date):
        raise ValueError(f"date {found.date!r} is no day: give the day of the price, such as 2026-11-30")
    day.fromisoformat(found.date)
    if (market == "committed") != (machines is not None):
        raise ValueError(
            f"machines {machines or ''!r} of market {market}: a committed price, and no other, says how many"
        )
    if machines and (not machines.isdecimal() or int(machines) == 0):
        raise ValueError(f"machines {machines!r} is no number: give how many machines the commitment covers")
    return sold, Price(found.usd_hour, found.source, found.date, int(machines) if machines else None)


def _service(columns: dict[str, str]) -> tuple[tuple[str, str, str], ServicePrice]:
    key = (columns["cloud"], columns["region"], columns["service"])
    return key, ServicePrice(float(columns["usd"]), columns["unit"], columns["source"], columns["date"])
