from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuyard.catalogue import Price
from gpuyard.review.capacity import capacity
from gpuyard.review.cost import cost
from gpuyard.review.node_group import NodeGroup
from gpuyard.review.prices import Prices


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


def own(*rows: tuple[str, str, float], machine: str = "p5.48xlarge", machines: int | None = None) -> Prices:
    """Prices of one's own of one machine in us-east-1, each a market, a day and USD an hour."""
    return Prices(
        {
            ("aws", "us-east-1", machine, market): Price(usd, "ours", day, machines if market == "committed" else None)
            for market, day, usd in rows
        },
        "0" * 64,
    )


BLOCK = ("2026-12-01T11:30:00Z", "2026-12-15T11:30:00Z")
"""Two weeks: 336 hours."""


def test_a_capacity_block_is_paid_upfront_for_all_its_hours() -> None:
    block = group("h100", "p5.48xlarge", (0, 2, 4), market="capacity_block", reserved=4, window=BLOCK)
    line = cost([block], [], prices=own(("capacity_block", "2026-11-01", 31.464)))["lines"][0]
    assert line["month"] == dict.fromkeys(("min", "initial", "max"), 42287.62), "4 x 31.464 USD/h x 336 h, used or not"
    assert line["gpu_hours"]["max"] == 4 * 8 * 336
    assert line["usd_gpu_hour"]["max"] == 3.933
    assert line["usd_gpu_hour"]["min"] is None, "there is no accelerator-hour"


def test_a_capacity_block_without_a_price_or_a_window_has_no_known_cost() -> None:
    block = group("h100", "p5.48xlarge", (0, 2, 4), market="capacity_block", reserved=4, window=BLOCK)
    assert cost([block], [])["lines"][0]["unknown"] == "no capacity_block price of p5.48xlarge in us-east-1 is known"
    found = cost([replace(block, window=None)], [], prices=own(("capacity_block", "2026-11-01", 31.464)))
    assert found["lines"][0]["unknown"] == "when its Capacity Block begins and ends is not known"
    assert found["unknown"] == ["urn:h100"]


def test_flex_start_costs_at_most_what_on_demand_does() -> None:
    flex = group("l4", "g2-standard-12", (0, 0, 3), cloud="gcp", region="us-central1", market="flex_start")
    line = cost([flex], [])["lines"][0]
    assert line["upper_bound"]
    assert line["month"]["max"] == round(3 * 730 * line["usd_hour"], 2)


def test_of_several_markets_the_least_is_the_cheapest_the_start_the_first_and_the_most_the_dearest() -> None:
    both = group("h100", "p5.48xlarge", (1, 2, 4), market="spot", then=("on_demand",))
    line = cost([both], [], prices=own(("spot", "2026-11-01", 20.0)))["lines"][0]
    assert line["month"] == {"min": 14600.0, "initial": 29200.0, "max": round(4 * 55.04 * 730, 2)}
    turned = replace(both, market="on_demand", then=("spot",))
    assert cost([turned], [], prices=own(("spot", "2026-11-01", 20.0)))["lines"][0]["month"] == {
        "min": 14600.0,
        "initial": round(2 * 55.04 * 730, 2),
        "max": round(4 * 55.04 * 730, 2),
    }


def test_of_several_markets_one_without_a_price_makes_the_cost_unknown() -> None:
    several = group("h100", "p5.48xlarge", (0, 0, 4), market="on_demand", then=("capacity_block",), window=BLOCK)
    line = cost([replace(several, maximum=4, minimum=1)], [])["lines"][0]
    assert (line["month"], line["unknown"]) == (None, "no capacity_block price of p5.48xlarge in us-east-1 is known")


def test_a_reservation_that_comes_first_is_filled_first_and_paid_while_idle() -> None:
    first = group("h100", "p5.48xlarge", (0, 2, 6), market="reservation", then=("spot",), reserved=4)
    month = cost([first], [], prices=own(("spot", "2026-11-01", 20.0)))["lines"][0]["month"]
    assert month == {"min": 160716.8, "initial": 160716.8, "max": 160716.8 + 2 * 20 * 730}
    last = replace(first, market="spot", then=("reservation",))
    month = cost([last], [], prices=own(("spot", "2026-11-01", 20.0)))["lines"][0]["month"]
    assert month == {"min": 160716.8, "initial": 160716.8 + 2 * 20 * 730, "max": 160716.8 + 6 * 20 * 730}


def test_a_reservation_of_a_node_group_and_of_karpenter_is_paid_once() -> None:
    kept = group("a", "p5.48xlarge", (0, 0, 2), market="reservation", reserved=4, reservations=("cr-1",))
    karpenter = group(
        "b",
        "p5.48xlarge",
        (0, 0, 4),
        market="reservation",
        then=("on_demand",),
        reserved=6,
        paid=(("reservation", 4, None), ("reservation", 2, None)),
        reservations=("cr-1", "cr-2"),
    )
    found = cost([kept, karpenter], [])
    once = round(4 * 55.04 * 730, 2)
    [credit] = found["charges"]
    assert (credit["name"], credit["urn"]) == ("cr-1", "urn:a")
    assert credit["month"] == {"min": -once, "initial": -once, "max": round(-2 * 55.04 * 730, 2)}
    assert found["total"] == {
        "min": round(6 * 55.04 * 730, 2),
        "initial": round(6 * 55.04 * 730, 2),
        "max": round(8 * 55.04 * 730, 2),
    }, "of the six nodes that want the first one, two come from elsewhere"
    assert cost([kept, replace(kept, urn="urn:c", reservations=(None,))], [])["charges"] == [], "it may be another"


