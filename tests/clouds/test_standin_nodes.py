"""Node groups of EKS as the stand-in has them: what they need, what a change of one means."""

from __future__ import annotations

from typing import Any

import pytest
from clouds.aws.eks import CLUSTER
from clouds.aws.eks_parts import Addon
from clouds.aws.nodes import RESERVATION, TEMPLATE
from clouds.client import Client, ProviderError
from clouds.cloud import Cloud
from clouds.estate import GROUP, Eks, attach, role, subnet
from clouds.wire import UNKNOWN


@pytest.fixture
def eks(aws: Client) -> Eks:
    return Eks(aws)


GROUP_CHANGES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("its sizes", {"scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 9}}, ["scalingConfig"], []),
    ("its version", {"version": "1.36"}, ["version"], []),
    ("its labels", {"labels": {"a": "b"}}, ["labels"], []),
    ("its taints", {"taints": [{"key": "a", "effect": "NO_SCHEDULE"}]}, ["taints"], []),
    ("how it is updated", {"updateConfig": {"maxUnavailable": 1}}, ["updateConfig"], []),
    ("its machines", {"instanceTypes": ["p5.48xlarge"]}, ["instanceTypes"], ["instanceTypes"]),
    ("how it is paid", {"capacityType": "SPOT"}, ["capacityType"], ["capacityType"]),
    ("its image", {"amiType": "AL2023_x86_64_NVIDIA"}, ["amiType"], ["amiType"]),
    ("its subnets", {"subnetIds": ["subnet-0123456789abcdef0"]}, ["subnetIds"], ["subnetIds"]),
    ("its role", {"nodeRoleArn": "arn:aws:iam::111122223333:role/x"}, ["nodeRoleArn"], ["nodeRoleArn"]),
    (
        "its template",
        {"launchTemplate": {"id": "lt-0123456789abcdef0", "version": "1"}},
        ["launchTemplate"],
        ["launchTemplate"],
    ),
]


@pytest.mark.parametrize(
    ("change", "diffs", "replaces"), [c[1:] for c in GROUP_CHANGES], ids=[c[0] for c in GROUP_CHANGES]
)
def test_what_a_change_of_a_node_group_means(
    aws: Client, eks: Eks, change: dict[str, Any], diffs: list[str], replaces: list[str]
) -> None:
    answer = aws.diff(eks.group, eks.group_inputs(**change))
    assert (list(answer.diffs), list(answer.replaces)) == (diffs, replaces)


def test_a_new_version_of_the_template_updates_the_group(aws: Client, eks: Eks) -> None:
    inputs = {"metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1}}
    assert aws.preview_update(eks.template, inputs)["latestVersion"] is UNKNOWN
    unknown = eks.group_inputs(launchTemplate={"id": eks.template.id, "version": UNKNOWN})
    assert list(aws.diff(eks.group, unknown).replaces) == []
    assert list(aws.diff(eks.group, unknown).diffs) == ["launchTemplate"]
    changed = aws.update(eks.template, inputs)
    assert changed.outputs["latestVersion"] == 2
    aws.update(eks.group, eks.group_inputs(launchTemplate={"id": eks.template.id, "version": "2"}))
    with pytest.raises(ProviderError, match="Could not find the specified version 3"):
        aws.update(eks.group, eks.group_inputs(launchTemplate={"id": eks.template.id, "version": "3"}))


def test_tags_of_the_template_make_no_version(aws: Client, eks: Eks) -> None:
    inputs = {"metadataOptions": {"httpTokens": "required"}, "tags": {"a": "b"}}
    assert aws.preview_update(eks.template, inputs)["latestVersion"] is UNKNOWN
    assert aws.update(eks.template, inputs).outputs["latestVersion"] == 1


def test_nodes_are_not_newer_than_their_cluster(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match=r"version 1\.36 is above"):
        aws.update(eks.group, eks.group_inputs(version="1.36"))
    aws.update(eks.cluster, eks.cluster_inputs(version="1.36"))
    newer = aws.update(eks.group, eks.group_inputs(version="1.36"))
    with pytest.raises(ProviderError, match="below the present one"):
        aws.update(newer, eks.group_inputs(version="1.35"))


def test_nodes_need_a_subnet_that_exists(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match=r"InvalidSubnetID\.NotFound: The subnet ID 'subnet-0' does not exist"):
        aws.create(GROUP, "other", eks.group_inputs(subnetIds=["subnet-0"]))


def test_nodes_need_a_cluster_that_exists(aws: Client, eks: Eks) -> None:
    with pytest.raises(ProviderError, match="ResourceNotFoundException: No cluster found for name: nowhere"):
        aws.create(GROUP, "other", eks.group_inputs(clusterName="nowhere"))


BLOCK = {
    "instanceType": "p5.48xlarge",
    "instanceMarketOptions": {"marketType": "capacity-block"},
    "capacityReservationSpecification": {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
    },
}


def test_a_capacity_block_is_said_to_the_group_and_to_its_template(aws: Client, eks: Eks) -> None:
    template = aws.create(TEMPLATE, "block", BLOCK)
    inputs = eks.group_inputs(
        launchTemplate={"id": template.id, "version": "1"},
        capacityType="CAPACITY_BLOCK",
        scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 2},
    )
    with pytest.raises(ProviderError, match="both in the launch template and the nodegroup"):
        aws.create(GROUP, "block", inputs)
    del inputs["instanceTypes"]
    with pytest.raises(ProviderError, match="go together"):
        aws.create(GROUP, "block", inputs | {"capacityType": "ON_DEMAND"})
    with pytest.raises(ProviderError, match="go together"):
        aws.create(GROUP, "other", eks.group_inputs(capacityType="CAPACITY_BLOCK"))
    assert aws.create(GROUP, "block", inputs).outputs["status"] == "ACTIVE"


RESERVED = {
    "availabilityZone": "us-east-1a",
    "instanceType": "g6.12xlarge",
    "instancePlatform": "Linux/UNIX",
    "instanceCount": 2,
    "endDateType": "limited",
    "endDate": "2027-02-28T00:00:00Z",
}


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"endDate": "2027-05-31T00:00:00Z"}, []),
        ({"instanceCount": 4}, []),
        ({"instanceType": "p5.48xlarge"}, ["instanceType"]),
        ({"instanceMatchCriteria": "targeted"}, ["instanceMatchCriteria"]),
    ],
)
def test_a_reservation_is_prolonged_and_widened_where_it_is(
    aws: Client, change: dict[str, Any], replaces: list[str]
) -> None:
    reservation = aws.create(RESERVATION, "tuning", RESERVED)
    changed = aws.diff(reservation, RESERVED | change)
    assert (list(changed.diffs), list(changed.replaces)) == (list(change), replaces)


