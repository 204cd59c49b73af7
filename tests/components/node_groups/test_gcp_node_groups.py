from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.gcp import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.node_groups.gcp import (
    NodeGroup,
    NodeGroupSpec,
    check_name,
    group_zones,
    node_config,
    node_pool_inputs,
)

ZONES = ["us-central1-a", "us-central1-b", "us-central1-c"]
RESERVATION = {"kind": "reservation", "name": "h100", "zone": "us-central1-b", "count": 4}
TAGS = {"owner": "ml-platform", "cost-center": "4711", "stack": "dev"}
GCP_MACHINES = sorted(m.name for m in catalogue.machines().values() if m.cloud == "gcp")


def spec(machine: str = "g2-standard-12", **given: Any) -> NodeGroupSpec:
    return NodeGroupSpec.model_validate({"machine": machine, "nodes": {"min": 0, "max": 6}, **given})


def inputs(name: str, group: NodeGroupSpec, zones: list[str] = ZONES) -> dict[str, Any]:
    account = "nodes@example-dev.iam.gserviceaccount.com"
    return {
        **node_pool_inputs(group, location="us-central1", zones=zones),
        "node_config": node_config(name, group, service_account=account, tags=TAGS),
    }


def declare(name: str, group: NodeGroupSpec, opts: pulumi.ResourceOptions | None = None) -> NodeGroup:
    return NodeGroup(
        name,
        group,
        cluster="projects/example-dev/locations/us-central1/clusters/dev",
        location="us-central1",
        zones=ZONES,
        service_account="nodes@example-dev.iam.gserviceaccount.com",
        tags=TAGS,
        project="example-dev",
        opts=opts,
    )


def declared(name: str, group: NodeGroupSpec) -> list[Resource]:
    return registered(lambda: declare(name, group))


