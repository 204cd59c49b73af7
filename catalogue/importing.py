"""Reads the price lists that others publish, for the machines that the catalogue has.

Each is read row by row: EC2's has hundreds of megabytes. A row that is no price of a machine of the catalogue is passed
over, and so is one that would be half a price; a list whose columns are not there, that is cut short, or that counts in
another currency, is a ValueError.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gpuyard.catalogue.chip_prices import SLICE, ChipPrices, Placed
from gpuyard.catalogue.hardware import Machine, machines
from gpuyard.catalogue.pricing import Price, Sold

Columns = Mapping[str, str]


@dataclass(slots=True)
class Imported:
    """What one list says."""

    kind: str
    """What published it: aws, gpuhunt or skypilot."""
    rows: dict[Sold, Price] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows of machines of the catalogue that were not taken, by why."""


# Columns that tell the lists apart and that are read. Sources: the header of AmazonEC2/current/<region>/index.csv;
# gpuhunt 0.1.34 _internal/storage.py; skypilot-org/skypilot-catalog catalogs/v8/{aws,gcp}/vms.csv.
AWS = "FormatVersion"
AWS_PREAMBLE = 5
"""Lines before the header: format version, disclaimer, publication date, version, offer code."""
AWS_IS = {
    "TermType": "OnDemand",
    "Unit": "Hrs",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "operation": "RunInstances",
    "CapacityStatus": "Used",
    "Pre Installed S/W": "NA",
    "Location Type": "AWS Region",
}
"""What the row of an on-demand machine says. MarketOption is looked at apart: a Capacity Block's row says 0 USD, since
its price is an offer that is paid upfront."""
AWS_READ = (*AWS_IS, "Product Family", "PricePerUnit", "Currency", "Instance Type", "MarketOption", "Region Code")
GPUHUNT_READ = ("instance_name", "location", "price", "gpu_count", "spot", "flags")
SKYPILOT_READ = (
    "InstanceType",
    "AcceleratorName",
    "AcceleratorCount",
    "Price",
    "SpotPrice",
    "Region",
    "AvailabilityZone",
)

SKYPILOT_MARKETS = (("on_demand", "Price"), ("spot", "SpotPrice"))
"""Markets, and the column of each."""

CALENDAR = "gcp-dws-calendar-mode"
"""gpuhunt's flag of machines that are reserved for a time: another price than that of machines on demand."""

# How SkyPilot calls the accelerators of Google's machines, whose prices it keeps apart from the machines'. Only of
# machines without local disks: their price is in neither row.
SKYPILOT_ACCELERATORS = {"A100-40": "A100", "L4": "L4"}


def import_list(lines: Iterable[str], date: str | None) -> Imported:
    """The prices of a list, whichever it is: its first line tells. `date` is the day of a list that says none itself.

    Raises ValueError.
    """
    try:
        return _import(iter(lines), date)
    except csv.Error as error:
        raise ValueError(f"{error}: it is no CSV file, or cut short") from error


def _import(remaining: Iterator[str], date: str | None) -> Imported:
    first = next(remaining, "")
    if first.lstrip("\ufeff").lstrip().startswith("{"):
        raise ValueError("it is JSON: give the CSV form of the offer file, index.csv in place of index.json")
    if AWS in first:
        return _aws([first], remaining)
    header = next(csv.reader([first]), [])
    if "instance_name" in header:
        return _dated("gpuhunt", _gpuhunt, header, remaining, date)
    if "InstanceType" in header:
        return _dated("skypilot", _skypilot, header, remaining, date)
    raise ValueError(
        f"it begins with {first.strip()[:60]!r}: give the CSV offer file of AmazonEC2, a catalog of gpuhunt "
        "(catalog.zip or its CSV), or a vms.csv of SkyPilot's catalog"
    )


def _aws(preamble: list[str], lines: Iterator[str]) -> Imported:
    preamble += [next(lines, "") for _ in range(AWS_PREAMBLE - 1)]
    said = {row[0]: row[1] for row in csv.reader(preamble) if len(row) == 2}
    published = said.get("Publication Date", "")[:10]
    if said.get("OfferCode") != "AmazonEC2" or not re.fullmatch(r"\d{4}-\d\d-\d\d", published):
        raise ValueError(
            f"it is the offer file of {said.get('OfferCode', 'no service')!r}, published {published or 'never'!r}: "
            "give the one of AmazonEC2, whole"
        )
    header = _header(next(csv.reader([next(lines, "")]), []), AWS_READ)
    found = Imported("aws")
    source = f"AWS price list AmazonEC2 {said.get('Version', published)}, Linux"
    # A line that does not say these is no row of a Linux machine: to parse every line takes ten times as long.
    wanted = ('"Linux"', '"Shared"', '"Hrs"')
    for columns in _rows(header, lines, lambda line: all(text in line for text in wanted)):
        machine = machines().get(columns["Instance Type"])
        family = columns["Product Family"].startswith("Compute Instance")
        if machine is None or not family or any(columns[name] != value for name, value in AWS_IS.items()):
            continue
        if columns["MarketOption"] != "OnDemand":
            found.left_out[f"{columns['MarketOption']}: an offer that is paid upfront, whose row says no price"] += 1
            continue
        if columns["Currency"] != "USD":
            raise ValueError(
                f"the price of {machine.name} is in {columns['Currency'] or 'no currency'}, and gpuyard counts in US "
                "dollars: give the list of a region that is charged in USD"
            )
        _put(found, (machine, columns["Region Code"], "on_demand"), columns["PricePerUnit"], source, published)
    return found


