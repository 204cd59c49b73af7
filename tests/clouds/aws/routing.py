"""Ways in and out of a VPC: addresses, NAT, routes, endpoints. What forces a new resource: terraform-provider-aws,
internal/service/ec2, ForceNew."""

from __future__ import annotations

import ipaddress
import secrets
import zlib
from typing import Any, ClassVar

from clouds.aws.kinds import arn, marked, region
from clouds.aws.vpc import GATEWAY, NAT, ROUTE, SUBNET, TABLE, Ec2Kind, in_subnets, in_table, in_vpc
from clouds.cloud import Thing
from clouds.kind import Inputs, Reference, Session
from clouds.refused import RefusedError


class Eip(Ec2Kind):
    token, what, prefix = "aws:ec2/eip:Eip", "EC2 EIP", "eipalloc"
    create, update, delete = "AllocateAddress", "AssociateAddress", "ReleaseAddress"
    source = "ec2/ec2_eip.go@0160692"
    replaces = marked("region address domain ipamPoolId networkBorderGroup publicIpv4Pool")
    kept = marked("domain instance ipamPoolId networkBorderGroup networkInterface publicIpv4Pool")
    computed = ("allocationId", "arn", "domain", "publicIp", "publicDns", "networkBorderGroup", "publicIpv4Pool")
    in_use = ("InvalidIPAddress.InUse", "The address {} is in use.")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        address = before.get("publicIp") or f"198.51.100.{secrets.randbelow(254) + 1}"
        return {
            "allocationId": name,
            "arn": arn("ec2", session, f"elastic-ip/{name}", inputs=inputs),
            "domain": "vpc",
            "publicIp": address,
            "publicDns": f"ec2-{address.replace('.', '-')}.compute-1.amazonaws.com",
            "networkBorderGroup": region(session, inputs),
            "publicIpv4Pool": "amazon",
        }


class NatGateway(Ec2Kind):
    token, what, prefix = NAT, "EC2 NAT Gateway", "nat"
    create, update, delete = "CreateNatGateway", "AssociateNatGatewayAddress", "DeleteNatGateway"
    defaults: ClassVar[dict[str, Any]] = {"connectivityType": "public"}
    source = "ec2/vpc_nat_gateway.go@04088ea"
    replaces = marked(
        "region allocationId availabilityMode connectivityType privateIp secondaryPrivateIpAddressCount subnetId vpcId"
    )
    kept = marked("availabilityMode privateIp secondaryPrivateIpAddressCount secondaryPrivateIpAddresses vpcId")
    computed = ("associationId", "networkInterfaceId", "privateIp", "publicIp")
    references = (
        in_subnets("subnetId"),
        Reference(
            "allocationId",
            Eip.token,
            "InvalidAllocationID.NotFound",
            "The allocation ID '{}' does not exist",
        ),
    )

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        for other in session.having(NAT, "allocationId", inputs.get("allocationId")):
            raise RefusedError(
                "Resource.AlreadyAssociated", f"{other.id} has the address {inputs['allocationId']} already"
            )
        subnet = session.find(SUBNET, inputs["subnetId"])
        if subnet and not any(session.having(GATEWAY, "vpcId", subnet.inputs["vpcId"])):
            message = f"Network {subnet.inputs['vpcId']} has no Internet gateway attached"
            raise RefusedError("Gateway.NotAttached", message)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        address = session.find(Eip.token, inputs["allocationId"])
        subnet = session.find(SUBNET, inputs["subnetId"])
        first = ipaddress.ip_network(subnet.outputs["cidrBlock"])[10] if subnet else ""
        made = {
            "associationId": f"eipassoc-{secrets.token_hex(9)[:17]}",
            "networkInterfaceId": f"eni-{secrets.token_hex(9)[:17]}",
            "privateIp": str(first),
        }
        kept = {key: before.get(key, value) for key, value in made.items()}
        return {**kept, "publicIp": address.outputs["publicIp"] if address else ""}


class RouteTable(Ec2Kind):
    token, what, prefix = TABLE, "EC2 Route Table", "rtb"
    create, update, delete = "CreateRouteTable", "CreateRoute", "DeleteRouteTable"
    source = "ec2/vpc_route_table.go@0220924"
    replaces = marked("region vpcId")
    computed = ("arn", "ownerId", "routes", "propagatingVgws")
    references = (in_vpc(),)
    in_use = ("DependencyViolation", "The routeTable '{}' has dependencies and cannot be deleted.")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"route-table/{name}", inputs=inputs),
            "ownerId": session.account,
            "routes": inputs.get("routes", []),
            "propagatingVgws": inputs.get("propagatingVgws", []),
        }

    def deleted(self, session: Session, thing: Thing) -> None:
        """The provider takes a table from its subnets first: vpc_route_table.go, resourceRouteTableDelete."""
        for kind in (ROUTE, RouteTableAssociation.token):
            for part in session.having(kind, "routeTableId", thing.id):
                session.cloud.remove(part)


