"""GPUDirect on GKE: networks of the GPUs' own, between nodes.

RDMA's networks GKE makes and hands out by itself (managed DRANET); those of TCPX and TCPXO are declared here, one a
network card, and pods name them. Why: docs/decisions/012.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network
from typing import Any, Literal

import pulumi
import pulumi_gcp as gcp
from pydantic import field_validator

from gpuyard import catalogue
from gpuyard.components.kubernetes import declare_all
from gpuyard.components.spec import Cidr, Manifest, Spec

CIDR = "192.168.0.0/16"
"""Addresses of the networks, when a stack names none; they are reached from these networks alone."""

RESERVED_ADDRESSES = 4
"""Addresses of a subnet that no node gets. Source: VPC, reserved addresses in IPv4 subnets."""

DRANET_SINCE = (1, 35)
"""First minor version that has managed DRANET in each of its patches: it came with 1.34.1-gke.1829001. Source: GKE,
allocate network resources by using GKE managed DRANET."""

DRANET_LABEL = {"cloud.google.com/gke-networking-dra-driver": "true"}
"""Brings DRANET's driver to a node. Source: GKE, allocate network resources by using GKE managed DRANET."""

MANAGED_PROFILES = ("vpc-roce",)
"""Profiles of networks that GKE makes by itself. A4X Max, whose profile is vpc-roce-metal, is set up by hand. Source:
GoogleCloudPlatform/cluster-toolkit@1047080, examples/gke-a4x and gke-a4x-max-bm."""

CARDS = "mrdma.google.com"
"""Class of the cards that DRANET hands out. Source: GKE, allocate network resources by using GKE managed DRANET."""

API = "networking.gke.io/v1"


class GpuDirectSpec(Spec):
    """GPUs that send to GPUs of other nodes by network cards of their own. The machine says how: TCPX (a3-highgpu-8g),
    TCPXO (a3-megagpu-8g) or RDMA (a3-ultragpu-8g, a4)."""

    kind: Literal["gpudirect"]
    """Google Cloud's GPUDirect."""
    cidr: Cidr | None = None
    """Addresses of the networks of TCPX or TCPXO, one for each card, apart from the cluster's; 192.168.0.0/16 when left
    out. GKE makes the networks of RDMA by itself."""

    @field_validator("cidr")
    @classmethod
    def _a_network(cls, cidr: str | None) -> str | None:
        if cidr:
            _network(cidr)
        return cidr


