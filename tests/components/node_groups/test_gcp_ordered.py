"""A node group that tries several ways to pay: a pool each, tried in order."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.gcp import problems
from pydantic import ValidationError
from registered import registered

from gpuyard.components.node_groups.gcp import NodeGroup, NodeGroupSpec, check_name, selector, taints, tolerated
from gpuyard.components.node_groups.gcp_pools import pools

ZONES = ["us-central1-a", "us-central1-b"]
RESERVED: dict[str, Any] = {"kind": "reservation", "name": "h100", "zone": "us-central1-b", "count": 4}
WAYS: list[dict[str, Any]] = [
    RESERVED,
    {"kind": "on_demand", "max": 2},
    {"kind": "flex_start", "max": 4},
    {"kind": "spot", "max": 6},
]
MACHINE = "a3-highgpu-8g"


def spec(ways: list[dict[str, Any]] = WAYS, **given: Any) -> NodeGroupSpec:
    content = {"machine": MACHINE, "nodes": {"min": 2, "initial": 3, "max": 16}, "capacity": ways, **given}
    return NodeGroupSpec.model_validate(content)


def build() -> None:
    NodeGroup(
        "h100",
        spec(),
        cluster="projects/example-dev/locations/us-central1/clusters/dev",
        location="us-central1",
        zones=ZONES,
        service_account="nodes@example-dev.iam.gserviceaccount.com",
        tags={},
        project="example-dev",
    )


def test_each_way_is_a_pool_and_together_they_have_as_many_nodes_as_the_group() -> None:
    by_name = {r["name"]: r for r in registered(build) if r["type"] == "gcp:container/nodePool:NodePool"}
    made = [by_name.pop(f"h100-{way}") for way in ("reservation", "on-demand", "flex-start", "spot")]
    assert not by_name
    assert [problems(r) for r in made] == [[]] * 4
    assert sum(r["inputs"]["autoscaling"]["totalMaxNodeCount"] for r in made) == 16
    assert [r["inputs"]["autoscaling"]["totalMinNodeCount"] for r in made] == [2, 0, 0, 0]
    assert [r["inputs"]["initialNodeCount"] * len(r["inputs"]["nodeLocations"]) for r in made] == [3, 0, 0, 0]
    assert [r["inputs"]["nodeLocations"] for r in made] == [["us-central1-b"], ZONES, ZONES, ZONES]


def test_a_compute_class_says_in_which_order_gke_tries_them() -> None:
    (found,) = [r for r in registered(build) if r["type"] == "kubernetes:cloud.google.com/v1:ComputeClass"]
    assert found["inputs"]["metadata"]["name"] == "h100"
    assert found["inputs"]["spec"] == {
        "priorities": [
            {"nodepools": ["h100-reservation"]},
            {"nodepools": ["h100-on-demand"]},
            {"nodepools": ["h100-flex-start"]},
            {"nodepools": ["h100-spot"]},
        ],
        "nodePoolAutoCreation": {"enabled": False},
        "whenUnsatisfiable": "DoNotScaleUp",
    }


def test_nodes_are_the_classs_own_and_pods_of_the_group_find_them() -> None:
    for pool in (r for r in registered(build) if r["type"] == "gcp:container/nodePool:NodePool"):
        config = pool["inputs"]["nodeConfig"]
        assert config["labels"]["cloud.google.com/compute-class"] == "h100"
        assert {"key": "cloud.google.com/compute-class", "value": "h100", "effect": "NO_SCHEDULE"} in config["taints"]
    assert selector("h100", spec()) == {"gpuyard.io/node-group": "h100", "cloud.google.com/compute-class": "h100"}
    assert [(t.key, t.value) for t in taints("h100", spec())] == [("cloud.google.com/compute-class", "h100")]
    assert tolerated(spec()) == ["cloud.google.com/compute-class"]


def test_a_pool_keeps_its_name_when_another_way_is_put_before_it() -> None:
    fewer = spec(WAYS[1:], nodes={"min": 0, "max": 12})
    assert {p.suffix for p in pools(fewer)} < {p.suffix for p in pools(spec())}


def test_of_several_reservations_each_has_a_pool_of_its_own() -> None:
    second = {**RESERVED, "name": "more", "zone": "us-central1-a", "count": 2}
    found = pools(spec([RESERVED, second], nodes={"min": 0, "max": 6}))
    assert [(p.suffix, p.spec.nodes.max) for p in found] == [("reservation", 4), ("reservation-2", 2)]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("one", {"ways": WAYS[:1]}, "at least 2 items"),
    ("twice", {"ways": [*WAYS[:2], WAYS[1]]}, "capacity has on_demand twice: give each way once"),
    (
        "no-max",
        {"ways": [RESERVED, {"kind": "spot"}]},
        "capacity lists spot without saying how many nodes: give it max; nodes.max is the sum of all",
    ),
    (
        "sum",
        {"nodes": {"min": 0, "max": 8}},
        "nodes.max is 8, and the ways of capacity may give 4 reservation + 2 on_demand + 4 flex_start + 6 spot = 16",
    ),
    (
        "start",
        {"ways": [WAYS[1], WAYS[3]], "nodes": {"min": 3, "max": 8}},
        "3 nodes are to start, and the first way, on_demand, gives 2",
    ),
    (
        "flex-start-first",
        {"ways": [WAYS[2], WAYS[3]], "nodes": {"min": 1, "max": 10}},
        "flex_start gives nodes when pods wait for them, and 1 are to start",
    ),
    (
        "queued",
        {"ways": [RESERVED, {"kind": "flex_start", "queued": True, "max": 2}], "nodes": {"min": 0, "max": 6}},
        "whose nodes come for one job at a time, and so after no other way",
    ),
    (
        "more-than-reserved",
        {"ways": [{**RESERVED, "max": 5}, WAYS[1]], "nodes": {"min": 0, "max": 7}},
        "nodes.max 5 is above the 4 machines of h100",
    ),
    ("zones", {"zones": ["us-central1-a"]}, "zones us-central1-a leave out us-central1-b, where the reservation h100"),
    (
        "tpu",
        {"machine": "ct6e-standard-1t", "topology": "1x1"},
        "capacity is a list, and a TPU slice is paid for in one way: give each way a group of its own",
    ),
    ("system", {"machine": "e2-standard-8"}, "capacity is a list, and e2-standard-8 has no accelerators"),
    (
        "not-sold",
        {"machine": "a3-ultragpu-8g"},
        "machine a3-ultragpu-8g is not sold as on_demand",
    ),
]


@pytest.mark.parametrize(("given", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_an_order_that_cannot_be_is_refused_with_a_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        spec(**given)
    assert message in str(error.value)


def test_a_name_leaves_room_for_the_longest_of_its_pools() -> None:
    assert check_name("l" * 20, spec())
    with pytest.raises(ValueError, match="has 21 characters: give this node group on GKE 20 at most"):
        check_name("l" * 21, spec())