def test_a_spot_group_of_l4_scales_to_zero_and_keeps_other_pods_away(golden: Callable[[str, Any], None]) -> None:
    given = inputs("l4", spec(capacity={"kind": "spot"}))
    assert given["autoscaling"] == {"total_min_node_count": 0, "total_max_node_count": 6, "location_policy": "ANY"}
    config = given["node_config"]
    assert config["spot"] is True
    assert config["reservation_affinity"] == {"consume_reservation_type": "NO_RESERVATION"}
    assert config["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert config["guest_accelerators"][0]["gpu_driver_installation_config"] == {"gpu_driver_version": "DEFAULT"}
    golden("gke_l4_spot", given)


def test_a_reserved_group_of_h100_stays_in_its_zone_and_uses_no_other_machines(
    golden: Callable[[str, Any], None],
) -> None:
    group = spec("a3-highgpu-8g", nodes={"min": 0, "initial": 2, "max": 4}, capacity=RESERVATION, driver="latest")
    given = inputs("h100", group)
    assert given["node_locations"] == ["us-central1-b"]
    assert given["initial_node_count"] == 2
    assert given["node_config"]["reservation_affinity"] == {
        "consume_reservation_type": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["h100"],
    }
    assert given["node_config"]["ephemeral_storage_local_ssd_config"] == {"local_ssd_count": 16}
    golden("gke_h100_reserved", given)


def test_a_reservation_of_another_project_is_named_with_it() -> None:
    group = spec("a3-highgpu-8g", nodes={"min": 0, "max": 4}, capacity={**RESERVATION, "project": "example-gpus"})
    affinity = inputs("h100", group)["node_config"]["reservation_affinity"]
    assert affinity["values"] == ["projects/example-gpus/reservations/h100"]


def test_a_group_without_gpus_is_spread_and_untainted(golden: Callable[[str, Any], None]) -> None:
    given = inputs("system", spec("e2-standard-8", nodes={"min": 3, "max": 6}))
    assert given["autoscaling"]["location_policy"] == "BALANCED"
    assert given["initial_node_count"] == 1, "three nodes, one in each of three zones"
    assert given["node_config"]["taints"] == []
    assert "guest_accelerators" not in given["node_config"]
    assert given["node_config"]["spot"] is False
    golden("gke_system", given)


def test_an_upgrade_of_gpu_nodes_asks_for_no_spare_machine() -> None:
    assert inputs("l4", spec())["upgrade_settings"] == {"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1}
    cpu = inputs("system", spec("e2-standard-8"))["upgrade_settings"]
    assert (cpu["max_surge"], cpu["max_unavailable"]) == (1, 0)


def test_labels_of_the_stack_join_the_groups_own() -> None:
    group = spec(labels={"example.com/tier": "gold"})
    labels = inputs("l4", group)["node_config"]["labels"]
    assert labels == {"example.com/tier": "gold", "gpuyard.io/node-group": "l4"}


@given(
    machine=st.sampled_from([name for name in GCP_MACHINES if not catalogue.slices(name)]),
    zones=st.integers(1, 3),
    low=st.integers(0, 4),
    more=st.integers(0, 4),
    factor=st.integers(0, 4),
)
def test_whatever_is_accepted_starts_with_the_nodes_that_the_stack_says(
    machine: str, zones: int, low: int, more: int, factor: int
) -> None:
    nodes = {"min": low, "initial": low + factor, "max": max(1, low + factor + more)}
    sold = catalogue.machine(machine).purchase
    kind = next(kind for kind in ("spot", "on_demand", "reservation") if kind in sold)
    capacity = {**RESERVATION, "zone": ZONES[0], "count": 99} if kind == "reservation" else {"kind": kind}
    group = spec(machine, nodes=nodes, capacity=capacity)
    try:
        given = inputs("group", group, ZONES[:zones])
    except ValueError:
        assert nodes["initial"] % zones
        return
    assert given["initial_node_count"] * len(given["node_locations"]) == nodes["initial"]


@pytest.mark.parametrize("machine", GCP_MACHINES)
def test_a_group_of_any_machine_is_taken_by_the_cloud(machine: str) -> None:
    sold = catalogue.machine(machine).purchase
    assert sold
    topologies = list(catalogue.slices(machine))[:3]
    for kind in sold:
        capacity = {**RESERVATION, "count": 6} if kind == "reservation" else {"kind": kind}
        for topology in topologies or [None]:
            hosts = catalogue.slices(machine)[topology].hosts if topology else 1
            nodes = {"min": 0, "max": hosts}
            given = {"nodes": nodes, "capacity": capacity, "topology": topology, "zones": [RESERVATION["zone"]]}
            component, *resources = declared("group", spec(machine, **given))
            assert component["type"] == "gpuyard:index:GkeNodeGroup"
            assert [problems(resource) for resource in resources] == [[]] * len(resources)
            assert resources[-1]["type"] == "gcp:container/nodePool:NodePool"


def test_the_autoscaler_owns_the_number_of_nodes() -> None:
    component, pool = declared("l4", spec())
    assert pool["options"]["ignore_changes"] == ["initialNodeCount"]
    assert "nodeCount" not in pool["inputs"]
    assert pool["parent"] == component["urn"]
    assert component["inputs"]["nodes"] == {"min": 0, "max": 6}


def test_a_gpu_pool_is_made_after_the_pool_that_it_depends_on() -> None:
    def build() -> None:
        system = declare("system", spec("e2-standard-8"))
        declare("l4", spec(), pulumi.ResourceOptions(depends_on=system.pools))

    pools = {r["name"]: r for r in registered(build) if r["type"] == "gcp:container/nodePool:NodePool"}
    assert pools["system"]["urn"] in pools["l4"]["options"]["depends_on"]


def test_the_boot_disk_is_large_where_images_and_weights_lie_on_it() -> None:
    def size(machine: str, **given: Any) -> int:
        return int(inputs("group", spec(machine, **given))["node_config"]["disk_size_gb"])

    assert size("g2-standard-12") == 200
    assert size("a3-highgpu-8g") == 100, "local disks hold them"
    assert size("e2-standard-8") == 100
    assert size("e2-standard-8", disk="1Ti") == 1024


def test_taints_of_the_stack_join_the_accelerators_own() -> None:
    group = spec(taints=[{"key": "example.com/batch", "effect": "NoExecute"}])
    assert inputs("l4", group)["node_config"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        {"key": "example.com/batch", "value": "", "effect": "NO_EXECUTE"},
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"machine": "p5.48xlarge"}, "machine p5.48xlarge is of aws, and the group is on Google Cloud"),
        ({"machine": "g2-standard-13"}, "g2-standard-12"),
        ({"machine": "a3-highgpu-1g"}, "machine a3-highgpu-1g is not sold as on_demand: give capacity.kind spot or"),
        ({"machine": "a3-highgpu-4g"}, "machine a3-highgpu-4g is not sold as on_demand: give capacity.kind spot or"),
        ({"machine": "a3-ultragpu-8g"}, "is not sold as on_demand: give capacity.kind spot or reservation or"),
        ({"machine": "a4-highgpu-8g"}, "is not sold as on_demand: give capacity.kind spot or reservation or"),
        (
            {"machine": "a3-ultragpu-8g", "capacity": {"kind": "spot"}, "disk_type": "pd-ssd"},
            "disk_type pd-ssd is not one that a3-ultragpu-8g boots from: give hyperdisk-balanced",
        ),
        (
            {"machine": "a3-megagpu-8g", "disk_type": "pd-standard"},
            "disk_type pd-standard is not one that a3-megagpu-8g boots from: give pd-balanced or pd-ssd or hyperdisk",
        ),
        ({"disk": "9Gi"}, "disk 9Gi is not a boot disk: give 10Gi to 65536Gi"),
        ({"disk": "65Ti"}, "disk 65Ti is not a boot disk"),
        (
            {"machine": "a3-highgpu-8g", "capacity": RESERVATION},
            "nodes.max 6 is above the 4 machines of h100: lower nodes.max",
        ),
        (
            {"machine": "a3-highgpu-8g", "nodes": {"min": 0, "max": 4}, "capacity": RESERVATION, "zones": ZONES[:1]},
            "zones us-central1-a is not the zone of h100, us-central1-b: leave zones out",
        ),
        ({"capacity": {"kind": "spot", "name": "h100"}}, "capacity.one.spot.name\n  Extra inputs are not permitted"),
        ({"capacity": {"kind": "capacity_block"}}, "'on_demand', 'spot', 'reservation'"),
        ({"nodes": {"min": 3, "max": 2}}, "min 3 is above max 2"),
        ({"driver": "disabled"}, "'default' or 'latest'"),
        ({"labels": {"node-role.kubernetes.io/gpu": "x"}}, "label node-role.kubernetes.io/gpu is Kubernetes' own"),
        (
            {"labels": {"gke-no-default-nvidia-gpu-device-plugin": "true"}},
            "would leave the GPUs without the plugin that offers them, GKE's: leave it out",
        ),
        (
            {"labels": {"cloud.google.com/compute-class": "cheap"}},
            "cloud.google.com/compute-class follows from how the nodes are paid for, and gpuyard or GKE sets it",
        ),
        ({"taints": [{"key": "cloud.google.com/gke-queued"}]}, "gke-queued follows from how the nodes are paid for"),
        ({"zones": []}, "at least 1 item"),
    ],
)
def test_a_group_that_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        spec(**given)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"zones": ["us-east1-b"]}, "zone us-east1-b is not one of the cluster's (us-central1-a, us-central1-b, "),
        (
            {"nodes": {"min": 1, "max": 2}},
            "1 nodes cannot start in 3 zones, because GKE starts as many in each: name fewer zones for this group",
        ),
        ({"nodes": {"min": 2, "max": 6}}, "set nodes.initial to 3, or name fewer zones"),
    ],
)
def test_a_group_that_does_not_fit_its_cluster_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        group_zones(spec(**given), ZONES)


def test_a_reservation_outside_the_clusters_zones_is_refused() -> None:
    group = spec("a3-highgpu-8g", nodes={"min": 0, "max": 4}, capacity=RESERVATION)
    with pytest.raises(ValueError, match=r"zone us-central1-b is not one of the cluster's \(us-central1-a\)"):
        group_zones(group, ZONES[:1])


def test_a_name_that_leaves_no_room_for_the_node_pools_is_refused() -> None:
    assert check_name("l" * 32, spec())
    with pytest.raises(ValueError, match="has 33 characters: give this node group on GKE 32 at most"):
        check_name("l" * 33, spec())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"taints": [{"key": "nvidia.com/gpu"}]}, "taint nvidia.com/gpu with effect NoSchedule is there already"),
        ({"zones": ["us-central1-a", "us-central1-a"]}, "names a zone twice: give each zone once"),
    ],
)
def test_what_a_node_has_once_is_said_once(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**changes)