def _dated(
    kind: str,
    read: Callable[[Imported, Iterator[Columns], str], None],
    header: list[str],
    lines: Iterator[str],
    date: str | None,
) -> Imported:
    if date is None:
        raise ValueError(f"a catalog of {kind} says no day: give --date, the day on which it was published")
    found = Imported(kind)
    needed = GPUHUNT_READ if kind == "gpuhunt" else SKYPILOT_READ
    read(found, _rows(_header(header, needed), lines), date)
    return found


def _gpuhunt(found: Imported, rows: Iterator[Columns], date: str) -> None:
    slices = ChipPrices()
    for columns in rows:
        machine = machines().get(columns["instance_name"])
        market = "spot" if columns["spot"].lower() == "true" else "on_demand"
        if machine is None:
            if SLICE.fullmatch(columns["instance_name"]):
                slices.add(columns["instance_name"], columns["location"], market, _number(columns["price"]))
            continue
        if CALENDAR in columns["flags"].split():
            found.left_out["reserved for a time (calendar mode)"] += 1
        elif _whole(columns["gpu_count"]) != (0 if machine.accelerator is None else machine.accelerators):
            found.left_out["another number of accelerators than the machine has"] += 1
        else:
            _put(found, (machine, columns["location"], market), columns["price"], "gpuhunt catalog", date)
    _put_chips(found, slices.machines(1), "gpuhunt catalog", date)


def _skypilot(found: Imported, rows: Iterator[Columns], date: str) -> None:
    """Google's accelerators have rows of their own, behind those of the machines: both are a machine's price."""
    kept: list[tuple[Machine, Columns]] = []
    accelerators: dict[tuple[str, float, str], Columns] = {}
    slices = ChipPrices()
    for columns in rows:
        machine = machines().get(columns["InstanceType"])
        if machine:
            kept.append((machine, columns))
        elif not columns["InstanceType"] and SLICE.fullmatch(columns["AcceleratorName"]):
            for market, name in SKYPILOT_MARKETS:
                slices.add(
                    columns["AcceleratorName"], columns["AvailabilityZone"], market, _number(columns[name] or "0")
                )
        elif not columns["InstanceType"] and columns["AcceleratorName"] in SKYPILOT_ACCELERATORS.values():
            count = float(columns["AcceleratorCount"] or 0)
            accelerators[columns["AcceleratorName"], count, columns["AvailabilityZone"]] = columns
    for machine, columns in kept:
        parts = [columns]
        if machine.cloud == "gcp" and machine.accelerator:
            name = SKYPILOT_ACCELERATORS.get(machine.accelerator, "")
            part = accelerators.get((name, float(machine.accelerators), columns["AvailabilityZone"]))
            if part is None or machine.local_disk_gb:
                found.left_out["its price lacks that of its accelerators or local disks"] += 1
                continue
            parts.append(part)
        for market, name in SKYPILOT_MARKETS:
            values = [part[name] for part in parts]
            if all(values):
                text = values[0] if len(values) == 1 else repr(round(sum(map(_number, values)), 6))
                _put(found, (machine, columns["Region"], market), text, "SkyPilot catalog", date)
    _put_chips(found, slices.machines(2), "SkyPilot catalog", date)


def _put_chips(found: Imported, prices: Iterable[tuple[Placed, float | None]], source: str, date: str) -> None:
    for sold, usd_hour in prices:
        if usd_hour is None:
            found.left_out["slices of TPU do not agree on the price of a chip"] += 1
        else:
            _put(found, sold, repr(usd_hour), f"{source}, by the chip", date)


def _put(found: Imported, sold: Placed, text: str, source: str, date: str) -> None:
    """Adds a price; of several zones' the highest, for a group may get its machines in any."""
    machine, location, market = sold
    # A zone of Google's is its region and a letter: us-central1-a.
    region = location.rpartition("-")[0] if re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z0-9]+", location) else location
    usd_hour = _number(text)
    if not usd_hour:
        found.left_out["a price of 0"] += 1
        return
    # A reservation is charged at the price on demand, of a machine that is not sold so, too.
    if market not in machine.purchase and not (market == "on_demand" and "reservation" in machine.purchase):
        found.left_out[f"not sold as {market}"] += 1
        return
    key = (machine.cloud, region, machine.name, market)
    if key not in found.rows or found.rows[key].usd_hour < usd_hour:
        found.rows[key] = Price(usd_hour, source, date)


def _header(header: list[str], needed: Iterable[str]) -> list[str]:
    missing = [name for name in needed if name not in header]
    if missing:
        raise ValueError(f"the columns {', '.join(missing)} are missing: the list has another form, or is cut short")
    return header


def _rows(header: list[str], lines: Iterable[str], wanted: Callable[[str], bool] | None = None) -> Iterator[Columns]:
    """The rows that are wanted; of the last one it is seen whether it is whole, wanted or not."""
    last = ""

    def seen() -> Iterator[str]:
        nonlocal last
        for last in lines:
            if wanted is None or wanted(last):
                yield last

    try:
        for row in filter(None, csv.reader(seen(), strict=True)):
            if len(row) != len(header):
                raise ValueError(f"a row has {len(row)} of {len(header)} columns, {row[:1]}: the list is cut short")
            yield dict(zip(header, row, strict=True))
        rest = next(csv.reader([last], strict=True), []) or header
    except csv.Error as error:
        raise ValueError(f"{error}: the list is cut short") from error
    if len(rest) != len(header):
        raise ValueError(f"the last row has {len(rest)} of {len(header)} columns: the list is cut short")


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no price") from None
    if not 0 <= found < float("inf"):
        raise ValueError(f"{text!r} is no price")
    return found


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
