"""Capacity Blocks: what EKS and EC2 are told, and what could never run is refused."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.aws import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.node_groups.aws import NodeGroup, NodeGroupSpec
from gpuyard.components.node_groups.aws_capacity import User, shared_refusals

SUBNETS = {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}
BLOCK = {
    "kind": "capacity_block",
    "id": "cr-0123456789abcdef0",
    "zone": "us-east-1b",
    "count": 4,
    "start": "2026-12-01T11:30:00Z",
    "end": "2026-12-15T11:30:00Z",
}
SOLD = sorted(m.name for m in catalogue.machines().values() if m.cloud == "aws" and "capacity_block" in m.purchase)


def spec(machine: str = "p5.48xlarge", block: dict[str, Any] | None = None, **changes: Any) -> NodeGroupSpec:
    given = {"machine": machine, "nodes": {"min": 0, "max": 4}, "capacity": BLOCK | (block or {}), **changes}
    return NodeGroupSpec.model_validate(given)


def declared(of: NodeGroupSpec) -> tuple[Resource, Resource]:
    def program() -> None:
        NodeGroup(
            "block",
            of,
            cluster_name="prod-1a2b",
            node_role_arn="arn:aws:iam::111122223333:role/node",
            subnets=SUBNETS,
            kubernetes_version="1.35",
            tags={"owner": "ml-platform"},
            security_group="sg-0123456789abcdef0",
        )

    made = registered(program, {"aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 1}})
    [template] = [r for r in made if r["type"] == "aws:ec2/launchTemplate:LaunchTemplate"]
    [group] = [r for r in made if r["type"] == "aws:eks/nodeGroup:NodeGroup"]
    return template, group


def test_the_template_says_market_machine_and_block_and_the_group_says_so_too() -> None:
    template, group = declared(spec())
    assert template["inputs"]["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["inputs"]["instanceType"] == "p5.48xlarge"
    assert template["inputs"]["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
    }
    assert group["inputs"]["capacityType"] == "CAPACITY_BLOCK"
    assert "instanceTypes" not in group["inputs"], "EKS takes the machine in one place only"


def test_nodes_are_in_the_zone_of_the_block_alone_and_there_are_none_at_first() -> None:
    _, group = declared(spec())
    assert group["inputs"]["subnetIds"] == [SUBNETS["us-east-1b"]]
    assert group["inputs"]["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    assert group["options"]["ignore_changes"] == ["scalingConfig.desiredSize"], "EKS drains the group before its end"


def test_nodes_are_replaced_without_a_spare_machine() -> None:
    _, group = declared(spec())
    assert group["inputs"]["updateConfig"]["updateStrategy"] == "MINIMAL"


@pytest.mark.parametrize("machine", SOLD)
def test_aws_accepts_a_block_of_every_machine_that_is_sold_so(machine: str) -> None:
    template, group = declared(spec(machine))
    assert problems(template) == problems(group) == []


def test_a_block_is_on_no_machine_that_is_not_sold_so() -> None:
    assert {"p5.48xlarge", "p4d.24xlarge"} <= set(SOLD)
    others = [m.name for m in catalogue.machines().values() if m.cloud == "aws" and m.name not in SOLD]
    for machine in others:
        with pytest.raises(ValidationError):
            spec(machine)


@pytest.mark.parametrize(
    ("block", "changes", "message"),
    [
        ({}, {"nodes": {"min": 1, "max": 4}}, "nodes.min is 1, and before a Capacity Block starts .*: give 0"),
        ({}, {"nodes": {"min": 0, "initial": 2, "max": 4}}, "nodes.initial is 2, and before a Capacity Block starts"),
        ({}, {"nodes": {"min": 0, "max": 5}}, "nodes.max 5 is above the 4 machines of cr-0123456789abcdef0: lower"),
        ({}, {"zones": ["us-east-1a"]}, "is not the zone of cr-0123456789abcdef0, us-east-1b: leave zones out"),
        ({}, {"machine": "g6e.12xlarge"}, "machine g6e.12xlarge is not sold as capacity_block, only as on_demand"),
        ({"end": "2026-12-01T11:30:00Z"}, {}, "is not after start 2026-12-01T11:30:00Z: give the window as EC2"),
        ({"end": "2026-12-15T12:00:00Z"}, {}, "is not the end of a block, which is always 11:30 UTC"),
        ({"end": "2027-06-02T11:30:00Z"}, {}, "is longer than the 182 days of a block"),
        ({"end": "2026-02-30T11:30:00Z"}, {}, "end 2026-02-30T11:30:00Z is no date and time: give one such as"),
        ({"start": "2026-12-01"}, {}, "should match pattern"),
        ({"start": "2026-12-01T11:30:00+01:00"}, {}, "should match pattern"),
        ({"count": 65}, {}, "less than or equal to 64"),
        ({"count": 0}, {}, "greater than or equal to 1"),
        ({"id": "cr-1"}, {}, "should match pattern"),
        ({"zone": "us-east-1-bos-1a"}, {}, "should match pattern"),
        ({"days": 14}, {}, "not permitted"),
    ],
)
def test_a_block_that_could_not_be_is_refused_with_a_remedy(
    block: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(block=block, **changes)


@pytest.mark.parametrize("end", ["2026-12-02T11:30:00Z", "2026-12-16T11:30:00Z", "2027-06-01T11:30:00Z"])
@pytest.mark.parametrize("start", ["2026-12-01T11:30:00Z", "2026-12-01T04:55:00Z"])
def test_windows_that_ec2_sells_or_extends_to_are_taken(start: str, end: str) -> None:
    """A block that begins in the middle of a day lasts no whole number of days, and an extension adds single days."""
    assert spec(block={"start": start, "end": end})


def test_where_the_window_is_in_the_document_it_is_as_it_was_given() -> None:
    dumped = spec().model_dump(mode="json")["capacity"]
    assert (dumped["start"], dumped["end"]) == (BLOCK["start"], BLOCK["end"])


def users(*groups: NodeGroupSpec) -> dict[str, User]:
    return {f"g{at}": User(group.machine, group.capacity, group.nodes.max) for at, group in enumerate(groups)}


def test_groups_that_share_a_reservation_fit_into_it_together() -> None:
    half = spec(nodes={"min": 0, "max": 2})
    assert not list(shared_refusals(users(half, half)))
    assert list(shared_refusals(users(half, spec(nodes={"min": 0, "max": 3})))) == [
        "node_groups.g1.nodes.max: groups g0, g1 have nothing but the 4 machines of cr-0123456789abcdef0, and may "
        "grow to 5 nodes together: lower nodes.max"
    ]
    falls_back = spec(scaled_by="karpenter", capacity=[BLOCK, {"kind": "on_demand"}])
    assert not list(shared_refusals(users(half, falls_back))), "it grows on demand"


def test_groups_of_several_reservations_fit_into_all_of_them_together() -> None:
    """Karpenter uses several: what one group takes of a reservation, another that has nothing else lacks."""
    second = BLOCK | {"id": "cr-0123456789abcdef1", "count": 2}
    both = spec(scaled_by="karpenter", capacity=[BLOCK, second], nodes={"min": 0, "max": 6})
    assert list(shared_refusals(users(both, spec(nodes={"min": 0, "max": 2})))) == [
        "node_groups.g1.nodes.max: groups g0, g1 have nothing but the 6 machines of cr-0123456789abcdef0, "
        "cr-0123456789abcdef1, and may grow to 8 nodes together: lower nodes.max"
    ]
    fewer = spec(scaled_by="karpenter", capacity=[BLOCK, second], nodes={"min": 0, "max": 4})
    assert not list(shared_refusals(users(fewer, spec(nodes={"min": 0, "max": 2}))))
    apart = spec(block=second, nodes={"min": 0, "max": 2})
    assert not list(shared_refusals(users(spec(), apart))), "each has its own"


@pytest.mark.parametrize("other", [spec("p4d.24xlarge"), spec(block={"count": 8}), spec(block={"zone": "us-east-1a"})])
def test_a_reservation_is_the_same_wherever_it_is_named(other: NodeGroupSpec) -> None:
    [first, *_] = shared_refusals(users(spec(nodes={"min": 0, "max": 1}), other))
    assert first.startswith("node_groups.g1.capacity: cr-0123456789abcdef0 is said to be another in group g0")
