"""EFA on a node group of EKS, against EC2's own models of launch templates and of network cards."""

from __future__ import annotations

import base64
import email
from typing import Any

import pulumi
import pytest
from oracles.aws import problems
from pydantic import ValidationError
from registered import Resource, registered
from ruamel.yaml import YAML

from gpuyard import catalogue
from gpuyard.components.node_groups import efa
from gpuyard.components.node_groups.aws import NodeGroup, NodeGroupSpec, group_inputs, group_zones

FABRICS = [fabric for fabric in catalogue.fabrics().values() if fabric.kind == "efa"]
ZONE = "us-east-1b"
RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": ZONE, "count": 4}
BLOCK = RESERVATION | {"kind": "capacity_block", "start": "2026-12-15T11:30:00Z", "end": "2026-12-22T11:30:00Z"}


def spec(machine: str = "p5.48xlarge", **changes: Any) -> NodeGroupSpec:
    given = {"machine": machine, "nodes": {"min": 0, "max": 4}, "zones": [ZONE], "interconnect": {"kind": "efa"}}
    given |= changes
    return NodeGroupSpec.model_validate({key: value for key, value in given.items() if value is not None})


def declared(of: NodeGroupSpec) -> dict[str, Resource]:
    def program() -> None:
        NodeGroup(
            "h100",
            of,
            cluster_name="prod-1a2b",
            node_role_arn="arn:aws:iam::111122223333:role/node",
            subnets={"us-east-1a": "subnet-0123456789abcdef0", ZONE: "subnet-0123456789abcdef1"},
            security_group="sg-0123456789abcdef0",
            kubernetes_version="1.35",
            tags={"owner": "ml-platform"},
            opts=pulumi.ResourceOptions(),
        )

    answers: dict[str, dict[str, Any]] = {
        "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 3},
        "aws:ec2/placementGroup:PlacementGroup": {"name": "h100-1a2b"},
    }
    return {resource["type"]: resource for resource in registered(program, answers)}


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.machine)
def test_every_card_that_carries_an_efa_gets_one_and_no_card_that_the_machine_lacks(fabric: catalogue.Fabric) -> None:
    primary, *others = efa.interfaces(fabric)
    assert (primary.card, primary.device, primary.kind) == (0, 0, "interface"), "an EFA cannot be the first"
    assert [interface.kind for interface in others] == ["efa-only"] * fabric.interfaces
    assert len({interface.card for interface in others}) == fabric.interfaces, "EC2 puts one on a card"
    assert max(interface.card for interface in others) < fabric.network_cards
    assert all(interface.device == (1 if interface.card == 0 else 0) for interface in others)


@pytest.mark.parametrize(
    ("machine", "first", "last", "count"),
    [("p5.48xlarge", (0, 1), (31, 0), 32), ("p6-b200.48xlarge", (0, 1), (7, 0), 8), ("p6-b300.48xlarge", (1, 0), (16, 0), 16)],
)  # fmt: skip
def test_the_layout_is_the_one_of_ec2s_guide(
    machine: str, first: tuple[int, int], last: tuple[int, int], count: int
) -> None:
    fabric = catalogue.fabric(machine)
    assert fabric
    others = [(interface.card, interface.device) for interface in efa.interfaces(fabric)[1:]]
    assert (others[0], others[-1], len(others)) == (first, last, count)


def bought(machine: str) -> dict[str, Any]:
    return {"capacity": None if "on_demand" in catalogue.machine(machine).purchase else RESERVATION}


def served(machine: str) -> bool:
    """Whether EKS has an image for it at all."""
    try:
        spec(machine, interconnect=None, **bought(machine))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("machine", [fabric.machine for fabric in FABRICS if served(fabric.machine)])
def test_ec2_takes_the_template_of_every_machine_that_eks_serves(machine: str) -> None:
    given = spec(machine, **bought(machine))
    launch = declared(given)["aws:ec2/launchTemplate:LaunchTemplate"]
    assert problems({"type": launch["type"], "inputs": launch["inputs"]}) == []
    assert not {"vpcSecurityGroupIds", "securityGroupNames"} & launch["inputs"].keys(), "EC2 refuses both"
    for interface in launch["inputs"]["networkInterfaces"]:
        assert interface["securityGroups"] == ["sg-0123456789abcdef0"]
        assert "subnetId" not in interface, "EKS refuses a template that has one"


def test_a_group_without_interconnect_is_what_it_was() -> None:
    plain = declared(spec(interconnect=None))
    assert "aws:ec2/placementGroup:PlacementGroup" not in plain
    assert not {"networkInterfaces", "placement"} & plain["aws:ec2/launchTemplate:LaunchTemplate"]["inputs"].keys()


@pytest.mark.parametrize("capacity", [RESERVATION, BLOCK], ids=lambda capacity: capacity["kind"])
def test_reserved_machines_are_never_forced_into_a_placement_group(capacity: dict[str, Any]) -> None:
    reserved = declared(spec(capacity=capacity, zones=None))
    assert "aws:ec2/placementGroup:PlacementGroup" not in reserved
    assert "placement" not in reserved["aws:ec2/launchTemplate:LaunchTemplate"]["inputs"]


