from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from registered import Resource, registered

from gpuyard.components.node_groups.aws import (
    NodeGroup,
    NodeGroupSpec,
    group_inputs,
    group_zones,
    node_image,
)

ZONES = ["us-east-1a", "us-east-1b"]
SUBNETS = {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}
RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 4}
TAGS = {"owner": "ml-platform", "cost-center": "4711", "stack": "prod"}


def spec(machine: str = "g6e.12xlarge", **changes: Any) -> NodeGroupSpec:
    return NodeGroupSpec.model_validate({"machine": machine, "nodes": {"min": 0, "max": 4}, **changes})


def group(name: str, of: NodeGroupSpec) -> dict[str, Any]:
    return group_inputs(name, of, "1.35", TAGS)


def declared(name: str, of: NodeGroupSpec) -> list[Resource]:
    def program() -> None:
        network = pulumi.CustomResource("test:index:Network", "network")
        NodeGroup(
            name,
            of,
            cluster_name="prod-1a2b",
            node_role_arn="arn:aws:iam::111122223333:role/node",
            subnets=SUBNETS,
            kubernetes_version="1.35",
            tags=TAGS,
            opts=pulumi.ResourceOptions(depends_on=[network]),
        )

    return registered(program, {"aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 3}})


def template(of: NodeGroupSpec) -> dict[str, Any]:
    [found] = [r for r in declared("h100", of) if r["type"] == "aws:ec2/launchTemplate:LaunchTemplate"]
    inputs: dict[str, Any] = found["inputs"]
    return inputs


def test_a_reserved_group_of_h100_stays_in_its_reservation(golden: Callable[[str, Any], None]) -> None:
    reserved = spec("p5.48xlarge", nodes={"min": 0, "initial": 2, "max": 4}, capacity=RESERVATION)
    [_, _, launch, nodes] = declared("h100", reserved)
    assert nodes["inputs"]["subnetIds"] == [SUBNETS["us-east-1b"]]
    assert nodes["inputs"]["scalingConfig"] == {"minSize": 0, "desiredSize": 2, "maxSize": 4}
    assert launch["inputs"]["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"},
    }
    golden("eks_node_group_h100", group("h100", reserved))


def test_a_full_reservation_is_updated_without_a_spare_machine() -> None:
    assert group("h100", spec("p5.48xlarge", capacity=RESERVATION))["update_config"]["update_strategy"] == "MINIMAL"
    assert "update_strategy" not in group("l40s", spec())["update_config"]


def test_spot_is_said_to_eks_and_not_in_the_template() -> None:
    nodes = spec(capacity={"kind": "spot"})
    assert group("l40s", nodes)["capacity_type"] == "SPOT"
    assert not {"instanceMarketOptions", "capacityReservationSpecification"} & template(nodes).keys()


@pytest.mark.parametrize(
    ("machine", "system", "image"),
    [
        ("m7i.2xlarge", "al2023", "AL2023_x86_64_STANDARD"),
        ("p5.48xlarge", "al2023", "AL2023_x86_64_NVIDIA"),
        ("g5g.xlarge", "al2023", "AL2023_ARM_64_NVIDIA"),
        ("inf2.xlarge", "al2023", "AL2023_x86_64_NEURON"),
        ("m7i.2xlarge", "bottlerocket", "BOTTLEROCKET_x86_64"),
        ("g6e.12xlarge", "bottlerocket", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("g5g.xlarge", "bottlerocket", "BOTTLEROCKET_ARM_64_NVIDIA"),
    ],
)
def test_the_image_follows_from_the_machine(machine: str, system: str, image: str) -> None:
    assert node_image(spec(machine, os=system)) == group("any", spec(machine, os=system))["ami_type"] == image


def test_nodes_are_labelled_and_other_pods_are_kept_off_gpus() -> None:
    nodes = group("l40s", spec(labels={"team": "fraud"}, taints=[{"key": "dedicated", "effect": "NoExecute"}]))
    assert nodes["labels"] == {
        "team": "fraud",
        "gpuyard.io/node-group": "l40s",
        "k8s.amazonaws.com/accelerator": "l40s",
    }
    assert nodes["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        {"key": "dedicated", "value": "", "effect": "NO_EXECUTE"},
    ]


def test_a_group_without_accelerators_has_no_taint_and_no_repair() -> None:
    nodes = group("system", spec("m7i.2xlarge"))
    assert nodes["taints"] == []
    assert "node_repair_config" not in nodes


@pytest.mark.parametrize(
    ("machine", "disk", "size"),
    [("m7i.2xlarge", None, 50), ("inf2.xlarge", None, 200), ("g6e.12xlarge", None, 50), ("g6e.12xlarge", "1Ti", 1024)],
)
def test_the_disk_is_large_where_it_holds_large_images(machine: str, disk: str | None, size: int) -> None:
    assert template(spec(machine, disk=disk))["blockDeviceMappings"][0]["ebs"]["volumeSize"] == size


def test_sick_gpus_are_replaced_but_not_for_a_programs_own_fault() -> None:
    repair = group("l40s", spec())["node_repair_config"]
    assert repair["enabled"] is True
    assert {o["node_unhealthy_reason"]: o["repair_action"] for o in repair["node_repair_config_overrides"]} == {
        "NvidiaXID13Error": "NoAction",
        "NvidiaXID31Error": "NoAction",
    }
    assert group("inf2", spec("inf2.xlarge"))["node_repair_config"] == {"enabled": True}


def test_a_gpu_operator_stays_off_bottlerocket_which_has_a_device_plugin() -> None:
    assert group("l40s", spec(os="bottlerocket"))["labels"]["nvidia.com/gpu.deploy.operands"] == "false"
    assert "nvidia.com/gpu.deploy.operands" not in group("l40s", spec())["labels"]


def test_the_autoscaler_is_told_what_it_cannot_see_of_an_empty_group() -> None:
    prefix = "k8s.io/cluster-autoscaler/node-template/resources/"
    neuron = group("inf2", spec("inf2.48xlarge"))["tags"]
    assert neuron[f"{prefix}aws.amazon.com/neuron"] == "12"
    assert neuron[f"{prefix}ephemeral-storage"] == "170Gi"
    gpus = group("l40s", spec())["tags"]
    assert f"{prefix}nvidia.com/gpu" not in gpus, "the autoscaler reads GPUs from the instance type"
    assert gpus[f"{prefix}ephemeral-storage"] == "3230G"
    share = group("l4", spec("g6f.xlarge"))["tags"]
    assert share[f"{prefix}nvidia.com/gpu"] == "1", "EC2 says that a share of a GPU is none"


def test_a_list_of_one_way_to_pay_is_that_way() -> None:
    assert group("h100", spec("p5.48xlarge", capacity=[RESERVATION])) == group(
        "h100", spec("p5.48xlarge", capacity=RESERVATION)
    )


def test_labels_in_a_namespace_of_kubelet_are_taken() -> None:
    assert spec("m7i.2xlarge", labels={"node.kubernetes.io/purpose": "system", "team": "x"}).labels


def test_a_zone_that_the_cluster_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"us-east-1f is not .*: choose one .*, or add the zone"):
        group_zones(spec(zones=["us-east-1f"]), ZONES)
    with pytest.raises(ValueError, match="us-east-1f is not one"):
        group_zones(spec(capacity={**RESERVATION, "zone": "us-east-1f"}), ZONES)


def test_a_group_is_in_all_zones_unless_it_says_which() -> None:
    assert group_zones(spec(), ZONES) == ZONES
    assert group_zones(spec(zones=["us-east-1b"]), ZONES) == ["us-east-1b"]


def test_the_number_of_nodes_is_the_autoscalers_after_creation() -> None:
    *_, nodes = declared("l40s", spec())
    assert nodes["options"]["ignore_changes"] == ["scalingConfig.desiredSize"]


def test_the_group_waits_for_the_clusters_network() -> None:
    network, *_, nodes = declared("l40s", spec())
    assert network["urn"] in nodes["options"]["depends_on"]
    assert nodes["inputs"]["launchTemplate"] == {"id": "l40s-id", "version": "3"}


def test_every_part_is_below_the_group_and_carries_its_name() -> None:
    _, root, *children = declared("l40s", spec())
    assert root["type"] == "gpuyard:index:EksNodeGroup"
    assert [(child["parent"], child["name"]) for child in children] == [(root["urn"], "l40s")] * 2


def test_what_the_cluster_and_the_template_settle_is_not_said_twice() -> None:
    for machine in ("m7i.2xlarge", "p5.48xlarge"):
        *_, launch, nodes = declared("any", spec(machine))
        assert not {"diskSize", "remoteAccess"} & nodes["inputs"].keys()
        assert not {"instanceType", "imageId", "networkInterfaces", "iamInstanceProfile"} & launch["inputs"].keys()
