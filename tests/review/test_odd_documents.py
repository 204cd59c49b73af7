"""What a program says that nobody's own components would: it is not known, or refused, and never counts as less."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from documents import Json, kubernetes, resource

from gpuyard.catalogue import Price
from gpuyard.review.capacity import capacity
from gpuyard.review.cost import cost
from gpuyard.review.errors import InputError
from gpuyard.review.judge import describe_in
from gpuyard.review.node_groups import node_groups
from gpuyard.review.prices import Prices
from gpuyard.review.quotas import Snapshot
from gpuyard.review.recording import Recording

EKS = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CLUSTER = "gcp:container/cluster:Cluster"
PROVIDER = resource("pulumi:providers:aws", "aws", {"region": "us-east-1"})
ONE = {"minSize": 0, "desiredSize": 0, "maxSize": 1}


def eks(inputs: Json, **more: Any) -> Json:
    return resource(EKS, "a", {"scalingConfig": ONE} | inputs, provider=PROVIDER, **more)


def karpenter(*requirements: Json, limits: Json) -> Json:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}
    spec = {"template": {"spec": {"nodeClassRef": reference, "requirements": [zones, *requirements]}}, "limits": limits}
    return kubernetes({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": spec})


def of_machines(*names: Any) -> Json:
    return {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(names)}


def counted(*resources: Json) -> Json:
    return capacity(node_groups(resources), resources)


def test_a_group_of_several_machines_counts_of_each_model_what_it_may_have_and_costs_the_dearest() -> None:
    there = (PROVIDER, eks({"instanceTypes": ["p4d.24xlarge", "g6.48xlarge"]}))
    found = counted(*there)
    assert (found["accelerators"], found["total"]) == ({"A100-40": 8, "L4": 8}, 8)
    (line,) = cost(node_groups(there), there)["lines"]
    assert (line["machine"], line["month"]["max"]) == ("p4d.24xlarge", 16029.08), "21.957642 USD/h x 730 h"


def test_a_group_of_several_machines_needs_of_each_quota_what_it_may_need_at_once() -> None:
    there = (PROVIDER, eks({"instanceTypes": ["p5.48xlarge", "p4d.24xlarge", "trn1.32xlarge"]}))
    quotas = {one["code"]: (one["need"], one["groups"]) for one in counted(*there)["quotas"]}
    assert quotas == {"L-417A185B": (192, ["a"]), "L-2C3B7624": (128, ["a"])}


def test_a_group_that_falls_back_is_counted_by_the_quota_of_each_market() -> None:
    pool = karpenter(of_machines("p5.48xlarge"), limits={"nodes": 2})
    quotas = {one["code"]: one["need"] for one in counted(pool)["quotas"]}
    assert quotas == {"L-C4BD4855": 384, "L-417A185B": 384}, "spot and on demand"


def test_a_limit_of_cpus_is_reached_by_the_machine_that_has_most_accelerators_for_them() -> None:
    found = counted(karpenter(of_machines("g4dn.xlarge", "p5.48xlarge"), limits={"cpu": "192"}))
    assert (found["total"], found["accelerators"]) == (48, {"H100-80": 8, "T4": 48})


@pytest.mark.parametrize(
    "requirement",
    [
        {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": None},
        {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["c7i", None]},
        {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Lt", "values": [None]},
    ],
)
def test_a_requirement_that_is_not_known_narrows_nothing(requirement: Json) -> None:
    assert counted(karpenter(requirement, limits={"nodes": 1}))["accelerators"]["H100-80"] == 8


def test_the_machine_of_a_launch_template_that_is_not_the_programs_is_not_known() -> None:
    (line,) = counted(PROVIDER, eks({"launchTemplate": {"id": "lt-0", "version": "1"}}))["groups"]
    assert (line["machine"], line["accelerators_a_node"]) == (None, None)
    (line,) = counted(PROVIDER, eks({}))["groups"]
    assert (line["machine"], line["accelerators_a_node"]) == ("t3.medium", 0), "what EKS takes by itself"


def test_of_two_launch_templates_nobody_knows_which_one_a_group_names() -> None:
    small, large = (resource(TEMPLATE, m, {"instanceType": m}) for m in ("a1.medium", "p5.48xlarge"))
    named = {"launchTemplate": {"id": None}}
    (one,) = node_groups([PROVIDER, small, large, eks(named, depends_on=[large])])
    assert one.machine == "p5.48xlarge"
    (both,) = node_groups([PROVIDER, small, large, eks(named, depends_on=[small, large])])
    assert both.machine is None


def test_pools_that_a_cluster_lists_are_node_groups() -> None:
    pools = [
        {"name": "x", "nodeCount": 2, "nodeConfig": {"machineType": "a3-highgpu-8g"}},
        {"autoscaling": {"totalMaxNodeCount": 4}, "nodeConfig": {"machineType": "g2-standard-8"}},
    ]
    found = counted(resource(CLUSTER, "c", {"location": "us-central1", "nodePools": pools}))
    assert found["accelerators"] == {"H100-80": 2 * 3 * 8, "L4": 4}
    assert [one["machine_path"] for one in found["groups"]] == [
        "/nodePools/0/nodeConfig/machineType",
        "/nodePools/1/nodeConfig/machineType",
    ]


def test_zones_of_a_zonal_cluster_come_on_top_of_its_own() -> None:
    inputs = {"location": "us-central1-a", "initialNodeCount": 1, "nodeConfig": {"machineType": "g2-standard-8"}}
    cluster = resource(CLUSTER, "c", inputs | {"nodeLocations": ["us-central1-b", "us-central1-c"]})
    assert counted(cluster)["accelerators"] == {"L4": 3}
    unknown = resource(CLUSTER, "c", inputs | {"nodeLocations": None})
    assert counted(unknown)["groups"][0]["nodes"]["max"] is None


def test_a_node_pool_that_names_no_machine_has_the_one_that_gke_takes() -> None:
    inputs = {"location": "us-central1", "nodeCount": 1}
    pool = "gcp:container/nodePool:NodePool"
    (small,) = node_groups([resource(pool, "p", inputs)])
    (unknown,) = node_groups([resource(pool, "p", inputs | {"nodeConfig": None})])
    assert (small.machine, unknown.machine) == ("e2-medium", None)


def test_an_owner_who_pays_less_than_nothing_hides_no_cost_of_others() -> None:
    owned = resource("gpuyard:index:NodeInventory", "d", {"machine": "dgx-h100", "count": 2, "usd_hour": -1000})
    found = cost(node_groups([owned]), [owned])
    assert (found["total"]["max"], found["unknown"]) == (0, [owned["urn"]])


def test_gpus_that_are_added_to_a_machine_are_not_in_its_price() -> None:
    config = {"machineType": "n1-standard-8", "guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 4}]}
    there = [
        resource("gcp:container/nodePool:NodePool", "p", {"location": "us-central1-a", "nodeCount": 1} | {"nodeConfig": config})
    ]  # fmt: skip
    prices = Prices({("gcp", "us-central1", "n1-standard-8", "on_demand"): Price(0.38, "ours", "2026-11-01")})
    assert cost(node_groups(there), there, prices=prices)["lines"][0]["month"] is None


def test_a_commitment_for_a_machine_without_a_price_is_no_credit() -> None:
    there = [
        PROVIDER,
        eks({"instanceTypes": ["p9.48xlarge"], "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 0}}),
    ]
    prices = Prices({("aws", "us-east-1", "p9.48xlarge", "committed"): Price(9.0, "ours", "2026-11-01", 2)})
    assert cost(node_groups(there), there, prices=prices)["charges"] == []


def test_each_reservation_and_block_is_paid_for_its_own_machines_and_hours() -> None:
    capacities = [
        {"kind": "reservation", "id": "cr-1", "count": 4},
        {"kind": "capacity_block", "id": "cr-2", "count": 2, "start": "2026-12-01T11:30:00Z", "end": "2026-12-02T11:30:00Z"},
        {"kind": "capacity_block", "id": "cr-3", "count": 1, "start": "2026-12-01T11:30:00Z", "end": "2026-12-11T11:30:00Z"},
    ]  # fmt: skip
    component = resource("gpuyard:index:KarpenterNodeGroup", "k", {"capacity": capacities}, custom=False)
    pool = karpenter(of_machines("p5.48xlarge"), limits={"nodes": 7}) | {"parent": component["urn"]}
    prices = Prices({("aws", "us-east-1", "p5.48xlarge", "capacity_block"): Price(31.0, "ours", "2026-11-01")})
    (line,) = cost(node_groups([component, pool]), [], prices=prices)["lines"]
    # 4 x 55.04 USD/h x 730 h, 2 x 31 x 24 h, 1 x 31 x 240 h
    assert line["month"]["max"] == round(160716.8 + 1488 + 7440, 2)


@pytest.mark.parametrize(
    ("type_", "inputs", "field"),
    [
        ("Tenant", {"accelerators": [1]}, "accelerators"),
        ("Tenant", {"accelerators": {"g": "8"}}, "accelerators.g.quota"),
        ("Tenant", {"accelerators": {"g": {"quota": -1}}}, "accelerators.g.quota"),
        ("Tenant", {"accelerators": {"g": {"quota": 1, "borrow": "sh4re"}}}, "accelerators.g.borrow"),
        ("Endpoint", {"tenant": {}, "on": "g", "replicas": {"max": 1}}, "tenant"),
        ("Endpoint", {"tenant": "t", "on": "g", "replicas": []}, "replicas.max"),
        ("Endpoint", {"tenant": "t", "on": "g", "replicas": {"max": 1}, "tensor_parallel": "2"}, "tensor_parallel"),
    ],
)
def test_a_tenant_that_gpuyard_did_not_make_is_refused_in_one_sentence(type_: str, inputs: Json, field: str) -> None:
    with pytest.raises(InputError, match=f"^{type_} x: {field} is of another form") as refused:
        capacity([], [resource(f"gpuyard:index:{type_}", "x", inputs)])
    assert "sh4re" not in str(refused.value), "it may be a secret"


ODD: list[Any] = [
    *(None, True, -1, 1.5, -1e9, 1e308, 10**30, float("inf"), float("nan"), "", "x", "9" * 400, "9" * 5000),
    *("٣", [], {}, [None], [[]], {"a": None}, "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
]


def whole() -> list[Json]:
    """A program with something of everything that is read."""
    devices = [{"ebs": {"volumeSize": "100", "volumeType": "gp3", "iops": 4000, "throughput": 200}}]
    template = resource(TEMPLATE, "t", {"instanceType": "p5.48xlarge", "blockDeviceMappings": devices})
    config = {"machineType": "n1-standard-8", "guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 2}]}
    block = {"kind": "capacity_block", "count": 2, "start": "2026-12-01T11:30:00Z", "end": "2026-12-02T11:30:00Z"}
    component = resource("gpuyard:index:KarpenterNodeGroup", "k", {"capacity": [block, {"kind": "spot"}]}, custom=False)
    bought = karpenter(of_machines("g6.xlarge"), limits={"nodes": "4"})
    return [
        PROVIDER,
        component,
        bought | {"parent": component["urn"], "urn": f"{bought['urn']}-k"},
        template,
        eks({"launchTemplate": {"id": None}, "version": "1.35"}, depends_on=[template]),
        karpenter(of_machines("p5.48xlarge"), limits={"nodes": "4", "cpu": "400"}),
        resource(CLUSTER, "c", {"location": "us-central1", "initialNodeCount": 1, "nodeConfig": config}),
        resource("aws:eks/cluster:Cluster", "e", {"version": "1.30"}),
        resource(
            "gpuyard:index:NodeInventory",
            "dgx",
            {"machine": "dgx-h100", "count": 2, "usd_hour": 24.5, "driver_version": "580.1"},
        ),
        resource("aws:ebs/volume:Volume", "v", {"type": "gp3", "size": 100, "iops": 5000}),
        resource("aws:ec2/capacityReservation:CapacityReservation", "r", {"endDate": "2026-12-31T00:00:00Z"}),
    ]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


@pytest.mark.parametrize("each", [pytest.param(1, marks=pytest.mark.long), 11], ids=["all", "a sample"])
def test_no_value_of_any_input_ends_a_review_or_makes_a_cost_negative(each: int) -> None:
    program = whole()
    changes = [(n, path, odd) for n, one in enumerate(program) for path in places(one["inputs"]) for odd in ODD]
    assert len(changes) > 500
    for position, path, odd in changes[::each]:
        changed = copy.deepcopy(program)
        holder = changed[position]["inputs"]
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = odd
        document = describe_in(Recording("p", "dev", changed, [], 0.0, {}), "development", date="2026-11-30")
        assert document["cost"]["total"]["max"] >= 0, (program[position]["type"], path, odd)


def test_a_quota_of_all_regions_is_needed_by_the_groups_of_all_of_them() -> None:
    def pool(region: str) -> Json:
        config = {"machineType": "g2-standard-24"}
        scaling = {"totalMaxNodeCount": 3}
        given = {"location": region, "project": "p", "autoscaling": scaling, "nodeConfig": config}
        return resource("gcp:container/nodePool:NodePool", region, given)

    def snapshot(region: str) -> Snapshot:
        quota = {"code": "GPUS_ALL_REGIONS", "name": "x", "value": 8, "unit": "gpus"}
        about = {"format": "gpuyard.quotas/1", "cloud": "gcp", "account": "p", "region": region}
        return Snapshot.model_validate(about | {"fetched": "2026-11-20", "quotas": [quota]})

    regions = ("us-central1", "europe-west4")
    there = [pool(region) for region in regions]
    found = capacity(node_groups(there), there, [snapshot(region) for region in regions], "2026-11-30")
    (line,) = [one for one in found["quotas"] if one["code"] == "GPUS_ALL_REGIONS"]
    assert (line["need"], line["limit"], line["region"]) == (12, 8, "europe-west4, us-central1")
