"""What the review reads of GKE node pools: several that are one group, flex-start, slices of TPU."""

from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.capacity import capacity
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups

POOL = "gcp:container/nodePool:NodePool"
ENDPOINT: dict[str, Any] = {"on": "h100", "tenant": "chat", "tensor_parallel": 8, "replicas": {"min": 5, "max": 6}}


def resource(type_: str, name: str, inputs: dict[str, Any], parent: str = "") -> dict[str, Any]:
    urn = f"urn:pulumi:dev::p::{type_}::{name}"
    return {"urn": urn, "type": type_, "name": name, "parent": parent, "provider": "", "custom": True,
            "inputs": inputs, "unknown": [], "secret": [], "options": {}}  # fmt: skip


def pool(name: str, nodes: int, parent: str = "", **config: Any) -> dict[str, Any]:
    inputs = {
        "location": "us-central1",
        "nodeLocations": ["us-central1-a"],
        "initialNodeCount": 0,
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": nodes},
        "nodeConfig": {"machineType": "a3-highgpu-8g", **config},
    }
    return resource(POOL, name, inputs, parent)


CAPACITY = [
    {"kind": "reservation", "name": "h100", "count": 4},
    {"kind": "reservation", "name": "more", "count": 2, "project": "p", "block": "b"},
    {"kind": "spot", "max": 6},
]
GROUP = resource("gpuyard:index:GkeNodeGroup", "h100", {"capacity": CAPACITY})
NAMED = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name"}
POOLS = [
    pool("h100-reservation", 4, GROUP["urn"], reservationAffinity={**NAMED, "values": ["h100"]}),
    pool("h100-reservation-2", 2, GROUP["urn"], reservationAffinity={**NAMED, "values": ["projects/p/reservations/more/reservationBlocks/b"]}),
    pool("h100-spot", 6, GROUP["urn"], spot=True),
]  # fmt: skip


def test_pools_of_one_group_are_one_group_to_tenants_and_each_its_own_market() -> None:
    found = node_groups([GROUP, *POOLS])
    assert [g.name for g in found] == ["h100"] * 3
    assert [(g.market, g.reserved) for g in found] == [("reservation", 4), ("reservation", 2), ("spot", None)]
    assert capacity(found, [])["accelerators"] == {"H100-80": 12 * 8}


def test_a_way_of_a_wrong_type_does_not_stop_the_review() -> None:
    group = resource("gpuyard:index:GkeNodeGroup", "h100", {"capacity": [None, "spot", *CAPACITY]})
    assert [g.reserved for g in node_groups([group, *POOLS])] == [4, 2, None]


def test_machines_that_may_be_taken_back_or_come_for_a_job_are_not_on_demand() -> None:
    queued = pool("queued", 2)
    queued["inputs"]["queuedProvisioning"] = {"enabled": True}
    pools = [pool("spot", 2, spot=True), pool("preemptible", 2, preemptible=True), queued, pool("plain", 2, spot=False)]
    assert [g.market for g in node_groups(pools)] == ["spot", "spot", "flex_start", "on_demand"]


def test_reservations_of_one_name_in_two_zones_are_two() -> None:
    ways = [
        {"kind": "reservation", "name": "h100", "zone": "us-central1-a", "count": 4},
        {"kind": "reservation", "name": "h100", "zone": "us-central1-b", "count": 2},
    ]
    group = resource("gpuyard:index:GkeNodeGroup", "h100", {"capacity": ways})
    near = pool("h100-reservation", 4, group["urn"], reservationAffinity={**NAMED, "values": ["h100"]})
    far = pool("h100-reservation-2", 2, group["urn"], reservationAffinity={**NAMED, "values": ["h100"]})
    far["inputs"]["nodeLocations"] = ["us-central1-b"]
    found = node_groups([group, near, far])
    assert [g.reserved for g in found] == [4, 2]
    assert [line["what"] for line in cost(found, [])["charges"]] == [], "each is paid"


@pytest.mark.parametrize(
    ("second", "most", "paid_at_max"),
    [
        ("h100", (2, 2), 4),
        ("projects/example-dev/reservations/h100", (2, 2), 4),
        ("projects/other/reservations/h100", (2, 2), 8),
        ("h100", (4, 2), 6),
    ],
    ids=["one", "the project's own", "another project's", "more than it has"],
)
def test_a_reservation_that_two_groups_use_is_paid_once(second: str, most: tuple[int, int], paid_at_max: int) -> None:
    capacity_ = {"kind": "reservation", "name": "h100", "zone": "us-central1-a", "count": 4}
    resources = []
    for name, nodes, value in zip(("train", "serve"), most, ("h100", second), strict=True):
        component = resource("gpuyard:index:GkeNodeGroup", name, {"capacity": capacity_})
        made = pool(name, nodes, component["urn"], reservationAffinity={**NAMED, "values": [value]})
        made["inputs"]["project"] = "example-dev"
        resources += [component, made]
    found = cost(node_groups(resources), [])
    hour = found["lines"][0]["usd_hour"]
    idle = 8 if paid_at_max == 8 else 4
    assert found["total"] == {
        bound: pytest.approx(nodes * hour * 730, abs=0.02)
        for bound, nodes in {"min": idle, "initial": idle, "max": paid_at_max}.items()
    }


def test_slices_of_one_group_pay_their_reservation_once() -> None:
    capacity_ = {"kind": "reservation", "name": "tpu", "zone": "us-central1-a", "count": 8}
    group = resource("gpuyard:index:GkeNodeGroup", "tpu", {"capacity": capacity_})
    pools = [pool(name, 4, group["urn"], reservationAffinity={**NAMED, "values": ["tpu"]}) for name in ("tpu", "tpu-2")]
    found = cost(node_groups([group, *pools]), [])
    assert found["total"]["max"] == pytest.approx(8 * found["lines"][0]["usd_hour"] * 730, abs=0.02)


def test_what_endpoints_keep_busy_is_counted_once_over_the_pools() -> None:
    endpoint = resource("gpuyard:index:Endpoint", "llama", ENDPOINT)
    assert [g.minimum for g in node_groups([GROUP, *POOLS, endpoint])] == [4, 1, 0]


def test_a_tenants_share_costs_what_the_dearest_pool_costs() -> None:
    tenant = resource("gpuyard:index:Tenant", "chat", {"accelerators": {"h100": {"quota": 8}}, "monthly_budget": 1})
    found = cost(node_groups([GROUP, *reversed(POOLS)]), [tenant])
    by_market = {line["market"]: line["dearest_usd_hour"] for line in found["lines"]}
    assert by_market["reservation"] > by_market["spot"]
    assert found["tenants"]["chat"]["quota"] == round(by_market["reservation"] * 730, 2)


def test_flex_start_is_a_market_of_its_own() -> None:
    (found,) = node_groups([pool("train", 4, flexStart=True)])
    assert (found.market, found.maximum) == ("flex_start", 4)


def test_a_slice_of_tpu_counts_its_chips() -> None:
    slice_ = pool("tpu", 4, machineType="ct6e-standard-4t")
    slice_["inputs"]["autoscaling"] = {"minNodeCount": 0, "maxNodeCount": 4}
    (found,) = node_groups([slice_])
    assert found.maximum == 4
    (line,) = capacity([found], [])["groups"]
    assert (line["accelerator"], line["accelerators"]["max"]) == ("TPU v6e", 16)
