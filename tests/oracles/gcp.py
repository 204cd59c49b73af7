"""Judges recorded Google Cloud inputs by models that are not ours.

GKE's cluster and node pool are read by the container API's own protos (gcp_container). The other services have no
protos among the project's dependencies: the fields that the components and the examples use are listed here with what
each takes, as compute v1, cloudkms v1, iam v1, cloudresourcemanager v1 and storage v1 document them. Anything not
listed is a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from oracles import gcp_container

PROJECT = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")
REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")
RANGE_NAME = NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
KEY_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
ACCOUNT_ID = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")
ROLE = re.compile(r"roles/[a-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)?")
MEMBER = re.compile(r"(user|group|serviceAccount):[^\s:@]+@[^\s:@]+")
SERVICE = re.compile(r"[a-z]+\.googleapis\.com")
SECONDS = re.compile(r"[0-9]+(\.[0-9]{1,9})?s")
TEXT = re.compile(r"(?s).+")
EMAIL = re.compile(r"[^\s:@]+@[^\s:@]+")
PORTS = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?")
TOPOLOGY = re.compile(r"[0-9]+(x[0-9]+){1,2}")
BUCKET_NAME = re.compile(r"(?!goog|[0-9]+(\.[0-9]+){3}$|.*google)(?=.{3,222}$)[a-z0-9]([-_.a-z0-9]*[a-z0-9])?")
PLACE = re.compile(r"(?i)[a-z]+([0-9]|-[a-z]+[0-9]+)?")
WHOLE = re.compile(r"[1-9][0-9]*")


class Cidr:
    """An IPv4 network without host bits."""


class Labels:
    """Labels of a cloud resource."""


FIELDS: dict[str, dict[str, Any]] = {
    "gcp:compute/network:Network": {
        "name": NAME,
        "project": PROJECT,
        "autoCreateSubnetworks": bool,
        "networkFirewallPolicyEnforcementOrder": {"AFTER_CLASSIC_FIREWALL", "BEFORE_CLASSIC_FIREWALL"},
        "routingMode": {"REGIONAL", "GLOBAL"},
        "mtu": range(1300, 8897),
    },
    "gcp:compute/firewall:Firewall": {
        "name": NAME,
        "project": PROJECT,
        "network!": TEXT,
        "direction": {"INGRESS", "EGRESS"},
        "sourceRanges": [Cidr],
        "targetServiceAccounts": [EMAIL],
        "allows": [{"protocol!": {"tcp", "udp", "icmp", "esp", "ah", "sctp", "ipip", "all"}, "ports": [PORTS]}],
        "priority": range(65536),
    },
    "gcp:compute/resourcePolicy:ResourcePolicy": {
        "name": NAME,
        "project": PROJECT,
        "region": REGION,
        "workloadPolicy": {
            "type!": {"HIGH_AVAILABILITY", "HIGH_THROUGHPUT"},
            "acceleratorTopology": TOPOLOGY,
            "maxTopologyDistance": {"BLOCK", "CLUSTER", "SUBBLOCK"},
        },
    },
    "gcp:compute/subnetwork:Subnetwork": {
        "name": NAME,
        "project": PROJECT,
        "region": REGION,
        "network!": TEXT,
        "ipCidrRange!": Cidr,
        "secondaryIpRanges": [{"rangeName!": RANGE_NAME, "ipCidrRange!": Cidr}],
        "privateIpGoogleAccess": bool,
    },
    "gcp:compute/router:Router": {"name": NAME, "project": PROJECT, "region": REGION, "network!": TEXT},
    "gcp:compute/routerNat:RouterNat": {
        "name": NAME,
        "project": PROJECT,
        "region": REGION,
        "router!": TEXT,
        "natIpAllocateOption": {"AUTO_ONLY", "MANUAL_ONLY"},
        "sourceSubnetworkIpRangesToNat!": {
            "ALL_SUBNETWORKS_ALL_IP_RANGES",
            "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES",
            "LIST_OF_SUBNETWORKS",
        },
        "enableDynamicPortAllocation": bool,
        "enableEndpointIndependentMapping": bool,
        "icmpIdleTimeoutSec": int,
        "tcpEstablishedIdleTimeoutSec": int,
        "tcpTimeWaitTimeoutSec": int,
        "tcpTransitoryIdleTimeoutSec": int,
        "udpIdleTimeoutSec": int,
        "type": {"PUBLIC", "PRIVATE"},
        "logConfig": {"enable!": bool, "filter!": {"ALL", "ERRORS_ONLY", "TRANSLATIONS_ONLY"}},
    },
    "gcp:serviceaccount/account:Account": {
        "accountId": ACCOUNT_ID,
        "project": PROJECT,
        "displayName": re.compile(r".{1,100}"),
    },
    "gcp:projects/iAMMember:IAMMember": {"project!": PROJECT, "role!": ROLE, "member!": MEMBER},
    "gcp:projects/serviceIdentity:ServiceIdentity": {"project": PROJECT, "service!": SERVICE},
    "gcp:kms/keyRing:KeyRing": {"name": KEY_NAME, "project": PROJECT, "location!": REGION},
    "gcp:kms/cryptoKey:CryptoKey": {
        "name": KEY_NAME,
        "keyRing!": TEXT,
        "purpose": {"ENCRYPT_DECRYPT"},
        "rotationPeriod": SECONDS,
        "labels": Labels,
    },
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": {"cryptoKeyId!": TEXT, "role!": ROLE, "member!": MEMBER},
    "gcp:storage/bucket:Bucket": {
        "name": BUCKET_NAME,
        "project": PROJECT,
        "location!": PLACE,
        "storageClass": {"STANDARD", "MULTI_REGIONAL", "REGIONAL", "NEARLINE", "COLDLINE", "ARCHIVE"},
        "uniformBucketLevelAccess": bool,
        "publicAccessPrevention": {"inherited", "enforced"},
        "forceDestroy": bool,
        "versioning": {"enabled!": bool},
        "encryption": {"defaultKmsKeyName": gcp_container.KEY},
        "retentionPolicy": {"retentionPeriod!": WHOLE, "isLocked": bool},
        "softDeletePolicy": {"retentionDurationSeconds": range(7_776_001)},
        "hierarchicalNamespace": {"enabled!": bool},
        "labels": Labels,
    },
}
"""Fields by type; a name that ends in ! is required."""


def problems(resource: Mapping[str, Any]) -> list[str]:
    """What Google Cloud would refuse in a recorded resource. Unknown values (null) are taken to be right."""
    kind, inputs = resource["type"], resource["inputs"]
    if kind == "gcp:container/cluster:Cluster":
        return list(gcp_container.cluster_problems(inputs))
    if kind == "gcp:container/nodePool:NodePool":
        return list(gcp_container.node_pool_problems(inputs))
    if kind in FIELDS:
        return [*_misfits("", FIELDS[kind], inputs), *_relations(kind, inputs)]
    return [f"no check knows {kind}"] if kind.startswith("gcp:") else []


def _misfits(path: str, wanted: Any, value: Any) -> Iterator[str]:
    if value is None:
        return
    if isinstance(wanted, dict):
        yield from _member_misfits(path, wanted, value)
    elif isinstance(wanted, list):
        for position, item in enumerate(value):
            yield from _misfits(f"{path}/{position}", wanted[0], item)
    elif wanted is Labels:
        yield from gcp_container.label_problems(path, value)
    elif not _fits(wanted, value):
        yield f"{path}: {value!r} is not taken"


def _member_misfits(path: str, wanted: dict[str, Any], value: dict[str, Any]) -> Iterator[str]:
    known = {name.removesuffix("!"): check for name, check in wanted.items()}
    yield from (f"{path}/{name}: no such field" for name in value if name not in known)
    yield from (f"{path}/{name[:-1]}: is required" for name in wanted if name[-1] == "!" and name[:-1] not in value)
    for name in value.keys() & known.keys():
        yield from _misfits(f"{path}/{name}", known[name], value[name])


def _fits(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, range):
        return isinstance(value, int | float) and value in wanted
    if isinstance(wanted, type) and wanted is not Cidr:
        return isinstance(value, wanted)
    if not isinstance(value, str):
        return False
    if wanted is Cidr:
        return is_network(value)
    return value in wanted if isinstance(wanted, set) else bool(wanted.fullmatch(value))


def _relations(kind: str, inputs: dict[str, Any]) -> Iterator[str]:
    """Rules between fields: ranges of a subnet are apart, and a NAT maps ports in one way."""
    if kind == "gcp:compute/subnetwork:Subnetwork":
        blocks = [inputs.get("ipCidrRange"), *(r.get("ipCidrRange") for r in inputs.get("secondaryIpRanges") or [])]
        networks = [IPv4Network(block) for block in blocks if isinstance(block, str) and is_network(block)]
        for position, network in enumerate(networks):
            yield from (f"{network} overlaps {other}" for other in networks[:position] if network.overlaps(other))
    if kind == "gcp:compute/firewall:Firewall":
        if inputs.get("direction") == "INGRESS" and "sourceRanges" not in inputs:
            yield "INGRESS needs sourceRanges"
        for rule in inputs.get("allows") or []:
            if rule.get("ports") and rule.get("protocol") not in ("tcp", "udp", "sctp"):
                yield f"protocol {rule.get('protocol')} has no ports"
    if kind == "gcp:storage/bucket:Bucket":
        yield from _bucket(inputs)
    policy = inputs.get("workloadPolicy") or {}
    if "acceleratorTopology" in policy and "maxTopologyDistance" in policy:
        yield "acceleratorTopology excludes maxTopologyDistance"
    if inputs.get("enableDynamicPortAllocation") and inputs.get("enableEndpointIndependentMapping"):
        yield "enableDynamicPortAllocation excludes enableEndpointIndependentMapping"


def _bucket(inputs: dict[str, Any]) -> Iterator[str]:
    if (inputs.get("hierarchicalNamespace") or {}).get("enabled") and not inputs.get("uniformBucketLevelAccess"):
        yield "hierarchicalNamespace needs uniformBucketLevelAccess"
    seconds = (inputs.get("softDeletePolicy") or {}).get("retentionDurationSeconds")
    if seconds and not 604_800 <= seconds <= 7_776_000:
        yield f"/softDeletePolicy/retentionDurationSeconds: {seconds} is neither 0 nor 7 to 90 days"


is_network = gcp_container.is_network
