from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from oracles.aws import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard.components.cluster.aws import (
    Cluster,
    ClusterSpec,
    access_entries,
    cluster_inputs,
    key_inputs,
    kubeconfig,
    provider_inputs,
)
from gpuyard.components.cluster.aws_addons import BEFORE_NODES, ON_NODES, AddonName, addon_inputs
from gpuyard.components.cluster.aws_iam import NODE_POLICIES, pod_trust, service_trust

ADMIN = "arn:aws:iam::111122223333:role/platform"
TENANT = "arn:aws:iam::111122223333:role/teams/fraud"
GIVEN: dict[str, Any] = {
    "cloud": "aws",
    "account": "111122223333",
    "region": "us-east-1",
    "kubernetes": "1.35",
    "network": {"cidr": "10.40.0.0/16", "zones": ["us-east-1a", "us-east-1b", "us-east-1c"]},
    "admins": [ADMIN],
}
EXISTING = {"subnets": {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}}
SUBNETS = {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b", "us-east-1c": "subnet-c"}
TAGS = {"owner": "ml-platform", "cost-center": "4711", "stack": "prod"}
ISSUER = "https://oidc.eks.us-east-1.amazonaws.com/id/0123"
OUTPUTS: dict[str, dict[str, Any]] = {
    "aws:eks/cluster:Cluster": {
        "endpoint": "https://0123.gr7.us-east-1.eks.amazonaws.com",
        "certificateAuthority": {"data": "Q0E="},
        "identities": [{"oidcs": [{"issuer": ISSUER}]}],
    },
    "aws:iam/role:Role": {"arn": "arn:aws:iam::111122223333:role/made"},
    "aws:kms/key:Key": {"arn": "arn:aws:kms:us-east-1:111122223333:key/1"},
}
CLUSTER = "aws:eks/cluster:Cluster"


def spec(**changes: Any) -> ClusterSpec:
    return ClusterSpec.model_validate({**GIVEN, **changes})


def inputs(*, protect: bool = True, **changes: Any) -> dict[str, Any]:
    return cluster_inputs(spec(**changes), SUBNETS, "arn:aws:kms:us-east-1:111122223333:key/1", protect=protect)


def declared(*, protect: bool = True, **changes: Any) -> list[Resource]:
    return registered(lambda: Cluster("prod", spec(**changes), tags=TAGS, protect=protect), OUTPUTS)


def of_type(resources: list[Resource], kind: str) -> list[Resource]:
    return [resource for resource in resources if resource["type"] == kind]


def test_the_smallest_cluster_is_private_logged_and_encrypted(golden: Callable[[str, Any], None]) -> None:
    given = inputs()
    assert given["vpc_config"]["endpoint_public_access"] is False
    assert given["vpc_config"]["endpoint_private_access"] is True
    assert given["encryption_config"]["resources"] == ["secrets"]
    assert given["enabled_cluster_log_types"] == ["api", "audit", "authenticator", "controllerManager", "scheduler"]
    assert given["deletion_protection"] is True
    golden("eks_cluster", given)


@pytest.mark.parametrize("protect", [True, False])
def test_the_key_and_the_way_in_are_as_protected_as_the_cluster(protect: bool) -> None:
    found = declared(protect=protect)
    for kind in (CLUSTER, "aws:kms/key:Key", "pulumi:providers:kubernetes"):
        (resource,) = of_type(found, kind)
        assert resource["options"]["protect"] is protect, kind
    assert inputs(protect=protect)["deletion_protection"] is protect
    assert len([r for r in found if r["options"]["protect"]]) == (3 if protect else 0)


def test_rights_come_from_access_entries_alone() -> None:
    assert inputs()["access_config"] == {
        "authentication_mode": "API",
        "bootstrap_cluster_creator_admin_permissions": False,
    }


def test_an_allowed_caller_opens_the_public_endpoint_for_itself_only() -> None:
    network = inputs(api={"allow": ["203.0.113.0/24"]})["vpc_config"]
    assert network["endpoint_public_access"] is True
    assert network["public_access_cidrs"] == ["203.0.113.0/24"]
    assert network["endpoint_private_access"] is True, "nodes stay inside the VPC"


def test_a_third_zone_leaves_the_control_plane_where_it_is() -> None:
    two = inputs(network={"cidr": "10.40.0.0/16", "zones": ["us-east-1a", "us-east-1b"]})
    assert inputs()["vpc_config"]["subnet_ids"] == two["vpc_config"]["subnet_ids"] == ["subnet-a", "subnet-b"]


def test_the_secrets_key_rotates_and_can_be_rescued() -> None:
    assert key_inputs()["enable_key_rotation"] is True
    assert key_inputs()["deletion_window_in_days"] == 30


def test_credentials_of_another_account_are_refused_by_the_provider() -> None:
    assert provider_inputs(spec()) == {"region": "us-east-1", "allowed_account_ids": ["111122223333"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": {"cidr": "10.40.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}}, "give zones of us-east-1"),
        ({"network": {"subnets": {"eu-west-1a": "subnet-01234567", "us-east-1b": "subnet-12345678"}}}, "eu-west-1a"),
        ({"network": {"subnets": {"us-east-1a": "subnet-01234567"}}}, "at least 2 items"),
        ({"network": {"subnets": {"us-east-1a": "vpc-1", "us-east-1b": "vpc-2"}}}, "should match pattern"),
        ({"api": {"allow": ["0.0.0.0/0"]}}, "leave api out, and the API is private"),
        ({"api": {"allow": ["0.0.0.0/1", "128.0.0.0/1"]}}, "opens the API to the internet"),
        ({"api": {"allow": ["10.0.0.0/16"]}}, "callers inside the VPC need no entry"),
        ({"api": {"allow": ["203.0.113.7/24"]}}, "give the network, 203.0.113.0/24"),
        ({"api": {"allow": []}}, "at least 1 item"),
        ({"admins": []}, "at least 1 item"),
        ({"admins": ["arn:aws:iam::111122223333:user/me"]}, "should match pattern"),
        ({"groups": {TENANT: ["system:masters"]}}, "should match pattern"),
        ({"account": 111122223333}, "valid string"),
        ({"kubernetes": 1.35}, "'1.34', '1.35' or '1.36'"),
        ({"kubernetes": "1.29"}, "'1.34', '1.35' or '1.36'"),
        ({"region": "us-gov-west-1"}, "is not in the catalogue"),
        ({"region": "cn-north-1"}, "is not in the catalogue"),
        ({"nodes": 3}, "not permitted"),
    ],
)
def test_a_cluster_that_aws_or_prudence_would_refuse_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**changes)


