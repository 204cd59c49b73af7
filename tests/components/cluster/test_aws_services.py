from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from oracles.aws import problems
from registered import Resource, registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.cluster.aws import ClusterSpec
from gpuyard.components.cluster.aws_addons import ON_NODES
from gpuyard.components.cluster.aws_services import (
    Addons,
    Autoscaler,
    autoscaler_policy,
    autoscaler_values,
    storage_class,
)

SPEC = ClusterSpec.model_validate(
    {
        "cloud": "aws",
        "account": "111122223333",
        "region": "us-east-1",
        "kubernetes": "1.35",
        "network": {"cidr": "10.40.0.0/16", "zones": ["us-east-1a", "us-east-1b"]},
        "admins": ["arn:aws:iam::111122223333:role/platform"],
    }
)
TAGS = {"owner": "ml-platform", "stack": "prod"}
OUTPUTS = {"aws:iam/role:Role": {"arn": "arn:aws:iam::111122223333:role/made"}}
CLUSTER_OF_POD = "${aws:PrincipalTag/eks-cluster-name}"


def declared(build: Callable[[pulumi.ResourceOptions], object]) -> list[Resource]:
    """What a component registers when it depends on a resource called nodes."""

    def program() -> None:
        nodes = pulumi.CustomResource("test:index:Nodes", "nodes")
        build(pulumi.ResourceOptions(depends_on=[nodes]))

    return registered(program, OUTPUTS)


def addons(opts: pulumi.ResourceOptions) -> Addons:
    return Addons("prod-addons", SPEC, cluster_name="prod-1a2b", tags=TAGS, opts=opts)


def autoscaler(opts: pulumi.ResourceOptions) -> Autoscaler:
    artifacts = ArtifactsSpec()
    return Autoscaler("prod-autoscaler", SPEC, cluster_name="prod-1a2b", artifacts=artifacts, tags=TAGS, opts=opts)


@pytest.mark.parametrize("build", [addons, autoscaler])
def test_everything_waits_for_nodes_is_below_its_component_and_is_accepted(
    build: Callable[[pulumi.ResourceOptions], object],
) -> None:
    nodes, root, *children = declared(build)
    assert children
    for child in children:
        assert child["parent"] == root["urn"]
        assert child["name"].startswith(root["name"])
        assert nodes["urn"] in child["options"]["depends_on"], child["name"]
        assert problems(child) == []


def test_every_add_on_that_needs_nodes_is_declared() -> None:
    found = {r["inputs"]["addonName"] for r in declared(addons) if r["type"] == "aws:eks/addon:Addon"}
    assert found == set(ON_NODES) == {"coredns", "aws-ebs-csi-driver", "metrics-server", "eks-node-monitoring-agent"}


def test_volumes_that_name_no_class_are_encrypted_and_follow_their_pod() -> None:
    made = storage_class()
    assert made["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert made["parameters"] == {"type": "gp3", "encrypted": "true"}
    assert made["volumeBindingMode"] == "WaitForFirstConsumer"


def test_the_autoscaler_changes_the_groups_of_its_own_cluster_only(golden: Callable[[str, Any], None]) -> None:
    policy = autoscaler_policy("111122223333", "us-east-1")
    changing = [s for s in policy["Statement"] if "autoscaling:SetDesiredCapacity" in s["Action"]]
    assert [s["Condition"] for s in changing] == [
        {"StringEquals": {"autoscaling:ResourceTag/eks:cluster-name": CLUSTER_OF_POD}}
    ]
    everywhere = [action for s in policy["Statement"] if s["Resource"] == "*" for action in s["Action"]]
    assert all(action.partition(":")[2].startswith(("Describe", "Get")) for action in everywhere)
    golden("eks_autoscaler_policy", policy)


def test_the_autoscaler_has_the_minor_version_of_the_cluster_and_one_identity(
    golden: Callable[[str, Any], None],
) -> None:
    values = autoscaler_values(SPEC, "prod-1a2b", ArtifactsSpec())
    assert values["image"]["repository"] == "registry.k8s.io/autoscaling/cluster-autoscaler"
    assert values["image"]["tag"].startswith("v1.35.")
    assert values["rbac"]["serviceAccount"]["name"] == "cluster-autoscaler"
    golden("eks_autoscaler_values", values)


def test_the_autoscaler_removes_nodes_with_empty_dirs_but_not_those_whose_gpus_are_used() -> None:
    arguments = autoscaler_values(SPEC, "prod-1a2b", ArtifactsSpec())["extraArgs"]
    assert arguments["skip-nodes-with-local-storage"] is False
    most_gpus_a_node = 16
    assert arguments["scale-down-gpu-utilization-threshold"] < 1 / most_gpus_a_node


def test_a_mirror_serves_the_autoscalers_image() -> None:
    values = autoscaler_values(SPEC, "prod-1a2b", ArtifactsSpec(images="mirror.example/ai"))
    assert values["image"]["repository"] == "mirror.example/ai/autoscaling/cluster-autoscaler"


def test_the_autoscalers_pod_starts_after_its_identity_exists() -> None:
    resources = declared(autoscaler)
    [identity] = [r for r in resources if r["type"] == "aws:eks/podIdentityAssociation:PodIdentityAssociation"]
    [release] = [r for r in resources if r["type"] == "kubernetes:helm.sh/v3:Release"]
    assert identity["urn"] in release["options"]["depends_on"]
    assert identity["inputs"]["namespace"] == release["inputs"]["namespace"] == "kube-system"
    assert release["inputs"]["values"]["autoDiscovery"] == {"clusterName": "prod-1a2b"}


def test_the_autoscalers_role_is_for_its_service_account() -> None:
    [role] = [r for r in declared(autoscaler) if r["type"] == "aws:iam/role:Role"]
    [statement] = json.loads(role["inputs"]["assumeRolePolicy"])["Statement"]
    assert statement["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] == "cluster-autoscaler"
