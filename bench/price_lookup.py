"""A price look-up against reading the whole table for each question, which is what a catalogue without an index does.

Prints, for the table that is shipped and for one of 40,000 rows (gpuhunt's size), microseconds a look-up and the ratio.
"""

from __future__ import annotations

import csv
import io
import statistics
import time
from collections.abc import Callable
from functools import partial

from gpuyard import catalogue
from gpuyard.catalogue.tables import DATA

SOLD = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
ROUNDS = 7


def main() -> None:
    started = time.perf_counter()
    shipped = len(catalogue.prices())
    first = time.perf_counter() - started
    indexed = seconds(partial(catalogue.price, *SOLD), 20_000)
    text = "".join(path.read_text() for path in sorted((DATA / "prices").glob("*.csv")))
    large = large_table(40_000)
    print(f"first look-up, which reads {shipped} rows: {first * 1e3:.2f} ms")
    print(f"indexed: {indexed * 1e6:.2f} us a look-up")
    for name, table, times in ((f"{shipped} rows", text, 50), ("40,000 rows", large, 1)):
        parsed = seconds(partial(parse, table), times)
        print(f"parsing {name}: {parsed * 1e6:,.0f} us a look-up, {parsed / indexed:,.0f}x as long")


def seconds(work: Callable[[], object], times: int) -> float:
    """The median over some rounds, so that a disturbed round does not count."""
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(times):
            work()
        rounds.append((time.perf_counter() - started) / times)
    return statistics.median(rounds)


def parse(text: str) -> float | None:
    """Reads every row and keeps those that were asked for."""
    rows = csv.DictReader(io.StringIO(text))
    found = [row for row in rows if (row["cloud"], row["region"], row["machine"], row["market"]) == SOLD]
    return float(found[0]["usd_hour"]) if found else None


def large_table(rows: int) -> str:
    """A table as long as a catalogue of all regions and markets."""
    lines = [f"aws,region-{n},machine-{n}.xlarge,spot,1.0,made up for the benchmark,2026-01-01" for n in range(rows)]
    return "\n".join(["cloud,region,machine,market,usd_hour,source,date", *lines])


if __name__ == "__main__":
    main()
