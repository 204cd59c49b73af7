"""The network of a GKE cluster: one of its own, or one that exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Annotated, Any

import pulumi
import pulumi_gcp as gcp
from pydantic import Discriminator, Field, Tag, field_validator

from gpuyard.components.spec import Cidr, Spec

PODS_A_NODE = 110
"""Pods that a node may run. Source: GKE's default for Standard clusters."""

ADDRESSES_A_NODE = 256
"""Addresses that GKE sets aside on each node for 110 pods: a /24. Source: GKE, flexible Pod CIDR."""

RESERVED_ADDRESSES = 4
"""Addresses of a subnet's primary range that no node gets. Source: VPC, reserved addresses in IPv4 subnets."""

WIDEST, NARROWEST = 12, 20
"""Prefix lengths of a network of its own: wider, and the Services range would exceed GKE's largest, a /16; narrower,
and the Pods range would go below the smallest that GKE recommends, a /21."""

INTERNAL = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
"""Addresses that the internet does not route: RFC 1918 and RFC 6598."""

VISIBILITY_PORT = 8082
"""Where Kueue serves the API that shows its queues. Source: kubernetes-sigs/kueue, pkg/visibility/server.go."""

PODS, SERVICES = "pods", "services"
"""Names of the secondary ranges."""


class OwnNetwork(Spec):
    """A network made for this cluster alone, with one subnet, and NAT for what its nodes fetch."""

    cidr: Cidr
    """All addresses of the network, /12 to /20, such as 10.60.0.0/16. Half goes to pods, 256 a node: a /16 holds
    128 nodes, a /14 holds 512."""

    @field_validator("cidr")
    @classmethod
    def _divisible(cls, cidr: str) -> str:
        network = parse_cidr(cidr)
        if not is_internal(network):
            raise ValueError(f"{cidr} holds public addresses: take it from 10.0.0.0/8 or another private range")
        if not WIDEST <= network.prefixlen <= NARROWEST:
            raise ValueError(
                f"{cidr} cannot be divided into nodes, pods and services: give a /{WIDEST} to a /{NARROWEST}"
            )
        return cidr

    @property
    def addresses(self) -> str | None:
        """All addresses of the network."""
        return self.cidr


class ExistingNetwork(Spec):
    """A network that others run. It has Private Google Access and a way out to the registries already."""

    network: Annotated[str, Field(pattern=r"^projects/[^/]+/global/networks/[^/]+$")]
    """The network: projects/PROJECT/global/networks/NAME. The host project's, where it is a Shared VPC."""
    subnetwork: Annotated[str, Field(pattern=r"^projects/[^/]+/regions/[^/]+/subnetworks/[^/]+$")]
    """The subnet of the nodes: projects/PROJECT/regions/REGION/subnetworks/NAME, in the cluster's region."""
    pods_range: Annotated[str, Field(min_length=1)]
    """Name of the subnet's secondary range for pods; it needs 256 addresses a node."""
    services_range: Annotated[str, Field(min_length=1)]
    """Name of the subnet's secondary range for services."""

    @property
    def addresses(self) -> str | None:
        """All addresses of the network, where they are known."""
        return None


def _kind(value: Any) -> str:
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "existing" if {"network", "subnetwork"} & fields.keys() else "own"


NetworkSpec = Annotated[
    Annotated[OwnNetwork, Tag("own")] | Annotated[ExistingNetwork, Tag("existing")], Discriminator(_kind)
]
"""A network of its own, by its addresses, or an existing one, by its names."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where a cluster attaches. The first two may be Outputs."""

    network: Any
    subnetwork: Any
    pods_range: str
    services_range: str
    ready: Sequence[pulumi.Resource] = ()
    """What must be there before a node can fetch anything."""