class Route(Ec2Kind):
    token, what = ROUTE, "EC2 Route"
    create, update, delete = "CreateRoute", "ReplaceRoute", "DeleteRoute"
    source = "ec2/vpc_route.go@0128541"
    replaces = marked("region routeTableId destinationCidrBlock destinationIpv6CidrBlock destinationPrefixListId")
    computed = ("origin", "state", "instanceId", "instanceOwnerId", "networkInterfaceId")
    references = (
        in_table("routeTableId"),
        Reference("gatewayId", GATEWAY, "InvalidGatewayID.NotFound", "The gateway ID '{}' does not exist", holds=False),
        Reference(
            "natGatewayId", NAT, "InvalidNatGatewayID.NotFound", "The NatGateway ID '{}' does not exist", holds=False
        ),
    )
    taken = ("RouteAlreadyExists", "The route identified by {} already exists.")

    def found(self, session: Session, name: str) -> Thing | None:
        table, _, destination = name.partition("_")
        given = {"routeTableId": table, "destinationCidrBlock": destination}
        return super().found(session, self.identify(session, given) if destination else name)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"r-{inputs['routeTableId']}{zlib.crc32(str(inputs.get('destinationCidrBlock')).encode())}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        nothing = {"instanceId": "", "instanceOwnerId": "", "networkInterfaceId": ""}
        return {"origin": "CreateRoute", "state": "active", **nothing}


class RouteTableAssociation(Ec2Kind):
    token, what = "aws:ec2/routeTableAssociation:RouteTableAssociation", "EC2 Route Table Association"
    prefix = "rtbassoc"
    create, update, delete = "AssociateRouteTable", "ReplaceRouteTableAssociation", "DisassociateRouteTable"
    source = "ec2/vpc_route_table_association.go@0be71be"
    replaces = marked("region subnetId gatewayId")
    references = (in_table("routeTableId"), in_subnets("subnetId", holds=False))

    def found(self, session: Session, name: str) -> Thing | None:
        place, _, table = name.partition("/")
        named = session.having(self.token, "subnetId", place) if table else ()
        return next((t for t in named if t.inputs["routeTableId"] == table), None) or super().found(session, name)

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        for other in session.having(self.token, "subnetId", inputs.get("subnetId")):
            message = f"the specified association for route table {other.inputs['routeTableId']} conflicts"
            raise RefusedError("Resource.AlreadyAssociated", f"{message} with an existing association")


class VpcEndpoint(Ec2Kind):
    token, what, prefix = "aws:ec2/vpcEndpoint:VpcEndpoint", "EC2 VPC Endpoint", "vpce"
    create, update, delete = "CreateVpcEndpoint", "ModifyVpcEndpoint", "DeleteVpcEndpoints"
    defaults: ClassVar[dict[str, Any]] = {"vpcEndpointType": "Gateway"}
    source = "ec2/vpc_endpoint.go@008db85"
    replaces = marked(
        "region vpcId serviceName vpcEndpointType serviceRegion resourceConfigurationArn serviceNetworkArn"
    )
    sets = marked("routeTableIds subnetIds securityGroupIds")
    kept = marked("policy routeTableIds subnetIds securityGroupIds privateDnsEnabled ipAddressType")
    computed = (
        "arn",
        "cidrBlocks",
        "networkInterfaceIds",
        "ownerId",
        "policy",
        "prefixListId",
        "privateDnsEnabled",
        "requesterManaged",
        "securityGroupIds",
        "state",
        "subnetIds",
        "dnsEntries",
    )
    references = (in_vpc(), in_table("routeTableIds"), in_subnets("subnetIds"))

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """Private DNS can be switched on interfaces alone: vpc_endpoint.go, CustomizeDiff."""
        switched = path == "privateDnsEnabled" and new.get("vpcEndpointType") != "Interface"
        return switched or super().must_replace(path, old, new)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"vpc-endpoint/{name}", inputs=inputs),
            "cidrBlocks": [],
            "networkInterfaceIds": [],
            "ownerId": session.account,
            "policy": inputs.get(
                "policy",
                '{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}],"Version":"2008-10-17"}',
            ),
            "prefixListId": before.get("prefixListId") or f"pl-{secrets.token_hex(4)}",
            "privateDnsEnabled": inputs.get("privateDnsEnabled", False),
            "requesterManaged": False,
            "securityGroupIds": inputs.get("securityGroupIds", []),
            "state": "available",
            "subnetIds": inputs.get("subnetIds", []),
            "dnsEntries": [],
        }
