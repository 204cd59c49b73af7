"""How many replicas bear a load within a latency, by queueing theory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpuyard.components.serving.load.curve import Curve, Point

BUSY = 0.8
"""Requests a second as a part of what the needed replicas answer, at the most. A choice: above it a queue grows fast
with every burst."""

SURE = 2000
"""Places beyond which no request waits while at most BUSY of them are taken: at 0.8 of 2000, Erlang's C is below
1e-19."""


class Impossible(ValueError):  # noqa: N818 - read as plan.Impossible
    """A latency that no number of replicas keeps. The message says both, and what to do."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of an endpoint, and what it has to bear."""

    rps: float
    """Requests a second, arriving at random."""
    p99: float
    """Time in which 99 of 100 answers have to come, seconds."""
    zones: int = 1
    """Zones that the replicas are spread over evenly; where there are several, one may be lost."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A number of replicas, and what a replica is given."""

    replicas: int
    needed: int
    """Of these, that bear the load alone: the rest is for a lost zone."""
    concurrency: int
    """Requests that a replica has in flight at the most; more wait."""
    busy: float
    """Requests a second as a part of what all replicas answer with that many in flight."""
    busy_left: float
    """The same once a zone is lost; `busy` where none may be."""
    seconds: float
    """Mean time of an answer at that concurrency."""
    p99: float
    """Time in which 99 of 100 answers come at the most, once a zone is lost, seconds: as if every replica had that many
    in flight, and what they wait (M/M/c)."""


def plan(curve: Curve, load: Load) -> Plan:
    """The fewest replicas, and the least concurrency with which they do. Raises Impossible."""
    able = [point for point in curve.points if point.p99 <= load.p99]
    if not able:
        least = min(curve.points, key=lambda point: point.p99)
        raise Impossible(
            f"99 of 100 answers in {shown(load.p99)} is out of reach of any number of replicas: one with "
            f"{least.concurrency} request{'s' if least.concurrency > 1 else ''} in flight takes {shown(least.p99)} and "
            "waits for nobody: allow more, ask for fewer tokens, or give faster accelerators or more of them a replica"
        )
    found = [_at(point, load) for point in able]
    return min(found, key=lambda one: (one.replicas, one.concurrency))


def _at(point: Point, load: Load) -> Plan:
    offered = load.rps * point.seconds
    needed = max(1, math.ceil(offered / point.concurrency / BUSY))
    while point.p99 + waited(needed * point.concurrency, offered, point.seconds) > load.p99:
        needed += 1
        if needed * point.concurrency > max(SURE, 2 * offered):  # No request waits any more.
            break
    replicas = math.ceil(needed / (load.zones - 1)) * load.zones if load.zones > 1 else needed
    left = replicas - replicas // load.zones if load.zones > 1 else replicas
    return Plan(
        replicas=replicas,
        needed=needed,
        concurrency=point.concurrency,
        busy=offered / (replicas * point.concurrency),
        busy_left=offered / (left * point.concurrency),
        seconds=point.seconds,
        p99=point.p99 + waited(left * point.concurrency, offered, point.seconds),
    )


def waited(places: int, offered: float, seconds: float, part: float = 0.99) -> float:
    """Time that this part of all requests waits at the most for one of so many places, seconds (M/M/c).

    `offered` is requests a second times the seconds that one takes; infinite where that is not below the places.
    """
    if offered >= places:
        return math.inf
    if places >= SURE and offered <= BUSY * places:
        return 0.0
    waits = must_wait(places, offered)
    return max(0.0, math.log(waits / (1 - part)) * seconds / (places - offered)) if waits > 0 else 0.0


def must_wait(places: int, offered: float) -> float:
    """Part of all requests that find every place taken: Erlang's C, from his B by its recursion."""
    blocked = 1.0
    for count in range(1, places + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1 - offered / places * (1 - blocked))


def shown(seconds: float) -> str:
    """A time as one reads it."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
