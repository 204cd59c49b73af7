"""VPCs of EC2 and what is in each. What forces a new resource: terraform-provider-aws, internal/service/ec2, ForceNew."""

from __future__ import annotations

import ipaddress
import secrets
from typing import Any, ClassVar

from clouds.aws.kinds import AwsKind, arn, marked, region
from clouds.cloud import Thing
from clouds.kind import Inputs, Reference, Session
from clouds.refused import RefusedError

VPC, SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"
GATEWAY, NAT = "aws:ec2/internetGateway:InternetGateway", "aws:ec2/natGateway:NatGateway"
INTERFACE = "aws:ec2/networkInterface:NetworkInterface"
TABLE, ROUTE = "aws:ec2/routeTable:RouteTable", "aws:ec2/route:Route"


def in_vpc(*, holds: bool = True) -> Reference:
    """The VPC that something is in."""
    return Reference("vpcId", VPC, "InvalidVpcID.NotFound", "The vpc ID '{}' does not exist", holds=holds)


def in_subnets(path: str, *, holds: bool = True) -> Reference:
    """The subnets that something is in."""
    return Reference(path, SUBNET, "InvalidSubnetID.NotFound", "The subnet ID '{}' does not exist", holds=holds)


def in_table(path: str) -> Reference:
    """The route tables that something is in. The provider takes a table out of what it is in before it deletes it."""
    message = "The routeTable ID '{}' does not exist"
    return Reference(path, TABLE, "InvalidRouteTableID.NotFound", message, holds=False)


class Ec2Kind(AwsKind):
    """A resource of EC2."""

    service = "EC2"
    invalid_code = "InvalidParameterValue"


class Vpc(Ec2Kind):
    token, what, prefix = VPC, "EC2 VPC", "vpc"
    create, update, delete = "CreateVpc", "ModifyVpcAttribute", "DeleteVpc"
    defaults: ClassVar[dict[str, Any]] = {"enableDnsSupport": True, "instanceTenancy": "default"}
    source = "ec2/vpc_.go@00081ce"
    replaces = marked("region cidrBlock ipv4IpamPoolId ipv4NetmaskLength")
    kept = marked("cidrBlock enableDnsHostnames enableNetworkAddressUsageMetrics ipv6CidrBlock")
    computed = (
        "arn",
        "defaultNetworkAclId",
        "defaultRouteTableId",
        "defaultSecurityGroupId",
        "dhcpOptionsId",
        "mainRouteTableId",
        "ownerId",
        "enableDnsHostnames",
        "enableNetworkAddressUsageMetrics",
    )
    in_use = ("DependencyViolation", "The vpc '{}' has dependencies and cannot be deleted.")

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """Tenancy can only be given up: vpc_.go, resourceVPCCustomizeDiff."""
        return super().must_replace(path, old, new) or (path == "instanceTenancy" and new.get(path) != "default")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        made = {
            "arn": arn("ec2", session, f"vpc/{name}", inputs=inputs),
            "defaultNetworkAclId": f"acl-{secrets.token_hex(9)[:17]}",
            "defaultRouteTableId": f"rtb-{secrets.token_hex(9)[:17]}",
            "defaultSecurityGroupId": f"sg-{secrets.token_hex(9)[:17]}",
            "dhcpOptionsId": f"dopt-{secrets.token_hex(9)[:17]}",
            "ownerId": session.account,
        }
        kept = {key: before.get(key, value) for key, value in made.items()}
        return {
            "enableDnsHostnames": inputs.get("enableDnsHostnames", False),
            "enableNetworkAddressUsageMetrics": inputs.get("enableNetworkAddressUsageMetrics", False),
            **kept,
            "mainRouteTableId": kept["defaultRouteTableId"],
        }


