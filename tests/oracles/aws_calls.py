"""The request of AWS's API that makes each resource, and what Pulumi calls by another name than the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """The request that makes a resource."""

    service: str
    operation: str
    member: str | None = None
    """The member of the request that the inputs are of; None for the request itself."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Pulumi's name to the API's, at any depth, where they differ by more than case and plural."""
    elsewhere: tuple[str, ...] = ()
    """Inputs that other requests carry, or that only Pulumi reads."""
    named: str | None = None
    """The name that Pulumi makes when the program gives none."""
    tags: str | None = None
    """The member that takes tags as a list of keys and values; None where they are a map, as Pulumi has them."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Inputs that the request has as texts in a map called Attributes, by their keys there."""


CALLS = {
    "aws:eks/cluster:Cluster": Call(
        "eks",
        "CreateCluster",
        renames={"vpcConfig": "resourcesVpcConfig"},
        elsewhere=("enabledClusterLogTypes", "defaultAddonsToRemoves", "forceUpdateVersion"),
        named="name",
    ),
    "aws:eks/nodeGroup:NodeGroup": Call(
        "eks",
        "CreateNodegroup",
        renames={"nodeGroupName": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets"},
        elsewhere=("nodeGroupNamePrefix", "forceUpdateVersion"),
        named="nodeGroupName",
    ),
    "aws:eks/addon:Addon": Call(
        "eks",
        "CreateAddon",
        renames={"resolveConflictsOnCreate": "resolveConflicts"},
        elsewhere=("resolveConflictsOnUpdate", "preserve"),
    ),
    "aws:eks/accessEntry:AccessEntry": Call("eks", "CreateAccessEntry", renames={"userName": "username"}),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Call("eks", "AssociateAccessPolicy"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Call("eks", "CreatePodIdentityAssociation"),
    "aws:ec2/launchTemplate:LaunchTemplate": Call(
        "ec2",
        "CreateLaunchTemplate",
        member="LaunchTemplateData",
        renames={
            "vpcSecurityGroupIds": "SecurityGroupIds",
            "securityGroupNames": "SecurityGroups",
            "securityGroups": "Groups",
        },
        elsewhere=("name", "namePrefix", "description", "defaultVersion", "updateDefaultVersion", "tags"),
    ),
    "aws:ec2/capacityReservation:CapacityReservation": Call(
        "ec2", "CreateCapacityReservation", tags="TagSpecifications"
    ),
    "aws:ec2/placementGroup:PlacementGroup": Call(
        "ec2", "CreatePlacementGroup", renames={"name": "groupName"}, named="name", tags="TagSpecifications"
    ),
    "aws:ec2/vpc:Vpc": Call(
        "ec2", "CreateVpc", elsewhere=("enableDnsHostnames", "enableDnsSupport"), tags="TagSpecifications"
    ),
    "aws:ec2/subnet:Subnet": Call(
        "ec2",
        "CreateSubnet",
        elsewhere=("mapPublicIpOnLaunch", "privateDnsHostnameTypeOnLaunch"),
        tags="TagSpecifications",
    ),
    "aws:ec2/internetGateway:InternetGateway": Call(
        "ec2", "CreateInternetGateway", elsewhere=("vpcId",), tags="TagSpecifications"
    ),
    "aws:ec2/eip:Eip": Call("ec2", "AllocateAddress", tags="TagSpecifications"),
    "aws:ec2/natGateway:NatGateway": Call("ec2", "CreateNatGateway", tags="TagSpecifications"),
    "aws:ec2/routeTable:RouteTable": Call("ec2", "CreateRouteTable", elsewhere=("routes",), tags="TagSpecifications"),
    "aws:ec2/route:Route": Call("ec2", "CreateRoute"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Call("ec2", "AssociateRouteTable"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Call(
        "ec2", "CreateVpcEndpoint", renames={"policy": "PolicyDocument"}, tags="TagSpecifications"
    ),
    "aws:ec2/securityGroup:SecurityGroup": Call(
        "ec2",
        "CreateSecurityGroup",
        renames={"name": "groupName"},
        elsewhere=("egress", "ingress", "namePrefix", "revokeRulesOnDelete"),
        named="name",
        tags="TagSpecifications",
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Call(
        "ec2",
        "AuthorizeSecurityGroupIngress",
        member="IpPermissions",
        elsewhere=(
            "cidrIpv4",
            "cidrIpv6",
            "description",
            "prefixListId",
            "referencedSecurityGroupId",
            "securityGroupId",
            "tags",
        ),
    ),
    "aws:iam/role:Role": Call(
        "iam",
        "CreateRole",
        renames={"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
        elsewhere=("namePrefix", "forceDetachPolicies", "managedPolicyArns", "inlinePolicies"),
        named="name",
        tags="Tags",
    ),
    "aws:iam/rolePolicy:RolePolicy": Call(
        "iam",
        "PutRolePolicy",
        renames={"name": "PolicyName", "role": "RoleName", "policy": "PolicyDocument"},
        elsewhere=("namePrefix",),
        named="name",
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Call("iam", "AttachRolePolicy", renames={"role": "RoleName"}),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Call("iam", "CreateOpenIDConnectProvider", tags="Tags"),
    "aws:iam/instanceProfile:InstanceProfile": Call(
        "iam",
        "CreateInstanceProfile",
        renames={"name": "InstanceProfileName"},
        elsewhere=("namePrefix", "role"),
        named="name",
        tags="Tags",
    ),
    "aws:sqs/queue:Queue": Call(
        "sqs",
        "CreateQueue",
        renames={"name": "QueueName"},
        elsewhere=("namePrefix",),
        named="name",
        attributes={
            "contentBasedDeduplication": "ContentBasedDeduplication",
            "deduplicationScope": "DeduplicationScope",
            "delaySeconds": "DelaySeconds",
            "fifoQueue": "FifoQueue",
            "fifoThroughputLimit": "FifoThroughputLimit",
            "kmsDataKeyReusePeriodSeconds": "KmsDataKeyReusePeriodSeconds",
            "kmsMasterKeyId": "KmsMasterKeyId",
            "maxMessageSize": "MaximumMessageSize",
            "messageRetentionSeconds": "MessageRetentionPeriod",
            "policy": "Policy",
            "receiveWaitTimeSeconds": "ReceiveMessageWaitTimeSeconds",
            "redriveAllowPolicy": "RedriveAllowPolicy",
            "redrivePolicy": "RedrivePolicy",
            "sqsManagedSseEnabled": "SqsManagedSseEnabled",
            "visibilityTimeoutSeconds": "VisibilityTimeout",
        },
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Call("sqs", "SetQueueAttributes", attributes={"policy": "Policy"}),
    "aws:cloudwatch/eventRule:EventRule": Call(
        "events", "PutRule", elsewhere=("namePrefix", "forceDestroy", "isEnabled"), named="name", tags="Tags"
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Call(
        "events",
        "PutTargets",
        member="Targets",
        renames={"targetId": "Id"},
        elsewhere=("rule", "eventBusName", "forceDestroy"),
        named="targetId",
    ),
    "aws:kms/key:Key": Call(
        "kms",
        "CreateKey",
        elsewhere=("enableKeyRotation", "deletionWindowInDays", "rotationPeriodInDays", "isEnabled"),
        tags="Tags",
    ),
    "aws:s3/bucket:Bucket": Call(
        "s3",
        "CreateBucket",
        renames={"objectLockEnabled": "ObjectLockEnabledForBucket"},
        elsewhere=("bucketPrefix", "forceDestroy", "tags"),
        named="bucket",
    ),
    "aws:s3/bucketObject:BucketObject": Call(
        "s3",
        "PutObject",
        renames={"kmsKeyId": "SSEKMSKeyId"},
        elsewhere=("content", "contentBase64", "etag", "forceDestroy", "source", "sourceHash", "tags"),
        named="key",
    ),
    "aws:ecr/repository:Repository": Call(
        "ecr",
        "CreateRepository",
        renames={"name": "repositoryName"},
        elsewhere=("forceDelete",),
        named="name",
        tags="tags",
    ),
    "aws:efs/fileSystem:FileSystem": Call(
        "efs",
        "CreateFileSystem",
        elsewhere=("lifecyclePolicies", "protection"),
        named="creationToken",
        tags="Tags",
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Call(
        "fsx",
        "CreateFileSystem",
        member="LustreConfiguration",
        elsewhere=(
            "backupId",
            "fileSystemTypeVersion",
            "kmsKeyId",
            "securityGroupIds",
            "storageCapacity",
            "storageType",
            "subnetIds",
            "tags",
        ),
    ),
}
"""How a resource is made, by its Pulumi type."""

UNMODELLED = {"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "EC2 makes it with the VPC; no request does"}
"""Types that no request of the models makes, and why."""
