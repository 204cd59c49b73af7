"""When capacity that is reserved for a time begins and ends."""

from __future__ import annotations

from typing import Any

import pytest
from documents import Json, resource

from gpuyard.review.node_groups import node_groups
from gpuyard.review.windows import hours, window_of, windows

DATE = "2026-11-30"


def component(capacity: Any, type_: str = "gpuyard:index:EksNodeGroup") -> Json:
    return resource(type_, "h100", {"capacity": capacity}, custom=False)


def block(start: Any, end: Any) -> Json:
    return {"kind": "capacity_block", "id": "cr-0123456789abcdef0", "count": 4, "start": start, "end": end}


@pytest.mark.parametrize("type_", ["gpuyard:index:EksNodeGroup", "gpuyard:index:GkeNodeGroup"])
def test_the_window_of_a_node_groups_capacity_block_is_found(type_: str) -> None:
    (found,) = windows(component(block("2026-11-20T11:30:00Z", "2026-12-10T11:30:00Z"), type_), DATE)
    assert (found["path"], found["what"]) == ("/capacity/end", "Capacity Block cr-0123456789abcdef0")
    assert (found["starts_in_days"], found["ends_in_days"]) == (-10, 10)


def test_of_several_capacities_that_with_a_window_is_found_where_it_is() -> None:
    capacities = [{"kind": "spot"}, block("2026-12-01", "2026-12-15"), None]
    (found,) = windows(component(capacities), DATE)
    assert (found["path"], found["starts_in_days"], found["ends_in_days"]) == ("/capacity/1/end", 1, 15)
    assert window_of(component(capacities), "capacity_block") == ("2026-12-01", "2026-12-15")
    assert window_of(component(capacities), "spot") is None
    assert window_of(None, "capacity_block") is None


@pytest.mark.parametrize(
    ("end", "days"),
    [
        ("2026-11-29T23:59:59Z", -1),
        ("2026-11-30T00:00:00Z", 0),
        ("2026-11-30T23:00:00Z", 0),
        ("2026-12-01T00:00:00+00:00", 1),
        ("2026-11-30T01:00:00+02:00", -1),
        ("2026-12-01", 1),
    ],
)
def test_an_end_before_the_day_of_the_review_is_over(end: str, days: int) -> None:
    assert windows(component(block("2026-11-01", end)), DATE)[0]["ends_in_days"] == days


@pytest.mark.parametrize("end", [None, "soon", 5, {}])
def test_an_end_that_is_not_known_is_none(end: Any) -> None:
    (found,) = windows(component(block("2026-12-05", end)), DATE)
    assert (found["end"], found["ends_in_days"], found["starts_in_days"]) == (None, None, 5)


@pytest.mark.parametrize("capacity", [{"kind": "on_demand"}, None, "spot", [], {"kind": "reservation", "id": "cr-1"}])
def test_capacity_without_an_end_has_no_window(capacity: Any) -> None:
    assert windows(component(capacity), DATE) == []


@pytest.mark.parametrize(
    ("type_", "inputs", "path"),
    [
        ("aws:ec2/capacityReservation:CapacityReservation", {"endDate": "2026-11-15T00:00:00Z"}, "/endDate"),
        (
            "gcp:compute/futureReservation:FutureReservation",
            {"timeWindow": {"startTime": "2026-11-01T00:00:00Z", "endTime": "2026-11-15T00:00:00Z"}},
            "/timeWindow/endTime",
        ),
        ("gcp:compute/reservation:Reservation", {"deleteAtTime": "2026-11-15T00:00:00Z"}, "/deleteAtTime"),
    ],
)
def test_reservations_of_any_program_have_their_window(type_: str, inputs: Json, path: str) -> None:
    (found,) = windows(resource(type_, "r", inputs), DATE)
    assert (found["path"], found["ends_in_days"]) == (path, -15)
    assert windows(resource(type_, "r", {}), DATE) == []


def test_a_window_has_the_hours_from_its_beginning_to_its_end() -> None:
    assert hours(("2026-12-01T11:30:00Z", "2026-12-15T11:30:00Z")) == 336
    assert hours(("2026-12-15", "2026-12-01")) is None


def test_a_node_group_on_a_capacity_block_has_its_market_its_machines_and_its_window() -> None:
    outer = component(block("2026-12-01T11:30:00Z", "2026-12-15T11:30:00Z"))
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
    template = resource("aws:ec2/launchTemplate:LaunchTemplate", "h100", {"capacityReservationSpecification": target})
    inputs = {
        "capacityType": "CAPACITY_BLOCK",
        "instanceTypes": ["p5.48xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
    }
    group = resource("aws:eks/nodeGroup:NodeGroup", "h100", inputs, parent=outer["urn"], depends_on=[template])
    (found,) = node_groups([outer, template, group])
    assert (found.market, found.reserved) == ("capacity_block", 4)
    assert found.window == ("2026-12-01T11:30:00Z", "2026-12-15T11:30:00Z")


def test_a_node_pool_of_flex_start_has_its_market() -> None:
    inputs = {"location": "us-central1-a", "nodeConfig": {"machineType": "g2-standard-12", "flexStart": True}}
    (found,) = node_groups([resource("gcp:container/nodePool:NodePool", "l4", inputs)])
    assert (found.market, found.window) == ("flex_start", None)
