from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuyard.review.capacity import capacity
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import NodeGroup


def group(name: str, machine: str, nodes: tuple[int, int, int], **more: Any) -> NodeGroup:
    given: dict[str, Any] = {"cloud": "aws", "region": "us-east-1", "market": "on_demand"} | more
    return NodeGroup(
        urn=f"urn:{name}",
        name=name,
        machine=machine,
        machine_path="/m",
        minimum=nodes[0],
        initial=nodes[1],
        maximum=nodes[2],
        **given,
    )


def tenant(name: str, accelerators: dict[str, Any], budget: float | None = None) -> dict[str, Any]:
    return {
        "type": "gpuyard:index:Tenant",
        "name": name,
        "inputs": {"accelerators": accelerators, "monthly_budget": budget},
    }


def test_a_month_is_730_hours_of_every_node_at_each_bound() -> None:
    result = cost([group("l40s", "g6e.12xlarge", (1, 2, 6))], [])
    # 10.49264 USD/h: EC2's us-east-1 on-demand price at 2026-07-20.
    assert result["lines"][0]["month"] == {"min": 7659.63, "initial": 15319.25, "max": 45957.76}
    assert result["lines"][0]["gpu_hours"] == {"min": 2920, "initial": 5840, "max": 17520}
    assert result["total"] == {"min": 7659.63, "initial": 15319.25, "max": 45957.76}


def test_a_reservation_is_charged_while_idle() -> None:
    reserved = group("h100", "p5.48xlarge", (0, 2, 4), market="reservation", reserved=4)
    month = cost([reserved], [])["lines"][0]["month"]
    assert month == {"min": 160716.8, "initial": 160716.8, "max": 160716.8}, "4 x 55.04 USD/h x 730 h, used or not"


def test_an_unknown_price_is_null_and_listed_never_zero() -> None:
    given = {
        "no on_demand price of g6e.12xlarge in eu-north-1 is known": group(
            "a", "g6e.12xlarge", (0, 1, 2), region="eu-north-1"
        ),
        "its region is not known": group("b", "g6e.12xlarge", (0, 1, 2), region=None),
        "its machine is not known": replace(group("c", "", (0, 1, 2)), machine=None),
        "its owner gives no usd_hour": group("d", "dgx-h100", (2, 2, 2), market="owned"),
        "its number of nodes is not known": replace(group("e", "g6e.12xlarge", (0, 1, 2)), maximum=None),
    }
    result = cost(list(given.values()), [])
    assert [line["month"] for line in result["lines"]] == [None] * 5
    assert [line["unknown"] for line in result["lines"]] == list(given)
    assert result["unknown"] == ["urn:a", "urn:b", "urn:c", "urn:d", "urn:e"]
    assert result["total"]["max"] == 0


def test_a_group_that_has_no_nodes_costs_nothing_whatever_its_price() -> None:
    assert cost([group("none", "p5e.48xlarge", (0, 0, 0))], [])["unknown"] == []


def test_spot_without_a_price_costs_at_most_what_on_demand_does() -> None:
    line = cost([group("spot", "g6e.12xlarge", (0, 1, 2), market="spot")], [])["lines"][0]
    assert (line["usd_hour"], line["month"]["max"]) == (10.49264, 15319.25)
    assert "upper bound" in line["source"]


def test_a_tenant_costs_its_quota_and_at_worst_what_it_may_borrow_too() -> None:
    result = cost(
        [group("l40s", "g6e.12xlarge", (1, 2, 6))], [tenant("fraud", {"l40s": {"quota": 8, "borrow": 4}}, 30000)]
    )
    # 10.49264 / 4 accelerators x 730 h = 1,914.9068 USD an accelerator-month
    assert result["tenants"]["fraud"] == {"quota": 15319.25, "worst": 22978.88, "budget": 30000}
    assert result["shared"] == pytest.approx(45957.76 - 15319.25)


def test_a_tenant_on_a_group_without_a_price_has_no_known_cost() -> None:
    owned = group("dgx", "dgx-h100", (2, 2, 2), cloud="onprem", region=None, market="owned")
    assert cost([owned], [tenant("a", {"dgx": {"quota": 8}})])["tenants"]["a"]["quota"] is None


def test_owned_machines_cost_what_their_owner_says() -> None:
    owned = group("dgx", "dgx-h100", (2, 2, 2), cloud="onprem", region=None, market="owned", usd_hour=24.5)
    assert cost([owned], [])["total"] == {"min": 35770.0, "initial": 35770.0, "max": 35770.0}


def test_capacity_counts_what_scalers_may_reach_and_what_endpoints_may_take() -> None:
    endpoint = {
        "type": "gpuyard:index:Endpoint",
        "name": "e",
        "inputs": {"tenant": "a", "on": "h100", "tensor_parallel": 4, "replicas": {"min": 1, "max": 3}},
    }
    found = capacity(
        [group("h100", "p5.48xlarge", (0, 1, 4)), group("system", "m7i.2xlarge", (3, 3, 5))],
        [tenant("a", {"h100": {"quota": 16, "borrow": 8}}), endpoint],
    )
    assert found["total"] == 32
    assert found["accelerators"] == {"H100-80": 32}
    assert found["tenants"] == {"a": {"h100": {"quota": 16, "borrow": 8, "endpoints_max": 12}}}


def test_shared_nodes_cost_what_is_taken_of_them() -> None:
    shared = NodeGroup(
        "urn:l40s",
        "l40s",
        "existing",
        None,
        "g6e.12xlarge",
        "/m",
        "shared",
        None,
        None,
        None,
        usd_hour=10.5,
        taken=(2, 2, 4),
    )
    result = cost([shared], [tenant("a", {"l40s": {"quota": 4}})])
    # 10.5 / 4 accelerators x 730 h = 1,916.25 USD an accelerator-month
    assert result["total"] == {"min": 3832.5, "initial": 3832.5, "max": 7665.0}
    assert result["tenants"]["a"]["quota"] == 7665.0
    assert capacity([shared], [])["total"] == 4


@pytest.mark.parametrize(
    ("cloud", "machine", "accelerators"),
    [
        ("aws", "t3.medium", 0),
        ("aws", "p9.48xlarge", None),
        ("aws", "f2.6xlarge", None),
        ("gcp", "c4-standard-8", 0),
        ("gcp", "a5-ultra-8g", None),
    ],
)
def test_a_machine_that_the_catalogue_lacks_has_no_accelerators_only_if_its_family_has_none(
    cloud: str, machine: str, accelerators: int | None
) -> None:
    found = capacity([group("g", machine, (0, 1, 1), cloud=cloud)], [])
    assert found["groups"][0]["accelerators"]["max"] == accelerators
