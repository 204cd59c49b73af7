"""What the review reads of node groups that raw programs declare; inputs as the SDKs register them."""

from __future__ import annotations

from typing import Any

from gpuyard.review.capacity import capacity
from gpuyard.review.node_groups import node_groups


def resource(type_: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:dev::p::{type_}::{name}"
    return {"urn": urn, "type": type_, "name": name, "parent": "", "provider": "", "custom": True, "inputs": inputs,
            "unknown": [], "secret": [], "options": {}} | more  # fmt: skip


EKS = "aws:eks/nodeGroup:NodeGroup"
GKE = "gcp:container/nodePool:NodePool"
PROVIDER = resource("pulumi:providers:aws", "aws", {"region": "us-east-1"})


def test_a_raw_eks_group_gets_its_region_from_its_provider() -> None:
    group = resource(
        EKS,
        "gpus",
        {
            "instanceTypes": ["g6.xlarge"],
            "capacityType": "SPOT",
            "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 3},
        },
        provider=PROVIDER["urn"],
    )
    (found,) = node_groups([PROVIDER, group])
    assert (found.name, found.machine, found.market, found.region) == ("gpus", "g6.xlarge", "spot", "us-east-1")
    assert (found.minimum, found.initial, found.maximum) == (0, 1, 3)


def test_machine_and_reservation_are_found_in_the_launch_template() -> None:
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "t",
        {"instanceType": "p5.48xlarge",
         "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-0"}}},
    )  # fmt: skip
    component = resource(
        "gpuyard:index:NodeGroup", "h100", {"capacity": {"kind": "reservation", "count": 4}}, custom=False
    )
    group = resource(
        EKS,
        "h100",
        {"scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 3}},
        parent=component["urn"],
        options={"depends_on": [template["urn"]]},
    )
    (found,) = node_groups([template, component, group])
    assert (found.machine, found.market, found.reserved) == ("p5.48xlarge", "reservation", 4)
    assert found.reservations == ("cr-0",)


def test_gke_limits_for_each_zone_are_multiplied_by_the_zones() -> None:
    config = {"machineType": "g2-standard-8"}
    zones = {"nodeLocations": ["us-central1-a", "us-central1-b"], "location": "us-central1", "nodeConfig": config}
    (two,) = node_groups([resource(GKE, "l4", {**zones, "autoscaling": {"minNodeCount": 1, "maxNodeCount": 4}})])
    assert (two.minimum, two.maximum, two.region) == (2, 8, "us-central1")
    regional = {"location": "us-central1", "nodeConfig": config, "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4}}
    (three,) = node_groups([resource(GKE, "l4", regional)])
    assert three.maximum == 12, "a regional cluster without named zones runs in three"
    (zonal,) = node_groups([resource(GKE, "l4", {"location": "us-central1-a", "nodeConfig": config, "nodeCount": 5})])
    assert (zonal.minimum, zonal.maximum, zonal.region) == (5, 5, "us-central1")


def test_gke_total_limits_are_totals() -> None:
    scaling = {"totalMinNodeCount": 1, "totalMaxNodeCount": 6}
    pool = {
        "location": "us-central1",
        "nodeConfig": {"machineType": "g2-standard-8", "spot": True},
        "autoscaling": scaling,
    }
    (found,) = node_groups([resource(GKE, "l4", pool)])
    assert (found.minimum, found.maximum, found.market) == (1, 6, "spot")


def test_what_is_not_known_yet_stays_unknown() -> None:
    (found,) = node_groups([resource(EKS, "g", {"instanceTypes": None, "scalingConfig": {"maxSize": None}})])
    assert (found.machine, found.maximum, found.region) == (None, None, None)


def test_inputs_of_a_wrong_type_do_not_stop_the_review() -> None:
    for bad in ({"scalingConfig": 5, "instanceTypes": "x", "labels": []}, {"scalingConfig": {"maxSize": "many"}}):
        (found,) = node_groups([resource(EKS, "g", bad)])
        assert found.maximum is None


def test_of_shared_nodes_the_program_takes_what_its_endpoints_may_use() -> None:
    nodes = resource("gpuyard:index:SharedNodes", "l40s", {"machine": "g6e.12xlarge", "count": 6, "usd_hour": 10.5})
    replicas = {"min": 1, "max": 3}
    endpoint = resource("gpuyard:index:Endpoint", "e", {"on": "l40s", "tensor_parallel": 2, "replicas": replicas})
    other = resource("gpuyard:index:Endpoint", "f", {"on": "h100", "tensor_parallel": None, "replicas": replicas})
    (found,) = node_groups([nodes, endpoint, other])
    assert (found.market, found.taken, found.maximum) == ("shared", (2, 2, 6), None)


def test_of_several_machine_types_the_largest_counts() -> None:
    (found,) = node_groups([resource(EKS, "g", {"instanceTypes": ["g6.xlarge", "g6.48xlarge", "g6.12xlarge"]})])
    assert found.machine == "g6.48xlarge"
    (other,) = node_groups([resource(EKS, "g", {"instanceTypes": ["g6.xlarge", "p9.48xlarge"]})])
    assert other.machine == "p9.48xlarge", "one that nobody knows could be the largest"


def test_a_pool_without_a_scaler_stays_as_large_as_it_was_made() -> None:
    pool = {"location": "us-central1-a", "nodeConfig": {"machineType": "g2-standard-8"}, "initialNodeCount": 4}
    (found,) = node_groups([resource(GKE, "l4", pool)])
    assert (found.minimum, found.maximum) == (4, 4)


def test_a_clusters_default_pool_is_a_node_group_unless_it_is_removed() -> None:
    cluster = {"location": "us-central1", "initialNodeCount": 2, "nodeConfig": {"machineType": "a2-highgpu-8g"}}
    (found,) = node_groups([resource("gcp:container/cluster:Cluster", "c", cluster)])
    assert (found.machine, found.maximum) == ("a2-highgpu-8g", 6)
    assert (
        node_groups([resource("gcp:container/cluster:Cluster", "c", cluster | {"removeDefaultNodePool": True})]) == []
    )


def test_a_default_provider_takes_its_region_from_the_stacks_configuration() -> None:
    defaults = {"aws": {"inputs": {"region": "us-east-1"}}, "gcp": {"inputs": {"zone": "us-central1-a"}}}
    eks = resource(EKS, "a", {"instanceTypes": ["g6.xlarge"]})
    gke = resource(GKE, "b", {"nodeCount": 2, "nodeConfig": {"machineType": "g2-standard-8"}})
    found = node_groups([eks, gke], defaults)
    assert [group.region for group in found] == ["us-east-1", "us-central1"]
    assert found[1].maximum == 2, "one zone"


def test_gpus_that_a_pool_adds_to_its_machines_count() -> None:
    gpus = {"machineType": "n1-standard-8", "guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 4}]}
    (found,) = node_groups([resource(GKE, "t4", {"location": "us-central1-a", "nodeConfig": gpus, "nodeCount": 2})])
    assert found.attached == ("nvidia-tesla-t4", 4)
    assert capacity([found], [])["accelerators"] == {"T4": 8}
