"""Requests, one by one, through replicas that get lost, are updated and meet bursts: what a formula does not say."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import simpy

from gpuyard.components.serving.load.curve import Curve, Point
from gpuyard.components.serving.load.plan import Load, Plan

REQUESTS = 60_000
"""Requests that are simulated for each thing that may happen, which bounds the time that it takes."""

ANSWERS = 20
"""A simulated time lasts at least so many answers. Where that takes more than REQUESTS, a part of the replicas is
simulated, with the same part of the load."""

LONGEST = 600.0
"""Seconds that are simulated at the most, unless ANSWERS take longer."""

WARM = 0.1
"""Part of the simulated time after which requests count: at its start the replicas are empty."""

NORMAL_99 = 2.3263478740408408
"""The 99th percentile of the standard normal distribution."""

Tell = Callable[[float], None]
"""Is told which part is done."""

Draw = Callable[[random.Random, Point], float]
"""How many times the mean one answer takes, on average 1."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens, in parts of the simulated time."""

    name: str
    since: float = WARM
    """From when on requests count."""
    factor: float = 1.0
    """Times as many requests as usual, from `since` for a tenth of the time."""
    lost: str = ""
    """`replica`: one is lost, and is back after four tenths. `zone`: all of one zone are, and do not come back. What
    they had in flight starts anew elsewhere, at once."""
    update: bool = False
    """One replica after another takes no more requests, ends those that it has, and comes back."""


@dataclass(frozen=True, slots=True)
class Result:
    """Latencies of the requests that came while something happened, or after it, seconds."""

    event: str
    requests: int
    p50: float
    p95: float
    p99: float
    most: float
    again: int
    """Requests that started anew because their replica was lost."""
    within: float
    """Part of the requests that were answered within the time that was asked for."""
    part: float
    """Part of the replicas that was simulated."""


@dataclass(slots=True, eq=False)
class _Replica:
    zone: int
    taking: bool = True
    life: int = 0
    """Counts how often it was lost: answers of an earlier life never come."""
    flying: dict[int, float] = field(default_factory=dict)
    """When each request came that it works on, by number."""
    waiting: deque[float] = field(default_factory=deque)

    @property
    def load(self) -> int:
        return len(self.flying) + len(self.waiting)


def events(load: Load, burst: float) -> list[Event]:
    """What is tried: nothing, a burst of so many times the load, a lost replica, a lost zone, an update."""
    found = [
        Event("steady"),
        Event(f"burst x{burst:g}", since=0.4, factor=burst),
        Event("replica lost", since=0.3, lost="replica"),
        Event("rolling update", update=True),
    ]
    return [*found, Event("zone lost", since=0.3, lost="zone")] if load.zones > 1 else found


def spread(random_: random.Random, point: Point) -> float:
    """Log-normal, with the mean and the 99th percentile that were measured; always 1 where these are the same."""
    ratio = math.log(max(point.p99 / point.seconds, 1.0))
    sigma = NORMAL_99 - math.sqrt(max(0.0, NORMAL_99**2 - 2 * ratio))
    return random_.lognormvariate(-(sigma**2) / 2, sigma) if sigma else 1.0


def simulate(
    curve: Curve,
    planned: Plan,
    load: Load,
    event: Event,
    *,
    seed: int = 1,
    requests: int = REQUESTS,
    draw: Draw = spread,
    tell: Tell = lambda part: None,
) -> Result:
    """Latencies of a planned endpoint while something happens; the same for the same seed.

    Requests come at random (Poisson). Each goes to the less busy of two replicas picked at random, and waits there
    while `planned.concurrency` others are in flight. It takes as long as the curve says for those in flight when it
    starts. Nothing is given up: whoever waits, waits.
    """
    answer = planned.seconds
    part = min(1.0, requests / (ANSWERS * answer * load.rps))
    count = min(planned.replicas, max(2 * load.zones, round(planned.replicas * part)))
    rate = load.rps * count / planned.replicas
    window = min(requests / rate, max(LONGEST, ANSWERS * answer))
    fleet = _Fleet(curve, planned.concurrency, count, load.zones, random.Random(seed), draw)  # noqa: S311 - no secret
    fleet.environment.process(fleet.arrive(rate, window, event, tell))
    fleet.environment.process(fleet.happen(window, event))
    fleet.environment.run()
    counted = sorted(took for came, took in fleet.answered if event.since * window <= came)
    if not counted:
        raise ValueError("no request came in the simulated time: give more requests a second")
    return Result(
        event=event.name,
        requests=len(counted),
        p50=_percentile(counted, 0.5),
        p95=_percentile(counted, 0.95),
        p99=_percentile(counted, 0.99),
        most=counted[-1],
        again=fleet.again,
        within=sum(took <= load.p99 for took in counted) / len(counted),
        part=count / planned.replicas,
    )


