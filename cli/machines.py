"""`gpuyard machines`: what the catalogue has, and what an hour of it costs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gpuyard import catalogue
from gpuyard.cli.output import emit, for_terminal, format_option
from gpuyard.review.errors import InputError

CLOUDS = ("aws", "gcp", "onprem")

SOLD = {
    "on_demand": "D on demand",
    "spot": "S spot",
    "reservation": "R reservation",
    "capacity_block": "B capacity block",
    "flex_start": "F flex start",
}
"""How a machine is sold: the letter in the table, and what it stands for."""

WIDE = 110
"""Columns of a terminal that has room for the engines beside each machine."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A machine, what runs on it and the least that it costs."""

    machine: catalogue.Machine
    engines: tuple[str, ...]
    """Engines of serving templates that run on it."""
    refused: str | None
    """Why no node group can have it; None where one can."""
    region: str | None
    """Region of the price; None where no price is known."""
    price: catalogue.Price | None
    """The least on-demand price that is known."""


@click.command(short_help="The machines of the catalogue, and what an hour costs.")
@click.argument("filters", metavar="[FILTER]...", nargs=-1)
@click.option("--cloud", type=click.Choice(CLOUDS), help="Only machines of this cloud.")
@click.option("--region", metavar="REGION", help="Prices of this region, not of the cheapest that is known.")
@format_option
def machines(filters: tuple[str, ...], cloud: str | None, region: str | None, format_: str) -> None:
    """List the machines of the catalogue: those that every FILTER is a part of the name, the cloud, the
    accelerator, its vendor or the resource that pods ask for. Without one, all.

    \b
    gpuyard machines h100                 whatever has an H100
    gpuyard machines l4 --cloud gcp       on Google Cloud
    gpuyard machines tpu v6e              TPU machines of one generation

    Prices are list prices on demand, of an hour of one accelerator; of the machine where it has none. One that is not
    known is shown as ?.
    """
    found = [machine for machine in catalogue.machines().values() if machine.cloud == (cloud or machine.cloud)]
    matching = [machine for machine in found if _matches(machine, filters)]
    if not matching:
        raise InputError(_no_match(filters, cloud, found))
    prices = _prices(region)
    offered = [
        Offered(machine, *_used_for(machine), *prices.get((machine.cloud, machine.name), (None, None)))
        for machine in matching
    ]
    if format_ == "json":
        emit(json.dumps([_document(one) for one in offered], indent=2) + "\n")
    else:
        emit(for_terminal(lambda console: _print(offered, console)))


def _matches(machine: catalogue.Machine, filters: Iterable[str]) -> bool:
    vendor = catalogue.accelerator(machine.accelerator).vendor if machine.accelerator else ""
    words = (machine.name, machine.cloud, machine.accelerator or "", vendor, machine.resource or "")
    return all(any(part.lower() in word.lower() for word in words) for part in filters)


def _no_match(filters: Sequence[str], cloud: str | None, found: Iterable[catalogue.Machine]) -> str:
    given = " ".join(filters)
    names = {name.lower(): name for machine in found for name in (machine.name, machine.accelerator) if name}
    near = difflib.get_close_matches(given.lower(), names, n=3, cutoff=0)
    return (
        f"no machine{f' of {cloud}' if cloud else ''} matches {given!r}: give a part of a name, a cloud, an "
        f"accelerator, a vendor or a resource (nearest: {', '.join(names[name] for name in near)}), or nothing to "
        "list them all"
    )


def _prices(region: str | None) -> Mapping[tuple[str, str], tuple[str, catalogue.Price]]:
    """The least on-demand price of each machine by cloud and name, with its region. Raises InputError."""
    known = [
        (cloud, where, machine, price)
        for (cloud, where, machine, market), price in catalogue.prices().items()
        if market == "on_demand"
    ]
    regions = {where for _, where, _, _ in known} | catalogue.regions().keys()
    if region and region not in regions:
        near = difflib.get_close_matches(region.lower(), sorted(regions), n=3, cutoff=0)
        raise InputError(f"--region {region}: no such region is known: give one that is (nearest: {', '.join(near)})")
    least: dict[tuple[str, str], tuple[str, catalogue.Price]] = {}
    for cloud, where, machine, price in known:
        best = least.get((cloud, machine))
        if where == (region or where) and (best is None or price.usd_hour < best[1].usd_hour):
            least[cloud, machine] = (where, price)
    return least


def _used_for(machine: catalogue.Machine) -> tuple[tuple[str, ...], str | None]:
    """The engines that run on a machine, and why no node group can have it."""
    # Here, because the components load pulumi, which few commands need.
    from gpuyard.components.serving import machines as usable

    return usable.engines(machine), usable.refusal(machine)


