"""Slices: how the chips of TPU machines are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from gpuyard.catalogue.tables import load

CUBES = "AxBxC"
"""Topology of the row that stands for all slices of whole cubes that a machine is joined to."""

EDGE = 4
"""Chips along an edge of a cube."""


@dataclass(frozen=True, slots=True)
class Slice:
    """TPU chips that are joined by their own network. A slice of several hosts is one node pool, made as a whole."""

    machine: str
    """A key of the machines."""
    topology: str
    """Chips along each axis, as node pools and pods name it: `2x4`, or `2x2x4` for chips with three axes."""
    chips: int
    """Chips of the slice."""
    hosts: int
    """Machines of the slice, and so nodes of its pool: 1, or chips over the chips of a machine."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def all_slices() -> Mapping[tuple[str, str], Slice]:
    """Every slice by its machine and its topology, the smallest of a machine first."""
    listed = [one for row in load("tpu_slices.csv", _slice).values() for one in _with_cubes(row)]
    return MappingProxyType({(one.machine, one.topology): one for one in sorted(listed, key=_size)})


@cache
def slices(machine: str) -> Mapping[str, Slice]:
    """Slices that are made of that machine, by topology, the smallest first; empty for one that has no TPU chips."""
    return MappingProxyType({topology: row for (of, topology), row in all_slices().items() if of == machine})


def _slice(columns: dict[str, str]) -> tuple[tuple[str, str], Slice]:
    row = Slice(
        machine=columns["machine"],
        topology=columns["topology"],
        chips=int(columns["chips"]),
        hosts=int(columns["hosts"]),
        source=columns["source"],
        date=columns["date"],
    )
    return (row.machine, row.topology), row


def _with_cubes(row: Slice) -> Iterator[Slice]:
    """The row, or all slices that it stands for: AxBxC with A <= B <= C, each a multiple of 4, up to its chips.

    Source of that rule: docs.cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus.
    """
    if row.topology != CUBES:
        yield row
        return
    a_host = row.chips // row.hosts
    most = row.chips // EDGE**2
    for a in range(EDGE, most + 1, EDGE):
        for b in range(a, row.chips // (a * a) + 1, EDGE):
            for c in range(b, row.chips // (a * b) + 1, EDGE):
                chips = a * b * c
                yield replace(row, topology=f"{a}x{b}x{c}", chips=chips, hosts=chips // a_host)


def _size(one: Slice) -> tuple[str, int, list[int]]:
    return one.machine, one.chips, [int(axis) for axis in one.topology.split("x")]
