"""A price look-up against gpuhunt's query for the same machine, region and market.

Each answers from a table of 40,000 rows, the size of gpuhunt's own, in the form that it reads. The tables are made up.
gpuhunt is measured as it works offline, from a directory, where it reads the table once for each query, and with the
table in its memory, as it is after it was downloaded. It is no dependency: without it, reading the table once for each
question stands for it, which is less than it does.

    pip install gpuhunt==0.1.34     in an environment of its own, beside this checkout
    GPUHUNT_SITE=<its site-packages> python bench/prices.py
"""

from __future__ import annotations

import csv
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from gpuyard.review.prices import Prices, prices

SOLD = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
USD_HOUR = 31.5
ROWS = 40_000
ROUNDS = 5
REACH = 1_000
"""How many times as long gpuhunt should take."""

COLUMNS = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,"
    "provider_data"
)
"""Of a catalog of gpuhunt 0.1.34: _internal/storage.py."""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        ours = prices(write_ours(folder))
        print(f"gpuyard reads {ROWS:,} rows once: {(time.perf_counter() - started) * 1e3:,.0f} ms")
        took = seconds(partial(look_up, ours), 20_000)
        print(f"gpuyard: {took * 1e6:.2f} us a look-up")
        for called, query in theirs(write_theirs(folder)):
            if query() != USD_HOUR:
                sys.exit(f"{called} gives another price")
            longer = seconds(query, 1)
            print(f"{called}: {longer * 1e3:,.0f} ms a query, {longer / took:,.0f}x as long (to reach: {REACH:,}x)")


def look_up(ours: Prices) -> float | None:
    """The price, from an index."""
    found = ours.of(*SOLD)
    return found.usd_hour if found else None


def theirs(table: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """gpuhunt's query where it is installed, else reading the table; each with what it is called."""
    sys.path += filter(None, [os.environ.get("GPUHUNT_SITE")])
    try:
        from gpuhunt import Catalog
        from gpuhunt._internal import catalog, storage
    except ImportError:
        yield "without gpuhunt, reading its table", partial(read, table)
        return
    # With auto_reload it asks the network, whatever the directory is.
    hunt = Catalog(auto_reload=False)

    def query() -> float | None:
        # It has no filter by region or by name of a machine: those are the caller's.
        offers = hunt.query(provider="aws", gpu_name="H100", min_gpu_count=8, max_gpu_count=8, spot=False)
        return next((o.price for o in offers if (o.location, o.instance_name) == SOLD[1:3]), None)

    os.environ["GPUHUNT_CATALOG_DIR"] = str(table.parent)
    yield "gpuhunt, from a directory", query
    del os.environ["GPUHUNT_CATALOG_DIR"]
    with table.open(newline="") as file:
        hunt.catalog["aws"] = catalog.ProviderCatalog("made up", list(storage.load(file, provider="aws")))
    hunt.loaded_at = time.monotonic()
    yield "gpuhunt, from its memory", query


def read(table: Path) -> float | None:
    """Reads every row and keeps the one that was asked for."""
    with table.open(newline="") as file:
        found = [
            row
            for row in csv.DictReader(file)
            if (row["location"], row["instance_name"]) == SOLD[1:3] and row["spot"] == "False"
        ]
    return float(found[0]["price"]) if found else None


def write_ours(folder: Path) -> Path:
    """A table of prices, with the machine that is asked for in its middle."""
    row = "{},made up for the benchmark,2026-01-01"
    lines = [row.format(f"aws,region-{n},machine-{n}.xlarge,spot,1.0") for n in range(ROWS)]
    lines[ROWS // 2] = row.format(f"{','.join(SOLD)},{USD_HOUR}")
    file = folder / "prices.csv"
    file.write_text("\n".join(["cloud,region,machine,market,usd_hour,source,date", *lines]) + "\n")
    return file


def write_theirs(folder: Path) -> Path:
    """The same as a catalog of gpuhunt."""
    lines = [f"machine-{n}.xlarge,region-{n},1.0,8,32.0,1,L4,24.0,True,,nvidia,,x86,{{}}" for n in range(ROWS)]
    lines[ROWS // 2] = f"p5.48xlarge,us-east-1,{USD_HOUR},192,2048.0,8,H100,80.0,False,,nvidia,,x86,{{}}"
    file = folder / "aws.csv"
    file.write_text("\n".join([COLUMNS, *lines]) + "\n")
    return file


def seconds(work: Callable[[], object], times: int) -> float:
    """The median over some rounds, so that a disturbed round does not count."""
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(times):
            work()
        rounds.append((time.perf_counter() - started) / times)
    return statistics.median(rounds)


if __name__ == "__main__":
    main()