def _each(one: Offered) -> float | None:
    """US dollars an hour of one accelerator, or of the machine where it has none."""
    return one.price.usd_hour / (one.machine.accelerators or 1) if one.price else None


def _memory_gib(machine: catalogue.Machine) -> float | None:
    """What a process sees of one accelerator's memory; what its cloud says where that is not known."""
    if machine.accelerator is None:
        return None
    return catalogue.accelerator(machine.accelerator).memory_gib or machine.accelerator_memory_mib / 1024 or None


def _document(one: Offered) -> dict[str, Any]:
    machine, fabric = one.machine, catalogue.fabric(one.machine.name)
    kind = catalogue.accelerator(machine.accelerator) if machine.accelerator else None
    return {
        "name": machine.name,
        "cloud": machine.cloud,
        "architecture": machine.architecture,
        "accelerator": machine.accelerator,
        "accelerators": machine.accelerators,
        "accelerator_memory_gib": _memory_gib(machine),
        "vendor": kind.vendor if kind else None,
        "resource": machine.resource,
        "vcpus": machine.vcpus or None,
        "memory_gib": machine.memory_gib or None,
        "local_disk_gb": machine.local_disk_gb,
        "network_gbps": machine.network_gbps,
        "fabric": {"kind": fabric.kind, "interfaces": fabric.interfaces} if fabric else None,
        "partitions": list(catalogue.partitions(machine.accelerator or "")),
        "purchase": list(machine.purchase),
        "engines": list(one.engines),
        "refused": one.refused,
        "price": {
            "usd_hour": one.price.usd_hour,
            "usd_accelerator_hour": _each(one) if machine.accelerators else None,
            "region": one.region,
            "source": one.price.source,
            "date": one.price.date,
        }
        if one.price
        else None,
    }


def _print(offered: Sequence[Offered], console: Console) -> None:
    wide = console.width >= WIDE
    table = Table(box=None, pad_edge=False, padding=(0, 2 if wide else 1, 0, 0), header_style="dim")
    table.add_column("machine", no_wrap=True)
    table.add_column("accelerators", overflow="fold")
    for title in ("GiB each", "vCPUs", "GiB", "Gb/s", "$/h each"):
        # A number that is folded over two lines is another number.
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("sold", no_wrap=True)
    if wide:
        table.add_column("runs", overflow="fold")
    for one in offered:
        table.add_row(*_cells(one), *([", ".join(one.engines) or "-"] if wide else []))
    console.print(table)
    if legend := list(_legend(offered, wide=wide)):
        console.print("", *(Text(line, "dim") for line in legend), sep="\n")


def _legend(offered: Sequence[Offered], *, wide: bool) -> Iterator[str]:
    letters = [text for way, text in SOLD.items() if any(way in one.machine.purchase for one in offered)]
    if letters:
        yield f"sold: {', '.join(letters)}"
    priced = [one for one in offered if one.price]
    if priced:
        days = sorted({one.price.date for one in priced if one.price})
        regions = sorted({one.region for one in priced if one.region})
        yield f"$: list prices on demand, {', '.join(regions)}, of {' to '.join(dict.fromkeys((days[0], days[-1])))}"
    if not wide:
        yield from _runs(offered)
    for one in offered:
        if one.refused:
            yield f"in no node group: {one.refused}"


def _runs(offered: Sequence[Offered]) -> Iterator[str]:
    """What runs on each resource, and on which of its machines something else does."""
    by_resource: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for one in offered:
        if one.machine.resource:
            by_resource.setdefault(one.machine.resource, {}).setdefault(one.engines, []).append(one.machine.name)
    for resource, found in by_resource.items():
        most = max(found, key=lambda engines: len(found[engines]))
        yield f"runs on {resource}: {', '.join(most) or 'no engine of a serving template'}"
        for engines, names in found.items():
            if engines != most:
                yield f"runs on {', '.join(names)}: {', '.join(engines) or 'no engine of a serving template'}"


def _cells(one: Offered) -> list[RenderableType]:
    machine, each, memory = one.machine, _each(one), _memory_gib(one.machine)
    # What one's own machine costs, only its owner knows: the stack says it.
    unknown = "?" if machine.purchase else "-"
    return [
        Text(machine.name, "bold"),
        f"{machine.accelerators} {machine.accelerator}" if machine.accelerator else "-",
        _number(memory, "?" if machine.accelerator else "-"),
        _number(machine.vcpus or None, "?"),
        _number(machine.memory_gib or None, "?"),
        _number(machine.network_gbps, "?"),
        unknown if each is None else f"{each:,.3f}",
        "".join(text[0] for way, text in SOLD.items() if way in machine.purchase) or "-",
    ]


def _number(value: float | None, unknown: str) -> str:
    """At most one digit behind the point."""
    return unknown if value is None else f"{value:.1f}".removesuffix(".0")
