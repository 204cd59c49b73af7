"""Node groups that Karpenter scales: what its objects say, and what it would not do is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.node_groups.aws_spec import NodeGroupSpec, group_zones
from gpuyard.components.node_groups.karpenter import NodeGroup, image_alias, node_class, node_pool
from gpuyard.review.node_groups import node_groups

ZONES = ["us-east-1a", "us-east-1b"]
SUBNETS = {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}
TAGS = {"owner": "ml-platform", "stack": "prod"}
RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 4}
SECOND = {**RESERVATION, "id": "cr-0123456789abcdef1", "zone": "us-east-1a", "count": 2}
BLOCK = {
    **RESERVATION,
    "kind": "capacity_block",
    "id": "cr-0123456789abcdef2",
    "start": "2026-12-01T11:30:00Z",
    "end": "2026-12-15T11:30:00Z",
}
SPOT, ON_DEMAND = {"kind": "spot"}, {"kind": "on_demand"}

Json = dict[str, Any]


def spec(machine: str = "p5.48xlarge", **changes: Any) -> NodeGroupSpec:
    given = {"machine": machine, "nodes": {"min": 0, "max": 4}, "scaled_by": "karpenter", **changes}
    return NodeGroupSpec.model_validate(given)


def described(of: NodeGroupSpec) -> Json:
    found: Json = node_class(
        "h100",
        of,
        subnets=list(SUBNETS.values()),
        security_group="sg-0123456789abcdef0",
        instance_profile="prod-karpenter-1a2b3c4",
        tags=TAGS,
    )["spec"]
    return found


def pool(of: NodeGroupSpec) -> Json:
    found: Json = node_pool("h100", of, group_zones(of, ZONES))["spec"]
    return found


def required(of: NodeGroupSpec) -> dict[str, list[str]]:
    requirements = pool(of)["template"]["spec"]["requirements"]
    assert {one["operator"] for one in requirements} == {"In"}
    return {one["key"]: one["values"] for one in requirements}


def declared(of: NodeGroupSpec, *, protect: bool = False) -> list[Resource]:
    def program() -> None:
        karpenter = pulumi.CustomResource("test:index:Karpenter", "karpenter")
        NodeGroup(
            "h100",
            of,
            subnets=SUBNETS,
            security_group="sg-0123456789abcdef0",
            instance_profile="prod-karpenter-1a2b3c4",
            tags=TAGS,
            protect=protect,
            opts=pulumi.ResourceOptions(depends_on=[karpenter]),
        )

    return registered(program)


def test_a_group_with_a_fallback_is_one_pool_with_one_limit(golden: Callable[[str, Any], None]) -> None:
    of = spec(nodes={"min": 0, "max": 8}, capacity=[RESERVATION, SPOT, ON_DEMAND])
    assert required(of)["karpenter.sh/capacity-type"] == ["reserved", "spot", "on-demand"]
    assert pool(of)["limits"] == {"nodes": "8", "nvidia.com/gpu": "64"}
    golden("karpenter_node_class", described(of))
    golden("karpenter_node_pool", pool(of))


def test_a_pool_makes_one_machine_in_the_zones_of_the_group() -> None:
    assert required(spec())["node.kubernetes.io/instance-type"] == ["p5.48xlarge"]
    assert required(spec())["topology.kubernetes.io/zone"] == ZONES
    assert required(spec(zones=["us-east-1b"]))["topology.kubernetes.io/zone"] == ["us-east-1b"]


def test_several_reservations_are_used_each_in_its_zone() -> None:
    of = spec(nodes={"min": 0, "max": 6}, capacity=[RESERVATION, SECOND])
    terms = described(of)["capacityReservationSelectorTerms"]
    assert terms == [{"id": "cr-0123456789abcdef0"}, {"id": "cr-0123456789abcdef1"}]
    assert required(of)["karpenter.sh/capacity-type"] == ["reserved"]
    assert set(required(of)["topology.kubernetes.io/zone"]) == set(ZONES)


def test_a_block_is_a_reservation_to_karpenter() -> None:
    of = spec(capacity=[BLOCK, ON_DEMAND])
    assert required(of)["karpenter.sh/capacity-type"] == ["reserved", "on-demand"]
    assert described(of)["capacityReservationSelectorTerms"] == [{"id": BLOCK["id"]}]


def test_a_group_without_a_reservation_selects_none() -> None:
    assert "capacityReservationSelectorTerms" not in described(spec())


def test_nodes_are_labelled_and_other_pods_are_kept_off_gpus() -> None:
    of = spec(labels={"team": "fraud"}, taints=[{"key": "dedicated", "effect": "NoExecute"}])
    template = pool(of)["template"]
    assert template["metadata"]["labels"] == {
        "team": "fraud",
        "gpuyard.io/node-group": "h100",
        "k8s.amazonaws.com/accelerator": "h100",
    }
    assert template["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "dedicated", "effect": "NoExecute"},
    ], "the definition refuses an empty value"


def test_pods_get_no_credentials_of_their_node() -> None:
    assert described(spec())["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }


def test_karpenter_gets_a_profile_so_that_it_makes_none() -> None:
    assert described(spec())["instanceProfile"] == "prod-karpenter-1a2b3c4"
    assert "role" not in described(spec()), "the definition takes one of both"


def test_the_image_is_a_release_and_never_the_newest() -> None:
    assert described(spec())["amiSelectorTerms"] == [{"alias": "al2023@v20260714"}]
    assert described(spec(release="1.35.3-20260801"))["amiSelectorTerms"] == [{"alias": "al2023@v20260801"}]
    bottlerocket = spec(os="bottlerocket", release="1.47.0-6154605b")
    assert described(bottlerocket)["amiSelectorTerms"] == [{"alias": "bottlerocket@v1.47.0"}]


def test_the_clusters_release_is_that_of_groups_that_say_none() -> None:
    assert image_alias(spec(), "1.35.3-20260801") == "al2023@v20260801"
    assert image_alias(spec(release="1.35.3-20260901"), "1.35.3-20260801") == "al2023@v20260901"
    bottlerocket = spec(os="bottlerocket", release="1.47.0-6154605b")
    assert image_alias(bottlerocket, "1.35.3-20260801") == "bottlerocket@v1.47.0", "the cluster's is one of al2023"


@pytest.mark.parametrize(
    ("changes", "volumes"),
    [
        ({}, {"/dev/xvda": "50Gi"}),
        ({"disk": "1Ti"}, {"/dev/xvda": "1024Gi"}),
        ({"machine": "inf2.xlarge"}, {"/dev/xvda": "200Gi"}),
        ({"os": "bottlerocket", "release": "1.47.0-6154605b"}, {"/dev/xvda": "4Gi", "/dev/xvdb": "50Gi"}),
    ],
)
def test_volumes_are_encrypted_and_go_with_the_node(changes: Json, volumes: dict[str, str]) -> None:
    devices = described(spec(**changes))["blockDeviceMappings"]
    assert {device["deviceName"]: device["ebs"]["volumeSize"] for device in devices} == volumes
    assert all(device["ebs"]["encrypted"] and device["ebs"]["deleteOnTermination"] for device in devices)


def test_local_disks_are_used_where_there_are_some() -> None:
    assert described(spec())["instanceStorePolicy"] == "RAID0"
    assert "instanceStorePolicy" not in described(spec("m7i.2xlarge"))


def test_a_node_with_accelerators_goes_only_when_it_is_empty() -> None:
    assert pool(spec())["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert pool(spec("m7i.2xlarge"))["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"


def test_pods_move_from_one_node_at_a_time_and_empty_nodes_go_at_once() -> None:
    budgets = {reason: one["nodes"] for one in pool(spec())["disruption"]["budgets"] for reason in one["reasons"]}
    assert budgets == {"Drifted": "1", "Underutilized": "1", "Empty": "100%"}
    quarter = pool(spec(upgrade={"max_unavailable": "25%"}))["disruption"]["budgets"]
    assert quarter[0] == {"nodes": "25%", "reasons": ["Drifted", "Underutilized"]}


def test_a_node_does_not_grow_too_old_unless_it_is_said() -> None:
    assert pool(spec())["template"]["spec"]["expireAfter"] == "Never", "Karpenter would drain it after 30 days"
    assert pool(spec(expire_after="720h"))["template"]["spec"]["expireAfter"] == "720h"


def test_a_fast_network_has_all_interfaces_of_the_machine() -> None:
    of = spec(interconnect={"kind": "efa"}, zones=["us-east-1a"])
    interfaces = described(of)["networkInterfaces"]
    fabric = catalogue.fabric("p5.48xlarge")
    assert fabric is not None
    assert [one["interfaceType"] for one in interfaces].count("efa-only") == fabric.interfaces
    assert "RLIMIT_MEMLOCK" in described(of)["userData"], "or containers could not register memory with it"
    assert not {"networkInterfaces", "userData"} & described(spec()).keys()


def test_the_pool_comes_after_karpenter_and_its_class_and_goes_before() -> None:
    karpenter, root, made, found = declared(spec())
    assert root["type"] == "gpuyard:index:KarpenterNodeGroup"
    assert (made["type"], found["type"]) == (
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass",
        "kubernetes:karpenter.sh/v1:NodePool",
    )
    assert [(child["parent"], child["name"]) for child in (made, found)] == [(root["urn"], "h100")] * 2
    assert karpenter["urn"] in made["options"]["depends_on"]
    assert {karpenter["urn"], made["urn"]} <= set(found["options"]["depends_on"])


def test_a_group_on_a_fast_network_is_placed_together_unless_it_is_reserved() -> None:
    fast = {"interconnect": {"kind": "efa"}, "zones": ["us-east-1b"]}
    placed = {r["name"]: r for r in declared(spec(**fast)) if r["type"] == "aws:ec2/placementGroup:PlacementGroup"}
    assert placed
    [made] = [r for r in declared(spec(**fast)) if r["type"].endswith(":EC2NodeClass")]
    assert made["inputs"]["spec"]["placementGroupSelector"] == {"name": "h100"}
    reserved = declared(spec(capacity=RESERVATION, interconnect={"kind": "efa"}))
    assert not [r for r in reserved if r["type"] == "aws:ec2/placementGroup:PlacementGroup"]


@pytest.mark.parametrize("protect", [True, False])
def test_a_protected_group_is_not_deleted(protect: bool) -> None:
    *_, made, found = declared(spec(), protect=protect)
    assert made["options"]["protect"] == found["options"]["protect"] == protect


def test_the_review_counts_the_group_by_its_limits() -> None:
    of = spec(nodes={"min": 0, "max": 8}, capacity=[RESERVATION, SPOT, ON_DEMAND])
    (found,) = node_groups(declared(of))
    assert (found.name, found.machine, found.region) == ("h100", "p5.48xlarge", "us-east-1")
    assert (found.minimum, found.initial, found.maximum) == (0, 0, 8)
    assert (found.market, found.then, found.reserved) == ("reservation", ("spot", "on_demand"), 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": {"min": 1, "max": 4}}, "nodes.min is 1, and Karpenter keeps no node that no pod needs: give 0"),
        ({"nodes": {"min": 0, "initial": 2, "max": 4}}, "nodes.initial is 2, and Karpenter keeps no node"),
        ({"partition": {"kind": "mig", "profiles": {"1g.10gb": 7}}}, "so it would count wrong: give scaled_by node_gr"),
        ({"partition": {"kind": "time_slicing", "clients": 4}}, "partition time_slicing makes of a GPU"),
        ({"os": "bottlerocket"}, "release is missing, .*: give the one that you tested"),
        ({"release": "latest"}, "release latest is none of al2023: give one such as 1.35.0-20260714"),
        ({"kubernetes": "1.34"}, "Karpenter takes images of the cluster's version: leave it out"),
        ({"expire_after": "30d"}, "should match pattern"),
        ({"labels": {"karpenter.sh/capacity-type": "spot"}}, "is Karpenter's own, .*: use a prefix of yours"),
        ({"labels": {"karpenter.k8s.aws/instance-size": "x"}}, "is Karpenter's own"),
        ({"labels": {"kubernetes.io/hostname": "x"}}, "is Kubernetes' own"),
        ({"disk": "60000Gi"}, "give 20Gi to 59000Gi"),
        ({"capacity": [ON_DEMAND, SPOT]}, "Karpenter tries spot, on_demand in this order.*: list them so"),
        ({"capacity": [SPOT, RESERVATION]}, "tries reservation, spot in this order"),
        ({"capacity": [BLOCK, RESERVATION]}, "tries reservation, capacity_block in this order"),
        ({"capacity": [SPOT, SPOT]}, "capacity lists spot twice: give it once"),
        ({"capacity": [RESERVATION, RESERVATION]}, "lists cr-0123456789abcdef0 twice: give each reservation once"),
        ({"capacity": RESERVATION, "nodes": {"min": 0, "max": 5}}, "nodes.max 5 is above the 4 machines of cr-"),
        ({"capacity": [RESERVATION, SECOND], "nodes": {"min": 0, "max": 7}}, "nodes.max 7 is above the 6 machines of"),
        ({"capacity": [RESERVATION, ON_DEMAND], "zones": ["us-east-1a"]}, "lack the zone of cr-.*: add the zone"),
        ({"capacity": RESERVATION, "zones": ["us-east-1a"]}, "leave zones out"),
        ({"capacity": []}, "at least 1 item"),
        ({"machine": "trn2u.48xlarge", "capacity": [SPOT]}, "is not sold as spot, only as"),
        ({"machine": "g6f.xlarge"}, "a share of one L4, which Karpenter counts as none.*: give scaled_by node_group"),
        ({"scaled_by": "autoscaler"}, "'node_group' or 'karpenter'"),
    ],
)
def test_what_karpenter_does_not_do_is_refused_with_a_remedy(changes: Json, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**changes)


def test_a_reservation_in_a_zone_that_the_cluster_lacks_is_refused() -> None:
    for capacity in (RESERVATION, [RESERVATION, ON_DEMAND]):
        with pytest.raises(ValueError, match="zone us-east-1b is not one of the cluster's"):
            group_zones(spec(capacity=capacity), ["us-east-1a"])


def test_a_group_that_needs_more_than_it_has_reserved_may_go_beyond_with_a_fallback() -> None:
    assert spec(nodes={"min": 0, "max": 9}, capacity=[RESERVATION, ON_DEMAND])


def test_more_taints_than_eks_takes_are_no_matter_to_karpenter() -> None:
    assert spec("m7i.2xlarge", taints=[{"key": f"t{i}"} for i in range(60)])
