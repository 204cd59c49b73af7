"""Networks, roles, keys and stores of AWS as the stand-in has them: what they need, what holds them."""

from __future__ import annotations

import json

import pytest
from clouds.aws.iam import OpenIdConnectProvider, RolePolicy, RolePolicyAttachment
from clouds.aws.nodes import TEMPLATE
from clouds.aws.routing import Eip, NatGateway, Route, RouteTable, RouteTableAssociation, VpcEndpoint
from clouds.aws.security_groups import GROUP, INGRESS
from clouds.aws.storage import BUCKET, BucketObject, FileSystem, Key, LustreFileSystem, Repository
from clouds.aws.vpc import GATEWAY, VPC, DefaultSecurityGroup
from clouds.client import Client, ProviderError
from clouds.cloud import Cloud
from clouds.estate import role, subnets
from clouds.wire import UNKNOWN


def test_a_role_with_policies_is_not_deleted(aws: Client) -> None:
    owner = role(aws, "x", "ec2.amazonaws.com")
    policy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    attached = aws.create(RolePolicyAttachment.token, "x", {"role": owner.id, "policyArn": policy})
    with pytest.raises(ProviderError, match="DeleteConflict: Cannot delete entity"):
        aws.delete(owner)
    aws.delete(attached)
    statement = {"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}
    inline = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    own = aws.create(RolePolicy.token, "x", {"role": owner.id, "policy": inline})
    with pytest.raises(ProviderError, match="DeleteConflict"):
        aws.delete(owner)
    aws.delete(own)
    aws.delete(owner)


def test_a_policy_is_of_a_role_that_exists(aws: Client) -> None:
    inputs = {"role": "nobody", "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"}
    with pytest.raises(ProviderError, match="NoSuchEntity: The role with name nobody cannot be found"):
        aws.create(RolePolicyAttachment.token, "x", inputs)


def test_the_way_out_of_a_network_goes_in_order(aws: Client, cloud: Cloud) -> None:
    vpc, place, _ = subnets(aws)
    address = aws.create(Eip.token, "nat", {"domain": "vpc"})
    inputs = {"allocationId": address.id, "subnetId": place.id}
    with pytest.raises(ProviderError, match="has no Internet gateway attached"):
        aws.create(NatGateway.token, "nat", inputs)
    gateway = aws.create(GATEWAY, "net", {"vpcId": vpc.id})
    with pytest.raises(ProviderError, match="already has an internet gateway"):
        aws.create(GATEWAY, "again", {"vpcId": vpc.id})
    nat = aws.create(NatGateway.token, "nat", inputs)
    assert nat.outputs["publicIp"] == address.outputs["publicIp"]
    table = aws.create(RouteTable.token, "private", {"vpcId": vpc.id})
    to = {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0"}
    route = aws.create(Route.token, "private", {**to, "natGatewayId": nat.id})
    with pytest.raises(ProviderError, match="RouteAlreadyExists"):
        aws.create(Route.token, "again", {**to, "gatewayId": gateway.id})
    link = aws.create(RouteTableAssociation.token, "private", {"routeTableId": table.id, "subnetId": place.id})
    endpoint = aws.create(
        VpcEndpoint.token,
        "s3",
        {"vpcId": vpc.id, "serviceName": "com.amazonaws.us-east-1.s3", "routeTableIds": [table.id]},
    )
    guard = aws.create(DefaultSecurityGroup.token, "net", {"vpcId": vpc.id})
    for held, by in (
        (gateway, "mapped public address"),
        (address, "InUse"),
        (vpc, "DependencyViolation"),
    ):
        with pytest.raises(ProviderError, match=by):
            aws.delete(held)
    for thing in (guard, endpoint, nat, address, gateway, table, link, route):
        aws.delete(thing)
    assert {thing.kind for thing in cloud.resources()} == {VPC, place.token}


def test_a_bucket_with_objects_is_not_deleted(aws: Client) -> None:
    bucket = aws.create(BUCKET, "Models", {})
    assert bucket.id.startswith("models-")
    thing = aws.create(BucketObject.token, "x", {"bucket": bucket.outputs["bucket"], "content": "y"})
    with pytest.raises(ProviderError, match="BucketNotEmpty"):
        aws.delete(bucket)
    aws.delete(thing)
    aws.delete(bucket)


def test_what_else_the_examples_declare_can_be_made(aws: Client) -> None:
    _, place, _ = subnets(aws)
    key = aws.create(Key.token, "k", {"description": "x", "deletionWindowInDays": 30})
    lustre = {"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250, "storageCapacity": 4800}
    files = aws.create(
        LustreFileSystem.token, "fast", {**lustre, "subnetIds": place.id, "kmsKeyId": key.outputs["arn"]}
    )
    assert files.outputs["dnsName"].endswith(".fsx.us-east-1.amazonaws.com")
    images = aws.create(Repository.token, "servers", {"imageTagMutability": "IMMUTABLE"})
    assert images.outputs["repositoryUrl"].startswith("111122223333.dkr.ecr.us-east-1.amazonaws.com/servers-")
    issuer = {"url": "https://oidc.eks.us-east-1.amazonaws.com/id/A", "clientIdLists": ["sts.amazonaws.com"]}
    identities = aws.create(OpenIdConnectProvider.token, "x", issuer)
    assert identities.id.endswith(":oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/A")
    with pytest.raises(ProviderError, match="EntityAlreadyExists"):
        aws.create(OpenIdConnectProvider.token, "y", issuer)


def test_a_file_system_is_encrypted_when_it_is_made_or_never(aws: Client) -> None:
    plain = aws.create(FileSystem.token, "plain", {"throughputMode": "elastic"})
    assert plain.outputs["encrypted"] is False
    assert plain.outputs["dnsName"] == f"{plain.id}.efs.us-east-1.amazonaws.com"
    later = {"throughputMode": "elastic", "encrypted": True}
    assert list(aws.diff(plain, later).replaces) == ["encrypted"]
    assert aws.preview_create(FileSystem.token, "other", later)["kmsKeyId"] is UNKNOWN
    encrypted = aws.create(FileSystem.token, "encrypted", later)
    assert ":key/" in encrypted.outputs["kmsKeyId"]
    assert list(aws.diff(encrypted, {"throughputMode": "elastic"}).replaces) == []
    slower = aws.update(encrypted, later | {"throughputMode": "bursting"})
    assert slower.outputs["kmsKeyId"] == encrypted.outputs["kmsKeyId"]
    with pytest.raises(ProviderError, match=r"BadRequest: .*provisioned needs provisionedThroughputInMibps"):
        aws.create(FileSystem.token, "fast", {"throughputMode": "provisioned"})
    token = {"creationToken": "weights"}
    aws.create(FileSystem.token, "weights", token)
    with pytest.raises(ProviderError, match="FileSystemAlreadyExists"):
        aws.create(FileSystem.token, "again", token)


def test_a_security_group_is_held_by_rules_of_others(aws: Client, cloud: Cloud) -> None:
    vpc, *_ = subnets(aws)
    group = aws.create(GROUP, "ray", {"vpcId": vpc.id})
    assert group.outputs["description"] == "Managed by Pulumi"
    with pytest.raises(ProviderError, match=r"InvalidGroup\.Duplicate: The security group 'ray-"):
        aws.create(GROUP, "ray", {"vpcId": vpc.id, "name": group.outputs["name"]})
    with pytest.raises(ProviderError, match="VPCIdNotSpecified"):
        aws.create(GROUP, "nowhere", {})
    with pytest.raises(ProviderError, match=r"DependencyViolation: The vpc '.*' has dependencies"):
        aws.delete(vpc)
    other = aws.create(GROUP, "jobs", {"vpcId": vpc.id})
    port = {"ipProtocol": "tcp", "fromPort": 8265, "toPort": 8265}
    aws.create(INGRESS, "own", {**port, "securityGroupId": group.id, "referencedSecurityGroupId": group.id})
    rule = aws.create(INGRESS, "jobs", {**port, "securityGroupId": other.id, "referencedSecurityGroupId": group.id})
    with pytest.raises(ProviderError, match=f"DependencyViolation: resource {group.id} has a dependent object"):
        aws.delete(group)
    aws.delete(rule)
    aws.delete(group)
    assert [thing.id for thing in cloud.resources(GROUP)] == [other.id]
    assert cloud.resources(INGRESS) == []


def test_a_rule_of_a_security_group_is_there_once(aws: Client) -> None:
    vpc, *_ = subnets(aws)
    port = {"ipProtocol": "tcp", "fromPort": 8265, "toPort": 8265, "cidrIpv4": "10.0.0.0/8"}
    # The group that comes with the VPC takes rules too.
    inputs = {**port, "securityGroupId": vpc.outputs["defaultSecurityGroupId"]}
    rule = aws.create(INGRESS, "ray", inputs)
    assert rule.outputs["arn"].endswith(f":security-group-rule/{rule.id}")
    with pytest.raises(
        ProviderError, match=r'"peer: 10\.0\.0\.0/8, TCP, from port: 8265, to port: 8265, ALLOW" already'
    ):
        aws.create(INGRESS, "again", inputs)
    with pytest.raises(ProviderError, match=r"InvalidGroup\.NotFound: The security group 'sg-0' does not exist"):
        aws.create(INGRESS, "lost", inputs | {"securityGroupId": "sg-0"})
    with pytest.raises(ProviderError, match=r"InvalidParameterValue: .*given 2 of them"):
        aws.create(INGRESS, "both", inputs | {"cidrIpv6": "::/0"})
    narrower = {**inputs, "cidrIpv4": "10.20.0.0/16"}
    assert list(aws.diff(rule, narrower).replaces) == []
    elsewhere = {key: value for key, value in inputs.items() if key != "cidrIpv4"}
    moved = aws.diff(rule, elsewhere | {"referencedSecurityGroupId": inputs["securityGroupId"]})
    assert list(moved.replaces) == ["cidrIpv4", "referencedSecurityGroupId"]


def test_a_template_name_is_taken_once(aws: Client) -> None:
    aws.create(TEMPLATE, "x", {"name": "mine"})
    with pytest.raises(ProviderError, match=r"InvalidLaunchTemplateName\.AlreadyExistsException"):
        aws.create(TEMPLATE, "y", {"name": "mine"})


def test_what_asks_for_the_same_twice_gets_it(aws: Client) -> None:
    owner = role(aws, "x", "ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy")
    again = {"role": owner.id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"}
    first, second = (aws.create(RolePolicyAttachment.token, name, again) for name in ("y", "z"))
    assert first.id == second.id


def test_things_are_imported_by_what_the_provider_takes(aws: Client) -> None:
    vpc, place, _ = subnets(aws)
    gateway = aws.create(GATEWAY, "net", {"vpcId": vpc.id})
    table = aws.create(RouteTable.token, "out", {"vpcId": vpc.id})
    to = {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway.id}
    route = aws.create(Route.token, "out", to)
    link = aws.create(RouteTableAssociation.token, "out", {"routeTableId": table.id, "subnetId": place.id})
    for made, given in ((route, f"{table.id}_0.0.0.0/0"), (link, f"{place.id}/{table.id}")):
        for name in (given, made.id):
            found = aws.read(made.token, made.name, name)
            assert found is not None
            assert found.id == made.id


def test_private_names_of_a_gateway_endpoint_are_never_switched(aws: Client) -> None:
    vpc, *_ = subnets(aws)
    inputs = {"vpcId": vpc.id, "serviceName": "com.amazonaws.us-east-1.s3"}
    endpoint = aws.create(VpcEndpoint.token, "s3", inputs)
    assert list(aws.diff(endpoint, inputs | {"privateDnsEnabled": True}).replaces) == ["privateDnsEnabled"]
    assert list(aws.diff(endpoint, inputs | {"tags": {"a": "b"}}).replaces) == []