def test_an_error_in_an_existing_network_is_told_once() -> None:
    with pytest.raises(ValidationError) as refused:
        spec(network={"subnets": {"us-east-1a": "subnet-01234567", "us-east-1b": "wrong"}})
    assert refused.value.error_count() == 1


def test_a_role_that_is_admin_and_in_a_group_has_one_entry() -> None:
    entries = access_entries(spec(groups={ADMIN: ["auditors"], TENANT: ["fraud-ml"]}))
    assert entries == {
        ADMIN: {"principal_arn": ADMIN, "type": "STANDARD", "kubernetes_groups": ["auditors"]},
        TENANT: {"principal_arn": TENANT, "type": "STANDARD", "kubernetes_groups": ["fraud-ml"]},
    }


def test_only_admins_are_administrators() -> None:
    resources = declared(groups={TENANT: ["fraud-ml"]})
    assert len(of_type(resources, "aws:eks/accessEntry:AccessEntry")) == 2
    [association] = of_type(resources, "aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert association["inputs"]["principalArn"] == ADMIN
    [entry] = [
        r
        for r in of_type(resources, "aws:eks/accessEntry:AccessEntry")
        if r["urn"] in association["options"]["depends_on"]
    ]
    assert entry["inputs"]["principalArn"] == ADMIN, "EKS wants the entry first"


def test_two_accounts_may_have_roles_of_one_name() -> None:
    other = ADMIN.replace("1111", "4444")
    entries = of_type(declared(admins=[ADMIN, other]), "aws:eks/accessEntry:AccessEntry")
    assert len({entry["urn"] for entry in entries}) == 2


def test_network_policies_are_enforced() -> None:
    assert json.loads(addon_inputs("vpc-cni", None, TAGS)["configuration_values"]) == {"enableNetworkPolicy": "true"}
    assert "vpc-cni" in BEFORE_NODES


def test_an_add_on_has_the_version_that_the_stack_names_and_else_the_one_that_eks_takes() -> None:
    [proxy] = [r for r in declared(addons={"kube-proxy": "v1.8.7-eksbuild.2"}) if r["name"] == "prod-kube-proxy"]
    assert proxy["inputs"]["addonVersion"] == "v1.8.7-eksbuild.2"
    assert not any("addonVersion" in r["inputs"] for r in of_type(declared(), "aws:eks/addon:Addon"))


@pytest.mark.parametrize("addons", [{"kube-proxie": "v1.8.7-eksbuild.2"}, {"kube-proxy": "latest"}])
def test_an_add_on_or_a_version_that_eks_does_not_have_is_refused(addons: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        spec(addons=addons)


def test_every_add_on_can_be_given_a_version_and_is_declared_once() -> None:
    assert set(get_args(AddonName)) == {*BEFORE_NODES, *ON_NODES}
    assert len({*BEFORE_NODES, *ON_NODES}) == len(BEFORE_NODES) + len(ON_NODES)
    assert inputs()["bootstrap_self_managed_addons"] is False, "EKS would install some of them beside ours"


def test_volumes_that_outlive_the_cluster_are_found_by_its_tags() -> None:
    values = json.loads(addon_inputs("aws-ebs-csi-driver", None, TAGS)["configuration_values"])
    assert values == {"controller": {"extraVolumeTags": TAGS}}


def test_the_health_agent_reaches_gpu_nodes_that_are_tainted() -> None:
    values = json.loads(addon_inputs("eks-node-monitoring-agent", None, TAGS)["configuration_values"])
    assert values["dcgmAgent"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_the_node_role_holds_nothing_that_a_pod_needs() -> None:
    attached = of_type(declared(), "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    node = {a["inputs"]["policyArn"].rpartition("/")[2] for a in attached if a["name"].startswith("prod-node")}
    assert node == set(NODE_POLICIES) == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}


def test_the_pod_network_takes_its_role_from_pod_identity() -> None:
    resources = declared()
    [addon] = [a for a in of_type(resources, "aws:eks/addon:Addon") if a["inputs"]["addonName"] == "vpc-cni"]
    [association] = addon["inputs"]["podIdentityAssociations"]
    assert association["serviceAccount"] == "aws-node"
    permission = next(r for r in resources if r["name"] == "prod-vpc-cni-AmazonEKS_CNI_Policy")
    assert permission["urn"] in addon["options"]["depends_on"]


def test_a_pods_role_is_for_its_service_account_in_clusters_of_the_account() -> None:
    [statement] = pod_trust("111122223333", "us-east-1", "kube-system", "aws-node")["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/kubernetes-namespace": "kube-system",
            "aws:RequestTag/kubernetes-service-account": "aws-node",
        },
        "StringLike": {"aws:RequestTag/eks-cluster-arn": "arn:aws:eks:us-east-1:111122223333:cluster/*"},
    }


def test_a_services_role_is_for_that_service() -> None:
    [statement] = service_trust("eks.amazonaws.com")["Statement"]
    assert statement["Principal"] == {"Service": "eks.amazonaws.com"}


def test_roles_can_trust_the_service_accounts_of_the_cluster() -> None:
    [provider] = of_type(declared(), "aws:iam/openIdConnectProvider:OpenIdConnectProvider")
    assert provider["inputs"]["url"] == ISSUER
    assert provider["inputs"]["clientIdLists"] == ["sts.amazonaws.com"]


def test_the_kubeconfig_holds_no_token() -> None:
    config = json.loads(kubeconfig("https://e", "Q0E=", "prod-1a2b", "us-east-1"))
    [user] = config["users"]
    assert list(user["user"]) == ["exec"]
    assert user["user"]["exec"]["args"][:4] == ["eks", "get-token", "--cluster-name", "prod-1a2b"]


def test_the_provider_of_kubernetes_outlives_changes_of_the_cluster_and_waits_for_access() -> None:
    resources = declared()
    [provider] = of_type(resources, "pulumi:providers:kubernetes")
    assert provider["inputs"]["clusterIdentifier"] == "eks:111122223333:us-east-1:prod"
    assert provider["inputs"]["enableServerSideApply"] == "true"
    [association] = of_type(resources, "aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert association["urn"] in provider["options"]["depends_on"]


def test_the_cluster_waits_for_what_its_role_may_do() -> None:
    resources = declared()
    [cluster] = of_type(resources, CLUSTER)
    permission = next(r for r in resources if r["name"] == "prod-cluster-AmazonEKSClusterPolicy")
    assert permission["urn"] in cluster["options"]["depends_on"]


def test_nodes_wait_for_routes_permissions_and_network_add_ons() -> None:
    ready: list[str] = []

    def build() -> None:
        ready.extend(resource._name for resource in Cluster("prod", spec(), tags=TAGS).ready)

    registered(build, OUTPUTS)
    assert {f"prod-{addon}" for addon in BEFORE_NODES} <= set(ready)
    assert {f"prod-node-{policy}" for policy in NODE_POLICIES} <= set(ready)
    assert "prod-network-private-us-east-1c" in ready


def test_an_existing_network_is_used_and_none_is_made() -> None:
    resources = declared(network=EXISTING)
    assert not any(resource["type"].startswith("aws:ec2/") for resource in resources)
    [cluster] = of_type(resources, CLUSTER)
    assert cluster["inputs"]["vpcConfig"]["subnetIds"] == list(EXISTING["subnets"].values())


def test_every_part_is_below_the_cluster_carries_its_name_and_is_accepted() -> None:
    root, *children = declared(api={"allow": ["203.0.113.0/24"]}, groups={TENANT: ["fraud-ml"]})
    assert root["type"] == "gpuyard:index:EksCluster"
    assert root["inputs"]["network"]["cidr"] == "10.40.0.0/16", "the review reads the spec in the component's inputs"
    parents = {root["urn"], *(child["urn"] for child in children if child["type"].startswith("gpuyard:"))}
    assert all(child["parent"] in parents and child["name"].startswith("prod") for child in children)
    assert {child["name"]: found for child in children if (found := problems(child))} == {}