@pytest.mark.parametrize("kind", ["on_demand", "spot"])
def test_other_machines_are_placed_together(kind: str) -> None:
    placed = declared(spec(capacity={"kind": kind}))
    group = placed["aws:ec2/placementGroup:PlacementGroup"]["inputs"]
    assert problems({"type": "aws:ec2/placementGroup:PlacementGroup", "inputs": group}) == []
    assert (group["strategy"], group["tags"]) == ("cluster", {"owner": "ml-platform"})
    assert placed["aws:ec2/launchTemplate:LaunchTemplate"]["inputs"]["placement"] == {"groupName": "h100-1a2b"}


def test_the_autoscaler_knows_what_a_node_of_an_empty_group_will_offer() -> None:
    tags = group_inputs("h100", spec(), "1.35", {})["tags"]
    start = "k8s.io/cluster-autoscaler/node-template/resources/"
    assert tags[f"{start}vpc.amazonaws.com/efa"] == "32"
    assert tags[f"{start}hugepages-2Mi"] == f"{192 * 110}Mi", (
        "or nobody would start a node for a pod that asks for some"
    )
    assert f"{start}hugepages-2Mi" not in group_inputs("h100", spec(interconnect=None), "1.35", {})["tags"]


def configurations(of: NodeGroupSpec) -> list[Any]:
    text = base64.b64decode(declared(of)["aws:ec2/launchTemplate:LaunchTemplate"]["inputs"]["userData"]).decode()
    parts = [part for part in email.message_from_string(text).walk() if not part.is_multipart()]
    assert {part.get_content_type() for part in parts} == {"application/node.eks.aws"}
    return [YAML(typ="safe", pure=True).load(str(part.get_payload())) for part in parts]


def test_containers_of_amazon_linux_may_register_memory_with_an_efa() -> None:
    disks, limits = configurations(spec())
    assert disks["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}
    given = {limit["type"]: limit for limit in limits["spec"]["containerd"]["baseRuntimeSpec"]["process"]["rlimits"]}
    assert given["RLIMIT_NOFILE"] == {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}, "nodeadm's own"
    locked = given["RLIMIT_MEMLOCK"]["hard"]
    assert locked > max(machine.memory_gib for machine in catalogue.machines().values()) * 2**30
    assert int(float(locked)) == locked < 2**63, "nodeadm reads it as a float and writes it as a whole number"


def test_a_machine_without_local_disks_gets_the_limits_alone() -> None:
    assert not catalogue.machine("inf1.24xlarge").local_disk_gb
    [limits] = configurations(spec("inf1.24xlarge"))
    assert limits["spec"].keys() == {"containerd"}


def test_bottlerocket_raises_its_limits_by_itself() -> None:
    text = declared(spec(os="bottlerocket"))["aws:ec2/launchTemplate:LaunchTemplate"]["inputs"]["userData"]
    assert "rlimit" not in base64.b64decode(text).decode().lower()


def test_a_machine_without_efa_is_refused_with_one_of_the_same_accelerator_that_has_it() -> None:
    with pytest.raises(
        ValidationError, match=r"machine g6\.2xlarge has no EFA: choose one that has, such as g6\.8xlarge"
    ):
        spec("g6.2xlarge")


def test_a_group_in_several_zones_is_refused_with_the_remedy() -> None:
    everywhere = spec(zones=None)
    with pytest.raises(
        ValueError, match="EFA reaches no other zone, and the group is in us-east-1a, us-east-1b: give one"
    ):
        group_zones(everywhere, ["us-east-1a", "us-east-1b"])
    assert group_zones(spec(), ["us-east-1a", "us-east-1b"]) == [ZONE]
    assert group_zones(spec(interconnect=None, zones=None), ["us-east-1a", "us-east-1b"]) == [
        "us-east-1a",
        "us-east-1b",
    ]
    assert group_zones(spec(capacity=RESERVATION, zones=None), ["us-east-1a", "us-east-1b"]) == [ZONE]


@pytest.mark.parametrize(
    ("version", "taken"),
    [("v1.18.4-eksbuild.1", False), ("v1.9.12-eksbuild.3", False), ("v1.18.5-eksbuild.1", True), ("v1.20.0-eksbuild.1", True)],
)  # fmt: skip
def test_a_network_add_on_that_knows_no_efa_is_refused(version: str, taken: bool) -> None:
    assert bool(list(efa.addon_refusals(version))) is not taken
    assert list(efa.addon_refusals(None)) == []


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.machine)
def test_karpenters_class_says_the_same_interfaces(fabric: catalogue.Fabric) -> None:
    said = efa.node_class(fabric, "bottlerocket")
    assert said.keys() == {"networkInterfaces"}
    assert [tuple(interface.values()) for interface in said["networkInterfaces"]] == [
        (interface.card, interface.device, interface.kind) for interface in efa.interfaces(fabric)
    ]
    assert efa.node_class(fabric, "al2023")["userData"] == efa.MEMORY_LIMITS
