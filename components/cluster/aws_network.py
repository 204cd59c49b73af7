"""The network of an EKS cluster: a VPC of its own, or subnets that exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self

import pulumi
import pulumi_aws as aws
from pydantic import Discriminator, Field, Tag, model_validator

from gpuyard.components.aws import Zone
from gpuyard.components.spec import Cidr, Spec

WIDEST, NARROWEST = 16, 20
"""Prefix lengths of a VPC: /16 is the widest that EC2 makes; a /20 leaves 512 addresses a zone, of which the VPC CNI
gives one to every pod and holds spare ones on every node."""

EIGHTHS = 3
"""Bits by which a VPC is cut: eight blocks, one a zone letter (a to g) for nodes, and the last, cut again, for what is
public. A block follows from its zone's letter alone, so adding or removing a zone moves no other subnet."""

EVERYWHERE = "0.0.0.0/0"


class OwnNetwork(Spec):
    """A VPC made for this cluster: nodes in private subnets, one public subnet a zone for what faces the internet."""

    cidr: Cidr
    """All addresses of the VPC, /16 to /20, such as 10.40.0.0/16. Each zone gets an eighth for its nodes and pods."""
    zones: Annotated[list[Zone], Field(min_length=2)]
    """Zones of the nodes, two at least. The control plane stays in the first two: EKS never lets it leave them."""
    nat: Literal["each_zone", "one"] = "each_zone"
    """Where nodes leave from: a NAT gateway in each zone, or one for all, which costs less and takes every zone's way
    out with it when its own zone fails."""

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        network = parse_cidr(self.cidr)
        if not WIDEST <= network.prefixlen <= NARROWEST:
            raise ValueError(
                f"cidr {self.cidr} cannot be divided into subnets of nodes: give a /{WIDEST} to a /{NARROWEST}"
            )
        if len(set(self.zones)) < len(self.zones):
            raise ValueError(f"zones {', '.join(self.zones)} names a zone twice: give each zone once")
        return self


