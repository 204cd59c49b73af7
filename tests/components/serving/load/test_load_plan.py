"""Replicas from a curve: Erlang's formulas, measured tables, prices."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gpuyard import catalogue
from gpuyard.components.serving.load.bill import Site, bill
from gpuyard.components.serving.load.curve import Curve, Point, computed, read
from gpuyard.components.serving.load.plan import BUSY, Impossible, Load, must_wait, plan, waited

HEADER = "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency\n"
ASSUMED = Path(__file__).parents[4] / "examples" / "fraud-scoring" / "assumed.csv"


@pytest.mark.parametrize(("places", "offered", "expected"), [(1, 0.5, 0.5), (2, 1.0, 1 / 3), (5, 4.0, 0.5541)])
def test_the_part_that_waits_is_erlangs_c_as_tables_have_it(places: int, offered: float, expected: float) -> None:
    assert must_wait(places, offered) == pytest.approx(expected, abs=5e-5)


def test_the_longest_of_99_of_100_waits_is_that_of_a_single_queue() -> None:
    # M/M/1: P(W > t) = rho exp(-(1 - rho) t / s)
    assert waited(1, 0.5, 2.0) == pytest.approx(math.log(50) * 2.0 / 0.5)
    assert waited(100, 10, 2.0) == 0
    assert waited(10, 10, 1.0) == math.inf


def test_a_queue_of_many_places_is_not_waited_in() -> None:
    assert must_wait(2000, 1600) < 1e-12
    assert waited(10**7, 10**6, 1.0) == 0


def test_the_fewest_replicas_are_chosen_that_bear_the_load_without_one_zone() -> None:
    curve = Curve((Point(1, 0.01, 0.01), Point(10, 0.02, 0.03), Point(100, 0.1, 0.2)))
    found = plan(curve, Load(rps=4000, p99=0.05, zones=3))
    # 500 a second of one with 10 in flight: 10 replicas at 80 %, and 5 in each of three zones.
    assert (found.concurrency, found.needed, found.replicas) == (10, 10, 15)
    assert found.busy == pytest.approx(4000 / 500 / 15)
    assert found.busy_left == pytest.approx(BUSY)
    assert plan(curve, Load(rps=4000, p99=0.05)).replicas == 10
    assert plan(curve, Load(rps=4000, p99=0.3)).concurrency == 100


def test_a_small_fleet_gets_another_replica_rather_than_a_queue() -> None:
    one = Curve((Point(1, 1.0, 1.0),))
    found = plan(one, Load(rps=0.8, p99=1.5))
    assert found.p99 <= 1.5
    assert found.replicas > math.ceil(0.8 / BUSY)


def test_a_latency_that_no_size_keeps_is_one_error_with_both_times() -> None:
    with pytest.raises(Impossible, match=r"in 5 ms is out of reach .* with 1 request in flight takes 10 ms"):
        plan(Curve((Point(1, 0.01, 0.01), Point(4, 0.02, 0.02))), Load(rps=1, p99=0.005))


def test_a_table_of_perf_analyzer_is_read_in_its_own_units(tmp_path: Path) -> None:
    file = tmp_path / "perf.csv"
    file.write_text(HEADER + "4,113.6,1,1,1,1,1,1,0,35000,35500,36000,37000\n1,105,1,1,1,1,1,1,0,9539,9714,9758,9796\n")
    one, four = read(file).points
    assert (one.concurrency, four.concurrency) == (1, 4)
    assert one.rate == pytest.approx(105)
    assert four.p99 == pytest.approx(0.037)
    assert read(file).seconds(2.5) == pytest.approx((one.seconds + four.seconds) / 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1,2\n", r"line 1: has no column Concurrency, Inferences/Second, p99 latency"),
        (HEADER, "has no row"),
        (HEADER + "1,0,1,1,1,1,1,1,0,1,1,1,9000\n", r"line 2: Inferences/Second '0' is not a number above 0"),
        (HEADER + "1.5,9,1,1,1,1,1,1,0,1,1,1,200000\n", "Concurrency 1.5 is no count"),
        (HEADER + "1,nan,1,1,1,1,1,1,0,1,1,1,9000\n", "'nan' is not a number above 0"),
        (HEADER + "1,100,1,1,1,1,1,1,0,1,1,1,10\n", "latencies must be in microseconds"),
        (HEADER + "1,100,1,1,1,1,1,1,0,1,1,1,10000\n" * 2, "two rows of one Concurrency"),
        (HEADER + "1,100\n", r"p99 latency None is not a number"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "perf.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=why):
        read(file)


def test_a_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        read(tmp_path / "perf.csv")


def test_a_formula_is_computed_at_powers_of_two_and_at_its_end() -> None:
    assert [point.concurrency for point in computed(lambda count: count, 10).points] == [1, 2, 4, 8, 10]


def test_machines_are_whole_in_each_zone_and_an_unknown_price_is_not_0() -> None:
    machine = catalogue.machine("g6e.12xlarge")
    site = Site(machine, 4, "us-east-1", "on_demand")
    price = catalogue.price("aws", "us-east-1", "g6e.12xlarge", "on_demand")
    assert price
    found = bill(site, 9, 2, 3, catalogue.price)
    assert (found.nodes, found.accelerators) == (6, 18)
    assert found.usd_month == pytest.approx(6 * price.usd_hour * 730, abs=0.01)
    assert bill(Site(machine, 4, None, "on_demand"), 9, 2, 3, catalogue.price).usd_month is None
    shared = Site(machine, 4, None, "on_demand", usd_hour=10.0, shared=True)
    assert bill(shared, 1, 2, 1, catalogue.price).usd_month == 3650
    with pytest.raises(ValueError, match=r"a replica takes 8 accelerators, and machine g6e.12xlarge has 4"):
        bill(site, 1, 8, 1, catalogue.price)


def test_the_reference_load_is_borne_by_two_of_three_zones() -> None:
    found = plan(read(ASSUMED), Load(rps=100_000, p99=0.05, zones=3))
    assert found.replicas % 3 == 0
    left = found.replicas * 2 // 3
    assert left * 10_500 * BUSY >= 100_000
    assert found.p99 <= 0.05
