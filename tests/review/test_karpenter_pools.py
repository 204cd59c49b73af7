"""What the review reads of NodePools that Karpenter scales, in programs of ours and of others."""

from __future__ import annotations

from typing import Any

import pytest
from documents import kubernetes, resource

from gpuyard.review.analyzer.sums import Sums
from gpuyard.review.capacity import capacity
from gpuyard.review.cost import line
from gpuyard.review.disks import Disk
from gpuyard.review.node_group import NodeGroup
from gpuyard.review.node_groups import node_groups

Json = dict[str, Any]

CLASS = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
ZONES = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a", "us-east-1b"]}


def machines(*names: str) -> Json:
    return {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(names)}


def bought(*types: str) -> Json:
    return {"key": "karpenter.sh/capacity-type", "operator": "In", "values": list(types)}


def pool(*requirements: Json, limits: Json | None = None, **more: Any) -> Json:
    template = {"spec": {"nodeClassRef": CLASS, "requirements": list(requirements)}}
    spec: Json = {"template": template, **({"limits": limits} if limits is not None else {}), **more}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": spec}


def read(manifest: Json, *others: Json, **more: Any) -> NodeGroup:
    (found,) = node_groups([*others, kubernetes(manifest, **more)])
    return found


P5 = machines("p5.48xlarge")


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"nodes": "4"}, 4),
        ({"nodes": 4.0}, 4),
        ({"nvidia.com/gpu": 32}, 4),
        ({"nvidia.com/gpu": "39"}, 4),
        ({"nodes": "6", "nvidia.com/gpu": "32"}, 4),
        ({"cpu": "400"}, 2),
        ({"cpu": "400k"}, 2083),
        ({"memory": "8192Gi"}, 4),
        ({"memory": "8Ti", "cpu": 10000}, 4),
        ({"nodes": "0"}, 0),
        ({"amd.com/gpu": "8"}, None),
        ({"nodes": "four"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_pool_grows_to_the_first_of_its_limits(limits: Json | None, most: int | None) -> None:
    assert read(pool(P5, ZONES, limits=limits)).maximum == most


def test_of_several_machines_the_largest_counts_and_smaller_ones_may_fill_the_rest() -> None:
    found = read(pool(machines("g6.xlarge", "g6.12xlarge"), ZONES, limits={"nvidia.com/gpu": "10"}))
    assert (found.machine, found.maximum) == ("g6.12xlarge", 3)


def test_a_pool_of_a_fixed_size_has_it_all_the_time() -> None:
    found = read(pool(P5, ZONES, replicas=3))
    assert (found.minimum, found.initial, found.maximum) == (3, 3, 3)
    assert read(pool(P5, ZONES, replicas=3, limits={"nodes": 4})).maximum == 4, "while nodes are replaced"


@pytest.mark.parametrize(
    ("requirements", "market", "then"),
    [
        ([bought("on-demand")], "on_demand", ()),
        ([bought("spot")], "spot", ()),
        ([bought("on-demand", "spot")], "spot", ("on_demand",)),
        ([bought("on-demand", "reserved", "spot")], "reservation", ("spot", "on_demand")),
        ([], "spot", ("on_demand",)),
    ],
)
def test_the_markets_are_in_the_order_in_which_karpenter_tries_them(
    requirements: list[Json], market: str, then: tuple[str, ...]
) -> None:
    found = read(pool(P5, *requirements, limits={"nodes": 1}))
    assert (found.market, found.then) == (market, then)


def test_a_group_of_ours_says_what_of_the_reserved_machines_are_a_block_and_how_many_there_are() -> None:
    window = {"start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z"}
    block = {"kind": "capacity_block", "count": 2, **window}
    component = resource(
        "gpuyard:index:KarpenterNodeGroup", "h100", {"capacity": [block, {"kind": "on_demand"}]}, custom=False
    )
    manifest = pool(P5, bought("reserved", "on-demand"), ZONES, limits={"nodes": "4"})
    found = read(manifest, component, parent=component["urn"])
    assert (found.name, found.market, found.then, found.reserved) == ("h100", "capacity_block", ("on_demand",), 2)
    assert found.window == (window["start"], window["end"])


def test_the_region_is_that_of_its_zones_or_of_the_one_cluster_or_of_the_configuration() -> None:
    limits = {"nodes": 1}
    assert read(pool(P5, ZONES, limits=limits)).region == "us-east-1"
    provider = resource("pulumi:providers:aws", "aws", {"region": "eu-west-1"})
    cluster = resource("aws:eks/cluster:Cluster", "prod", {}, provider=provider)
    assert read(pool(P5, limits=limits), provider, cluster).region == "eu-west-1"
    assert read(pool(P5, limits=limits), provider, cluster, {**cluster, "urn": "another"}).region is None
    (found,) = node_groups([kubernetes(pool(P5, limits=limits))], {"aws": {"inputs": {"region": "us-west-2"}}})
    assert found.region == "us-west-2"


def label(key: str, operator: str, *values: str) -> Json:
    return {"key": f"karpenter.k8s.aws/{key}", "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("requirements", "machine"),
    [
        ([label("instance-family", "In", "g6")], "g6.48xlarge"),
        ([label("instance-gpu-name", "In", "l40s"), label("instance-gpu-count", "Lt", "5")], "g6e.24xlarge"),
        ([label("instance-category", "In", "p"), label("instance-generation", "Lte", "4")], "p4de.24xlarge"),
        (
            [label("instance-accelerator-manufacturer", "In", "aws"), label("instance-size", "In", "2xlarge")],
            "trn1.2xlarge",
        ),
    ],
)
def test_machines_that_are_asked_for_by_their_labels_are_found(requirements: list[Json], machine: str) -> None:
    found = read(pool(*requirements, ZONES, limits={"nodes": 2}))
    assert found.machine == machine


@pytest.mark.parametrize(
    "requirements",
    [
        [label("instance-category", "In", "c", "m", "r")],
        [label("instance-category", "NotIn", "p", "g", "gr", "inf", "trn", "dl", "u")],
        [{"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "DoesNotExist"},
         {"key": "karpenter.k8s.aws/instance-accelerator-count", "operator": "DoesNotExist"}],
    ],
)  # fmt: skip
def test_a_pool_that_keeps_off_accelerators_has_none(requirements: list[Json]) -> None:
    group = read(pool(*requirements, ZONES, limits={"cpu": "1000"}))
    assert capacity([group], [])["total"] == 0


def test_a_pool_without_limits_cannot_be_counted() -> None:
    group = read(pool(P5, ZONES))
    (counted,) = capacity([group], [])["groups"]
    assert (counted["accelerators_a_node"], counted["accelerators"]["max"]) == (8, None)
    assert counted["machine_path"] == "/spec/template/spec/requirements/0/values"
    assert line(group)["unknown"] == "its number of nodes is not known"


def test_what_a_pool_may_cost_is_known_from_its_limits() -> None:
    cost = line(read(pool(P5, bought("on-demand"), ZONES, limits={"nvidia.com/gpu": "16"})))
    assert cost["month"] == {"min": 0.0, "initial": 0.0, "max": round(2 * cost["usd_hour"] * 730, 2)}


def test_disks_are_those_of_the_class_that_the_pool_names() -> None:
    volume = {"volumeSize": "200Gi", "volumeType": "gp3", "iops": 4000}
    described = {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "gpu"},
        "spec": {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": volume}]},
    }
    other = {**described, "metadata": {"name": "cpu"}, "spec": {}}
    assert read(pool(P5), kubernetes(other, name="cpu"), kubernetes(described, name="class")).disks == (
        Disk("gp3", 200, 4000),
    )
    assert read(pool(P5), kubernetes(other, name="cpu")).disks == (Disk(None, None),)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        [],
        {"template": 5, "limits": []},
        {"template": {"spec": {"requirements": ["x", {"key": 5, "operator": {}}]}}, "limits": {"nodes": []}},
        {"template": {"spec": {"requirements": [{**P5, "values": "p5.48xlarge"}], "nodeClassRef": {"name": 5}}}},
        {"template": {"spec": {"requirements": [label("instance-cpu", "Gt", "many"), label("instance-cpu", "Gt")]}}},
    ],
)
def test_inputs_of_a_wrong_shape_do_not_stop_the_review(spec: Any) -> None:
    assert read({**pool(), "spec": spec}).maximum is None


def test_pools_add_up_while_they_come() -> None:
    sums = Sums({})
    first = kubernetes(pool(P5, ZONES, limits={"nodes": 2}), name="first")
    assert sums.add(first, ())
    assert sums.so_far()["capacity"]["total"] == 16
    assert sums.add(kubernetes(pool(P5, ZONES, limits={"nodes": 1}), name="second"), ())
    assert sums.so_far()["capacity"]["total"] == 24


@pytest.mark.parametrize("operator", [None, 5, [], {}, "Near"])
def test_an_operator_that_is_none_does_not_stop_the_review(operator: Any) -> None:
    family = {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g6"]}
    odd = {"key": "karpenter.k8s.aws/instance-cpu", "operator": operator, "values": ["8"]}
    assert read(pool(family, odd, ZONES)).machine == read(pool(family, ZONES)).machine
