"""What a program lets in through a cloud's firewalls, taken apart once: whose addresses, and to which ports of TCP.

Security groups and their rules by themselves, firewall rules and policies of Compute Engine, and its forwarding rules
come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from gpuyard.review.evaluation.objects import Json, Path, pointer
from gpuyard.review.values import at, mapping, sequence

LAST_PORT = 65535

_TCP = frozenset({"-1", "6", "all", "tcp"})
"""How protocols that are TCP, or hold it, are written. Sources: IpPermission of the EC2 API; Firewall of Compute."""

_AWS_SOURCES = ("cidrBlocks", "ipv6CidrBlocks")
_GCP_POLICY_RULE = (
    "gcp:compute/firewallPolicyRule:FirewallPolicyRule",
    "gcp:compute/networkFirewallPolicyRule:NetworkFirewallPolicyRule",
    "gcp:compute/regionNetworkFirewallPolicyRule:RegionNetworkFirewallPolicyRule",
)
_GCP_POLICY = (
    "gcp:compute/firewallPolicyWithRules:FirewallPolicyWithRules",
    "gcp:compute/networkFirewallPolicyWithRules:NetworkFirewallPolicyWithRules",
    "gcp:compute/regionNetworkFirewallPolicyWithRules:RegionNetworkFirewallPolicyWithRules",
)

Ports = tuple[int, int]
Steps = tuple[str, ...]


def openings(type_: str, inputs: Json, unknown: Collection[Steps]) -> Iterator[Json]:
    """`{path, source, ports: [[first, last]], rests_on}` for each address range that is let in, and where it stands.

    `source` is left out where it is not known; ports that are not known are all ports, and `rests_on` names them.
    """
    read = _READ.get(type_)
    if read:
        yield from read(inputs, _Unknown(unknown))


class _Unknown:
    """What of a resource is not known."""

    def __init__(self, paths: Collection[Steps]) -> None:
        self._paths = {tuple(path) for path in paths}

    def __contains__(self, path: Path) -> bool:
        return tuple(str(step) for step in path) in self._paths


def _security_group(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    yield from _each(inputs, ("ingress",), unknown, lambda rule, path: _aws(rule, path, unknown))


def _security_group_rule(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    if inputs.get("type", "ingress") == "ingress":
        yield from _aws(inputs, (), unknown)


def _ingress_rule(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    ports, rests_on = _aws_ports(inputs, (), "ipProtocol", unknown)
    for name in ("cidrIpv4", "cidrIpv6"):
        if name in inputs or (name,) in unknown:
            yield _opening((name,), inputs.get(name), ports, rests_on)


def _aws(rule: Json, path: Path, unknown: _Unknown) -> Iterator[Json]:
    ports, rests_on = _aws_ports(rule, path, "protocol", unknown)
    for name in _AWS_SOURCES:
        yield from _sources(rule.get(name), (*path, name), ports, rests_on, unknown)


def _aws_ports(rule: Json, path: Path, protocol: str, unknown: _Unknown) -> tuple[list[Ports], list[Path]]:
    """Ports of a rule, none where it is about another protocol; and the places that say so."""
    named = str(rule.get(protocol, "-1")).lower()
    rests_on: list[Path] = [(*path, name) for name in (protocol, "fromPort", "toPort")]
    if named not in _TCP:
        return [], rests_on
    first, last = _port(rule.get("fromPort")), _port(rule.get("toPort"))
    if named in ("-1", "all") or first is None or last is None:
        hidden = any(place in unknown for place in rests_on)
        # A rule for TCP that says no ports is refused by EC2; one whose ports are not known may be for any.
        return ([(0, LAST_PORT)] if named in ("-1", "all") or hidden else []), rests_on
    return [(first, last)], rests_on


def _firewall(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    if inputs.get("disabled") is True or inputs.get("direction", "INGRESS") != "INGRESS":
        return
    ports, rests_on = _gcp_ports(inputs.get("allows"), ("allows",), "protocol", unknown)
    yield from _sources(inputs.get("sourceRanges"), ("sourceRanges",), ports, rests_on, unknown)


def _policy_rule(rule: Json, path: Path, unknown: _Unknown) -> Iterator[Json]:
    lets_in = rule.get("action") in ("allow", "apply_security_profile_group")
    if not lets_in or rule.get("disabled") is True or rule.get("direction", "INGRESS") != "INGRESS":
        return
    match = mapping(rule.get("match"))
    ports, rests_on = _gcp_ports(match.get("layer4Configs"), (*path, "match", "layer4Configs"), "ipProtocol", unknown)
    place = (*path, "match", "srcIpRanges")
    yield from _sources(match.get("srcIpRanges"), place, ports, rests_on, unknown)


def _policy(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    yield from _each(inputs, ("rules",), unknown, lambda rule, path: _policy_rule(rule, path, unknown))


def _forwarding_rule(inputs: Json, unknown: _Unknown) -> Iterator[Json]:
    """A load balancer's front: the ports are its own, not those of what stands behind it."""
    if not str(inputs.get("loadBalancingScheme", "EXTERNAL")).startswith("EXTERNAL"):
        return
    if str(inputs.get("ipProtocol", "TCP")).upper() not in ("TCP", "L3_DEFAULT"):
        return
    ranges = [*sequence(inputs.get("ports")), *([inputs["portRange"]] if "portRange" in inputs else [])]
    ports = [(0, LAST_PORT)] if inputs.get("allPorts") is True else [p for p in map(_range, ranges) if p]
    rests_on: list[Path] = [(name,) for name in ("allPorts", "loadBalancingScheme", "portRange", "ports")]
    if "sourceIpRanges" in inputs or ("sourceIpRanges",) in unknown:
        yield from _sources(inputs.get("sourceIpRanges"), ("sourceIpRanges",), ports, rests_on, unknown)
    elif ports:
        yield _opening(("loadBalancingScheme",), "0.0.0.0/0", ports, rests_on)


