"""What a stack costs beside its machines: control planes, gateways, load balancers, addresses, disks.

What is paid for by use, such as traffic, requests and what is in a bucket, is not known before it is used. Whatever
costs money and has no known price is said to be not priced: it is in no total, and never counts as 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuyard import catalogue
from gpuyard.review.disks import Disk
from gpuyard.review.node_group import NodeGroup, most_nodes
from gpuyard.review.resources import EKS_CLUSTER, GKE_CLUSTER, Resource, of_provider
from gpuyard.review.values import number

HOURS_A_MONTH = 730
"""A twelfth of a year of 8,760 hours, as the clouds' own calculators count."""

BOUNDS = ("min", "initial", "max")

GP3_IOPS, GP3_MIBPS = 3000, 125
"""What a gp3 volume has without a charge. Source: EBS user guide, General Purpose SSD volumes."""

BY_THE_HOUR = {
    "aws:alb/loadBalancer:LoadBalancer": ("load_balancer", "load balancer, without traffic"),
    "aws:ec2/eip:Eip": ("public_ipv4", "public IPv4 address"),
    "aws:ec2/natGateway:NatGateway": ("nat_gateway", "NAT gateway, without traffic"),
    "aws:lb/loadBalancer:LoadBalancer": ("load_balancer", "load balancer, without traffic"),
    "gcp:compute/address:Address": ("public_ipv4", "external address"),
    "gcp:compute/forwardingRule:ForwardingRule": ("load_balancer", "forwarding rule, without traffic"),
    "gcp:compute/globalAddress:GlobalAddress": ("public_ipv4", "external address"),
    "gcp:compute/routerNat:RouterNat": ("nat_gateway", "NAT gateway at the most, without traffic and addresses"),
}
"""By type, the service of catalogue/data/services.csv, and what it is."""

DISKS = {
    "aws:ebs/volume:Volume": ("type", "size", "gp2"),
    "gcp:compute/disk:Disk": ("type", "size", "pd-standard"),
}
"""By type, the inputs that say its kind and its GiB, and the kind when none is said."""

NOT_PRICED = {
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": "machines of the block",
    "aws:ec2/capacityReservation:CapacityReservation": "machines of the reservation that no node group here uses",
    "aws:ecr/repository:Repository": "images in the repository",
    "aws:efs/fileSystem:FileSystem": "files in the file system",
    "aws:elb/loadBalancer:LoadBalancer": "load balancer of the previous generation",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "file system",
    "aws:s3/bucket:Bucket": "objects in the bucket",
    "aws:s3/bucketV2:BucketV2": "objects in the bucket",
    "gcp:artifactregistry/repository:Repository": "images in the repository",
    "gcp:compute/reservation:Reservation": "machines of the reservation that no node group here uses",
    "gcp:filestore/instance:Instance": "file system",
    "gcp:storage/bucket:Bucket": "objects in the bucket",
}
"""What costs money, and has no price here."""

CHARGED = frozenset({EKS_CLUSTER, GKE_CLUSTER, *BY_THE_HOUR, *DISKS, *NOT_PRICED})
"""Types whose charge their own inputs tell."""

Json = dict[str, Any]


def of_resource(resource: Resource, by_urn: Mapping[str, Resource], date: str) -> list[Json]:
    """What one resource costs, as of `date`; `by_urn` has its provider."""
    return [charge(resource, *found) for found in _read(resource, by_urn, date)]


def of_group(group: NodeGroup) -> list[Json]:
    """What the disks of a group's nodes cost. Of owned and of shared machines they are in the machine's price."""
    if group.disks is None:
        return []
    nodes = dict(zip(BOUNDS, (group.minimum, group.initial, most_nodes(group)), strict=True))
    if all(count == 0 for count in nodes.values()):
        return []
    resource = {"urn": group.urn, "name": group.name}
    return [
        charge(resource, what, group.cloud, group.region, service, times(nodes, each) if each else None)
        for disk in group.disks
        for what, service, each in _disk(disk, "disk of each node")
    ]


def region_of(resource: Resource, by_urn: Mapping[str, Resource]) -> str | None:
    """The region of a resource of AWS or Google: its own, or its provider's."""
    inputs = resource["inputs"]
    named = (inputs.get(key) for key in ("region", "location", "zone", "availabilityZone"))
    said = next((place for place in named if isinstance(place, str)), None)
    said = said or of_provider(resource, by_urn, "region")
    # A zone is its region and a letter: us-east-1a, us-central1-a.
    return said and re.sub(r"(?<=\d)-?[a-z]$", "", said)


