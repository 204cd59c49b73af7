"""Simulated requests, against queueing theory where it has an answer."""

from __future__ import annotations

import math
import random

import pytest

from gpuyard.components.serving.load.curve import Curve, Point
from gpuyard.components.serving.load.plan import Load, Plan, must_wait, plan
from gpuyard.components.serving.load.simulation import Event, Result, events, simulate, spread

FAST = Curve((Point(1, 0.001, 0.001), Point(8, 0.002, 0.004)))


def run(load: Load, event: Event, seed: int = 1, requests: int = 20_000, curve: Curve = FAST) -> Result:
    return simulate(curve, plan(curve, load), load, event, seed=seed, requests=requests)


@pytest.mark.parametrize(("places", "busy"), [(1, 0.5), (4, 0.8)])
def test_one_replica_with_exponential_times_is_an_m_m_c_queue(places: int, busy: float) -> None:
    curve = Curve((Point(places, 0.001, 0.001),))
    load = Load(busy * places * 1000, 1.0)
    planned = Plan(1, 1, places, busy, busy, 0.001, 1.0)
    found = simulate(
        curve, planned, load, Event("steady"), draw=lambda rng, _: rng.expovariate(1.0), requests=60_000, seed=3
    )
    for part, simulated in ((0.5, found.p50), (0.95, found.p95), (0.99, found.p99)):
        assert simulated * 1000 == pytest.approx(sojourn(places, busy * places, part), rel=0.06)


def sojourn(places: int, offered: float, part: float) -> float:
    """The percentile of the time in an M/M/c queue with answers of mean 1, by halving."""
    waits, spare = must_wait(places, offered), places - offered
    low, high = 0.0, 100.0
    while high - low > 1e-9:
        t = (low + high) / 2
        if spare == 1:
            beyond = math.exp(-t) * (1 + waits * t)
        else:
            beyond = math.exp(-t) + waits / (1 - spare) * (math.exp(-spare * t) - math.exp(-t))
        low, high = (t, high) if beyond > 1 - part else (low, t)
    return low


def test_one_seed_gives_one_answer_and_another_seed_another() -> None:
    load = Load(5000, 0.05, zones=3)
    assert run(load, Event("steady"), 7) == run(load, Event("steady"), 7)
    assert run(load, Event("steady"), 7) != run(load, Event("steady"), 8)


def test_a_lost_zone_is_borne_by_the_others_and_its_requests_start_anew() -> None:
    load = Load(20_000, 0.05, zones=3)
    steady, lost = (run(load, event) for event in events(load, 1.5) if event.name in ("steady", "zone lost"))
    assert lost.p99 > steady.p99
    assert lost.again > 0
    assert steady.again == 0
    assert lost.within > 0.99


def test_a_zone_that_the_rest_cannot_replace_shows_in_the_latency() -> None:
    load = Load(20_000, 0.05, zones=3)
    planned = plan(FAST, Load(20_000, 0.05))
    short = simulate(FAST, planned, load, Event("zone lost", since=0.3, lost="zone"), requests=20_000)
    assert short.p99 > 10 * run(load, Event("steady")).p99


def test_a_burst_beyond_what_replicas_answer_makes_requests_wait_and_no_request_is_lost() -> None:
    load = Load(5000, 0.05)
    calm, burst = run(load, Event("calm", since=0.4)), run(load, Event("burst", since=0.4, factor=3.0))
    assert burst.p99 > calm.p99
    assert burst.requests > calm.requests


def test_an_update_takes_one_replica_at_a_time() -> None:
    load = Load(20_000, 0.05, zones=3)
    found = run(load, Event("rolling update", update=True))
    assert found.again == 0
    assert found.within > 0.99
    # The only replica goes on with what it has, and requests wait there.
    assert run(Load(10, 0.05), Event("rolling update", update=True)).within == 1.0


def test_a_load_that_is_too_much_to_simulate_is_simulated_in_part() -> None:
    slow = Curve((Point(64, 20.0, 20.0),))
    load = Load(1000, 30.0, zones=3)
    found = run(load, Event("steady"), curve=slow, requests=10_000)
    assert 0 < found.part < 0.05
    assert found.requests < 15_000


def test_times_are_spread_as_they_were_measured() -> None:
    rng = random.Random(1)  # noqa: S311 - no secret
    drawn = sorted(spread(rng, Point(8, 0.002, 0.004)) for _ in range(40_000))
    assert sum(drawn) / len(drawn) == pytest.approx(1.0, rel=0.02)
    assert drawn[int(0.99 * len(drawn))] == pytest.approx(2.0, rel=0.05)
    assert spread(rng, Point(1, 0.001, 0.001)) == 1.0


def test_progress_is_told() -> None:
    told: list[float] = []
    load = Load(5000, 0.05)
    simulate(FAST, plan(FAST, load), load, Event("steady"), requests=5_000, tell=told.append)
    assert told == sorted(told)
    assert told[-1] > 0.9
