"""Networks of Compute Engine. What forces a new resource: terraform-provider-google-beta, services/compute, ForceNew."""

from __future__ import annotations

import secrets
from ipaddress import IPv4Network
from typing import Any, ClassVar

from clouds.cloud import Thing
from clouds.gcp.kinds import API, GcpKind, Link, paths, project
from clouds.kind import AutoName, Inputs, Session
from clouds.refused import RefusedError

NETWORK, SUBNET = "gcp:compute/network:Network", "gcp:compute/subnetwork:Subnetwork"
ROUTER, POLICY = "gcp:compute/router:Router", "gcp:compute/resourcePolicy:ResourcePolicy"
LOWER = AutoName("name", 63, str.lower)
CREATED = "2026-11-30T00:00:00.000-08:00"


def link(path: str, kind: str, *, holds: bool = True) -> Link:
    """What a resource of Compute Engine names."""
    return Link(path, kind, "notFound", "The resource '{}' was not found", holds=holds, status=404)


class Network(GcpKind):
    token, what, service = NETWORK, "Network", "compute"
    create, update, delete = "networks.insert", "networks.patch", "networks.delete"
    autoname = LOWER
    defaults: ClassVar[dict[str, Any]] = {
        "autoCreateSubnetworks": True,
        "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
    }
    source = "compute/resource_compute_network.go@93c65b2"
    replaces = paths("name autoCreateSubnetworks description internalIpv6Range networkProfile params project")
    kept = paths("routingMode mtu bgpBestPathSelectionMode bgpInterRegionCost bgpAlwaysCompareMed")
    computed = ("gatewayIpv4", "networkId", "numericId", "project", "routingMode", "mtu", "selfLink")
    taken = ("alreadyExists", "The resource '{}' already exists")
    id_format = "projects/{project}/global/networks/{name}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        number = before.get("numericId") or str(secrets.randbelow(10**18))
        return {
            "gatewayIpv4": "",
            "networkId": number,
            "numericId": number,
            "project": project(session, inputs),
            "routingMode": inputs.get("routingMode", "REGIONAL"),
            "mtu": inputs.get("mtu", 1460),
            "selfLink": API + name,
        }


class Subnetwork(GcpKind):
    token, what, service = SUBNET, "Subnetwork", "compute"
    create, update, delete = "subnetworks.insert", "subnetworks.patch", "subnetworks.delete"
    autoname = LOWER
    source = "compute/resource_compute_subnetwork.go@93c65b2"
    replaces = paths(
        "name network description externalIpv6Prefix internalIpv6Prefix params project region reservedInternalRange"
    )
    kept = paths("ipCidrRange secondaryIpRanges privateIpGoogleAccess privateIpv6GoogleAccess purpose stackType")
    computed = (
        "creationTimestamp",
        "fingerprint",
        "gatewayAddress",
        "privateIpGoogleAccess",
        "privateIpv6GoogleAccess",
        "project",
        "purpose",
        "region",
        "secondaryIpRanges",
        "selfLink",
        "stackType",
        "subnetworkId",
    )
    references = (link("network", NETWORK),)
    taken = ("alreadyExists", "The resource '{}' already exists")
    id_format = "projects/{project}/regions/{region}/subnetworks/{name}"

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """A range can grow in place, and only grow: resource_compute_subnetwork.go, IsShrinkageIpCidr."""
        if path == "ipCidrRange" and isinstance(new.get(path), str):
            return not IPv4Network(old[path]).subnet_of(IPv4Network(new[path]))
        return super().must_replace(path, old, new)

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        ours = _blocks(inputs)
        for other in session.cloud.resources(SUBNET):
            if other.inputs["network"] == inputs["network"]:
                for block in ours:
                    if any(block.overlaps(theirs) for theirs in _blocks(other.inputs)):
                        message = f"Invalid IPCidrRange: {block} conflicts with existing subnetwork '{other.id}'"
                        raise RefusedError("invalid", message)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "creationTimestamp": CREATED,
            "fingerprint": secrets.token_hex(6),
            "gatewayAddress": str(IPv4Network(inputs["ipCidrRange"])[1]),
            "privateIpGoogleAccess": inputs.get("privateIpGoogleAccess", False),
            "privateIpv6GoogleAccess": inputs.get("privateIpv6GoogleAccess", "DISABLE_GOOGLE_ACCESS"),
            "project": project(session, inputs),
            "purpose": inputs.get("purpose", "PRIVATE"),
            "region": inputs.get("region") or session.region,
            "secondaryIpRanges": inputs.get("secondaryIpRanges", []),
            "selfLink": API + name,
            "stackType": inputs.get("stackType", "IPV4_ONLY"),
            "subnetworkId": before.get("subnetworkId") or secrets.randbelow(10**9),
        }


