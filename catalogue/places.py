"""Regions in which a cloud runs Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import find, load


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a cloud. The table has those of AWS; a cloud without rows has regions that nobody checks."""

    name: str
    cloud: str
    source: str
    date: str
    """When the source was read, YYYY-MM-DD."""


def region(name: str) -> Region:
    """The region called `name`; raises Unknown."""
    return find("region", regions(), name)


@cache
def regions() -> Mapping[str, Region]:
    """Every region, by name."""
    return load("regions.csv", lambda row: (row["name"], Region(**row)))
