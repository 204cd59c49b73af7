"""Karpenter on EKS: its controller, what it may do, and the queue that tells it of nodes which EC2 takes back.

Permissions and events are those of Karpenter's own CloudFormation template (karpenter-provider-aws v1.14.1,
website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml), except that it makes no
instance profiles, follows no zonal shift, and that only EventBridge writes into its queue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from gpuyard import catalogue
from gpuyard.components import kubernetes
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.cluster.aws import ClusterSpec
from gpuyard.components.cluster.aws_addons import NAMESPACE
from gpuyard.components.cluster.aws_iam import Role, declare_role, document, pod_trust

CHART = "karpenter"
"""Name of the chart, the release, the service account and the image. The definitions of its kinds have a chart of their
own, because Helm never changes those that come with the controller's."""

REPLICAS = 2
"""Pods of the controller: one leads, the other stands by."""

RETENTION_SECONDS = 300
"""How long a message waits: what EC2 warns of has happened by then."""

EVENTS: Mapping[str, tuple[str, str]] = {
    "health": ("aws.health", "AWS Health Event"),
    "spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state": ("aws.ec2", "EC2 Instance State-change Notification"),
    "reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""Source and type of what Karpenter is told, by a short name: a rule's has at most 64 characters."""

LAUNCHED = ("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
"""What a launch makes in EC2."""


class Karpenter(pulumi.ComponentResource):
    """Makes nodes for pods that have no place, and removes those that no pod needs. Depends on the system node group,
    and on the add-ons: it asks AWS by names."""

    instance_profile: pulumi.Output[str]
    """What nodes that it makes start with: the role of the cluster's nodes."""
    ready: list[pulumi.Resource]
    """What must be there as long as there is a node of its."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        cluster_name: pulumi.Input[str],
        node_role: Role,
        replicas: int,
        artifacts: ArtifactsSpec,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`replicas` are its pods, each on a node of its own: no more than nodes which it does not make."""
        super().__init__("gpuyard:index:Karpenter", name, {"account": spec.account, "region": spec.region}, opts)
        # Pulumi orders a component's children after what the component depends on only when each child says so.
        child = pulumi.ResourceOptions(parent=self, depends_on=opts.depends_on if opts else None)
        profile = aws.iam.InstanceProfile(name, role=node_role.name, tags=dict(tags), opts=child)
        queue, told = _declare_queue(name, spec, tags, child)
        identity = _declare_identity(name, spec, cluster_name, node_role, queue, tags, child)
        kinds = kubernetes.release(f"{name}-kinds", release_inputs(f"{CHART}-crd", NAMESPACE, {}, artifacts), child)
        values = controller_values(cluster_name, queue.name, replicas, artifacts)
        release = release_inputs(CHART, NAMESPACE, values, artifacts) | {"skipCrds": True}
        # A pod gets an identity only when it starts after the association; the kinds are named nowhere.
        after = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[kinds, *identity]))
        controller = kubernetes.release(name, release, after)
        self.instance_profile = profile.name
        self.ready = [controller, profile, *told, *node_role.permissions]
        self.register_outputs({})


def queue_inputs() -> dict[str, Any]:
    """The queue of warnings."""
    return {"message_retention_seconds": RETENTION_SECONDS, "sqs_managed_sse_enabled": True}


def queue_policy(account: str, region: str, queue: str) -> dict[str, Any]:
    """Who may use the queue of this ARN: rules of EventBridge in the account write, and nobody comes unencrypted."""
    rules = {"aws:SourceArn": f"arn:aws:events:{region}:{account}:rule/*"}
    policy = document(
        {
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": queue,
            "Condition": {"ArnLike": rules},
        }
    )
    plain = {"Bool": {"aws:SecureTransport": "false"}}
    refused = {"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": queue, "Condition": plain}
    return policy | {"Statement": [*policy["Statement"], refused]}


def event_pattern(event: str) -> str:
    """What a rule of EventBridge looks for."""
    source, kind = EVENTS[event]
    return json.dumps({"source": [source], "detail-type": [kind]})