class Firewall(GcpKind):
    """A rule of its network: it does not keep the network from being used, and the network is not deleted before it."""

    token, what, service = "gcp:compute/firewall:Firewall", "Firewall", "compute"
    create, update, delete = "firewalls.insert", "firewalls.patch", "firewalls.delete"
    autoname = LOWER
    defaults: ClassVar[dict[str, Any]] = {"priority": 1000}
    source = "compute/resource_compute_firewall.go@0123f38"
    replaces = paths("name direction params project")
    sets = paths(
        "allows denies destinationRanges sourceRanges sourceServiceAccounts sourceTags targetServiceAccounts targetTags"
    )
    kept = paths("destinationRanges direction")
    computed = ("creationTimestamp", "destinationRanges", "direction", "enableLogging", "project", "selfLink")
    references = (link("network", NETWORK),)
    taken = ("alreadyExists", "The resource '{}' already exists")
    id_format = "projects/{project}/global/firewalls/{name}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "creationTimestamp": CREATED,
            "destinationRanges": inputs.get("destinationRanges", []),
            "direction": inputs.get("direction", "INGRESS"),
            "enableLogging": False,
            "project": project(session, inputs),
            "selfLink": API + name,
        }


class ResourcePolicy(GcpKind):
    token, what, service = POLICY, "ResourcePolicy", "compute"
    create, update, delete = "resourcePolicies.insert", "resourcePolicies.patch", "resourcePolicies.delete"
    autoname = LOWER
    source = "compute/resource_compute_resource_policy.go@0123f38"
    replaces = paths(
        "diskConsistencyGroupPolicy.enabled groupPlacementPolicy.gpuTopology groupPlacementPolicy.tpuTopology project "
        "region workloadPolicy"
    )
    computed = ("project", "region", "selfLink")
    taken = ("alreadyExists", "The resource '{}' already exists")
    id_format = "projects/{project}/regions/{region}/resourcePolicies/{name}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "project": project(session, inputs),
            "region": inputs.get("region") or session.region,
            "selfLink": API + name,
        }


def _blocks(inputs: Inputs) -> list[IPv4Network]:
    ranges = [inputs["ipCidrRange"], *(r["ipCidrRange"] for r in inputs.get("secondaryIpRanges") or [])]
    return [IPv4Network(block) for block in ranges]


class Router(GcpKind):
    token, what, service = ROUTER, "Router", "compute"
    create, update, delete = "routers.insert", "routers.patch", "routers.delete"
    autoname = LOWER
    source = "compute/resource_compute_router.go@93c65b2"
    replaces = paths("name encryptedInterconnectRouter nccGateway network params region project")
    computed = ("creationTimestamp", "project", "region", "selfLink")
    references = (link("network", NETWORK),)
    taken = ("alreadyExists", "The resource '{}' already exists")
    id_format = "projects/{project}/regions/{region}/routers/{name}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "creationTimestamp": CREATED,
            "project": project(session, inputs),
            "region": inputs.get("region") or session.region,
            "selfLink": API + name,
        }


class RouterNat(GcpKind):
    """A part of its router: it does not keep the router from being deleted."""

    token, what, service = "gcp:compute/routerNat:RouterNat", "RouterNat", "compute"
    create, update, delete = "routers.patch", "routers.patch", "routers.patch"
    autoname = LOWER
    defaults: ClassVar[dict[str, Any]] = {
        "icmpIdleTimeoutSec": 30,
        "tcpEstablishedIdleTimeoutSec": 1200,
        "tcpTimeWaitTimeoutSec": 120,
        "tcpTransitoryIdleTimeoutSec": 30,
        "type": "PUBLIC",
        "udpIdleTimeoutSec": 30,
    }
    source = "compute/resource_compute_router_nat.go@93c65b2"
    replaces = paths("name router endpointTypes initialNatIps region type project")
    kept = paths(
        "autoNetworkTier enableDynamicPortAllocation enableEndpointIndependentMapping endpointTypes minPortsPerVm"
    )
    computed = ("autoNetworkTier", "endpointTypes", "project", "region")
    references = (link("router", ROUTER, holds=False),)
    taken = ("alreadyExists", "The NAT '{}' already exists")
    id_format = "{project}/{region}/{router}/{name}"

    def found(self, session: Session, name: str) -> Thing | None:
        parts = name.split("/")
        return super().found(session, "/".join([parts[1], parts[3], *parts[5:]]) if len(parts) == 7 else name)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "autoNetworkTier": inputs.get("autoNetworkTier", "PREMIUM"),
            "endpointTypes": inputs.get("endpointTypes", ["ENDPOINT_TYPE_VM"]),
            "project": project(session, inputs),
            "region": inputs.get("region") or session.region,
        }
