"""One of every kind: what previews promise becomes known, and what an interrupted run made is found by the id that
`gpuyard adopt` tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from clouds.aws.eks_parts import AccessEntry, AccessPolicyAssociation, Addon, PodIdentityAssociation
from clouds.aws.events import QUEUE, RULE, EventTarget, QueuePolicy
from clouds.aws.iam import INSTANCE_PROFILE, OpenIdConnectProvider, RolePolicy
from clouds.aws.nodes import RESERVATION, TEMPLATE, PlacementGroup
from clouds.aws.routing import Eip, NatGateway, VpcEndpoint
from clouds.aws.security_groups import GROUP, INGRESS
from clouds.aws.storage import BUCKET, BucketObject, FileSystem, Key, LustreFileSystem, Repository
from clouds.aws.vpc import INTERFACE, DefaultSecurityGroup
from clouds.client import Client
from clouds.cloud import Cloud
from clouds.estate import Eks, Gke, role
from clouds.gcp.iam import ACCOUNT, KEY, RING, SERVICE, CryptoKeyIAMMember, IAMMember
from clouds.gcp.network import POLICY as WORKLOAD_POLICY
from clouds.gcp.network import ROUTER, Firewall, RouterNat
from clouds.gcp.storage import BUCKET as GCS_BUCKET
from clouds.kind import KINDS, Session
from ruamel.yaml import YAML

IDS = YAML(typ="safe", pure=True).load((Path(__file__).parents[2] / "cli" / "ids.yaml").read_text(encoding="utf-8"))
MADE_UP = {
    "aws:ec2/capacityReservation:CapacityReservation",
    "aws:ec2/eip:Eip",
    "aws:ec2/internetGateway:InternetGateway",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/networkInterface:NetworkInterface",
    "aws:ec2/routeTable:RouteTable",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:efs/fileSystem:FileSystem",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:kms/key:Key",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
}
"""Types whose ids their clouds make up."""
WITH_ACCOUNT = {"aws:iam/openIdConnectProvider:OpenIdConnectProvider", "aws:sqs/queue:Queue"}
"""Types whose ids hold the account, which is no input."""
HARMLESS = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:projects/serviceIdentity:ServiceIdentity",
}
"""Types that are the same when they are made again: docs/state.md lets them be absent without looking."""
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def found(cloud: Cloud, prefix: str) -> set[str]:
    """Types of which everything there is was found by the id that its inputs tell."""
    session = Session(cloud, {}, "", "")
    types = set()
    for thing in cloud.resources():
        if thing.kind in IDS and thing.kind.startswith(prefix):
            given = IDS[thing.kind].format(**{**thing.outputs, **thing.inputs})
            assert KINDS[thing.kind].found(session, given) == thing, given
            types.add(thing.kind)
    return types


@pytest.mark.parametrize("prefix", ["aws:", "gcp:"])
def test_what_a_preview_says_will_be_known_is_what_becomes_known(
    prefix: str, aws: Client, gcp: Client, cloud: Cloud
) -> None:
    _aws_estate(aws) if prefix == "aws:" else _gcp_estate(gcp)
    session = Session(cloud, {}, "111122223333", "us-central1")
    for thing in cloud.resources():
        kind = KINDS[thing.kind]
        filled = kind.outputs(session, thing.id, thing.inputs, thing.outputs)
        assert set(filled) - {"launchTemplate.name"} == set(kind.computed), thing.kind
    never_declared = {INTERFACE}
    assert {thing.kind for thing in cloud.resources()} == {k for k in KINDS if k.startswith(prefix)} - never_declared


@pytest.mark.parametrize("prefix", ["aws:", "gcp:"])
def test_what_was_being_made_is_found_by_its_id(prefix: str, aws: Client, gcp: Client, cloud: Cloud) -> None:
    _aws_estate(aws) if prefix == "aws:" else _gcp_estate(gcp)
    assert found(cloud, prefix) == {type_ for type_ in IDS if type_.startswith(prefix)}


def test_every_type_has_an_id_that_its_inputs_tell_or_a_reason_why_not() -> None:
    told = {type_ for type_ in IDS if not type_.startswith("kubernetes:")}
    assert not told & (MADE_UP | WITH_ACCOUNT | HARMLESS)
    assert told | MADE_UP | WITH_ACCOUNT | HARMLESS == KINDS.keys()


def _aws_estate(aws: Client) -> None:
    eks = Eks(aws)
    inside = {"clusterName": eks.cluster.id}
    entry = {**inside, "principalArn": eks.nodes.outputs["arn"]}
    aws.create(Addon.token, "cni", {**inside, "addonName": "vpc-cni"})
    aws.create(AccessEntry.token, "x", entry)
    aws.create(AccessPolicyAssociation.token, "x", {**entry, "policyArn": POLICY, "accessScope": {"type": "cluster"}})
    statement = '{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}'
    policy = f'{{"Version": "2012-10-17", "Statement": [{statement}]}}'
    aws.create(RolePolicy.token, "x", {"role": eks.nodes.id, "policy": policy})
    pods = role(aws, "pods", "pods.eks.amazonaws.com").outputs["arn"]
    of_pods = {"namespace": "kube-system", "serviceAccount": "x", "roleArn": pods}
    aws.create(PodIdentityAssociation.token, "x", {**inside, **of_pods})
    issuer = eks.cluster.outputs["identities"][0]["oidcs"][0]["issuer"]
    aws.create(OpenIdConnectProvider.token, "x", {"url": issuer, "clientIdLists": ["sts.amazonaws.com"]})
    address = aws.create(Eip.token, "nat", {"domain": "vpc"})
    aws.create(NatGateway.token, "nat", {"allocationId": address.id, "subnetId": eks.subnets[0].id})
    aws.create(VpcEndpoint.token, "s3", {"vpcId": eks.vpc.id, "serviceName": "com.amazonaws.us-east-1.s3"})
    aws.create(DefaultSecurityGroup.token, "net", {"vpcId": eks.vpc.id})
    group = aws.create(GROUP, "ray", {"vpcId": eks.vpc.id})
    aws.create(INGRESS, "ray", {"securityGroupId": group.id, "ipProtocol": "-1", "cidrIpv4": "10.40.0.0/16"})
    _aws_stores(aws, eks)
    _aws_capacity(aws)
    _aws_queue(aws, eks)


def _aws_stores(aws: Client, eks: Eks) -> None:
    aws.create(Key.token, "key", {})
    aws.create(Repository.token, "images", {})
    bucket = aws.create(BUCKET, "models", {})
    aws.create(BucketObject.token, "x", {"bucket": bucket.outputs["bucket"], "content": "y"})
    aws.create(FileSystem.token, "shared", {"encrypted": True})
    size = {"deploymentType": "SCRATCH_2", "storageCapacity": 1200}
    aws.create(LustreFileSystem.token, "fast", {**size, "subnetIds": eks.subnets[0].id})


def _aws_capacity(aws: Client) -> None:
    aws.create(PlacementGroup.token, "near", {"strategy": "cluster"})
    machines = {"instanceType": "g6.12xlarge", "instancePlatform": "Linux/UNIX", "instanceCount": 2}
    window = {"endDateType": "limited", "endDate": "2027-02-28T00:00:00Z"}
    reservation = aws.create(RESERVATION, "tuning", {**machines, **window, "availabilityZone": "us-east-1a"})
    target = {"capacityReservationTarget": {"capacityReservationId": reservation.id}}
    aws.create(TEMPLATE, "tuning", {"capacityReservationSpecification": target})


def _aws_queue(aws: Client, eks: Eks) -> None:
    """What tells Karpenter of machines that will end."""
    aws.create(INSTANCE_PROFILE, "nodes", {"role": eks.nodes.outputs["name"]})
    queue = aws.create(QUEUE, "queue", {"messageRetentionSeconds": 300})
    sender = {"Effect": "Allow", "Action": "sqs:SendMessage", "Principal": {"Service": "events.amazonaws.com"}}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [sender]})
    aws.create(QueuePolicy.token, "queue", {"queueUrl": queue.outputs["url"], "policy": policy})
    rule = aws.create(RULE, "spot", {"eventPattern": '{"source": ["aws.ec2"]}'})
    aws.create(
        EventTarget.token, "spot", {"rule": rule.outputs["name"], "arn": queue.outputs["arn"], "targetId": "queue"}
    )


def _gcp_estate(gcp: Client) -> None:
    gke = Gke(gcp)
    gcp.create(ACCOUNT, "nodes", {})
    ring = gcp.create(RING, "dev", {"location": "us-central1"})
    key = gcp.create(KEY, "dev", {"keyRing": ring.id})
    agent = gcp.create(SERVICE, "gke", {"service": "container.googleapis.com"})
    grant = {"role": "roles/cloudkms.cryptoKeyEncrypterDecrypter", "member": agent.outputs["member"]}
    gcp.create(CryptoKeyIAMMember.token, "gke", {**grant, "cryptoKeyId": key.id})
    gcp.create(IAMMember.token, "gke", {**grant, "project": "example-dev"})
    router = gcp.create(ROUTER, "dev", {"network": gke.network.id, "region": "us-central1"})
    nat = {"natIpAllocateOption": "AUTO_ONLY", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
    gcp.create(RouterNat.token, "dev", {**nat, "region": "us-central1", "router": router.outputs["name"]})
    inside = {"direction": "INGRESS", "sourceRanges": ["10.60.0.0/20"], "allows": [{"protocol": "tcp"}]}
    gcp.create(Firewall.token, "dev", {**inside, "network": gke.network.id})
    gcp.create(GCS_BUCKET, "weights", {"location": "US-CENTRAL1"})
    policy = {"workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x4"}}
    gcp.create(WORKLOAD_POLICY, "slice", {**policy, "region": "us-central1"})
