"""Checks recorded AWS resources (Pulumi's camelCase inputs) against botocore's own models of the services.

Names, types, enums, required members, ranges and patterns are botocore's; only the walk over a shape, and what Pulumi
calls by another name, are ours. What the models leave open is in `aws_rules`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import botocore.session
from oracles.aws_rules import rule_problems

Resource = Mapping[str, Any]


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


def problems(resource: Resource) -> list[str]:
    """What AWS would refuse in one recorded resource; nothing for resources that are not AWS's.

    A null is a value that is not known yet: it counts as given, and is checked no further.
    """
    kind = resource["type"]
    if not kind.startswith("aws:") or kind in UNMODELLED:
        return []
    if kind not in CALLS:
        return [f"{kind} is neither checked nor said to be outside the models"]
    inputs = {key: value for key, value in resource["inputs"].items() if key != "region" and not key.startswith("__")}
    # The rules read what the models have found well-formed.
    return [*_model_problems(CALLS[kind], inputs)] or [*rule_problems(kind, inputs)]


def _model_problems(call: Call, inputs: dict[str, Any]) -> Iterator[str]:
    sent = {key: value for key, value in inputs.items() if key not in call.elsewhere}
    if call.named:
        sent.setdefault(call.named, "name")
    if call.tags and "tags" in sent:
        key_name, value_name = ("TagKey", "TagValue") if call.service == "kms" else ("Key", "Value")
        tags = [{key_name: key, value_name: value} for key, value in (sent.pop("tags") or {}).items()]
        sent[call.tags] = [{"Tags": tags}] if call.tags == "TagSpecifications" else tags
    shape = _service(call.service).operation_model(call.operation).input_shape
    yield from _check(shape.members[call.member] if call.member else shape, sent, "", call.renames)


@functools.cache
def _service(name: str) -> Any:
    return botocore.session.get_session().get_service_model(name)


def _check(shape: Any, value: Any, path: str, renames: Mapping[str, str]) -> Iterator[str]:
    if value is None:
        return
    match shape.type_name:
        case "structure":
            yield from _structure(shape, value, path, renames)
        case "list":
            if not isinstance(value, list):
                yield f"{path}: a list is expected, given {value!r}"
                return
            yield from _size(shape, len(value), path)
            for index, item in enumerate(value):
                yield from _check(shape.member, item, f"{path}/{index}", renames)
        case "map":
            if not isinstance(value, dict):
                yield f"{path}: a map is expected, given {value!r}"
                return
            yield from _size(shape, len(value), path)
            for key, item in value.items():
                yield from _check(shape.key, key, f"{path}/{key}", renames)
                yield from _check(shape.value, item, f"{path}/{key}", renames)
        case "string":
            yield from _string(shape, value, path)
        case "integer" | "long":
            yield from _number(shape, value, path)
        case "boolean":
            if str(value).lower() not in ("true", "false"):
                yield f"{path}: true or false is expected, given {value!r}"


def _structure(shape: Any, value: Any, path: str, renames: Mapping[str, str]) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {shape.name} is a structure, given {value!r}"
        return
    members = {_squash(member): member for member in shape.members}
    given: dict[str, Any] = {}
    for key, item in value.items():
        member = next((members[name] for name in _spellings(renames.get(key, key)) if name in members), None)
        if member is None:
            yield f"{path}/{key}: {shape.name} has no such member"
            continue
        given[member] = item
        target = shape.members[member]
        if key == "tags" and target.type_name == "list" and isinstance(item, dict):
            item = [{"Key": tag, "Value": text} for tag, text in item.items()]
        if target.type_name == "list" and target.member.type_name == "structure" and isinstance(item, dict):
            item = [item]  # the provider has one block where the API has a list of one
        if target.type_name == "structure" and isinstance(item, list) and len(item) == 1:
            item = item[0]  # and the other way round
        yield from _check(target, item, f"{path}/{key}", renames)
    for member in shape.required_members:
        if member not in given:
            yield f"{path}: {shape.name} needs {member}"


def _string(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{path}: a text is expected, given {value!r}"
        return
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is not one of {', '.join(shape.enum)}"
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(_python(pattern), value):
        yield f"{path}: {value!r} does not match {pattern}"
    yield from _size(shape, len(value), path)


def _number(shape: Any, value: Any, path: str) -> Iterator[str]:
    # Pulumi's wire has floats only, and the provider takes some numbers as texts.
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if not re.fullmatch(r"-?[0-9]+", text):
        yield f"{path}: a whole number is expected, given {value!r}"
        return
    yield from _size(shape, int(text), path)


def _size(shape: Any, size: int, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and size < low:
        yield f"{path}: {size} is under {low}"
    if high is not None and size > high:
        yield f"{path}: {size} is over {high}"


def _python(pattern: str) -> str:
    """A pattern of the models in Python's dialect, which has no classes of Unicode."""
    return pattern.replace(r"\p{L}", r"\w").replace(r"\p{Z}", r"\s").replace(r"\p{N}", r"\d")


def _spellings(key: str) -> Iterator[str]:
    """A name as the API may write it: the provider makes plurals of lists and singulars of blocks."""
    yield _squash(key)
    for suffix in ("s", "es"):
        yield _squash(key) + suffix
        if key.endswith(suffix):
            yield _squash(key[: -len(suffix)])
    if key.endswith("ies"):
        yield _squash(key[:-3] + "y")


def _squash(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