class _Fleet:
    def __init__(
        self, curve: Curve, places: int, replicas: int, zones: int, random_: random.Random, draw: Draw
    ) -> None:
        self.environment = simpy.Environment()
        self.replicas = [_Replica(number % zones) for number in range(replicas)]
        self.places, self.random, self.draw = places, random_, draw
        self.seconds = [curve.seconds(count) for count in range(places + 1)]
        self.point = next(p for p in curve.points if p.concurrency == places)
        self.answered: list[tuple[float, float]] = []
        self.again = self.numbers = 0
        self.taking = self.replicas

    def arrive(self, rate: float, window: float, event: Event, tell: Tell) -> Generator[Any, Any, None]:
        now, told = 0.0, 0
        while True:
            part = now / window
            in_burst = event.factor != 1.0 and event.since <= part < event.since + 0.1
            gap = self.random.expovariate(rate * (event.factor if in_burst else 1.0))
            now += gap
            if now >= window:
                return
            yield self.environment.timeout(gap)
            self.send(now)
            if int(part * 100) > told:
                told = int(part * 100)
                tell(part)

    def happen(self, window: float, event: Event) -> Generator[Any, Any, None]:
        if event.lost:
            yield self.environment.timeout(event.since * window)
            lost = [one for one in self.replicas if one.zone == 0] if event.lost == "zone" else self.replicas[:1]
            self.lose(lost)
            if event.lost == "replica":
                yield self.environment.timeout(0.4 * window)
                self.take(lost, taking=True)
        if event.update:
            yield self.environment.timeout(WARM * window)
            for one in self.replicas:
                self.take([one], taking=False)
                yield self.environment.timeout((1 - 2 * WARM) * window / len(self.replicas))
                self.take([one], taking=True)

    def lose(self, lost: list[_Replica]) -> None:
        self.take(lost, taking=False)
        for one in lost:
            one.life += 1
            orphans = [*one.flying.values(), *one.waiting]
            one.flying.clear()
            one.waiting.clear()
            self.again += len(orphans)
            for came in orphans:
                self.send(came)

    def take(self, which: list[_Replica], *, taking: bool) -> None:
        for one in which:
            one.taking = taking
        # With none left, as in an update of the only one, requests wait at those that do not take any.
        self.taking = [one for one in self.replicas if one.taking] or self.replicas

    def send(self, came: float) -> None:
        taking = self.taking
        one = taking[int(self.random.random() * len(taking))]
        other = taking[int(self.random.random() * len(taking))]
        chosen = other if other.load < one.load else one
        if len(chosen.flying) < self.places:
            self.start(chosen, came)
        else:
            chosen.waiting.append(came)

    def start(self, at: _Replica, came: float) -> None:
        self.numbers = number = self.numbers + 1
        at.flying[number] = came
        taken = self.seconds[len(at.flying)] * self.draw(self.random, self.point)
        life = at.life

        def answer(_: Any) -> None:
            if at.life != life:
                return
            del at.flying[number]
            self.answered.append((came, self.environment.now - came))
            if at.waiting:
                self.start(at, at.waiting.popleft())

        ends = self.environment.timeout(taken).callbacks
        if ends is not None:
            ends.append(answer)


def _percentile(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)) - 1)]


def everything(
    curve: Curve, planned: Plan, load: Load, *, burst: float, seed: int, tell: Callable[[str, float], None]
) -> Iterator[Result]:
    """Everything that is tried, one after another."""
    for event in events(load, burst):
        yield simulate(curve, planned, load, event, seed=seed, tell=partial(tell, event.name))