def test_a_reservation_ends_when_it_is_told_to_or_never(aws: Client) -> None:
    with pytest.raises(ProviderError, match="goes with the endDateType 'limited'"):
        aws.create(RESERVATION, "tuning", RESERVED | {"endDateType": "unlimited"})


def test_a_template_keeps_no_reservation(aws: Client) -> None:
    reservation = aws.create(RESERVATION, "tuning", RESERVED)
    target = {"capacityReservationTarget": {"capacityReservationId": reservation.id}}
    template = aws.create(TEMPLATE, "tuning", {"capacityReservationSpecification": target})
    aws.delete(reservation)
    assert aws.read(RESERVATION, "tuning", reservation.id, state=reservation) is None
    assert aws.read(TEMPLATE, "tuning", template.id, state=template) == template


def test_an_ignored_input_is_no_change(aws: Client, eks: Eks) -> None:
    sizes = {"scalingConfig": {"minSize": 1, "desiredSize": 3, "maxSize": 3}}
    assert list(aws.diff(eks.group, eks.group_inputs(**sizes), ignore=("scalingConfig.desiredSize",)).diffs) == []


def test_a_minimum_above_the_present_size_is_refused(aws: Client, eks: Eks) -> None:
    sizes = {"minSize": 3, "desiredSize": 2, "maxSize": 4}
    with pytest.raises(ProviderError, match="Minimum capacity 3 can't be greater than desired size 2"):
        aws.update(eks.group, eks.group_inputs(scalingConfig=sizes))


def failed_group(aws: Client, cloud: Cloud, inputs: dict[str, Any]) -> str:
    """The error of a group whose nodes do not become ready, which is there all the same."""
    with pytest.raises(ProviderError, match="unexpected state 'CREATE_FAILED'") as caught:
        aws.create(GROUP, "sick", inputs)
    thing = cloud.find(GROUP, caught.value.left)
    assert thing is not None
    assert thing.outputs["status"] == "CREATE_FAILED"
    return str(caught.value)


