"""What firewalls of both clouds let in, in every form in which programs write it."""

from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.evaluation.openings import openings

Json = dict[str, Any]

INLINE = "aws:ec2/securityGroup:SecurityGroup"
RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
FIREWALL = "gcp:compute/firewall:Firewall"
FORWARDING = "gcp:compute/forwardingRule:ForwardingRule"
ALL = [[0, 65535]]


def found(type_: str, inputs: Json, *unknown: tuple[str, ...]) -> list[tuple[str, Any, Any]]:
    return [(one["path"], one.get("source"), one["ports"]) for one in openings(type_, inputs, unknown)]


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        (
            INLINE,
            {"ingress": [{"protocol": "tcp", "fromPort": 22, "toPort": 22, "cidrBlocks": ["10.0.0.0/8", "0.0.0.0/0"]}]},
            [
                ("/ingress/0/cidrBlocks/0", "10.0.0.0/8", [[22, 22]]),
                ("/ingress/0/cidrBlocks/1", "0.0.0.0/0", [[22, 22]]),
            ],
        ),
        (
            "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
            {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "ipv6CidrBlocks": ["::/0"]}]},
            [("/ingress/0/ipv6CidrBlocks/0", "::/0", ALL)],
        ),
        (
            RULE,
            {"type": "ingress", "protocol": "6", "fromPort": 8000, "toPort": 8100, "cidrBlocks": ["0.0.0.0/0"]},
            [("/cidrBlocks/0", "0.0.0.0/0", [[8000, 8100]])],
        ),
        (INGRESS, {"ipProtocol": "-1", "cidrIpv6": "::/0"}, [("/cidrIpv6", "::/0", ALL)]),
        (INGRESS, {"ipProtocol": "tcp", "fromPort": 1, "toPort": 2, "referencedSecurityGroupId": "sg-1"}, []),
        (
            FIREWALL,
            {
                "allows": [{"protocol": "TCP", "ports": ["22", "8000-8002"]}, {"protocol": "udp"}],
                "sourceRanges": ["0.0.0.0/0"],
            },
            [("/sourceRanges/0", "0.0.0.0/0", [[22, 22], [8000, 8002]])],
        ),
        (FIREWALL, {"allows": [{"protocol": "all"}], "sourceRanges": ["::/0"]}, [("/sourceRanges/0", "::/0", ALL)]),
        (
            "gcp:compute/networkFirewallPolicyRule:NetworkFirewallPolicyRule",
            {
                "action": "allow",
                "direction": "INGRESS",
                "match": {"srcIpRanges": ["0.0.0.0/0"], "layer4Configs": [{"ipProtocol": "tcp", "ports": ["9400"]}]},
            },
            [("/match/srcIpRanges/0", "0.0.0.0/0", [[9400, 9400]])],
        ),
        (
            "gcp:compute/regionNetworkFirewallPolicyWithRules:RegionNetworkFirewallPolicyWithRules",
            {
                "rules": [
                    {
                        "action": "deny",
                        "match": {"srcIpRanges": ["0.0.0.0/0"], "layer4Configs": [{"ipProtocol": "all"}]},
                    },
                    {"action": "allow", "match": {"srcIpRanges": ["::/0"], "layer4Configs": [{"ipProtocol": "all"}]}},
                ]
            },
            [("/rules/1/match/srcIpRanges/0", "::/0", ALL)],
        ),
        (FORWARDING, {"portRange": "8000-8002"}, [("/loadBalancingScheme", "0.0.0.0/0", [[8000, 8002]])]),
        (
            FORWARDING,
            {"ports": ["443"], "sourceIpRanges": ["10.0.0.0/8"]},
            [("/sourceIpRanges/0", "10.0.0.0/8", [[443, 443]])],
        ),
    ],
)
def test_what_is_let_in_is_told_with_its_ports(type_: str, inputs: Json, expected: Any) -> None:
    assert found(type_, inputs) == expected


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        (INLINE, {"ingress": [{"protocol": "udp", "fromPort": 53, "toPort": 53, "cidrBlocks": ["0.0.0.0/0"]}]}),
        (INLINE, {"egress": [{"protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}]}),
        (
            INLINE,
            {"ingress": [{"protocol": "tcp", "fromPort": 1, "toPort": 2, "securityGroups": ["sg-1"], "self": True}]},
        ),
        (RULE, {"type": "egress", "protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}),
        (FIREWALL, {"direction": "EGRESS", "allows": [{"protocol": "all"}], "sourceRanges": ["0.0.0.0/0"]}),
        (FIREWALL, {"disabled": True, "allows": [{"protocol": "all"}], "sourceRanges": ["0.0.0.0/0"]}),
        (FIREWALL, {"denies": [{"protocol": "all"}], "sourceRanges": ["0.0.0.0/0"]}),
        (FIREWALL, {"allows": [{"protocol": "icmp"}], "sourceRanges": ["0.0.0.0/0"]}),
        (FORWARDING, {"loadBalancingScheme": "INTERNAL", "allPorts": True}),
        ("aws:ec2/vpc:Vpc", {"cidrBlock": "0.0.0.0/0"}),
    ],
)
def test_what_lets_nothing_in_is_not_told(type_: str, inputs: Json) -> None:
    assert found(type_, inputs) == []


def test_what_is_not_known_is_told_without_a_source() -> None:
    tcp = {"protocol": "tcp", "fromPort": 1, "toPort": 2}
    assert found(INLINE, {"ingress": [tcp]}, ("ingress", "0", "cidrBlocks")) == [
        ("/ingress/0/cidrBlocks", None, [[1, 2]])
    ]
    assert found(INLINE, {"ingress": [tcp | {"cidrBlocks": [None]}]}) == [("/ingress/0/cidrBlocks/0", None, [[1, 2]])]
    assert found(INLINE, {}, ("ingress",)) == [("/ingress", None, ALL)]
    assert found(INGRESS, {"ipProtocol": "tcp"}, ("fromPort",), ("cidrIpv4",)) == [("/cidrIpv4", None, ALL)]
    assert found(FIREWALL, {"sourceRanges": ["::/0"]}, ("allows",)) == [("/sourceRanges/0", "::/0", ALL)]


def test_ports_that_are_not_known_are_what_a_finding_rests_on() -> None:
    (opening,) = openings(RULE, {"type": "ingress", "protocol": "tcp", "cidrBlocks": ["::/0"]}, [("fromPort",)])
    assert {"/fromPort", "/cidrBlocks/0"} <= {*opening["rests_on"]}


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None], [7], [[]], {"a": None}, True])
@pytest.mark.parametrize("type_", [INLINE, RULE, INGRESS, FIREWALL, FORWARDING])
def test_inputs_of_any_shape_are_read(type_: str, odd: Any) -> None:
    fields = ("ingress", "cidrBlocks", "protocol", "fromPort", "allows", "sourceRanges", "ports", "cidrIpv4")
    for field in fields:
        list(openings(type_, {field: odd}, ()))
        list(openings(type_, {"ingress": [{field: odd}], "allows": [{field: odd}]}, ()))
