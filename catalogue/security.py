"""Versions below which software has known holes: no row of the charts and images may be of an older one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import load


@dataclass(frozen=True, slots=True)
class Floor:
    """The first version of a chart or an image without the holes that are known."""

    kind: str
    """chart or image."""
    name: str
    """Its name in the catalogue."""
    version: str
    """As its publisher counts, without a `v` before it."""
    cves: tuple[str, ...]
    """Holes of older versions."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def floors() -> Mapping[tuple[str, str], Floor]:
    """Every floor by kind and name."""
    return load("security_floors.csv", _floor)


def _floor(columns: dict[str, str]) -> tuple[tuple[str, str], Floor]:
    row = Floor(
        kind=columns["kind"],
        name=columns["name"],
        version=columns["floor"],
        cves=tuple(columns["cves"].split()),
        source=columns["source"],
        date=columns["date"],
    )
    return (row.kind, row.name), row