def times(counts: Mapping[str, int | None], each: float) -> dict[str, float | None]:
    """So many of each for every count; None stays None."""
    return {bound: None if count is None else count * each for bound, count in counts.items()}


def _read(resource: Resource, by_urn: Mapping[str, Resource], date: str) -> Iterator[tuple[Any, ...]]:
    """What it is, cloud, region, service, and how many of it."""
    type_, inputs = resource["type"], resource["inputs"]
    cloud, region = type_.partition(":")[0], region_of(resource, by_urn)
    one = dict.fromkeys(BOUNDS, 1)
    if type_ in (EKS_CLUSTER, GKE_CLUSTER):
        yield "control plane", cloud, region, "control_plane", one
        if type_ == EKS_CLUSTER and _extended(inputs, date):
            yield f"extended support of Kubernetes {inputs['version']}", cloud, region, "extended_support", one
        if type_ == GKE_CLUSTER and inputs.get("enableAutopilot") is True:
            yield "pods of Autopilot", cloud, region, "", None
    elif type_ in BY_THE_HOUR:
        service, what = BY_THE_HOUR[type_]
        if inputs.get("addressType") != "INTERNAL":
            yield what, cloud, region, service, one
    elif type_ in DISKS:
        kind, size, default = DISKS[type_]
        disk = Disk(str(inputs.get(kind) or default), number(inputs.get(size)), number(inputs.get("iops")))
        for what, service, each in _disk(disk, "disk"):
            yield what, cloud, region, service, times(one, each) if each else None
    elif type_ in NOT_PRICED:
        yield NOT_PRICED[type_], cloud, region, "", None


def _disk(disk: Disk, what: str) -> Iterator[tuple[str, str, float | None]]:
    """What a disk is, the services that it uses, and how much of each."""
    named = f"{disk.kind or '?'} {what}"
    yield named, f"{disk.kind}_gib" if disk.kind else "", disk.gib
    if disk.kind == "gp3":
        if disk.iops and disk.iops > GP3_IOPS:
            yield f"operations of the {named}", "gp3_iops", disk.iops - GP3_IOPS
        if disk.mibps and disk.mibps > GP3_MIBPS:
            yield f"throughput of the {named}", "gp3_mibps", disk.mibps - GP3_MIBPS


def _extended(inputs: Resource, date: str) -> bool:
    """Whether a cluster of EKS is in extended support on a day. Without it, EKS upgrades the cluster by itself."""
    policy = inputs.get("upgradePolicy")
    version = inputs.get("version")
    if not isinstance(version, str) or (isinstance(policy, dict) and policy.get("supportType") == "STANDARD"):
        return False
    known = catalogue.eks_version(version)
    if known:
        return known.standard_until <= date
    # Support of a version that is older than all that are known has ended; of a newer one, it has not.
    return _order(version) < min(map(_order, catalogue.eks_versions()))


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:2])


def charge(
    resource: Resource,
    what: str,
    cloud: str,
    region: str | None,
    service: str,
    amount: Mapping[str, float | None] | None,
) -> Json:
    """One line: so many of a service, as services.csv calls it. Without a service it has no price."""
    price = catalogue.service_price(cloud, region, service) if service else None
    month = None
    if price and amount and None not in amount.values():
        usd = price.usd * (HOURS_A_MONTH if price.unit == "hour" else 1)
        month = {bound: round((count or 0) * usd, 2) for bound, count in amount.items()}
    return {
        "urn": resource["urn"],
        "name": resource["name"],
        "what": what,
        "region": region,
        "usd": price.usd if price else None,
        "unit": price.unit if price else None,
        "source": price.source if price else None,
        "date": price.date if price else None,
        "amount": amount,
        "month": month,
        "unknown": None if month else _why(price, region, service),
    }


def _why(price: catalogue.ServicePrice | None, region: str | None, service: str) -> str:
    if price:
        return "its size is not known"
    if not service:
        return "the catalogue has no price of it"
    return f"its price in {region} is not known" if region else "its region is not known"


def sums(lines: Sequence[Json]) -> Json:
    """The cost of all lines at each bound; what is not priced is not in it."""
    return {bound: round(sum(one["month"][bound] for one in lines if one["month"]), 2) for bound in BOUNDS}
