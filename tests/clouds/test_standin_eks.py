"""EKS as the stand-in has it: what it makes, what it refuses, what a change of it means."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from clouds.aws.eks import CLUSTER
from clouds.aws.eks_parts import AccessEntry, AccessPolicyAssociation, Addon, PodIdentityAssociation
from clouds.aws.vpc import INTERFACE, SUBNET
from clouds.client import Client, ProviderError
from clouds.cloud import Cloud
from clouds.estate import GROUP, Eks, cluster_inputs, role, subnet, subnets
from clouds.wire import UNKNOWN


@pytest.fixture
def eks(aws: Client) -> Eks:
    return Eks(aws)


def test_a_cluster_is_the_tests_own(eks: Eks) -> None:
    outputs = eks.cluster.outputs
    assert outputs["endpoint"] == "https://127.0.0.1:6443"
    assert base64.b64decode(outputs["certificateAuthority"]["data"]) == b"the certificate"
    assert outputs["arn"] == f"arn:aws:eks:us-east-1:111122223333:cluster/{eks.cluster.id}"
    assert outputs["identities"][0]["oidcs"][0]["issuer"].startswith("https://oidc.eks.us-east-1.amazonaws.com/id/")
    assert outputs["vpcConfig"]["vpcId"] == eks.vpc.id
    assert outputs["vpcConfig"]["clusterSecurityGroupId"].startswith("sg-")


def test_a_cluster_that_is_not_there_yet_knows_only_its_inputs(aws: Client) -> None:
    _, *places = subnets(aws)
    outputs = aws.preview_create(
        CLUSTER, "prod", cluster_inputs(role(aws, "x", "eks.amazonaws.com", "AmazonEKSClusterPolicy"), places)
    )
    assert outputs["version"] == "1.35"
    assert outputs["endpoint"] is UNKNOWN
    assert outputs["vpcConfig"]["clusterSecurityGroupId"] is UNKNOWN
    assert outputs["certificateAuthority"] == {"data": UNKNOWN}
    assert aws.read(CLUSTER, "prod", outputs["name"]) is None


def test_what_a_change_does_not_touch_stays_known_at_preview(aws: Client, eks: Eks) -> None:
    outputs = aws.preview_update(eks.cluster, eks.cluster_inputs(version="1.36"))
    assert outputs["version"] == "1.36"
    for output in ("endpoint", "certificateAuthority", "identities", "arn"):
        assert outputs[output] == eks.cluster.outputs[output]


@pytest.mark.parametrize("version", ["1.37", "1.34", "1.35.1", "2.35"])
def test_a_cluster_goes_to_the_next_minor_version_only(aws: Client, eks: Eks, version: str) -> None:
    with pytest.raises(ProviderError, match="InvalidParameterException"):
        aws.update(eks.cluster, eks.cluster_inputs(version=version))
    assert aws.update(eks.cluster, eks.cluster_inputs(version="1.36")).outputs["version"] == "1.36"


def test_a_cluster_does_not_leave_its_zones(aws: Client, eks: Eks) -> None:
    third = subnet(aws, eks.vpc, "us-east-1c", 96)
    with pytest.raises(ProviderError, match="exact set of AZs"):
        aws.update(eks.cluster, cluster_inputs(eks.control_plane, [eks.subnets[0], third]))
    other = subnet(aws, eks.vpc, "us-east-1b", 128)
    changed = aws.update(eks.cluster, cluster_inputs(eks.control_plane, [eks.subnets[0], other]))
    assert changed.outputs["vpcConfig"]["subnetIds"] == [eks.subnets[0].id, other.id]


def test_a_cluster_needs_a_role_that_eks_may_take(aws: Client) -> None:
    _, *places = subnets(aws)
    with pytest.raises(ProviderError, match="trusted entity is not correct"):
        aws.create(CLUSTER, "prod", cluster_inputs(role(aws, "x", "ec2.amazonaws.com"), places))
    missing = cluster_inputs(role(aws, "y", "eks.amazonaws.com", "AmazonEKSClusterPolicy"), places) | {
        "roleArn": "arn:aws:iam::111122223333:role/z"
    }
    with pytest.raises(ProviderError, match="role/z cannot be found"):
        aws.create(CLUSTER, "prod", missing)


def test_a_cluster_needs_two_zones(aws: Client) -> None:
    vpc, place, _ = subnets(aws)
    again = subnet(aws, vpc, "us-east-1a", 192)
    with pytest.raises(ProviderError, match="at least two different AZs"):
        aws.create(
            CLUSTER,
            "prod",
            cluster_inputs(role(aws, "x", "eks.amazonaws.com", "AmazonEKSClusterPolicy"), [place, again]),
        )


def test_a_name_is_taken_once(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match="ResourceInUseException: Cluster already exists with name: prod"):
        aws.create(CLUSTER, "other", eks.cluster_inputs(name=eks.cluster.id))


def test_a_protected_cluster_is_not_deleted(aws: Client, eks: Eks) -> None:
    aws.delete(eks.group)
    protected = aws.update(eks.cluster, eks.cluster_inputs(deletionProtection=True))
    with pytest.raises(ProviderError, match="InvalidRequestException"):
        aws.delete(protected)
    aws.delete(aws.update(protected, eks.cluster_inputs(deletionProtection=False)))
    assert aws.read(CLUSTER, "prod", eks.cluster.id) is None


def test_a_cluster_with_nodes_is_not_deleted(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match="ResourceInUseException: Cluster has nodegroups attached"):
        aws.delete(eks.cluster)


def test_subnets_with_a_cluster_are_not_deleted(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match="DependencyViolation"):
        aws.delete(eks.subnets[0])
    with pytest.raises(ProviderError, match="DependencyViolation"):
        aws.delete(eks.vpc)


def test_everything_goes_in_order_and_nothing_is_left(aws: Client, cloud: Cloud, eks: Eks) -> None:
    inside = (eks.group, eks.template, eks.cluster, *eks.out, *eks.subnets, eks.vpc)
    for thing in (*inside, *eks.policies, eks.nodes, eks.control_plane):
        aws.delete(thing)
    assert cloud.resources() == []


CLUSTER_CHANGES: list[tuple[str, Callable[[Eks], dict[str, Any]], list[str], list[str]]] = [
    ("its version", lambda e: {"version": "1.36"}, ["version"], []),
    ("its role", lambda e: {"roleArn": e.nodes.outputs["arn"]}, ["roleArn"], ["roleArn"]),
    ("its name", lambda e: {"name": "other"}, ["name"], ["name"]),
    ("its logs", lambda e: {"enabledClusterLogTypes": ["api"]}, ["enabledClusterLogTypes"], []),
    ("its protection", lambda e: {"deletionProtection": True}, ["deletionProtection"], []),
    (
        "its own add-ons",
        lambda e: {"bootstrapSelfManagedAddons": False},
        ["bootstrapSelfManagedAddons"],
        ["bootstrapSelfManagedAddons"],
    ),
    (
        "its first administrator",
        lambda e: {"accessConfig": {"bootstrapClusterCreatorAdminPermissions": False}},
        ["accessConfig"],
        ["accessConfig"],
    ),
    ("its tags", lambda e: {"tags": {"a": "b"}}, ["tags", "tagsAll"], []),
    ("its region", lambda e: {"region": "us-west-2"}, ["region"], ["region"]),
    (
        "the order of its subnets",
        lambda e: {"vpcConfig": {"subnetIds": [s.id for s in reversed(e.subnets)], "endpointPrivateAccess": True}},
        [],
        [],
    ),
]


@pytest.mark.parametrize(
    ("change", "diffs", "replaces"), [c[1:] for c in CLUSTER_CHANGES], ids=[c[0] for c in CLUSTER_CHANGES]
)
def test_what_a_change_of_a_cluster_means(
    aws: Client, eks: Eks, change: Callable[[Eks], dict[str, Any]], diffs: list[str], replaces: list[str]
) -> None:
    answer = aws.diff(eks.cluster, eks.cluster_inputs(**change(eks)))
    assert (list(answer.diffs), list(answer.replaces)) == (diffs, replaces)


def test_what_the_models_of_aws_refuse_is_refused_when_it_is_made(aws: Client, eks: Eks) -> None:
    wrong = eks.group_inputs(amiType="AL2023_GPU")
    assert aws.preview_create(GROUP, "other", wrong)["amiType"] == "AL2023_GPU"
    with pytest.raises(ProviderError, match="InvalidParameterException: /amiType: 'AL2023_GPU' is not one of"):
        aws.create(GROUP, "other", wrong)


def test_an_entry_is_for_a_role_that_exists(aws: Client, eks: Eks) -> None:
    nobody = {"clusterName": eks.cluster.id, "principalArn": "arn:aws:iam::111122223333:role/nobody"}
    with pytest.raises(ProviderError, match="invalid principal"):
        aws.create(AccessEntry.token, "nobody", nobody)


def test_a_policy_needs_its_entry(aws: Client, eks: Eks) -> None:
    person = role(aws, "person", "ec2.amazonaws.com").outputs["arn"]
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    inputs = {
        "clusterName": eks.cluster.id,
        "principalArn": person,
        "policyArn": policy,
        "accessScope": {"type": "cluster"},
    }
    with pytest.raises(ProviderError, match="ResourceNotFoundException"):
        aws.create(AccessPolicyAssociation.token, "person", inputs)
    aws.create(AccessEntry.token, "person", {"clusterName": eks.cluster.id, "principalArn": person})
    assert aws.create(AccessPolicyAssociation.token, "person", inputs).id == f"{eks.cluster.id}#{person}#{policy}"


def test_an_identity_of_pods_is_given_once(aws: Client, eks: Eks) -> None:
    pods = role(aws, "pods", "pods.eks.amazonaws.com").outputs["arn"]
    inputs = {"clusterName": eks.cluster.id, "namespace": "kube-system", "serviceAccount": "x", "roleArn": pods}
    first = aws.create(PodIdentityAssociation.token, "x", inputs)
    with pytest.raises(ProviderError, match=f"ResourceInUseException: Association already exists: {first.id}"):
        aws.create(PodIdentityAssociation.token, "y", inputs)
    with pytest.raises(ProviderError, match="trusted entity"):
        aws.update(first, inputs | {"roleArn": eks.nodes.outputs["arn"]})


def test_what_is_in_a_cluster_goes_with_it(aws: Client, cloud: Cloud, eks: Eks) -> None:
    addon = aws.create(Addon.token, "cni", {"clusterName": eks.cluster.id, "addonName": "vpc-cni"})
    aws.delete(eks.group)
    aws.delete(eks.cluster)
    assert cloud.find(Addon.token, addon.id) is None
    aws.delete(addon)


def test_subnets_of_a_network_do_not_overlap(aws: Client) -> None:
    vpc, *_ = subnets(aws)
    inside = {"vpcId": vpc.id, "availabilityZone": "us-east-1a", "cidrBlock": "10.40.16.0/20"}
    with pytest.raises(ProviderError, match=r"InvalidSubnet\.Conflict"):
        aws.create(SUBNET, "inside", inside)
    with pytest.raises(ProviderError, match=r"InvalidSubnet\.Range"):
        aws.create(SUBNET, "outside", inside | {"cidrBlock": "10.41.0.0/20"})


def test_a_cluster_needs_a_role_with_its_policy(aws: Client) -> None:
    _, *places = subnets(aws)
    with pytest.raises(ProviderError, match="doesn't have the Amazon EKS Managed Policies"):
        aws.create(CLUSTER, "prod", cluster_inputs(role(aws, "bare", "eks.amazonaws.com"), places))


def test_a_cluster_needs_a_key_that_exists(aws: Client, eks: Eks) -> None:
    missing = {"provider": {"keyArn": "arn:aws:kms:us-east-1:111122223333:key/0"}, "resources": ["secrets"]}
    with pytest.raises(ProviderError, match="encryptionConfig does not exist"):
        aws.create(CLUSTER, "other", eks.cluster_inputs(encryptionConfig=missing))


def test_a_cluster_without_its_policy_leaves_interfaces_that_hold_the_network(
    aws: Client, cloud: Cloud, eks: Eks
) -> None:
    aws.delete(eks.group)
    aws.delete(eks.policies[0])
    aws.delete(eks.cluster)
    (left,) = cloud.resources(INTERFACE)
    assert left.inputs["description"] == f"Amazon EKS {eks.cluster.id}"
    with pytest.raises(ProviderError, match="DependencyViolation"):
        aws.delete(eks.subnets[0])