class Network(pulumi.ComponentResource):
    """A network of a cluster's own."""

    attachment: Attachment
    """Where the cluster attaches."""

    def __init__(
        self, name: str, spec: OwnNetwork, *, project: str, region: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpuyard:index:GkeNetwork", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        place = {"project": project, "region": region}
        network = gcp.compute.Network(name, **network_inputs(project), opts=child)
        subnet = gcp.compute.Subnetwork(name, **subnet_inputs(spec), **place, network=network.id, opts=child)
        router = gcp.compute.Router(name, **place, network=network.id, opts=child)
        nat = gcp.compute.RouterNat(name, **nat_inputs(), **place, router=router.name, opts=child)
        self.attachment = Attachment(network.id, subnet.id, PODS, SERVICES, ready=[nat])
        self.register_outputs({"network": network.id, "subnetwork": subnet.id})


def attach(
    name: str, spec: OwnNetwork | ExistingNetwork, *, project: str, region: str, opts: pulumi.ResourceOptions
) -> Attachment:
    """Where the cluster called `name` attaches; makes the network where the spec asks for one."""
    if isinstance(spec, OwnNetwork):
        return Network(name, spec, project=project, region=region, opts=opts).attachment
    return Attachment(spec.network, spec.subnetwork, spec.pods_range, spec.services_range)


def parse_cidr(cidr: str) -> IPv4Network:
    """The network that a text names.

    Raises ValueError when it is none, or an address inside one.
    """
    try:
        return IPv4Network(cidr)
    except ValueError:
        pass
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        raise ValueError(f"{cidr} is not an IPv4 network: give one such as 10.60.0.0/16") from None
    raise ValueError(f"{cidr} is an address inside {network}, not a network: give {network}")


def is_internal(network: IPv4Network) -> bool:
    """Whether the internet routes none of its addresses."""
    return any(network.subnet_of(block) for block in INTERNAL)


def ranges(cidr: str) -> dict[str, str]:
    """Divides a network: its upper half for pods, a sixteenth each for nodes and services, the rest stays free."""
    network = parse_cidr(cidr)
    lower, pods = network.subnets(prefixlen_diff=1)
    nodes, services = list(lower.subnets(prefixlen_diff=3))[:2]
    return {"nodes": str(nodes), PODS: str(pods), SERVICES: str(services)}


def most_nodes(spec: OwnNetwork | ExistingNetwork) -> int | None:
    """Nodes that the addresses suffice for; None where others divided the network."""
    if isinstance(spec, ExistingNetwork):
        return None
    sizes = {part: IPv4Network(block).num_addresses for part, block in ranges(spec.cidr).items()}
    return min(sizes[PODS] // ADDRESSES_A_NODE, sizes["nodes"] - RESERVED_ADDRESSES)


def network_inputs(project: str) -> dict[str, Any]:
    """Inputs of the network: no subnet but ours."""
    return {"project": project, "auto_create_subnetworks": False, "routing_mode": "REGIONAL"}


def subnet_inputs(spec: OwnNetwork) -> dict[str, Any]:
    """Inputs of the subnet, besides its network and its place."""
    parts = ranges(spec.cidr)
    return {
        "ip_cidr_range": parts["nodes"],
        "secondary_ip_ranges": [{"range_name": name, "ip_cidr_range": parts[name]} for name in (PODS, SERVICES)],
        # Nodes without public addresses reach Google's registries and APIs this way, not through NAT.
        "private_ip_google_access": True,
    }


def control_plane_rule(spec: OwnNetwork) -> dict[str, Any]:
    """Inputs of the firewall rule that lets the control plane reach Kueue's API in the nodes' pods, besides its place,
    its network and its target. GKE's own rule for that opens ports 443 and 10250 alone; webhooks listen at the latter.

    The control plane's endpoint has an address of the nodes' subnet. Source: container API,
    PrivateClusterConfig.private_endpoint_subnetwork.
    """
    return {
        "direction": "INGRESS",
        "source_ranges": [ranges(spec.cidr)["nodes"]],
        "allows": [{"protocol": "tcp", "ports": [str(VISIBILITY_PORT)]}],
    }


def nat_inputs() -> dict[str, Any]:
    """Inputs of the NAT, besides its router and its place."""
    return {
        "nat_ip_allocate_option": "AUTO_ONLY",
        "source_subnetwork_ip_ranges_to_nat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
        # A node that fetches a model in parts opens more connections to one host than a fixed share of ports allows.
        "enable_dynamic_port_allocation": True,
        "enable_endpoint_independent_mapping": False,
        "log_config": {"enable": True, "filter": "ERRORS_ONLY"},
    }
