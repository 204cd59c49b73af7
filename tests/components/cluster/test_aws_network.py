from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.aws import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard.components.cluster.aws_network import (
    Network,
    OwnNetwork,
    nat_zones,
    parse_cidr,
    subnet_plan,
)

TAGS = {"owner": "ml-platform", "stack": "prod"}
ZONES = [f"us-east-1{letter}" for letter in "abcdefg"]


def own(**changes: Any) -> OwnNetwork:
    return OwnNetwork.model_validate({"cidr": "10.40.0.0/16", "zones": ["us-east-1a", "us-east-1b"], **changes})


def declared(**changes: Any) -> list[Resource]:
    return registered(lambda: Network("prod", own(**changes), region="us-east-1", tags=TAGS))


def of_type(resources: list[Resource], kind: str) -> list[Resource]:
    return [resource for resource in resources if resource["type"] == kind]


@st.composite
def networks(draw: st.DrawFn) -> str:
    prefix = draw(st.integers(16, 20))
    block = draw(st.integers(0, 2**prefix - 1))
    return f"{IPv4Network((block << (32 - prefix), prefix))}"


@given(networks(), st.permutations(ZONES))
def test_subnets_lie_inside_the_vpc_and_never_overlap(cidr: str, zones: list[str]) -> None:
    plan = subnet_plan(cidr, zones)
    subnets = [IPv4Network(block) for blocks in plan.values() for block in (blocks.private, blocks.public)]
    assert len(subnets) == 14
    assert all(subnet.subnet_of(IPv4Network(cidr)) for subnet in subnets)
    assert not any(one.overlaps(other) for one, other in combinations(subnets, 2))
    assert all(subnet.prefixlen <= 28 for subnet in subnets), "EC2 makes no smaller subnet"


@given(networks(), st.lists(st.sampled_from(ZONES), unique=True, min_size=1), st.sampled_from(ZONES))
def test_a_zone_more_or_less_moves_no_subnet(cidr: str, zones: list[str], zone: str) -> None:
    alone = subnet_plan(cidr, [zone])[zone]
    assert subnet_plan(cidr, [*zones, zone])[zone] == alone


def test_nodes_get_an_eighth_and_public_things_a_sixty_fourth() -> None:
    blocks = subnet_plan("10.40.0.0/16", ["us-east-1b"])["us-east-1b"]
    assert (blocks.private, blocks.public) == ("10.40.32.0/19", "10.40.228.0/22")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cidr": "10.40.0.1/16"}, "give the network, 10.40.0.0/16"),
        ({"cidr": "999.0.0.0/16"}, "is not an IPv4 network"),
        ({"cidr": "10.0.0.0/8"}, "give a /16 to a /20"),
        ({"cidr": "10.40.0.0/24"}, "give a /16 to a /20"),
        ({"zones": ["us-east-1a", "us-east-1a"]}, "give each zone once"),
        ({"zones": ["us-east-1a"]}, "at least 2 items"),
        ({"zones": ["us-east-1a", "us-east-1-bos-1a"]}, "should match pattern"),
    ],
)
def test_a_network_that_cannot_hold_a_cluster_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        own(**changes)


def test_each_zone_has_a_way_out_of_its_own_unless_one_is_asked_for() -> None:
    assert nat_zones(own()) == ["us-east-1a", "us-east-1b"]
    assert nat_zones(own(nat="one")) == ["us-east-1a"]


def test_nodes_leave_through_nat_and_only_public_subnets_through_the_internet_gateway() -> None:
    resources = declared()
    routes = {route["name"]: route["inputs"] for route in of_type(resources, "aws:ec2/route:Route")}
    assert routes["prod-private-us-east-1a"]["natGatewayId"] == "prod-nat-us-east-1a-id"
    assert routes["prod-private-us-east-1b"]["natGatewayId"] == "prod-nat-us-east-1b-id"
    assert routes["prod-public-us-east-1b"]["gatewayId"] == "prod-id"
    assert not any("gatewayId" in inputs for name, inputs in routes.items() if name.startswith("prod-private")), (
        "a private subnet that routes to the internet gateway is public"
    )


def test_no_subnet_gives_its_machines_public_addresses() -> None:
    subnets = of_type(declared(), "aws:ec2/subnet:Subnet")
    assert len(subnets) == 4
    assert all(subnet["inputs"]["mapPublicIpOnLaunch"] is False for subnet in subnets)


def test_one_nat_gateway_serves_all_zones_where_that_is_asked_for() -> None:
    resources = declared(nat="one")
    assert [nat["name"] for nat in of_type(resources, "aws:ec2/natGateway:NatGateway")] == ["prod-nat-us-east-1a"]
    routes = {route["name"]: route["inputs"] for route in of_type(resources, "aws:ec2/route:Route")}
    assert routes["prod-private-us-east-1b"]["natGatewayId"] == "prod-nat-us-east-1a-id"


def test_s3_is_reached_from_private_subnets_without_nat() -> None:
    [endpoint] = of_type(declared(), "aws:ec2/vpcEndpoint:VpcEndpoint")
    assert endpoint["inputs"]["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert endpoint["inputs"]["routeTableIds"] == ["prod-private-us-east-1a-id", "prod-private-us-east-1b-id"]


def test_the_default_security_group_lets_nothing_through() -> None:
    [group] = of_type(declared(), "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
    assert (group["inputs"]["ingress"], group["inputs"]["egress"]) == ([], [])


def test_every_part_is_below_the_network_carries_its_name_and_is_accepted() -> None:
    resources = declared()
    root, *children = resources
    assert root["type"] == "gpuyard:index:EksNetwork"
    assert all(child["parent"] == root["urn"] and child["name"].startswith("prod") for child in children)
    assert {child["name"]: found for child in children if (found := problems(child))} == {}
    taggable = [child for child in children if "tags" in child["inputs"]]
    assert all(TAGS.items() <= child["inputs"]["tags"].items() for child in taggable)
    untagged = {child["type"] for child in children} - {child["type"] for child in taggable}
    assert untagged == {"aws:ec2/route:Route", "aws:ec2/routeTableAssociation:RouteTableAssociation"}


def test_nat_waits_for_the_internet_gateway() -> None:
    resources = declared()
    [gateway] = of_type(resources, "aws:ec2/internetGateway:InternetGateway")
    for nat in of_type(resources, "aws:ec2/natGateway:NatGateway"):
        assert gateway["urn"] in nat["options"]["depends_on"]


@given(networks())
def test_a_network_is_read_as_it_is_written(cidr: str) -> None:
    assert str(parse_cidr(cidr)) == cidr