class ExistingNetwork(Spec):
    """Private subnets that others run. They have a way out to ECR, EC2 and EKS already, and their VPC resolves DNS."""

    subnets: Annotated[
        dict[Zone, Annotated[str, Field(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]], Field(min_length=2)
    ]
    """Zone to private subnet, two at least: {us-east-1a: "subnet-0123456789abcdef0", us-east-1b: "subnet-…"}."""

    @property
    def zones(self) -> list[str]:
        """Zones of the nodes."""
        return list(self.subnets)


def _kind(value: Any) -> str:
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "existing" if "subnets" in fields else "own"


NetworkSpec = Annotated[
    Annotated[OwnNetwork, Tag("own")] | Annotated[ExistingNetwork, Tag("existing")], Discriminator(_kind)
]
"""A VPC of its own, by its addresses and zones, or an existing one, by its subnets."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where a cluster attaches."""

    subnets: Mapping[str, Any]
    """Zone to private subnet; the ids may be Outputs."""
    ready: Sequence[pulumi.Resource] = ()
    """What must be there before a node can fetch anything."""


class Network(pulumi.ComponentResource):
    """A VPC of a cluster's own."""

    attachment: Attachment
    """Where the cluster attaches."""

    def __init__(
        self,
        name: str,
        spec: OwnNetwork,
        *,
        region: str,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:EksNetwork", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        named = {"tags": {**tags, "Name": name}}
        vpc = aws.ec2.Vpc(name, **vpc_inputs(spec), **named, opts=child)
        # What nobody chose a security group for reaches nothing, and nothing reaches it.
        aws.ec2.DefaultSecurityGroup(name, vpc_id=vpc.id, ingress=[], egress=[], **named, opts=child)
        gateway = aws.ec2.InternetGateway(name, vpc_id=vpc.id, **named, opts=child)
        inside = _Inside(name, vpc.id, gateway, tags, child)
        plan = subnet_plan(spec.cidr, spec.zones)
        public = {zone: inside.public_subnet(zone, block.public) for zone, block in plan.items()}
        nats = {zone: inside.nat(zone, public[zone]) for zone in nat_zones(spec)}
        private = {
            zone: inside.private_subnet(zone, block.private, nats.get(zone) or nats[spec.zones[0]])
            for zone, block in plan.items()
        }
        tables = [subnet.table for subnet in private.values()]
        aws.ec2.VpcEndpoint(
            name, **s3_endpoint_inputs(region), vpc_id=vpc.id, route_table_ids=tables, **named, opts=child
        )
        subnets = {zone: subnet.id for zone, subnet in private.items()}
        self.attachment = Attachment(subnets, ready=[link for subnet in private.values() for link in subnet.links])
        self.register_outputs({"subnets": subnets})


@dataclass(frozen=True, slots=True)
class _PrivateSubnet:
    id: Any
    table: Any
    links: Sequence[pulumi.Resource]
    """What routes its traffic."""


@dataclass(frozen=True, slots=True)
class _Inside:
    """Declares the parts of one VPC."""

    name: str
    vpc: Any
    gateway: Any
    tags: Mapping[str, str]
    child: pulumi.ResourceOptions

    def public_subnet(self, zone: str, cidr: str) -> Any:
        name = f"{self.name}-public-{zone}"
        subnet = self._subnet(name, zone, cidr, "kubernetes.io/role/elb")
        self._route(name, subnet, gateway_id=self.gateway.id)
        return subnet

    def private_subnet(self, zone: str, cidr: str, nat: Any) -> _PrivateSubnet:
        name = f"{self.name}-private-{zone}"
        subnet = self._subnet(name, zone, cidr, "kubernetes.io/role/internal-elb")
        table, links = self._route(name, subnet, nat_gateway_id=nat.id)
        return _PrivateSubnet(subnet.id, table.id, links)

    def nat(self, zone: str, subnet: Any) -> Any:
        name = f"{self.name}-nat-{zone}"
        tags = {**self.tags, "Name": name}
        # EC2 wants the VPC's internet gateway attached before a public NAT gateway, and shows it nowhere.
        opts = pulumi.ResourceOptions.merge(self.child, pulumi.ResourceOptions(depends_on=[self.gateway]))
        address = aws.ec2.Eip(name, domain="vpc", tags=tags, opts=opts)
        return aws.ec2.NatGateway(name, allocation_id=address.id, subnet_id=subnet.id, tags=tags, opts=opts)

    def _subnet(self, name: str, zone: str, cidr: str, role: str) -> Any:
        # The role tells load balancer controllers which subnets are theirs.
        tags = {**self.tags, "Name": name, role: "1"}
        return aws.ec2.Subnet(
            name,
            vpc_id=self.vpc,
            availability_zone=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags=tags,
            opts=self.child,
        )

    def _route(self, name: str, subnet: Any, **way_out: Any) -> tuple[Any, list[pulumi.Resource]]:
        table = aws.ec2.RouteTable(name, vpc_id=self.vpc, tags={**self.tags, "Name": name}, opts=self.child)
        route = aws.ec2.Route(
            name, route_table_id=table.id, destination_cidr_block=EVERYWHERE, **way_out, opts=self.child
        )
        link = aws.ec2.RouteTableAssociation(name, route_table_id=table.id, subnet_id=subnet.id, opts=self.child)
        return table, [route, link]


def attach(
    name: str,
    spec: OwnNetwork | ExistingNetwork,
    *,
    region: str,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> Attachment:
    """Where the cluster called `name` attaches; makes the VPC where the spec asks for one."""
    if isinstance(spec, OwnNetwork):
        return Network(name, spec, region=region, tags=tags, opts=opts).attachment
    return Attachment(dict(spec.subnets))


def vpc_inputs(spec: OwnNetwork) -> dict[str, Any]:
    """The VPC. Nodes find EKS's private API by DNS: both switches are needed for it."""
    return {"cidr_block": spec.cidr, "enable_dns_support": True, "enable_dns_hostnames": True}


def s3_endpoint_inputs(region: str) -> dict[str, Any]:
    """The way to S3, thus to ECR's layers and to models, that passes no NAT gateway and costs nothing."""
    return {"vpc_endpoint_type": "Gateway", "service_name": f"com.amazonaws.{region}.s3"}


def nat_zones(spec: OwnNetwork) -> list[str]:
    """Zones that get a NAT gateway."""
    return spec.zones if spec.nat == "each_zone" else spec.zones[:1]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Addresses of one zone."""

    private: str
    public: str


def subnet_plan(cidr: str, zones: Sequence[str]) -> dict[str, Blocks]:
    """The addresses of each zone: an eighth of the VPC for nodes, a sixty-fourth for what is public."""
    blocks = list(parse_cidr(cidr).subnets(prefixlen_diff=EIGHTHS))
    public = list(blocks[-1].subnets(prefixlen_diff=EIGHTHS))
    letters = {zone: ord(zone[-1]) - ord("a") for zone in zones}
    return {zone: Blocks(private=str(blocks[i]), public=str(public[i])) for zone, i in letters.items()}


def parse_cidr(cidr: str) -> IPv4Network:
    """The network of a text. Raises ValueError with the network that was probably meant."""
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        raise ValueError(f"{cidr} is not an IPv4 network: give one such as 10.40.0.0/16") from None
    if str(network) != cidr:
        raise ValueError(f"{cidr} is an address inside a network: give the network, {network}")
    return network
