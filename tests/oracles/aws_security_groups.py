"""What EC2 refuses in security groups and their rules although its models do not say so."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Inputs = Mapping[str, Any]

TEXT = re.compile(r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}")
"""Names and descriptions. EC2 API, CreateSecurityGroupRequest and IpRange$Description."""

SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
"""terraform-provider-aws@d2b7f56, vpc_security_group_ingress_rule.go: exactly one of them."""


def _group(inputs: Inputs) -> Iterator[str]:
    for path in ("name", "description"):
        yield from _text(inputs.get(path, "name"), f"/{path}")
    if str(inputs.get("name") or "").startswith("sg-"):
        yield f"/name: {inputs['name']!r} starts with sg-, which EC2's ids do"
    for direction in ("ingress", "egress"):
        for index, rule in enumerate(inputs.get(direction) or []):
            path = f"/{direction}/{index}"
            yield from _ports(rule, "protocol", path)
            yield from _text(rule.get("description") or "none", f"{path}/description")
            for blocks, version in (("cidrBlocks", 4), ("ipv6CidrBlocks", 6)):
                for place, block in enumerate(rule.get(blocks) or []):
                    yield from _network(block, version, f"{path}/{blocks}/{place}")


def _rule(inputs: Inputs) -> Iterator[str]:
    given = [source for source in SOURCES if source in inputs]
    if len(given) != 1:
        yield f"one of {', '.join(SOURCES)} is expected, given {len(given)} of them"
    yield from _network(inputs.get("cidrIpv4"), 4, "/cidrIpv4")
    yield from _network(inputs.get("cidrIpv6"), 6, "/cidrIpv6")
    yield from _text(inputs.get("description") or "none", "/description")
    yield from _ports(inputs, "ipProtocol", "")


def _ports(rule: Inputs, protocol: str, path: str) -> Iterator[str]:
    """EC2 API, IpPermission: tcp, udp and icmp need a range of ports, or of types of messages."""
    low, high = rule.get("fromPort", "none"), rule.get("toPort", "none")
    if str(rule.get(protocol)).lower() in ("tcp", "udp", "icmp", "6", "17", "1") and "none" in (low, high):
        yield f"{path}/{protocol}: {rule[protocol]} needs fromPort and toPort"
    numbers = [port for port in (low, high) if isinstance(port, int | float)]
    if any(not -1 <= port <= 65_535 for port in numbers):
        yield f"{path}/fromPort: {low} to {high} is not within -1 to 65535"
    elif len(numbers) == 2 and numbers[0] > numbers[1] and str(rule.get(protocol)).lower() in ("tcp", "udp", "6", "17"):
        yield f"{path}/fromPort: {low} is above toPort {high}"


def _text(text: Any, path: str) -> Iterator[str]:
    if isinstance(text, str) and not TEXT.fullmatch(text):
        yield f"{path}: {text!r} has characters that EC2 does not take, or more than 255"


def _network(block: Any, version: int, path: str) -> Iterator[str]:
    if block is None:
        return
    try:
        network = ipaddress.ip_network(block)
    except ValueError:
        yield f"{path}: {block!r} is not a network"
        return
    if "/" not in block or network.version != version:
        yield f"{path}: {block!r} is not a network of IPv{version}"


RULES: dict[str, tuple[Callable[[Inputs], Iterator[str]], ...]] = {
    "aws:ec2/securityGroup:SecurityGroup": (_group,),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": (_rule,),
}
"""Rules by Pulumi type."""