class GpuDirectNetworks(pulumi.ComponentResource):
    """The networks of a group whose GPUs use TCPX or TCPXO: one for each of their cards."""

    interfaces: list[dict[str, Any]]
    """Network and subnet of each card, for the node pools."""

    def __init__(
        self,
        name: str,
        spec: GpuDirectSpec,
        *,
        known_as: str,
        fabric: catalogue.Fabric,
        project: str,
        region: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`known_as` is the group's name in the cluster. `opts` has providers of the cloud and of the cluster."""
        super().__init__("gpuyard:index:GpuDirectNetworks", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        self.interfaces = []
        for position, cidr in enumerate(subnets(spec, fabric), start=1):
            card = f"{name}-{position}"
            network = gcp.compute.Network(card, **network_inputs(project, fabric), opts=child)
            place = {"project": project, "region": region, "network": network.id}
            subnet = gcp.compute.Subnetwork(card, **place, ip_cidr_range=cidr, opts=child)
            inside = firewall_inputs(project, str(_network(spec.cidr or CIDR)))
            gcp.compute.Firewall(card, **inside, network=network.id, opts=child)
            declare_all(
                name, objects(card_name(known_as, position), network.name, subnet.name), child, known_as=known_as
            )
            self.interfaces.append({"network": network.name, "subnetwork": subnet.name})
        self.register_outputs({})


def card_name(group: str, position: int) -> str:
    """The name by which pods ask for a card, counted from 1, of the group that the cluster knows by that name."""
    return f"{group}-nic-{position}"


def refusals(
    spec: GpuDirectSpec | None, machine: catalogue.Machine, most_nodes: int, zones: Sequence[str] | None
) -> Iterator[str]:
    """Why a group of at most so many nodes of this machine has no GPUDirect."""
    if spec is None:
        return
    fabric = catalogue.fabric(machine.name)
    if fabric is None:
        having = ", ".join(sorted(f.machine for f in catalogue.fabrics().values() if f.kind != "efa"))
        yield f"interconnect gpudirect is given, and {machine.name} has none: leave it out, or choose of {having}"
    elif fabric.network_profile and fabric.network_profile not in MANAGED_PROFILES:
        yield (
            f"interconnect gpudirect is given, and {machine.name} needs networks of profile {fabric.network_profile} "
            "and software on its nodes that gpuyard does not bring: leave interconnect out"
        )
    elif fabric.kind == "rdma":
        if spec.cidr:
            yield f"interconnect.cidr {spec.cidr} is given, and GKE makes {machine.name}'s networks: leave cidr out"
        if zones and len(zones) > 1:
            yield f"interconnect gpudirect is within one zone, and zones are {', '.join(zones)}: name one"
    else:
        smallest = IPv4Network(subnets(spec, fabric)[-1])
        if smallest.num_addresses - RESERVED_ADDRESSES < most_nodes:
            yield (
                f"interconnect.cidr {spec.cidr or CIDR}, divided by {fabric.interfaces} networks, has room for "
                f"{max(smallest.num_addresses - RESERVED_ADDRESSES, 0)} nodes, and nodes.max is {most_nodes}: "
                "give a wider one"
            )


def check_cluster(machine: str, spec: GpuDirectSpec | None, kubernetes: str, addresses: str | None) -> None:
    """Sees whether a cluster of that minor version, with these addresses where they are known, can have the group.

    Raises ValueError where its version is too old for managed DRANET, or where the group's networks overlap it.
    """
    if managed(machine, spec) and tuple(int(part) for part in kubernetes.split(".")) < DRANET_SINCE:
        since = ".".join(str(part) for part in DRANET_SINCE)
        raise ValueError(
            f"interconnect gpudirect of {machine} needs Kubernetes {since} on GKE, and the cluster has {kubernetes}: "
            f"set cluster.kubernetes to {since} or later, or leave interconnect out"
        )
    if spec and addresses and own_networks(machine, spec) and _network(spec.cidr or CIDR).overlaps(_network(addresses)):
        raise ValueError(
            f"the networks of interconnect gpudirect, {spec.cidr or CIDR}, overlap the cluster's, {addresses}, and a "
            "node is in both: give interconnect.cidr another range"
        )


def own_networks(machine: str, spec: GpuDirectSpec | None) -> catalogue.Fabric | None:
    """The fabric of a group whose networks are declared here; None where it has none, or GKE makes them."""
    fabric = catalogue.fabric(machine) if spec else None
    return fabric if fabric and fabric.kind != "rdma" else None


def managed(machine: str, spec: GpuDirectSpec | None) -> bool:
    """Whether GKE makes the networks of a group and hands them out."""
    fabric = catalogue.fabric(machine) if spec else None
    return fabric is not None and fabric.kind == "rdma"


def device_class(machine: str, spec: GpuDirectSpec | None) -> str | None:
    """The class of devices by which a pod claims the group's cards; None where it does not claim them."""
    return CARDS if managed(machine, spec) else None


def subnets(spec: GpuDirectSpec, fabric: catalogue.Fabric) -> list[str]:
    """The addresses of each network, all of one size."""
    whole = _network(spec.cidr or CIDR)
    deeper = min((fabric.interfaces - 1).bit_length(), whole.max_prefixlen - whole.prefixlen)
    return [str(part) for part in whole.subnets(prefixlen_diff=deeper)][: fabric.interfaces]


def network_inputs(project: str, fabric: catalogue.Fabric) -> dict[str, Any]:
    """Inputs of a network of one card. Its packets are large."""
    large = {"mtu": fabric.mtu} if fabric.mtu else {}
    return {"project": project, "auto_create_subnetworks": False, "routing_mode": "REGIONAL", **large}


def firewall_inputs(project: str, cidr: str) -> dict[str, Any]:
    """Inputs of the rule by which cards reach each other, besides its network: a network lets nothing in by itself."""
    return {
        "project": project,
        "direction": "INGRESS",
        "source_ranges": [cidr],
        "allows": [{"protocol": "tcp"}, {"protocol": "udp"}, {"protocol": "icmp"}],
    }


def objects(name: str, network: Any, subnet: Any) -> list[Manifest]:
    """What makes a card known to pods, which name it in an annotation. The cloud's names may be Outputs."""
    return [
        {
            "apiVersion": API,
            "kind": "GKENetworkParamSet",
            "metadata": {"name": name},
            "spec": {"vpc": network, "vpcSubnet": subnet, "deviceMode": "NetDevice"},
        },
        {
            "apiVersion": API,
            "kind": "Network",
            "metadata": {"name": name},
            "spec": {
                "type": "Device",
                "parametersRef": {"group": "networking.gke.io", "kind": "GKENetworkParamSet", "name": name},
            },
        },
    ]


def _network(cidr: str) -> IPv4Network:
    try:
        return IPv4Network(cidr)
    except ValueError:
        raise ValueError(f"{cidr} is not a network: give one such as {CIDR}") from None
