"""How nodes on Google Cloud are paid for: each way becomes inputs that GKE takes, each impossible one is refused."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.gcp import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard.components.node_groups.gcp import NodeGroup, NodeGroupSpec, provisioning, selector, tolerated
from gpuyard.components.node_groups.gcp_capacity import User, shared_refusals

ZONES = ["us-central1-a", "us-central1-b"]
RESERVED: dict[str, Any] = {"kind": "reservation", "name": "h100", "zone": "us-central1-b", "count": 4}
NODES = {"min": 0, "max": 4}


def spec(machine: str = "a3-ultragpu-8g", **given: Any) -> NodeGroupSpec:
    return NodeGroupSpec.model_validate({"machine": machine, "nodes": NODES, **given})


def pool(group: NodeGroupSpec) -> Resource:
    def build() -> None:
        NodeGroup(
            "train",
            group,
            cluster="projects/example-dev/locations/us-central1/clusters/dev",
            location="us-central1",
            zones=ZONES,
            service_account="nodes@example-dev.iam.gserviceaccount.com",
            tags={"owner": "ml"},
            project="example-dev",
        )

    found = [r for r in registered(build) if r["type"] == "gcp:container/nodePool:NodePool"]
    assert len(found) == 1
    assert problems(found[0]) == []
    return found[0]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({}, "h100"),
        ({"project": "example-gpus"}, "projects/example-gpus/reservations/h100"),
        (
            {"project": "example-gpus", "block": "block-3"},
            "projects/example-gpus/reservations/h100/reservationBlocks/block-3",
        ),
        ({"active": False}, "h100"),
    ],
    ids=["own", "shared", "block", "future"],
)
def test_a_reservation_is_named_as_the_api_wants_it(given: dict[str, Any], value: str) -> None:
    affinity = pool(spec(capacity={**RESERVED, **given}))["inputs"]["nodeConfig"]["reservationAffinity"]
    assert affinity["consumeReservationType"] == "SPECIFIC_RESERVATION"
    assert affinity["values"] == [value]


def test_flex_start_gives_nodes_when_pods_wait_and_lets_them_end() -> None:
    group = spec(capacity={"kind": "flex_start", "max_run_duration": "12h"})
    inputs = pool(group)["inputs"]
    config = inputs["nodeConfig"]
    assert (config["flexStart"], config["maxRunDuration"], config["spot"]) == (True, "43200s", False)
    assert inputs["management"] == {"autoRepair": False, "autoUpgrade": True}
    assert "upgradeSettings" not in inputs, "GKE has a strategy of its own for these"
    assert inputs["autoscaling"]["totalMinNodeCount"] == 0
    assert "queuedProvisioning" not in inputs
    assert selector("train", group)["cloud.google.com/gke-flex-start"] == "true"
    assert tolerated(group) == []
    assert provisioning(group) is None


def test_queued_flex_start_waits_for_kueue_to_ask() -> None:
    group = spec(capacity={"kind": "flex_start", "queued": True, "max_run_duration": "2d"})
    inputs = pool(group)["inputs"]
    assert inputs["queuedProvisioning"] == {"enabled": True}
    assert inputs["management"] == {"autoRepair": False, "autoUpgrade": True}, "the cluster is on a release channel"
    assert inputs["nodeConfig"]["labels"]["cloud.google.com/gke-queued"] == "true"
    assert tolerated(group) == ["cloud.google.com/gke-queued"]
    assert provisioning(group) == {"maxRunDurationSeconds": "172800"}
    assert provisioning(spec(capacity={"kind": "flex_start", "queued": True})) == {}


def test_a_compact_placement_is_in_one_zone() -> None:
    group = spec("a3-highgpu-8g", placement="compact", zones=ZONES[:1])
    assert pool(group)["inputs"]["placementPolicy"] == {"type": "COMPACT"}
    everywhere = spec("a3-highgpu-8g", placement="compact")
    with pytest.raises(ValueError, match="a compact placement lies in one zone, and this group has us-central1-a, us"):
        pool(everywhere)


def test_a_machine_whose_nvlink_spans_nodes_says_so() -> None:
    def build() -> None:
        NodeGroup(
            "nvl",
            spec("a4x-highgpu-4g", capacity=RESERVED),
            cluster="projects/example-dev/locations/us-central1/clusters/dev",
            location="us-central1",
            zones=ZONES,
            service_account="nodes@example-dev.iam.gserviceaccount.com",
            tags={},
            project="example-dev",
        )

    _, policy, nodes = registered(build)
    assert policy["inputs"]["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "1x72"}
    assert nodes["inputs"]["placementPolicy"] == {"type": "COMPACT", "policyName": policy["name"]}
    assert nodes["inputs"]["nodeConfig"]["ephemeralStorageLocalSsdConfig"] == {"localSsdCount": 4}
    assert problems(nodes) == [], "and its pods come to nodes that GKE taints as Arm's"
    assert tolerated(spec("a4x-highgpu-4g", capacity=RESERVED)) == ["kubernetes.io/arch"]


FLEX: dict[str, Any] = {"kind": "flex_start"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "flex-start-min",
        {"capacity": FLEX, "nodes": {"min": 1, "max": 4}},
        "wait for them, and 1 are to start: set nodes.min and",
    ),
    (
        "flex-start-initial",
        {"capacity": FLEX, "nodes": {"min": 0, "initial": 2, "max": 4}},
        "flex_start gives nodes when pods wait for them, and 2 are to start",
    ),
    ("flex-start-too-long", {"capacity": {**FLEX, "max_run_duration": "8d"}}, "8d is above the 7d that flex_start"),
    ("flex-start-no-time", {"capacity": {**FLEX, "max_run_duration": "3600s"}}, "String should match pattern"),
    ("flex-start-spot", {"capacity": {**FLEX, "spot": True}}, "Extra inputs are not permitted"),
    ("flex-start-reserved", {"capacity": {**FLEX, "name": "h100"}}, "Extra inputs are not permitted"),
    (
        "flex-start-not-sold",
        {"capacity": FLEX, "machine": "a3-edgegpu-8g"},
        "machine a3-edgegpu-8g is not sold as flex_start",
    ),
    (
        "flex-start-compact",
        {"capacity": FLEX, "machine": "a3-highgpu-8g", "placement": "compact"},
        "flex_start does not place a3-highgpu-8g so: leave one of them out",
    ),
    (
        "queued-compact",
        {"capacity": {**FLEX, "queued": True}, "placement": "compact"},
        "queued flex_start places nodes by itself: leave one of them out",
    ),
    ("spot-reserved", {"capacity": {"kind": "spot", "count": 4}}, "Extra inputs are not permitted"),
    (
        "reservation-too-small",
        {"capacity": {**RESERVED, "count": 3}},
        "nodes.max 4 is above the 3 machines of h100",
    ),
    ("reservation-elsewhere", {"capacity": RESERVED, "zones": ZONES[:1]}, "is not the zone of h100, us-central1-b"),
    (
        "block-without-project",
        {"capacity": {**RESERVED, "block": "block-3"}},
        "block block-3 of h100 is given without its project: give capacity.project",
    ),
    (
        "reservation-not-active",
        {"capacity": {**RESERVED, "active": False}, "nodes": {"min": 1, "max": 4}},
        "the reservation h100 is not active, and 1 nodes are to start",
    ),
    (
        "max-of-one-way",
        {"capacity": {"kind": "spot", "max": 4}},
        "capacity.max 4 is for one of several ways: say nodes.max, and leave it out",
    ),
    (
        "compact-zones",
        {"capacity": {"kind": "spot"}, "placement": "compact", "zones": ZONES},
        "placement compact is given, and zones us-central1-a, us-central1-b: name one zone",
    ),
    (
        "compact-without-accelerators",
        {"machine": "n2-standard-8", "placement": "compact"},
        "placement compact is for nodes with accelerators, and n2-standard-8 has none",
    ),
    (
        "compact-too-many",
        {"machine": "a3-highgpu-8g", "placement": "compact", "nodes": {"min": 0, "max": 97}},
        "placement compact holds 96 nodes of a3-highgpu-8g, and nodes.max is 97",
    ),
]


@pytest.mark.parametrize(("given", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_google_cloud_would_refuse_is_refused_with_a_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        spec(**{"machine": "a3-ultragpu-8g", **given})
    assert message in str(error.value)


def users(*groups: NodeGroupSpec, surge: int = 0) -> dict[str, User]:
    return {f"g{at}": User(group.machine, group.ways, group.nodes, surge) for at, group in enumerate(groups)}


def reserving(most: int = 2, machine: str = "a3-ultragpu-8g", **given: Any) -> NodeGroupSpec:
    return spec(machine, nodes={"min": 0, "max": most}, capacity={**RESERVED, **given})


def test_groups_that_share_a_reservation_fit_into_it_together() -> None:
    assert not list(shared_refusals(users(reserving(), reserving()), "example-dev"))
    assert list(shared_refusals(users(reserving(), reserving(3)), "example-dev")) == [
        "node_groups.g1.nodes.max: groups g0, g1 have nothing but the 4 machines of h100, and may grow to 5 nodes "
        "together: lower nodes.max"
    ]
    falls_back = spec(capacity=[RESERVED, {"kind": "flex_start", "max": 2}], nodes={"min": 0, "max": 6})
    assert not list(shared_refusals(users(reserving(), falls_back), "example-dev")), "it goes on to the next way"
    assert list(shared_refusals(users(reserving(), reserving(), surge=1), "example-dev")), "an upgrade needs one more"


@pytest.mark.parametrize(
    "other", [reserving(machine="a4-highgpu-8g"), reserving(count=8), reserving(1, active=False)], ids=str
)
def test_a_reservation_is_the_same_wherever_it_is_named(other: NodeGroupSpec) -> None:
    [first, *_] = shared_refusals(users(reserving(), other), "example-dev")
    assert first.startswith("node_groups.g1.capacity: h100 is said to be another in group g0")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"zone": "us-central1-a"}, False),
        ({"project": "example-gpus"}, False),
        ({"project": "example-dev"}, True),
        ({"project": "example-dev", "block": "block-1"}, False),
        ({"name": "more"}, False),
    ],
    ids=str,
)
def test_a_reservation_is_known_by_its_project_its_zone_and_its_block(other: dict[str, Any], same: bool) -> None:
    assert bool(list(shared_refusals(users(reserving(4), reserving(4, **other)), "example-dev"))) is same


def test_a_pool_of_machines_that_nvlink_joins_is_one_domain() -> None:
    whole = {**RESERVED, "count": 36}
    assert spec("a4x-highgpu-4g", capacity=whole, nodes={"min": 0, "max": 18})
    with pytest.raises(ValidationError, match="which has 18 nodes, and 19 are the most: give 18 at most, and each"):
        spec("a4x-highgpu-4g", capacity=whole, nodes={"min": 0, "max": 19})
    assert spec("a4-highgpu-8g", capacity=whole, nodes={"min": 0, "max": 19})


def test_a_list_names_a_reservation_once() -> None:
    with pytest.raises(ValidationError, match="capacity lists the reservation h100 twice: give it once"):
        spec(capacity=[RESERVED, {**RESERVED, "count": 2}], nodes={"min": 0, "max": 6})
