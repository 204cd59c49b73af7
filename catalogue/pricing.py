"""What machines cost an hour. A price that is not known is None, never 0 and never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import load

# Google's node autoscalers carry a price table of their own, and it is not used here: it says no date, it has one
# placeholder of 140.1 for A3 Ultra, A4 and A4X, and its figures for whole G2 machines (0.76 for a g2-standard-4)
# disagree with the sum of its own prices of a vCPU, a GiB and the L4 (0.7068), which is what Google's billing
# catalogue gives. The GCP rows come from that catalogue, so they carry its day.


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of one machine: no discount, no commitment, no tax."""

    usd_hour: float
    """US dollars an hour for a whole machine, with the accelerators and local disks that come with it."""
    source: str
    date: str
    """The day of the price, YYYY-MM-DD."""


Sold = tuple[str, str, str, str]
"""Cloud, region, machine and market."""


@cache
def prices() -> Mapping[Sold, Price]:
    """Every price that is known."""
    return load("prices/*.csv", _price)


def price(cloud: str, region: str, machine: str, market: str) -> Price | None:
    """The price of a machine, or None where it is not known.

    `market` is one of `Machine.purchase`. Spot prices are those of one day: they move. A reservation is charged at
    the on-demand price, so it has no row of its own.
    """
    return prices().get((cloud, region, machine, market))


def _price(columns: dict[str, str]) -> tuple[Sold, Price]:
    sold = (columns["cloud"], columns["region"], columns["machine"], columns["market"])
    return sold, Price(float(columns["usd_hour"]), columns["source"], columns["date"])
