"""Karpenter on EKS: what it may do, what it is told, and in which order its parts come and go."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from oracles.aws import problems
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.cluster.aws import ClusterSpec
from gpuyard.components.cluster.aws_iam import Role
from gpuyard.components.cluster.aws_karpenter import (
    EVENTS,
    Karpenter,
    controller_policy,
    controller_values,
    event_pattern,
    queue_policy,
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
NODE_ROLE = "arn:aws:iam::111122223333:role/prod-node-1a2b3c4"
QUEUE = "arn:aws:sqs:us-east-1:111122223333:prod-karpenter-1a2b3c4"
OUTPUTS = {
    "aws:iam/role:Role": {"arn": "arn:aws:iam::111122223333:role/made"},
    "aws:sqs/queue:Queue": {"arn": QUEUE, "url": "https://sqs.us-east-1.amazonaws.com/111122223333/prod"},
}
LONGEST = "a" * 30
"""As long as the name of a stack on AWS may be."""


def declared(name: str = "prod", replicas: int = 2) -> list[Resource]:
    def program() -> None:
        addons = pulumi.CustomResource("test:index:Addons", "addons")
        Karpenter(
            f"{name}-karpenter",
            SPEC,
            cluster_name="prod-1a2b",
            node_role=Role("prod-node-1a2b3c4", NODE_ROLE, [addons]),
            replicas=replicas,
            artifacts=ArtifactsSpec(),
            tags=TAGS,
            opts=pulumi.ResourceOptions(depends_on=[addons]),
        )

    return registered(program, OUTPUTS)


def of_type(resources: list[Resource], type_: str) -> list[Resource]:
    return [resource for resource in resources if resource["type"] == type_]


def policy() -> dict[str, Any]:
    return controller_policy("111122223333", "us-east-1", "prod-1a2b", NODE_ROLE, QUEUE)


def allowed(action: str) -> list[dict[str, Any]]:
    return [
        s for s in policy()["Statement"] if action in ([s["Action"]] if isinstance(s["Action"], str) else s["Action"])
    ]


@pytest.mark.parametrize("name", ["prod", LONGEST])
def test_everything_waits_for_the_add_ons_is_below_its_component_and_is_accepted(name: str) -> None:
    addons, root, *children = declared(name)
    assert children
    for child in children:
        assert child["parent"] == root["urn"]
        assert child["name"].startswith(root["name"])
        assert addons["urn"] in child["options"]["depends_on"], child["name"]
        # Pulumi puts eight characters after a name.
        own = {} if child["type"].startswith("kubernetes:") else {"name": f"{child['name']}-1a2b3c4"}
        named = own if child["type"].endswith(("Rule", "Queue", "Role", "InstanceProfile")) else {}
        assert problems({**child, "inputs": child["inputs"] | named}) == []


def test_the_controller_changes_what_is_of_its_own_cluster_only(golden: Callable[[str, Any], None]) -> None:
    owned = "aws:ResourceTag/kubernetes.io/cluster/prod-1a2b"
    for action in ("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"):
        (statement,) = allowed(action)
        assert statement["Condition"]["StringEquals"] == {owned: "owned"}
    for statement in allowed("ec2:CreateTags"):
        assert any("prod-1a2b" in str(condition) for condition in statement["Condition"].values())
    golden("karpenter_policy", json.loads(json.dumps(policy())))


def test_the_controller_gives_nodes_the_role_of_nodes_and_makes_no_profiles() -> None:
    (statement,) = allowed("iam:PassRole")
    assert statement["Resource"] == NODE_ROLE
    assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}
    changing = [
        a for s in policy()["Statement"] for a in ([s["Action"]] if isinstance(s["Action"], str) else s["Action"])
    ]
    assert {a for a in changing if a.startswith("iam:")} == {
        "iam:PassRole",
        "iam:ListInstanceProfiles",
        "iam:GetInstanceProfile",
    }


def test_what_the_controller_may_do_anywhere_is_read() -> None:
    everywhere = [s for s in policy()["Statement"] if s["Resource"] == "*"]
    actions = [a for s in everywhere for a in ([s["Action"]] if isinstance(s["Action"], str) else s["Action"])]
    assert all(action.partition(":")[2].startswith(("Describe", "Get", "List")) for action in actions)


def test_rules_of_the_account_write_into_the_queue_and_nobody_comes_unencrypted() -> None:
    written, refused = queue_policy("111122223333", "us-east-1", QUEUE)["Statement"]
    assert written["Principal"] == {"Service": "events.amazonaws.com"}
    assert written["Condition"]["ArnLike"] == {"aws:SourceArn": "arn:aws:events:us-east-1:111122223333:rule/*"}
    assert refused["Effect"] == "Deny"
    assert refused["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_controller_hears_of_every_way_in_which_ec2_takes_a_node_back() -> None:
    kinds = {kind for event in EVENTS for kind in json.loads(event_pattern(event))["detail-type"]}
    assert kinds == {
        "AWS Health Event",
        "EC2 Capacity Reservation Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation",
        "EC2 Instance State-change Notification",
        "EC2 Spot Instance Interruption Warning",
    }
    resources = declared()
    targets = of_type(resources, "aws:cloudwatch/eventTarget:EventTarget")
    assert {target["inputs"]["arn"] for target in targets} == {QUEUE}
    assert len(targets) == len(of_type(resources, "aws:cloudwatch/eventRule:EventRule")) == len(EVENTS)


def test_the_values_name_the_cluster_and_its_queue(golden: Callable[[str, Any], None]) -> None:
    values = controller_values("prod-1a2b", "prod-karpenter-1a2b3c4", 2, ArtifactsSpec())
    assert values["settings"] == {"clusterName": "prod-1a2b", "interruptionQueue": "prod-karpenter-1a2b3c4"}
    assert values["controller"]["image"]["repository"] == "public.ecr.aws/karpenter/controller"
    golden("karpenter_values", values)


def test_a_mirror_serves_the_controllers_image_by_the_same_digest() -> None:
    image = controller_values("c", "q", 2, ArtifactsSpec(images="mirror.example/ai"))["controller"]["image"]
    assert image["repository"] == "mirror.example/ai/karpenter/controller"
    assert image["digest"] == catalogue.image("karpenter").digest


def test_the_kinds_have_the_version_of_the_controller_and_come_first() -> None:
    kinds, controller = of_type(declared(), "kubernetes:helm.sh/v3:Release")
    assert kinds["inputs"]["chart"] == "oci://public.ecr.aws/karpenter/karpenter-crd"
    assert kinds["inputs"]["version"] == controller["inputs"]["version"] == catalogue.image("karpenter").tag
    assert kinds["urn"] in controller["options"]["depends_on"]
    assert controller["inputs"]["skipCrds"] is True


def test_the_controllers_pods_start_after_their_identity_exists() -> None:
    resources = declared()
    _, controller = of_type(resources, "kubernetes:helm.sh/v3:Release")
    (identity,) = of_type(resources, "aws:eks/podIdentityAssociation:PodIdentityAssociation")
    (rights,) = of_type(resources, "aws:iam/rolePolicy:RolePolicy")
    assert {identity["urn"], rights["urn"]} <= set(controller["options"]["depends_on"])
    assert identity["inputs"]["namespace"] == controller["inputs"]["namespace"] == "kube-system"
    assert identity["inputs"]["serviceAccount"] == controller["inputs"]["values"]["serviceAccount"]["name"]
    (role,) = of_type(resources, "aws:iam/role:Role")
    [statement] = json.loads(role["inputs"]["assumeRolePolicy"])["Statement"]
    assert statement["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] == "karpenter"
