"""How fast one replica answers, by how many requests are in flight there; as somebody measured it, where one did."""

from __future__ import annotations

import csv
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

COLUMNS = {"concurrency": "Concurrency", "rate": "Inferences/Second", "p99": "p99 latency"}
"""What is read of a table that Triton's perf_analyzer writes with `-f`, whose latencies are microseconds. Source:
triton-inference-server/perf_analyzer docs/measurements_metrics.md."""


@dataclass(frozen=True, slots=True)
class Point:
    """One replica while so many requests are in flight there, each client waiting for its answer."""

    concurrency: int
    seconds: float
    """Mean time of an answer."""
    p99: float
    """Time in which 99 of 100 answers come, seconds."""

    @property
    def rate(self) -> float:
        """Answers a second (Little's law)."""
        return self.concurrency / self.seconds


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one replica, fewest requests in flight first."""

    points: tuple[Point, ...]

    def seconds(self, concurrency: float) -> float:
        """Mean time of an answer: between two points on the line between them, outside as at the nearest."""
        known = [point.concurrency for point in self.points]
        at = bisect_left(known, concurrency)
        if at == 0:
            return self.points[0].seconds
        if at == len(known):
            return self.points[-1].seconds
        low, high = self.points[at - 1], self.points[at]
        part = (concurrency - low.concurrency) / (high.concurrency - low.concurrency)
        return low.seconds + part * (high.seconds - low.seconds)

    def slower(self, factor: float) -> Curve:
        """The same replica, were every answer to take so many times as long."""
        return Curve(tuple(Point(p.concurrency, p.seconds * factor, p.p99 * factor) for p in self.points))


def computed(seconds: Callable[[float], float], most: int) -> Curve:
    """The curve of a formula, at every power of two up to the most requests that one replica takes, and there. All
    requests are alike, so 99 of 100 answers take what the mean does."""
    counts = sorted({1 << power for power in range(most.bit_length())} | {most})
    return Curve(tuple(Point(n, seconds(n), seconds(n)) for n in counts))


def read(path: Path) -> Curve:
    """The curve of a CSV file of perf_analyzer. Raises ValueError, with the file and the line, for one that is none."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file, strict=True)
            missing = [column for column in COLUMNS.values() if column not in (lines.fieldnames or [])]
            if missing:
                raise ValueError(
                    f"{path} line 1: has no column {', '.join(missing)}: give what perf_analyzer writes with "
                    "--concurrency-range and -f"
                )
            found = [_point(f"{path} line {lines.line_num}", row) for row in lines]
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}: give a file that can be read") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: is no CSV file in UTF-8: {error}") from error
    return Curve(tuple(_ordered(path, found)))


def _point(place: str, row: dict[str, str]) -> Point:
    numbers = {name: _number(place, column, row[column]) for name, column in COLUMNS.items()}
    if numbers["concurrency"] != int(numbers["concurrency"]):
        raise ValueError(f"{place}: Concurrency {row['Concurrency']} is no count of requests")
    count = int(numbers["concurrency"])
    mean, p99 = count / numbers["rate"], numbers["p99"] / 1e6
    if p99 < mean / 100:
        raise ValueError(
            f"{place}: p99 latency {row['p99 latency']} is {p99:.3g} s, and {count} requests in flight at "
            f"{row['Inferences/Second']} a second take {mean:.3g} s on average: latencies must be in microseconds, and "
            "the batch of a request (-b) 1"
        )
    return Point(count, mean, p99)


def _number(place: str, column: str, text: str | None) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{place}: {column} {text!r} is not a number above 0")
    return number


def _ordered(path: Path, found: Iterable[Point]) -> list[Point]:
    points = sorted(found, key=lambda point: point.concurrency)
    counts = [point.concurrency for point in points]
    if not points:
        raise ValueError(f"{path}: has no row: give one for each number of requests in flight that was tried")
    if len(set(counts)) != len(counts):
        raise ValueError(f"{path}: has two rows of one Concurrency: give one run's table")
    return points
