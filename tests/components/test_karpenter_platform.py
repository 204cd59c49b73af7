"""A platform on EKS of whose node groups Karpenter scales some."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from oracles.aws import problems
from plans import Described, Resources, plan, resources

from gpuyard.review.capacity import capacity
from gpuyard.review.node_groups import node_groups
from gpuyard.review.recording import Resource

RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef1", "zone": "us-east-1b", "count": 2}
BURST = {
    "machine": "p5.48xlarge",
    "nodes": {"min": 0, "max": 6},
    "scaled_by": "karpenter",
    "capacity": [RESERVATION, {"kind": "spot"}, {"kind": "on_demand"}],
}
RELEASE = "kubernetes:helm.sh/v3:Release"


def burst(platform: Described) -> None:
    platform["node_groups"]["burst"] = BURST


def fixed(platform: Described) -> None:
    """Every managed group has the number of nodes that it has."""
    for group in platform["node_groups"].values():
        if group.get("scaled_by") != "karpenter":
            group["nodes"] = {"min": group["nodes"]["max"], "max": group["nodes"]["max"]}


@functools.cache
def with_burst() -> Resources:
    return resources("prod-aws", burst)


def named(found: Resources, type_: str, name: str) -> Resource:
    (one,) = (r for r in found.values() if r["type"] == type_ and r["name"] == name)
    return one


def releases(found: Resources) -> dict[str, Resource]:
    return {r["inputs"]["name"]: r for r in found.values() if r["type"] == RELEASE}


def outlive(found: Resources, urn: str) -> set[str]:
    """What is still there when a resource goes."""
    seen: set[str] = set()
    waiting = [urn]
    while waiting:
        resource = found[waiting.pop()]
        for needed in (*resource["options"].get("depends_on", []), resource["provider"], resource["parent"]):
            if needed in found and needed not in seen:
                seen.add(needed)
                waiting.append(needed)
    return seen


def test_aws_accepts_all_that_karpenter_brings() -> None:
    before = resources("prod-aws")
    new = [r for urn, r in with_burst().items() if urn not in before]
    assert {"aws:sqs/queue:Queue", "aws:iam/instanceProfile:InstanceProfile"} <= {r["type"] for r in new}
    assert [problem for r in new for problem in problems(r)] == []


def test_a_group_of_karpenters_changes_nothing_that_is_there_in_the_cloud() -> None:
    made = plan(resources("prod-aws"), with_burst())
    assert (made.deleted, made.replaced) == (set(), {})
    assert {urn for urn in made.changed if made.after[urn]["type"].startswith("aws:")} == set()


def test_nodes_go_while_karpenter_its_queue_and_its_rights_are_there() -> None:
    found = with_burst()
    (pool,) = (r for r in found.values() if r["type"] == "kubernetes:karpenter.sh/v1:NodePool")
    left = outlive(found, pool["urn"])
    types = {found[urn]["type"] for urn in left}
    assert {releases(found)["karpenter"]["urn"], releases(found)["karpenter-crd"]["urn"]} <= left
    assert {
        "aws:sqs/queuePolicy:QueuePolicy",
        "aws:cloudwatch/eventTarget:EventTarget",
        "aws:iam/instanceProfile:InstanceProfile",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:ec2/route:Route",
    } <= types
    addons = {found[urn]["inputs"].get("addonName") for urn in left}
    assert {"vpc-cni", "coredns"} <= addons, "Karpenter asks AWS by names while it ends nodes"


def test_karpenters_pods_are_on_nodes_that_it_does_not_make() -> None:
    found = with_burst()
    system = named(found, "aws:eks/nodeGroup:NodeGroup", "system")
    assert system["urn"] in outlive(found, releases(found)["karpenter"]["urn"])
    assert releases(found)["karpenter"]["inputs"]["values"]["replicas"] == 2


def test_its_second_pod_is_left_out_where_there_is_one_node() -> None:
    def one(platform: Described) -> None:
        burst(platform)
        platform["node_groups"]["system"]["nodes"] = {"min": 1, "max": 5}

    release = releases(resources("prod-aws", one))["karpenter"]
    assert release["inputs"]["values"]["replicas"] == 1, "each has a node of its own, and Helm waits for all"


def test_without_a_group_of_its_own_karpenter_is_not_there() -> None:
    assert "karpenter" not in releases(resources("prod-aws"))


@pytest.mark.parametrize(
    ("changes", "there"), [((), True), ((burst,), True), ((fixed,), False), ((burst, fixed), False)]
)
def test_the_autoscaler_is_there_where_a_managed_group_scales(changes: tuple[Any, ...], there: bool) -> None:
    assert ("cluster-autoscaler" in releases(resources("prod-aws", *changes))) is there


def test_the_review_counts_the_group_beside_the_others() -> None:
    before = {g.name: g for g in node_groups(list(resources("prod-aws").values()))}
    groups = {g.name: g for g in node_groups(list(with_burst().values()))}
    assert groups.keys() == before.keys() | {"burst"}
    found = groups["burst"]
    assert (found.machine, found.region, found.maximum, found.reserved) == ("p5.48xlarge", "us-east-1", 6, 2)
    assert (found.market, found.then) == ("reservation", ("spot", "on_demand"))
    assert found.account == "111122223333"
    (line,) = (one for one in capacity([found], [])["groups"])
    assert line["accelerators"]["max"] == 48