def test_nodes_without_a_way_out_do_not_join(aws: Client, cloud: Cloud, eks: Eks) -> None:
    lonely = subnet(aws, eks.vpc, "us-east-1c", 96)
    error = failed_group(aws, cloud, eks.group_inputs(subnetIds=[lonely.id]))
    assert "NodeCreationFailure: Instances failed to join the kubernetes cluster" in error


def test_nodes_without_permissions_do_not_join(aws: Client, cloud: Cloud, eks: Eks) -> None:
    bare = role(aws, "bare", "ec2.amazonaws.com")
    error = failed_group(aws, cloud, eks.group_inputs(nodeRoleArn=bare.outputs["arn"]))
    assert "Instances failed to join" in error


def test_nodes_without_a_network_of_pods_are_unhealthy(aws: Client, cloud: Cloud, eks: Eks) -> None:
    other = aws.create(CLUSTER, "other", eks.cluster_inputs(bootstrapSelfManagedAddons=False))
    error = failed_group(aws, cloud, eks.group_inputs(clusterName=other.id))
    assert "Unhealthy nodes in the kubernetes cluster" in error
    aws.create(Addon.token, "cni", {"clusterName": other.id, "addonName": "vpc-cni"})
    assert aws.create(GROUP, "well", eks.group_inputs(clusterName=other.id)).outputs["status"] == "ACTIVE"


def test_a_network_of_pods_with_its_own_identity_needs_the_agent(aws: Client, cloud: Cloud, eks: Eks) -> None:
    other = aws.create(CLUSTER, "other", eks.cluster_inputs(bootstrapSelfManagedAddons=False))
    own = role(aws, "cni", "pods.eks.amazonaws.com", "AmazonEKS_CNI_Policy").outputs["arn"]
    addon = {"clusterName": other.id, "addonName": "vpc-cni"}
    identity = {"podIdentityAssociations": [{"serviceAccount": "aws-node", "roleArn": own}]}
    aws.create(Addon.token, "cni", addon | identity)
    assert "Unhealthy" in failed_group(aws, cloud, eks.group_inputs(clusterName=other.id))
    aws.create(Addon.token, "agent", {"clusterName": other.id, "addonName": "eks-pod-identity-agent"})
    aws.create(GROUP, "well", eks.group_inputs(clusterName=other.id))


def test_a_group_that_failed_is_deleted_and_made_anew(aws: Client, cloud: Cloud, eks: Eks) -> None:
    bare = role(aws, "bare", "ec2.amazonaws.com")
    inputs = eks.group_inputs(nodeRoleArn=bare.outputs["arn"])
    with pytest.raises(ProviderError) as caught:
        aws.create(GROUP, "sick", inputs)
    failed = aws.read(GROUP, "sick", caught.value.left)
    assert failed is not None
    with pytest.raises(ProviderError, match="not in Active State"):
        aws.update(failed, inputs | {"nodeGroupName": failed.outputs["nodeGroupName"], "labels": {"a": "b"}})
    aws.delete(failed)
    attach(aws, bare, "AmazonEKSWorkerNodePolicy")
    attach(aws, bare, "AmazonEKS_CNI_Policy")
    assert aws.create(GROUP, "sick", inputs).outputs["status"] == "ACTIVE"


def test_no_nodes_need_nothing(aws: Client, eks: Eks) -> None:
    none = {"minSize": 0, "desiredSize": 0, "maxSize": 3}
    lonely = subnet(aws, eks.vpc, "us-east-1c", 96)
    aws.create(GROUP, "none", eks.group_inputs(subnetIds=[lonely.id], scalingConfig=none))


def test_an_add_on_that_runs_on_nodes_needs_a_node(aws: Client, cloud: Cloud, eks: Eks) -> None:
    other = aws.create(CLUSTER, "other", eks.cluster_inputs())
    dns = {"clusterName": other.id, "addonName": "coredns"}
    with pytest.raises(ProviderError, match="last state: 'DEGRADED', timeout: 20m0s") as caught:
        aws.create(Addon.token, "dns", dns)
    assert cloud.find(Addon.token, caught.value.left)
    taint = {"taints": [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}]}
    aws.create(GROUP, "gpu", eks.group_inputs(clusterName=other.id, **taint))
    left = aws.read(Addon.token, "dns", caught.value.left)
    assert left is not None
    with pytest.raises(ProviderError, match="DEGRADED"):
        aws.update(left, dns | {"preserve": True})
    aws.create(GROUP, "system", eks.group_inputs(clusterName=other.id))
    aws.update(left, dns | {"preserve": True})