class Subnet(Ec2Kind):
    token, what, prefix = SUBNET, "EC2 Subnet", "subnet"
    create, update, delete = "CreateSubnet", "ModifySubnetAttribute", "DeleteSubnet"
    source = "ec2/vpc_subnet.go@00cda12"
    replaces = marked(
        "region vpcId cidrBlock availabilityZone availabilityZoneId ipv4IpamPoolId ipv4NetmaskLength ipv6IpamPoolId "
        "ipv6Native ipv6NetmaskLength outpostArn"
    )
    kept = marked("availabilityZone availabilityZoneId cidrBlock ipv6CidrBlock privateDnsHostnameTypeOnLaunch")
    computed = ("arn", "ownerId", "availabilityZone", "availabilityZoneId", "privateDnsHostnameTypeOnLaunch")
    references = (in_vpc(),)
    in_use = ("DependencyViolation", "The subnet '{}' has dependencies and cannot be deleted.")

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        vpc = session.find(VPC, inputs["vpcId"])
        block = ipaddress.ip_network(inputs["cidrBlock"])
        if vpc and not block.subnet_of(ipaddress.ip_network(vpc.outputs["cidrBlock"])):  # type: ignore[arg-type]
            raise RefusedError("InvalidSubnet.Range", f"The CIDR '{block}' is invalid.")
        for other in session.having(SUBNET, "vpcId", inputs["vpcId"]):
            if block.overlaps(ipaddress.ip_network(other.outputs["cidrBlock"])):
                raise RefusedError("InvalidSubnet.Conflict", f"The CIDR '{block}' conflicts with another subnet")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        zone = inputs.get("availabilityZone") or f"{region(session, inputs)}a"
        return {
            "arn": arn("ec2", session, f"subnet/{name}", inputs=inputs),
            "ownerId": session.account,
            "availabilityZone": zone,
            "availabilityZoneId": zone_id(zone),
            "privateDnsHostnameTypeOnLaunch": inputs.get("privateDnsHostnameTypeOnLaunch", "ip-name"),
        }


def zone_id(zone: str) -> str:
    """The id of a zone, the same in every account of the tests: us-east-1a is use1-az1."""
    place, letter = zone[:-1], zone[-1]
    words = place.split("-")
    return f"{words[0]}{words[1][0]}{words[-1]}-az{ord(letter) - ord('a') + 1}"


class InternetGateway(Ec2Kind):
    token, what, prefix = GATEWAY, "EC2 Internet Gateway", "igw"
    create, update, delete = "CreateInternetGateway", "AttachInternetGateway", "DetachInternetGateway"
    source = "ec2/vpc_internet_gateway.go@08923b6"
    replaces = marked("region")
    kept = marked("vpcId")
    computed = ("arn", "ownerId")
    references = (in_vpc(),)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"arn": arn("ec2", session, f"internet-gateway/{name}", inputs=inputs), "ownerId": session.account}

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        other = next(session.having(GATEWAY, "vpcId", inputs.get("vpcId")), None)
        if other and inputs.get("vpcId"):
            message = f"Network {inputs['vpcId']} already has an internet gateway attached"
            raise RefusedError("InvalidParameterValue", message)

    def refuse_delete(self, session: Session, thing: Thing) -> None:
        vpc = thing.inputs.get("vpcId")
        for nat in session.cloud.resources(NAT):
            subnet = session.find(SUBNET, nat.inputs["subnetId"])
            if subnet and subnet.inputs["vpcId"] == vpc:
                message = f"Network {vpc} has some mapped public address(es). Please unmap those public address(es) "
                raise RefusedError("DependencyViolation", f"{message}before detaching the gateway.")


class DefaultSecurityGroup(Ec2Kind):
    """EC2 makes it with the VPC, and keeps it as long: the provider takes it over, and lets go of it."""

    token, what = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "EC2 Default Security Group"
    create, update, delete = "DescribeSecurityGroups", "AuthorizeSecurityGroupIngress", "DescribeSecurityGroups"
    source = "ec2/vpc_default_security_group.go@01f4311"
    replaces = marked("region vpcId")
    sets = marked("ingress egress")
    computed = ("arn", "description", "name", "namePrefix", "ownerId", "vpcId", "revokeRulesOnDelete")
    references = (in_vpc(holds=False),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        vpc = session.find(VPC, inputs["vpcId"])
        return str(vpc.outputs["defaultSecurityGroupId"]) if vpc else f"sg-{secrets.token_hex(9)[:17]}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"security-group/{name}", inputs=inputs),
            "description": "default VPC security group",
            "name": "default",
            "namePrefix": "",
            "ownerId": session.account,
            "revokeRulesOnDelete": False,
            "vpcId": inputs.get("vpcId"),
        }


class NetworkInterface(Ec2Kind):
    """No program of ours declares one: it is what load balancers and clusters leave behind."""

    token, what, prefix = INTERFACE, "EC2 Network Interface", "eni"
    create, update, delete = "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute", "DeleteNetworkInterface"
    source = "ec2/vpc_network_interface.go"
    replaces = marked("region subnetId interfaceType")
    references = (in_subnets("subnetId"),)
