"""What a stack costs beside its machines."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from documents import Json, kubernetes, resource

from gpuyard.review import charges
from gpuyard.review.cost import cost
from gpuyard.review.disks import Disk, of_pool, of_template
from gpuyard.review.node_group import NodeGroup
from gpuyard.review.volumes import in_gib, of_objects

DATE = "2026-11-30"
EAST = {"region": "us-east-1"}


def of(one: Json, date: str = DATE) -> list[Json]:
    return charges.of_resource(one, {one["urn"]: one}, date)


def eks(version: str | None, **more: Any) -> Json:
    return resource("aws:eks/cluster:Cluster", "ml", {"version": version, **EAST, **more})


def months(lines: list[Json]) -> dict[str, float | None]:
    return {one["what"]: one["month"] and one["month"]["max"] for one in lines}


def test_a_cluster_costs_its_control_plane_wherever_it_is() -> None:
    assert months(of(eks("1.35"))) == {"control plane": 73.0}
    assert months(of(eks("1.35", region="eu-west-1"))) == {"control plane": 73.0}
    gke = resource("gcp:container/cluster:Cluster", "ml", {"location": "europe-west4"})
    assert months(of(gke)) == {"control plane": 73.0}


@pytest.mark.parametrize(
    ("version", "date", "policy", "extended"),
    [
        ("1.34", "2026-12-01", None, False),
        ("1.34", "2026-12-02", None, True),
        ("1.34", "2026-12-02", {"supportType": "STANDARD"}, False),
        ("1.34", "2026-12-02", {"supportType": "EXTENDED"}, True),
        ("1.28", "2026-11-30", None, True),
        ("1.99", "2026-11-30", None, False),
        (None, "2026-11-30", None, False),
    ],
)
def test_a_version_in_extended_support_costs_more(version: str | None, date: str, policy: Any, extended: bool) -> None:
    found = months(of(eks(version, upgradePolicy=policy), date))
    assert found["control plane"] == 73.0
    assert (found.get(f"extended support of Kubernetes {version}") == 365.0) is extended, "0.50 USD an hour on top"


def test_gateways_and_load_balancers_cost_their_hours_in_a_region_whose_price_is_known() -> None:
    gateway = resource("aws:ec2/natGateway:NatGateway", "a", EAST)
    assert months(of(gateway)) == {"NAT gateway, without traffic": 32.85}
    balancer = resource("aws:lb/loadBalancer:LoadBalancer", "a", EAST)
    assert of(balancer)[0]["month"] == {"min": 16.43, "initial": 16.43, "max": 16.43}
    former = resource("aws:alb/loadBalancer:LoadBalancer", "a", EAST)
    assert of(former)[0]["month"] == of(balancer)[0]["month"]
    (elsewhere,) = of(resource("aws:ec2/natGateway:NatGateway", "a", {"region": "eu-west-1"}))
    assert (elsewhere["month"], elsewhere["unknown"]) == (None, "its price in eu-west-1 is not known")
    (nowhere,) = of(resource("aws:ec2/natGateway:NatGateway", "a", {}))
    assert nowhere["unknown"] == "its region is not known"


def test_the_region_is_the_providers_where_the_resource_names_none() -> None:
    provider = resource("pulumi:providers:aws", "east", EAST)
    gateway = resource("aws:ec2/natGateway:NatGateway", "a", {}, provider=provider)
    assert charges.of_resource(gateway, {provider["urn"]: provider}, DATE)[0]["month"]["max"] == 32.85
    default = resource("aws:ec2/natGateway:NatGateway", "a", {})
    assert charges.of_resource(default, {"aws": {"inputs": EAST}}, DATE)[0]["month"]["max"] == 32.85


@pytest.mark.parametrize("zone", ["us-east-1a", "us-east-1"])
def test_a_volume_costs_its_size_and_what_it_can_do_beyond_what_comes_with_it(zone: str) -> None:
    plain = {"availabilityZone": zone, "type": "gp3", "size": 100}
    assert sum(one["month"]["max"] for one in of(resource("aws:ebs/volume:Volume", "d", plain))) == 8.0
    fast = of(resource("aws:ebs/volume:Volume", "d", plain | {"iops": 5000}))
    assert [one["month"]["max"] for one in fast] == [8.0, 10.0], "2,000 operations above 3,000, 0.005 USD each"


def test_what_has_no_price_is_said_to_have_none() -> None:
    for one in (
        resource("aws:s3/bucket:Bucket", "b", EAST),
        resource("aws:fsx/lustreFileSystem:LustreFileSystem", "f", EAST),
        resource("aws:ebs/volume:Volume", "v", {"availabilityZone": "us-east-1a", "size": 10}),
        resource("gcp:compute/disk:Disk", "d", {"zone": "us-central1-a", "type": "hyperdisk-balanced", "size": 10}),
        resource("aws:ebs/volume:Volume", "v", {"availabilityZone": "us-east-1a", "type": "gp3", "size": None}),
    ):
        (found,) = of(one)
        assert found["month"] is None
        assert found["unknown"]
    assert of(resource("aws:iam/role:Role", "r", {})) == []


@pytest.mark.parametrize(
    "type_",
    [
        "aws:ec2/capacityReservation:CapacityReservation",
        "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
        "gcp:compute/reservation:Reservation",
    ],
)
def test_machines_that_a_program_reserves_are_said_not_to_be_priced(type_: str) -> None:
    [line] = of(resource(type_, "a", EAST))
    assert line["month"] is None
    assert line["what"].startswith("machines of the")


def test_the_disks_of_a_launch_template_are_those_that_it_names() -> None:
    ebs = {"volumeSize": 200, "volumeType": "gp3", "throughput": 500.0}
    assert of_template({"blockDeviceMappings": [{"ebs": ebs}, {"noDevice": "true"}]}) == (Disk("gp3", 200, None, 500),)
    assert of_template({}) == (Disk(None, None),), "those of the image, which nobody knows"


def test_the_disk_of_a_node_pool_is_gkes_where_the_pool_says_nothing() -> None:
    assert of_pool({}) == (Disk("pd-balanced", 100),)
    assert of_pool({"diskType": "pd-ssd", "diskSizeGb": 50}) == (Disk("pd-ssd", 50),)
    assert of_pool({"diskSizeGb": None}) == (Disk("pd-balanced", None),)
    boot = {"diskType": "hyperdisk-balanced", "sizeGb": "80", "provisionedIops": "3000"}
    assert of_pool({"bootDisk": boot}) == (Disk("hyperdisk-balanced", 80, 3000),)


def test_disks_of_nodes_cost_as_much_as_there_are_nodes() -> None:
    group = NodeGroup("u", "g", "gcp", "us-central1", "e2-standard-8", "/m", "on_demand", 0, 1, 3, disks=of_pool({}))
    assert [one["month"] for one in charges.of_group(group)] == [{"min": 0.0, "initial": 10.0, "max": 30.0}]
    none = NodeGroup("u", "g", "gcp", "us-central1", "e2-standard-8", "/m", "on_demand", 0, 0, 0, disks=of_pool({}))
    assert charges.of_group(none) == []
    owned = NodeGroup("u", "g", "onprem", None, "dgx-h100", "/m", "owned", 2, 2, 2)
    assert charges.of_group(owned) == []
    open_ = NodeGroup("u", "g", "gcp", "us-central1", "e2-standard-8", "/m", "on_demand", 0, None, 3, disks=of_pool({}))
    assert [one["unknown"] for one in charges.of_group(open_)] == ["its size is not known"]


def claim(class_: str | None, storage: str | None = "50Gi") -> Json:
    spec = {"resources": {"requests": {"storage": storage}}} | ({"storageClassName": class_} if class_ else {})
    return kubernetes({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": spec})


def storage_class(name: str, provisioner: str, parameters: Json, *, default: bool = False) -> Json:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    metadata = {"name": name, "annotations": annotations}
    manifest = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}
    return kubernetes(manifest | {"provisioner": provisioner, "parameters": parameters}, name=name)


EBS = storage_class("fast", "ebs.csi.aws.com", {"type": "gp3"}, default=True)
GKE = resource("gcp:container/cluster:Cluster", "ml", {"location": "us-central1"})


@pytest.mark.parametrize(
    ("resources", "month"),
    [
        ([eks("1.35"), EBS, claim("fast")], 4.0),
        ([eks("1.35"), EBS, claim(None)], 4.0),
        ([eks("1.35"), storage_class("x", "ebs.csi.aws.com", {}), claim("x")], 4.0),
        ([eks("1.35"), storage_class("x", "efs.csi.aws.com", {}), claim("x")], None),
        ([eks("1.35"), claim("unheard-of")], None),
        ([eks("1.35", region="eu-west-1"), EBS, claim("fast")], None),
        ([GKE, claim(None)], 5.0),
        ([GKE, claim("premium-rwo")], 8.5),
        ([GKE, EBS, claim("fast")], None),
        ([claim("fast"), EBS], None),
        ([eks("1.35"), GKE, EBS, claim("fast")], None),
        ([GKE, claim("standard-rwo", None)], None),
    ],
)
def test_a_claimed_volume_costs_what_its_storage_class_makes(resources: list[Json], month: float | None) -> None:
    (found,) = of_objects(resources, {})
    assert (found["month"] and found["month"]["max"]) == month
    assert (found["unknown"] is None) == (month is not None)


def test_each_replica_of_a_stateful_set_has_its_volume() -> None:
    template = {"spec": {"resources": {"requests": {"storage": "10Gi"}}}}
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}}
    sets = [
        kubernetes(manifest | {"spec": {"replicas": 3, "volumeClaimTemplates": [template]}}),
        kubernetes(manifest | {"spec": {"volumeClaimTemplates": [template]}}),
        kubernetes(manifest | {"spec": {"replicas": None, "volumeClaimTemplates": [template]}}),
        kubernetes(manifest | {"spec": None}),
    ]
    assert [one["month"] and one["month"]["max"] for one in of_objects([GKE, *sets], {})] == [3.0, 1.0, None]


def test_a_service_with_a_load_balancer_costs_what_its_cloud_makes_of_it() -> None:
    def service(**annotations: str) -> Json:
        metadata = {"name": "s", "annotations": annotations}
        return kubernetes(
            {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"type": "LoadBalancer"}}
        )

    network = service(**{"service.beta.kubernetes.io/aws-load-balancer-type": "external"})
    assert of_objects([eks("1.35"), network], {})[0]["month"]["max"] == 16.43
    assert of_objects([eks("1.35"), service()], {})[0]["month"] is None, "a classic one"
    assert of_objects([GKE, service()], {})[0]["month"]["max"] == 18.25
    inner = kubernetes(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "ClusterIP"}}
    )
    assert of_objects([GKE, inner], {}) == []


def test_volumes_that_a_chart_claims_are_said_not_to_be_priced() -> None:
    spec = {"storageSpec": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "200Gi"}}}}}}
    release = resource("kubernetes:helm.sh/v3:Release", "m", {"chart": "stack", "values": {"prometheus": [spec]}})
    (found,) = of_objects([release], {})
    assert (found["what"], found["month"]) == ("volumes of 200Gi that chart stack claims", None)


@pytest.mark.parametrize(
    ("text", "gib"), [("1Gi", 1), ("1Ti", 1024), ("512Mi", 0.5), ("1.5Gi", 1.5), ("1x", None), (5, None)]
)
def test_a_quantity_is_counted_in_gib(text: Any, gib: float | None) -> None:
    assert in_gib(text) == gib


def test_the_oldest_price_beside_those_of_machines_is_known() -> None:
    gateway = resource("aws:ec2/natGateway:NatGateway", "out", EAST)
    lines = [*of(eks("1.36"), "2027-01-01"), *of(gateway, "2027-01-01")]
    assert len({line["date"] for line in lines}) == 2
    oldest = min(line["date"] for line in lines)
    days = (date.fromisoformat("2027-01-01") - date.fromisoformat(oldest)).days
    assert cost([], [], date="2027-01-01", charges=lines)["charges_as_of"] == {"date": oldest, "age_days": days}
    unpriced = of(resource("aws:s3/bucket:Bucket", "b", EAST))
    assert cost([], [], date="2027-01-01", charges=unpriced)["charges_as_of"] is None
