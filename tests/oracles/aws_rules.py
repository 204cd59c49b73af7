"""What EKS, EC2 and IAM refuse although their models do not say so; each rule names where it is written."""

from __future__ import annotations

import base64
import binascii
import functools
import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore.session
from oracles import aws_capacity, aws_efs, aws_events, aws_policies, aws_security_groups

Inputs = Mapping[str, Any]
Rule = Callable[[Inputs], Iterator[str]]

INTERFACE_TYPES = ("interface", "efa", "efa-only")
"""EC2 API, LaunchTemplateInstanceNetworkInterfaceSpecificationRequest$InterfaceType."""

TAGGED_BY_TEMPLATES = ("instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
"""EC2 API, LaunchTemplateTagSpecificationRequest$ResourceType."""

REFUSED_BY_EKS = ("iamInstanceProfile", "hibernationOptions", "instanceInitiatedShutdownBehavior")
"""EKS API, LaunchTemplateSpecification, and EKS user guide, "Customize managed nodes with launch templates"."""

VOLUME_GIB = {"gp3": (1, 65_536), "gp2": (1, 16_384), "io2": (4, 65_536)}
"""EC2 API, LaunchTemplateEbsBlockDeviceRequest$VolumeSize."""

USER_DATA_BYTES = 16_384
"""EC2 API, RequestLaunchTemplateData$UserData."""

PREFIX_LENGTHS = range(16, 29)
"""EC2 API, CreateVpc and CreateSubnet: /28 to /16."""

RESERVED = tuple(ipaddress.ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
"""EKS user guide, "Cluster API server endpoint": the blocks of callers cannot include reserved addresses."""

LUSTRE_THROUGHPUT = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""FSx API, CreateFileSystemLustreConfiguration$PerUnitStorageThroughput, in MB/s/TiB."""

LUSTRE_STEP_GIB = {
    ("SCRATCH_1", "SSD"): 3600,
    ("SCRATCH_2", "SSD"): 2400,
    ("PERSISTENT_1", "SSD"): 2400,
    ("PERSISTENT_2", "SSD"): 2400,
}
"""FSx API, CreateFileSystemRequest$StorageCapacity."""


def rule_problems(kind: str, inputs: Inputs) -> Iterator[str]:
    """What is wrong with the inputs of a resource of this Pulumi type."""
    yield from _tags(inputs.get("tags"), "/tags")
    for rule in RULES.get(kind, ()):
        yield from rule(inputs)


def _tags(tags: Any, path: str) -> Iterator[str]:
    for key, value in (tags or {}).items():
        if key.lower().startswith("aws:"):
            yield f"{path}/{key}: the prefix aws: is kept for AWS"
        if len(key) > 128 or len(value or "") > 256:
            yield f"{path}/{key}: a tag has at most 128 characters of key and 256 of value"


def _cluster(inputs: Inputs) -> Iterator[str]:
    network = inputs.get("vpcConfig") or {}
    subnets = network.get("subnetIds")
    if subnets is not None and len(subnets) < 2:
        yield "/vpcConfig/subnetIds: EKS needs two subnets in two zones"
    if network.get("endpointPublicAccess") is False and not network.get("endpointPrivateAccess"):
        yield "/vpcConfig: neither endpoint is on, so nothing reaches the API"
    for index, block in enumerate(network.get("publicAccessCidrs") or []):
        yield from _cidr(block, f"/vpcConfig/publicAccessCidrs/{index}")
        if any(_network(block) and _network(block).overlaps(reserved) for reserved in RESERVED):
            yield f"/vpcConfig/publicAccessCidrs/{index}: {block} holds reserved addresses"
    if not re.fullmatch(r"1\.[0-9]{2}", str(inputs.get("version", "1.30"))):
        yield f"/version: {inputs['version']!r} is not a minor version"
    logs = _enum("eks", "LogType")
    for index, log in enumerate(inputs.get("enabledClusterLogTypes") or []):
        if log not in logs:
            yield f"/enabledClusterLogTypes/{index}: {log!r} is not one of {', '.join(logs)}"
    resources = (inputs.get("encryptionConfig") or {}).get("resources")
    if resources is not None and resources != ["secrets"]:
        yield f"/encryptionConfig/resources: EKS encrypts secrets only, given {resources!r}"


def _node_group(inputs: Inputs) -> Iterator[str]:
    scaling = inputs.get("scalingConfig") or {}
    counts = [scaling.get("minSize", 0), scaling.get("desiredSize", 0), scaling.get("maxSize", 0)]
    if None not in counts and not counts[0] <= counts[1] <= counts[2]:
        yield f"/scalingConfig: {counts[0]}, {counts[1]} and {counts[2]} are not in order"
    if inputs.get("launchTemplate") and (inputs.get("diskSize") or inputs.get("remoteAccess")):
        yield "/launchTemplate: excludes diskSize and remoteAccess"
    if len(inputs.get("taints") or []) > 50:
        yield "/taints: 50 at most"
    for index, machine in enumerate(inputs.get("instanceTypes") or []):
        if machine not in _enum("ec2", "InstanceType"):
            yield f"/instanceTypes/{index}: {machine!r} is not an instance type"
    if inputs.get("subnetIds") == []:
        yield "/subnetIds: one at least"
    update = inputs.get("updateConfig") or {}
    if update and ("maxUnavailable" in update) == ("maxUnavailablePercentage" in update):
        yield "/updateConfig: maxUnavailable or maxUnavailablePercentage, one of them"
    overrides = (inputs.get("nodeRepairConfig") or {}).get("nodeRepairConfigOverrides") or []
    for index, override in enumerate(overrides):
        if len(override) < 4:
            yield f"/nodeRepairConfig/nodeRepairConfigOverrides/{index}: all four values are needed"


def _addon(inputs: Inputs) -> Iterator[str]:
    values = inputs.get("configurationValues")
    if values is not None and not isinstance(_json(values), dict):
        yield "/configurationValues: is not a JSON object"


def _access_policy(inputs: Inputs) -> Iterator[str]:
    policy = inputs.get("policyArn")
    if policy is not None and not re.fullmatch(r"arn:aws:eks::aws:cluster-access-policy/AmazonEKS\w+Policy", policy):
        yield f"/policyArn: {policy!r} is not an access policy of EKS"


def _principal(inputs: Inputs) -> Iterator[str]:
    principal = inputs.get("principalArn")
    if principal is not None and not re.fullmatch(r"arn:aws:iam::[0-9]{12}:(role|user)/.+", principal):
        yield f"/principalArn: {principal!r} is not a role or a user"


def _template(inputs: Inputs) -> Iterator[str]:
    for name in REFUSED_BY_EKS:
        if inputs.get(name):
            yield f"/{name}: a managed node group refuses it"
    for index, interface in enumerate(inputs.get("networkInterfaces") or []):
        path = f"/networkInterfaces/{index}"
        if interface.get("interfaceType", "interface") not in INTERFACE_TYPES:
            yield f"{path}/interfaceType: {interface['interfaceType']!r} is not one of {', '.join(INTERFACE_TYPES)}"
        if interface.get("subnetId"):
            yield f"{path}/subnetId: a managed node group refuses it"
    for index, specification in enumerate(inputs.get("tagSpecifications") or []):
        path = f"/tagSpecifications/{index}"
        if specification.get("resourceType") not in TAGGED_BY_TEMPLATES:
            yield f"{path}/resourceType: {specification.get('resourceType')!r} is not tagged by a launch template"
        yield from _tags(specification.get("tags"), f"{path}/tags")
    for index, device in enumerate(inputs.get("blockDeviceMappings") or []):
        yield from _device(device, f"/blockDeviceMappings/{index}")
    hops = (inputs.get("metadataOptions") or {}).get("httpPutResponseHopLimit")
    if hops is not None and not 1 <= hops <= 64:
        yield f"/metadataOptions/httpPutResponseHopLimit: {hops} is not 1 to 64"
    yield from aws_capacity.template_problems(inputs)
    yield from _user_data(inputs.get("userData"))


def _device(device: Inputs, path: str) -> Iterator[str]:
    if not re.fullmatch(r"/dev/(sd[a-z][0-9]?|xvd[a-z])", device.get("deviceName") or "/dev/sda"):
        yield f"{path}/deviceName: {device['deviceName']!r} is not a device of EC2"
    volume = device.get("ebs") or {}
    low, high = VOLUME_GIB.get(volume.get("volumeType") or "gp3", (1, 16_384))
    if volume.get("volumeSize") is not None and not low <= volume["volumeSize"] <= high:
        yield f"{path}/ebs/volumeSize: {volume['volumeSize']} GiB is not {low} to {high}"


def _user_data(data: str | None) -> Iterator[str]:
    if data is None:
        return
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        yield "/userData: is not base64"
        return
    if len(raw) > USER_DATA_BYTES:
        yield f"/userData: {len(raw)} bytes are over {USER_DATA_BYTES}"


def _block(inputs: Inputs) -> Iterator[str]:
    block = inputs.get("cidrBlock")
    if block is None:
        return
    yield from _cidr(block, "/cidrBlock")
    network = _network(block)
    if network and network.prefixlen not in PREFIX_LENGTHS:
        yield f"/cidrBlock: {block} is not a /16 to a /28"


def _route(inputs: Inputs) -> Iterator[str]:
    if inputs.get("destinationCidrBlock") is not None:
        yield from _cidr(inputs["destinationCidrBlock"], "/destinationCidrBlock")
    ways = ("gatewayId", "natGatewayId", "transitGatewayId", "vpcEndpointId", "networkInterfaceId")
    if sum(way in inputs for way in ways) != 1:
        yield "/: a route leaves by one way"


def _endpoint(inputs: Inputs) -> Iterator[str]:
    service = inputs.get("serviceName")
    if service is not None and not re.fullmatch(r"com\.amazonaws\.[a-z0-9-]+\.[a-z0-9.-]+", service):
        yield f"/serviceName: {service!r} is not a service of AWS"
    if inputs.get("vpcEndpointType", "Gateway") == "Gateway" and (
        "subnetIds" in inputs or "securityGroupIds" in inputs
    ):
        yield "/: a gateway endpoint is in route tables, not in subnets"


def _zone(inputs: Inputs) -> Iterator[str]:
    zone = inputs.get("availabilityZone")
    if zone is not None and not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-[0-9][a-z]", zone):
        yield f"/availabilityZone: {zone!r} is not a zone"


def _key(inputs: Inputs) -> Iterator[str]:
    days = inputs.get("deletionWindowInDays", 30)
    if days is not None and not 7 <= days <= 30:
        yield f"/deletionWindowInDays: {days} is not 7 to 30"


def _lustre(inputs: Inputs) -> Iterator[str]:
    kind, storage = inputs.get("deploymentType") or "SCRATCH_1", inputs.get("storageType") or "SSD"
    throughputs = LUSTRE_THROUGHPUT.get((kind, storage))
    throughput = inputs.get("perUnitStorageThroughput")
    if throughputs and throughput not in throughputs:
        yield f"/perUnitStorageThroughput: {throughput} is not one of {', '.join(map(str, throughputs))}"
    size, step = inputs.get("storageCapacity"), LUSTRE_STEP_GIB.get((kind, storage))
    if size is not None and step and size != 1200 and size != 2400 and (size <= 0 or size % step):
        yield f"/storageCapacity: {size} GiB is not 1200, 2400 or a multiple of {step}"


def _cidr(text: str, path: str) -> Iterator[str]:
    if _network(text) is None:
        yield f"{path}: {text!r} is not a network"


def _network(text: str) -> Any:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@functools.cache
def _enum(service: str, shape: str) -> frozenset[str]:
    model = botocore.session.get_session().get_service_model(service)
    return frozenset(model.shape_for(shape).enum)


RULES: dict[str, tuple[Rule, ...]] = {
    "aws:eks/cluster:Cluster": (_cluster,),
    "aws:eks/nodeGroup:NodeGroup": (_node_group,),
    "aws:eks/addon:Addon": (_addon,),
    "aws:eks/accessEntry:AccessEntry": (_principal,),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (_principal, _access_policy),
    "aws:ec2/launchTemplate:LaunchTemplate": (_template,),
    "aws:ec2/vpc:Vpc": (_block,),
    "aws:ec2/subnet:Subnet": (_block, _zone),
    "aws:ec2/route:Route": (_route,),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (_endpoint,),
    "aws:ec2/capacityReservation:CapacityReservation": (_zone, aws_capacity.end),
    **aws_policies.RULES,
    **aws_events.RULES,
    **aws_efs.RULES,
    **aws_security_groups.RULES,
    "aws:kms/key:Key": (_key,),
    "aws:fsx/lustreFileSystem:LustreFileSystem": (_lustre,),
}
