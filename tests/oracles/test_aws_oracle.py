from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from oracles.aws import CALLS, UNMODELLED, problems
from oracles.aws_examples import (
    CLUSTER,
    FILES,
    GOOD,
    GROUP,
    INGRESS,
    QUEUE,
    RESERVATION,
    ROLE,
    RULE,
    SECURITY_GROUP,
    TEMPLATE,
    TRUST,
)


def faulty(kind: str, change: Callable[[dict[str, Any]], object]) -> list[str]:
    inputs = copy.deepcopy(GOOD[kind])
    change(inputs)
    return problems({"type": kind, "inputs": inputs})


def sets(*path: str | int, to: Any) -> Callable[[dict[str, Any]], object]:
    def change(inputs: Any) -> None:
        for step in path[:-1]:
            inputs = inputs[step]
        inputs[path[-1]] = to

    return change


def drops(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda inputs: inputs.pop(key)


def test_there_is_a_good_example_of_every_type_that_is_checked() -> None:
    assert GOOD.keys() == CALLS.keys()
    assert not CALLS.keys() & UNMODELLED.keys()


@pytest.mark.parametrize("kind", GOOD)
def test_good_resources_have_no_problem(kind: str) -> None:
    assert problems({"type": kind, "inputs": GOOD[kind]}) == []


@pytest.mark.parametrize(
    ("kind", "change", "problem"),
    [
        # What the models say
        (GROUP, sets("amiType", to="AL2023_GPU"), "/amiType: 'AL2023_GPU' is not one of"),
        (GROUP, sets("capacityType", to="on_demand"), "/capacityType"),
        (GROUP, sets("taints", 0, "effect", to="NoSchedule"), "/taints/0/effect: 'NoSchedule' is not one of"),
        (GROUP, sets("scalingConfig", "maxSize", to=0), "/scalingConfig/maxSize: 0 is under 1"),
        (GROUP, sets("scalingConfig", "minSize", to=1.5), "/scalingConfig/minSize: a whole number is expected"),
        (GROUP, sets("spot", to=True), "/spot: CreateNodegroupRequest has no such member"),
        (GROUP, sets("labels", to=["a"]), "/labels: a map is expected"),
        (GROUP, sets("updateConfig", "maxUnavailablePercentage", to=101), "is over 100"),
        (GROUP, drops("subnetIds"), "CreateNodegroupRequest needs subnets"),
        (CLUSTER, drops("roleArn"), "CreateClusterRequest needs roleArn"),
        (CLUSTER, sets("accessConfig", "authenticationMode", to="IAM"), "/accessConfig/authenticationMode"),
        (CLUSTER, sets("deletionProtection", to="yes"), "true or false is expected"),
        (CLUSTER, sets("vpcConfig", to="vpc-1"), "VpcConfigRequest is a structure"),
        (CLUSTER, sets("name", to="-prod"), "/name: '-prod' does not match"),
        (TEMPLATE, sets("metadataOptions", "httpTokens", to="yes"), "/metadataOptions/httpTokens"),
        (TEMPLATE, sets("networkInterfaces", 0, "networkCard", to=1), "has no such member"),
        (TEMPLATE, sets("instanceType", to="p9.48xlarge"), "/instanceType: 'p9.48xlarge' is not one of"),
        (TEMPLATE, sets("blockDeviceMappings", 0, "ebs", "volumeType", to="gp4"), "'gp4' is not one of"),
        ("aws:eks/addon:Addon", sets("resolveConflictsOnCreate", to="FORCE"), "'FORCE' is not one of"),
        ("aws:eks/addon:Addon", sets("podIdentityAssociations", 0, "roleName", to="x"), "has no such member"),
        ("aws:ec2/eip:Eip", sets("vpc", to=True), "/vpc: AllocateAddressRequest has no such member"),
        ("aws:ec2/natGateway:NatGateway", sets("connectivityType", to="internet"), "'internet' is not one of"),
        (ROLE, sets("maxSessionDuration", to=60), "/maxSessionDuration: 60 is under 3600"),
        (
            "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
            sets("thumbprintLists", to=["0123"]),
            "/thumbprintLists/0: 4 is under 40",
        ),
        (ROLE, sets("name", to="a b"), "/name: 'a b' does not match"),
        (ROLE, sets("tags", to={f"t{i}": "" for i in range(51)}), "51 is over 50"),
        # What they do not
        (GROUP, sets("instanceTypes", to=["p5.49xlarge"]), "'p5.49xlarge' is not an instance type"),
        (GROUP, sets("scalingConfig", "desiredSize", to=5), "are not in order"),
        (GROUP, sets("diskSize", to=100), "excludes diskSize"),
        (GROUP, sets("taints", to=GOOD[GROUP]["taints"] * 51), "50 at most"),
        (GROUP, sets("updateConfig", "maxUnavailablePercentage", to=50), "one of them"),
        (GROUP, sets("nodeRepairConfig", "nodeRepairConfigOverrides", to=[{}]), "all four values"),
        (GROUP, sets("tags", to={"aws:x": "y"}), "kept for AWS"),
        (CLUSTER, sets("enabledClusterLogTypes", to=["apis"]), "'apis' is not one of"),
        (CLUSTER, sets("vpcConfig", "subnetIds", to=["subnet-1"]), "two subnets"),
        (CLUSTER, sets("vpcConfig", "publicAccessCidrs", to=["10.0.0.0/8"]), "reserved addresses"),
        (CLUSTER, sets("vpcConfig", "publicAccessCidrs", to=["203.0.113.7/24"]), "is not a network"),
        (CLUSTER, sets("vpcConfig", to={"subnetIds": [None, None], "endpointPublicAccess": False}), "neither endpoint"),
        (CLUSTER, sets("encryptionConfig", "resources", to=[]), "encrypts secrets only"),
        (TEMPLATE, sets("networkInterfaces", 1, "interfaceType", to="efa_only"), "'efa_only' is not one of"),
        (TEMPLATE, sets("networkInterfaces", 1, "subnetId", to="subnet-1"), "a managed node group refuses it"),
        (TEMPLATE, sets("iamInstanceProfile", to={"name": "x"}), "a managed node group refuses it"),
        (TEMPLATE, sets("tagSpecifications", 0, "resourceType", to="vpc"), "is not tagged by a launch template"),
        (TEMPLATE, sets("blockDeviceMappings", 0, "deviceName", to="xvda"), "is not a device of EC2"),
        (TEMPLATE, sets("blockDeviceMappings", 0, "ebs", "volumeSize", to=99_999), "GiB is not 1 to 65536"),
        (TEMPLATE, sets("metadataOptions", "httpPutResponseHopLimit", to=65), "65 is not 1 to 64"),
        (TEMPLATE, sets("userData", to="#!/bin/bash"), "is not base64"),
        (TEMPLATE, sets("userData", to="QUFB" * 6000), "bytes are over 16384"),
        (
            TEMPLATE,
            sets("capacityReservationSpecification", "capacityReservationPreference", to="none"),
            "'none' goes with no target",
        ),
        (RESERVATION, sets("instancePlatform", to="Linux"), "'Linux' is not one of"),
        (RESERVATION, sets("availabilityZone", to="us-east-1"), "is not a zone"),
        (RESERVATION, drops("endDate"), "goes with the endDateType 'limited'"),
        (RESERVATION, drops("endDateType"), "given 'unlimited'"),
        (RESERVATION, sets("endDate", to="2027-02-28"), "is not a time of RFC 3339"),
        ("aws:eks/addon:Addon", sets("configurationValues", to="enableNetworkPolicy"), "is not a JSON object"),
        ("aws:eks/accessEntry:AccessEntry", sets("principalArn", to="platform"), "is not a role or a user"),
        (
            "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
            sets("policyArn", to="arn:aws:iam::aws:policy/AdministratorAccess"),
            "is not an access policy of EKS",
        ),
        ("aws:ec2/vpc:Vpc", sets("cidrBlock", to="10.0.0.0/8"), "is not a /16 to a /28"),
        ("aws:ec2/subnet:Subnet", sets("cidrBlock", to="10.40.0.1/19"), "is not a network"),
        ("aws:ec2/subnet:Subnet", sets("availabilityZone", to="us-east-1"), "is not a zone"),
        ("aws:ec2/route:Route", sets("gatewayId", to="igw-1"), "leaves by one way"),
        ("aws:ec2/vpcEndpoint:VpcEndpoint", sets("subnetIds", to=["subnet-1"]), "not in subnets"),
        (ROLE, sets("assumeRolePolicy", to="{}"), "is not a policy document"),
        (ROLE, sets("assumeRolePolicy", to=json.dumps(TRUST).replace("Principal", "Resource")), "a Principal"),
        ("aws:iam/rolePolicy:RolePolicy", sets("policy", to=json.dumps(TRUST)), "a Resource"),
        (
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            sets("policyArn", to="AmazonEKS_CNI_Policy"),
            "is not a policy",
        ),
        ("aws:kms/key:Key", sets("deletionWindowInDays", to=3), "3 is not 7 to 30"),
        (QUEUE, sets("messageRetentionSeconds", to=30), "30 is not 60 to 1209600"),
        (QUEUE, sets("name", to="a queue"), "is not the name of a queue"),
        (QUEUE, sets("kmsMasterKeyId", to="key"), "not both"),
        (QUEUE, sets("retention", to=300), "has no such member"),
        ("aws:sqs/queuePolicy:QueuePolicy", sets("policy", to="{}"), "is not a policy document"),
        ("aws:sqs/queuePolicy:QueuePolicy", drops("queueUrl"), "needs QueueUrl"),
        (RULE, sets("eventPattern", to='{"source": "aws.ec2"}'), "is not an object of lists"),
        (RULE, drops("eventPattern"), "a pattern or a schedule"),
        (RULE, sets("name", to="r" * 65), "65 is over 64"),
        ("aws:cloudwatch/eventTarget:EventTarget", drops("arn"), "needs Arn"),
        ("aws:iam/instanceProfile:InstanceProfile", sets("path", to="nodes"), "does not match"),
        (TEMPLATE, sets("instanceMarketOptions", to={"marketType": "block"}), "'block' is not one of"),
        (
            TEMPLATE,
            sets("instanceMarketOptions", to={"marketType": "capacity-block"}),
            "a Capacity Block needs instanceType",
        ),
        (SECURITY_GROUP, sets("description", to=""), "has characters that EC2 does not take"),
        (SECURITY_GROUP, sets("name", to="sg-servers"), "starts with sg-"),
        (SECURITY_GROUP, sets("rules", to=[]), "/rules: CreateSecurityGroupRequest has no such member"),
        (SECURITY_GROUP, drops("description"), "needs Description"),
        (SECURITY_GROUP, sets("ingress", 0, "cidrBlocks", 0, to="10.40.0.1/16"), "is not a network"),
        (SECURITY_GROUP, sets("egress", 0, "cidrBlocks", 0, to="::/0"), "is not a network of IPv4"),
        (SECURITY_GROUP, sets("ingress", 0, "fromPort", to=9000), "9000 is above toPort"),
        (INGRESS, sets("cidrIpv6", to="::/0"), "given 2 of them"),
        (INGRESS, drops("cidrIpv4"), "given 0 of them"),
        (INGRESS, drops("toPort"), "tcp needs fromPort and toPort"),
        (INGRESS, sets("toPort", to=70_000), "is not within -1 to 65535"),
        (INGRESS, sets("fromPort", to="http"), "a whole number is expected"),
        (INGRESS, sets("port", to=80), "/port: IpPermission has no such member"),
        (FILES, sets("throughputMode", to="burst"), "'burst' is not one of"),
        (FILES, sets("throughputMode", to="provisioned"), "needs provisionedThroughputInMibps"),
        (FILES, sets("provisionedThroughputInMibps", to=4000), "4000 is not 1 to 3414"),
        (
            FILES,
            lambda i: i.update(performanceMode="maxIO", availabilityZoneName="us-east-1a"),
            "maxIO is not supported in one zone",
        ),
        (FILES, sets("encrypted", to=False), "encrypted must be set to true"),
        (FILES, drops("encrypted"), "encrypted must be set to true"),
        (FILES, sets("kmsKeyId", to="key of mine"), "/kmsKeyId"),
        (FILES, sets("lifecyclePolicies", 0, "transitionToIa", to="AFTER_2_DAYS"), "'AFTER_2_DAYS' is not one of"),
        ("aws:s3/bucket:Bucket", sets("acl", to="open"), "'open' is not one of private"),
        ("aws:s3/bucketObject:BucketObject", drops("bucket"), "needs Bucket"),
        ("aws:ecr/repository:Repository", sets("imageTagMutability", to="FIXED"), "'FIXED' is not one of"),
        (
            "aws:ecr/repository:Repository",
            sets("encryptionConfigurations", 0, "encryptionType", to="RSA"),
            "'RSA' is not one of",
        ),
        (
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            sets("deploymentType", to="PERSISTENT_3"),
            "'PERSISTENT_3' is not one of",
        ),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", sets("storageCapacity", to=5000), "5000 GiB is not"),
        (
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            sets("perUnitStorageThroughput", to=200),
            "200 is not one of 125, 250, 500, 1000",
        ),
    ],
)
def test_a_seeded_fault_is_found(kind: str, change: Callable[[dict[str, Any]], object], problem: str) -> None:
    found = faulty(kind, change)
    assert any(problem in sentence for sentence in found), found


def test_an_aws_type_that_nobody_thought_of_is_a_problem() -> None:
    assert problems({"type": "aws:sns/topic:Topic", "inputs": {}}) != []


def test_other_resources_are_none_of_its_business() -> None:
    assert problems({"type": "kubernetes:core/v1:Pod", "inputs": {"spec": 5}}) == []
    assert problems({"type": "gpuyard:index:EksCluster", "inputs": {}}) == []