def test_a_commitment_covers_no_machine_of_a_reservation_twice() -> None:
    prices = own(("committed", "2026-01-01", 40.0), machines=10)
    kept = group("a", "p5.48xlarge", (0, 0, 2), market="reservation", reserved=4, reservations=("cr-1",))
    found = cost([kept, replace(kept, urn="urn:b", name="b")], [], prices=prices)
    assert found["total"] == dict.fromkeys(("min", "initial", "max"), 4 * 40.0 * 730)


def test_a_commitment_makes_as_many_machines_cheaper_as_it_covers() -> None:
    prices = own(("committed", "2026-01-01", 40.0), machines=3)
    groups = [group("a", "p5.48xlarge", (0, 1, 2)), group("b", "p5.48xlarge", (0, 0, 2))]
    found = cost([*groups, group("c", "g6.xlarge", (0, 1, 1))], [], prices=prices)
    assert found["charges"][0]["month"] == {"min": 0.0, "initial": -10979.2, "max": -32937.6}, (
        "15.04 USD/h x 730 h each"
    )
    assert found["total"]["max"] == round(sum(one["month"]["max"] for one in found["lines"]) - 32937.6, 2)
    assert found["prices"] == {"file": "prices.csv", "rows": 1, "sha256": "0" * 64}


def test_a_commitment_touches_neither_spot_nor_machines_elsewhere_nor_is_a_dearer_one_a_credit() -> None:
    prices = own(("committed", "2026-01-01", 40.0), machines=3)
    spot = group("a", "p5.48xlarge", (0, 1, 2), market="spot")
    elsewhere = group("b", "p5.48xlarge", (0, 0, 0), region="us-east-2")
    assert cost([spot, elsewhere], [], prices=prices)["charges"] == []
    dear = own(("committed", "2026-01-01", 60.0), machines=3)
    assert cost([group("a", "p5.48xlarge", (0, 1, 2))], [], prices=dear)["charges"] == []


def test_prices_of_ones_own_go_over_the_catalogues() -> None:
    prices = own(("on_demand", "2026-11-01", 50.0))
    found = cost([group("a", "p5.48xlarge", (1, 1, 1)), group("b", "g6.xlarge", (1, 1, 1))], [], prices=prices)
    assert [(one["usd_hour"], one["source"][:4]) for one in found["lines"]] == [(50.0, "ours"), (0.8048, "AWS ")]
    assert cost([], [])["prices"] is None


def test_a_price_is_as_old_as_the_review_is_late() -> None:
    groups = [
        group("a", "p5.48xlarge", (1, 1, 1)),
        group("b", "dgx-h100", (1, 1, 1), cloud="onprem", market="owned", usd_hour=1.0),
    ]
    ages = [one["age_days"] for one in cost(groups, [], date="2026-11-30")["lines"]]
    assert ages == [133, None], "since 2026-07-20; what an owner charges has no day"
    several = replace(groups[0], market="spot", then=("on_demand",))
    prices = own(("spot", "2026-11-20", 20.0))
    assert cost([several], [], prices=prices, date="2026-11-30")["lines"][0]["age_days"] == 133, "the oldest counts"


def charge(month: dict[str, float] | None) -> dict[str, Any]:
    unknown = None if month else "who knows"
    return {"urn": "u", "name": "n", "what": "w", "date": None, "month": month, "unknown": unknown}


def test_charges_are_in_the_total_and_what_is_not_priced_is_named_beside_it() -> None:
    charges = [charge({"min": 1.0, "initial": 2.0, "max": 3.0}), charge(None)]
    found = cost([group("l40s", "g6e.12xlarge", (0, 0, 1))], [], charges=charges)
    assert found["total"] == {"min": 1.0, "initial": 2.0, "max": 7662.63}
    assert found["charges"] == charges[:1]
    assert found["not_priced"] == [{"urn": "u", "name": "n", "what": "w", "why": "who knows"}]
    assert found["unknown"] == [], "a group without a price is a finding, a bucket is not"
    assert found["usd_gpu_hour"] == {"min": None, "initial": None, "max": round(7662.63 / 2920, 4)}


def test_an_accelerator_hour_has_no_known_price_while_a_group_has_none() -> None:
    groups = [group("a", "p5.48xlarge", (1, 1, 1)), group("b", "g6.xlarge", (1, 1, 1), region="eu-north-1")]
    assert cost(groups, [])["usd_gpu_hour"] == {"min": None, "initial": None, "max": None}


def test_a_tenant_on_a_group_of_several_markets_pays_the_dearest_at_worst() -> None:
    both = group("h100", "p5.48xlarge", (0, 0, 4), market="spot", then=("on_demand",))
    result = cost([both], [tenant("a", {"h100": {"quota": 8}})], prices=own(("spot", "2026-11-01", 20.0)))
    assert result["tenants"]["a"]["quota"] == round(55.04 * 730, 2)
