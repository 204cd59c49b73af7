"""Every machine of AWS in every way that it is sold: taken where EKS takes it, refused with a remedy where not."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.aws import problems
from pydantic import ValidationError

from gpuyard import catalogue
from gpuyard.components.node_groups.aws import NodeGroupSpec, group_inputs
from gpuyard.components.node_groups.aws_template import Image, template_inputs

RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 4}
TAGS = {"owner": "ml-platform", "cost-center": "4711", "stack": "prod"}
AWS_MACHINES = sorted(m.name for m in catalogue.machines().values() if m.cloud == "aws")

WINDOW = {"start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z"}
WAYS: dict[str, dict[str, Any]] = {
    "on_demand": {"kind": "on_demand"},
    "spot": {"kind": "spot"},
    "reservation": RESERVATION,
    "capacity_block": {**RESERVATION, **WINDOW, "kind": "capacity_block"},
}


BLOCK = WAYS["capacity_block"]


def spec(machine: str = "g6e.12xlarge", **changes: Any) -> NodeGroupSpec:
    return NodeGroupSpec.model_validate({"machine": machine, "nodes": {"min": 0, "max": 4}, **changes})


def possible(machine: str, system: str, way: str | None = None) -> NodeGroupSpec | None:
    """A group of the machine, paid for in that way, or in the first in which it is sold."""
    try:
        return spec(machine, os=system, capacity=WAYS[way or catalogue.machine(machine).purchase[0]])
    except ValidationError:
        return None


def camel(value: Any) -> Any:
    """Inputs as a program registers them; tags and labels keep their keys."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {camel_key(key): item if key in ("tags", "labels") else camel(item) for key, item in value.items()}


def camel_key(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)


@pytest.mark.parametrize(
    ("machine", "changes", "message"),
    [
        ("a2-highgpu-1g", {}, "is of gcp, and the group is on AWS"),
        ("g7.2xlarge", {"os": "bottlerocket"}, "no bottlerocket image here: choose os al2023"),
        ("dl2q.24xlarge", {}, "no al2023 image here: choose a machine with NVIDIA GPUs or Neuron"),
        ("inf2.xlarge", {"os": "bottlerocket"}, "no bottlerocket image here: choose os al2023"),
        ("p6e-gb200.36xlarge", {"os": "bottlerocket", "capacity": BLOCK}, "no bottlerocket image here: choose os al20"),
        (
            "p6e-gb200.36xlarge",
            {"capacity": BLOCK, "partition": {"kind": "mig", "profiles": {"1g.23gb": 7}}},
            "where there is no MIG: choose mps or time_slicing",
        ),
        ("trn2u.48xlarge", {"capacity": {"kind": "spot"}}, "is not sold as spot, only as"),
        ("p5.48xlarge", {"capacity": {"kind": "rented"}}, "'on_demand', 'spot', 'reservation', 'capacity_block'"),
        ("p5.48xlarge", {"capacity": []}, "at least 1 item"),
        (
            "p5.48xlarge",
            {"capacity": [RESERVATION, {"kind": "on_demand"}]},
            "reservation, on_demand, and a managed node group has one way to pay: give scaled_by karpenter",
        ),
        ("p5.48xlarge", {"expire_after": "720h"}, "for nodes that Karpenter makes: leave it out"),
        ("p5.48xlarge", {"capacity": {**RESERVATION, "count": 3}}, "nodes.max 4 is above the 3 machines"),
        ("p5.48xlarge", {"capacity": RESERVATION, "zones": ["us-east-1a"]}, "leave zones out"),
        ("p5.48xlarge", {"capacity": {**RESERVATION, "id": "cr-1"}}, "should match pattern"),
        ("m7i.2xlarge", {"disk": "10Gi"}, "give 20Gi to 65536Gi"),
        ("m7i.2xlarge", {"disk": "65Ti"}, "give 20Gi to 65536Gi"),
        ("m7i.2xlarge", {"taints": [{"key": f"t{i}"} for i in range(51)]}, "51 taints are more than the 50"),
        ("g6e.12xlarge", {"taints": [{"key": f"t{i}"} for i in range(50)]}, "51 taints are more than the 50"),
        ("m7i.2xlarge", {"labels": {"node-role.kubernetes.io/gpu": ""}}, "use a prefix of yours"),
        ("m7i.2xlarge", {"labels": {"eks.amazonaws.com/nodegroup": "x"}}, "use a prefix of yours"),
        ("m7i.2xlarge", {"zones": []}, "at least 1 item"),
        ("m7i.2xlarge", {"desired": 3}, "not permitted"),
        ("p5.49xlarge", {}, "p5.48xlarge"),
    ],
)
def test_a_group_that_could_not_work_is_refused_with_a_remedy(
    machine: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(machine, **changes)


def test_a_machine_that_is_sold_in_blocks_only_has_no_other_way_to_pay() -> None:
    only = [m for m in AWS_MACHINES if catalogue.machine(m).purchase == ("capacity_block",)]
    assert only
    for machine in only:
        with pytest.raises(ValidationError, match="is not sold as on_demand, only as capacity_block"):
            spec(machine)


def test_only_families_that_eks_has_no_image_for_are_refused() -> None:
    on_demand = [m for m in AWS_MACHINES if "on_demand" in catalogue.machine(m).purchase]
    refused = {m.partition(".")[0] for m in on_demand if possible(m, "al2023") is None}
    assert refused == {"dl1", "dl2q"}
    neuron = {m for m in AWS_MACHINES if catalogue.machine(m).resource == "aws.amazon.com/neuron"}
    assert {m for m in neuron if possible(m, "bottlerocket")} == set()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("system", ["al2023", "bottlerocket"])
def test_aws_accepts_every_machine_in_every_way_that_it_is_sold(system: str, way: str) -> None:
    sold = [machine for machine in AWS_MACHINES if way in catalogue.machine(machine).purchase]
    specs = {machine: found for machine in AWS_MACHINES if (found := possible(machine, system, way))}
    assert specs.keys() == {machine for machine in sold if possible(machine, system)}
    assert len(specs) > 7
    reservation = WAYS[way].get("id")
    known = {"clusterName": "prod", "nodeRoleArn": "arn:aws:iam::111122223333:role/node", "subnetIds": ["subnet-1"]}
    for machine, of in specs.items():
        image = Image(catalogue.machine(machine), system, 100, reservation, block=way == "capacity_block")
        launch = template_inputs("any", image, TAGS)
        assert problems({"type": "aws:ec2/launchTemplate:LaunchTemplate", "inputs": camel(launch)}) == []
        assert (
            problems(
                {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": camel(group_inputs("any", of, "1.35", TAGS)) | known}
            )
            == []
        )


@pytest.mark.parametrize("scaler", ["node_group", "karpenter"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"taints": [{"key": "nvidia.com/gpu"}]}, "taint nvidia.com/gpu with effect NoSchedule is there already"),
        ({"taints": [{"key": "a"}, {"key": "a", "value": "b"}]}, "taint a with effect NoSchedule is given twice"),
        ({"zones": ["us-east-1a", "us-east-1a"]}, "names a zone twice: give each zone once"),
    ],
)
def test_what_a_node_has_once_is_said_once(scaler: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(scaled_by=scaler, **changes)