def _gcp_ports(listed: Any, path: Path, protocol: str, unknown: _Unknown) -> tuple[list[Ports], list[Path]]:
    """Ports of several protocols: one that names no ports has all."""
    if path in unknown:
        return [(0, LAST_PORT)], [path]
    found: list[Ports] = []
    for allowed in map(mapping, sequence(listed)):
        if str(allowed.get(protocol, "")).lower() in _TCP:
            ports = sequence(allowed.get("ports"))
            found += [p for p in map(_range, ports) if p] if ports else [(0, LAST_PORT)]
    return found, [path]


def _sources(listed: Any, path: Path, ports: list[Ports], rests_on: list[Path], unknown: _Unknown) -> Iterator[Json]:
    if not ports:
        return
    if path in unknown:
        yield _opening(path, None, ports, rests_on)
    for i, source in enumerate(sequence(listed)):
        yield _opening((*path, i), source, ports, rests_on)


def _each(inputs: Json, path: Path, unknown: _Unknown, read: Callable[[Json, Path], Iterator[Json]]) -> Iterator[Json]:
    """Of a list of rules, what each lets in."""
    if path in unknown:
        yield _opening(path, None, [(0, LAST_PORT)], [])
    for i, rule in enumerate(sequence(at(inputs, *path))):
        if isinstance(rule, dict):
            yield from read(rule, (*path, i))
        elif rule is None:
            yield _opening((*path, i), None, [(0, LAST_PORT)], [])


def _opening(path: Path, source: Any, ports: list[Ports], rests_on: list[Path]) -> Json:
    here = {"path": pointer(path), "ports": [list(ports_) for ports_ in ports]}
    known = {"source": source} if isinstance(source, str) else {}
    return here | known | {"rests_on": [pointer(path), *map(pointer, rests_on)]}


def _port(value: Any) -> int | None:
    text = str(value)
    return int(text) if not isinstance(value, bool) and text.isascii() and text.isdecimal() and len(text) < 6 else None


def _range(value: Any) -> Ports | None:
    """Ports as Google writes them: 8000, or 8000-8002."""
    first, dash, last = str(value).partition("-")
    ends = _port(first), _port(last if dash else first)
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


_READ: Mapping[str, Callable[[Json, _Unknown], Iterator[Json]]] = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _security_group,
    "aws:ec2/securityGroup:SecurityGroup": _security_group,
    "aws:ec2/securityGroupRule:SecurityGroupRule": _security_group_rule,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ingress_rule,
    "gcp:compute/firewall:Firewall": _firewall,
    "gcp:compute/forwardingRule:ForwardingRule": _forwarding_rule,
    "gcp:compute/globalForwardingRule:GlobalForwardingRule": _forwarding_rule,
    **dict.fromkeys(_GCP_POLICY_RULE, lambda inputs, unknown: _policy_rule(inputs, (), unknown)),
    **dict.fromkeys(_GCP_POLICY, _policy),
}