def controller_policy(account: str, region: str, cluster: str, node_role: str, queue: str) -> dict[str, Any]:
    """What the controller may do: make, tag and remove nodes of the cluster of this name, with the role and the queue
    of these ARNs."""
    owned = f"kubernetes.io/cluster/{cluster}"
    of_a_pool = {"StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"}}
    its_own = {"StringEquals": {f"aws:ResourceTag/{owned}": "owned"}} | of_a_pool
    asked = {f"aws:RequestTag/{owned}": "owned", "aws:RequestTag/eks:eks-cluster-name": cluster}
    asked_for_a_pool = {"StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"}}
    launched = [_ec2(region, kind) for kind in LAUNCHED]
    return document(
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet"],
            "Resource": [
                f"arn:aws:ec2:{region}::image/*",
                f"arn:aws:ec2:{region}::snapshot/*",
                *(
                    _ec2(region, kind)
                    for kind in ("security-group", "subnet", "capacity-reservation", "placement-group")
                ),
            ],
        },
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet"],
            "Resource": _ec2(region, "launch-template"),
            "Condition": its_own,
        },
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"],
            "Resource": launched,
            "Condition": {"StringEquals": asked} | asked_for_a_pool,
        },
        {
            "Action": "ec2:CreateTags",
            "Resource": launched,
            "Condition": {
                "StringEquals": asked | {"ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]}
            }
            | asked_for_a_pool,
        },
        {
            "Action": "ec2:CreateTags",
            "Resource": _ec2(region, "instance"),
            "Condition": its_own
            | {
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": cluster},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
                },
            },
        },
        {
            "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            "Resource": [_ec2(region, "instance"), _ec2(region, "launch-template")],
            "Condition": its_own,
        },
        {
            "Action": "iam:PassRole",
            "Resource": node_role,
            "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        },
        {"Action": "eks:DescribeCluster", "Resource": f"arn:aws:eks:{region}:{account}:cluster/{cluster}"},
        {"Action": ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"], "Resource": queue},
        *_discovery(account, region),
    )


def controller_values(cluster_name: Any, queue_name: Any, replicas: int, artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart. By the chart's own, its pods stay off the nodes that it makes, and off each other's."""
    image = catalogue.image(CHART)
    return {
        "fullnameOverride": CHART,
        "serviceAccount": {"name": CHART},
        "replicas": replicas,
        "settings": {"clusterName": cluster_name, "interruptionQueue": queue_name},
        "controller": {
            "image": {
                "repository": f"{artifacts.images or image.registry}/{image.repository}",
                "tag": image.tag,
                "digest": image.digest,
            },
            # What its getting started guide gives it.
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
        },
    }


def _discovery(account: str, region: str) -> list[dict[str, Any]]:
    """What it reads of the region, most of which takes no resource."""
    readable = (
        "CapacityReservations",
        "Images",
        "Instances",
        "InstanceStatus",
        "InstanceTypeOfferings",
        "InstanceTypes",
        "LaunchTemplates",
        "PlacementGroups",
        "SecurityGroups",
        "SpotPriceHistory",
        "Subnets",
    )
    return [
        {
            "Action": [f"ec2:Describe{what}" for what in readable],
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:RequestedRegion": region}},
        },
        {"Action": "ssm:GetParameter", "Resource": f"arn:aws:ssm:{region}::parameter/aws/service/*"},
        {"Action": ["pricing:GetProducts", "iam:ListInstanceProfiles"], "Resource": "*"},
        {"Action": "iam:GetInstanceProfile", "Resource": f"arn:aws:iam::{account}:instance-profile/*"},
    ]


def _ec2(region: str, kind: str) -> str:
    return f"arn:aws:ec2:{region}:*:{kind}/*"


def _declare_queue(
    name: str, spec: ClusterSpec, tags: Mapping[str, str], child: pulumi.ResourceOptions
) -> tuple[Any, list[pulumi.Resource]]:
    """The queue, and what writes into it."""
    queue = aws.sqs.Queue(name, **queue_inputs(), tags=dict(tags), opts=child)
    policy = queue.arn.apply(lambda arn: json.dumps(queue_policy(spec.account, spec.region, arn)))
    told: list[pulumi.Resource] = [aws.sqs.QueuePolicy(name, queue_url=queue.url, policy=policy, opts=child)]
    for event in EVENTS:
        own = f"{name}-{event}"
        rule = aws.cloudwatch.EventRule(own, event_pattern=event_pattern(event), tags=dict(tags), opts=child)
        told.append(aws.cloudwatch.EventTarget(own, target_id="queue", rule=rule.name, arn=queue.arn, opts=child))
    return queue, told


def _declare_identity(
    name: str,
    spec: ClusterSpec,
    cluster_name: pulumi.Input[str],
    node_role: Role,
    queue: Any,
    tags: Mapping[str, str],
    child: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """The controller's role; returns what its pods wait for."""
    role = declare_role(name, pod_trust(spec.account, spec.region, NAMESPACE, CHART), tags=tags, opts=child)
    # Conditions on tags have the cluster's name in their keys, where IAM puts in no variables.
    allowed = pulumi.Output.all(cluster_name, node_role.arn, queue.arn).apply(
        lambda known: json.dumps(controller_policy(spec.account, spec.region, known[0], known[1], known[2]))
    )
    policy = aws.iam.RolePolicy(name, role=role.name, policy=allowed, opts=child)
    pod = {"namespace": NAMESPACE, "service_account": CHART, "role_arn": role.arn}
    identity = aws.eks.PodIdentityAssociation(name, cluster_name=cluster_name, **pod, tags=dict(tags), opts=child)
    return [policy, identity]
