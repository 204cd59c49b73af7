"""What runs on the first nodes of an EKS cluster: DNS, disks, metrics, health reports and the node autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from gpuyard import catalogue
from gpuyard.components import kubernetes
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.cluster.aws import ClusterSpec
from gpuyard.components.cluster.aws_addons import NAMESPACE, ON_NODES, Home, declare_addons
from gpuyard.components.cluster.aws_iam import declare_role, document, pod_trust
from gpuyard.components.spec import Manifest

AUTOSCALER = "cluster-autoscaler"
"""Name of the chart, the release, the service account and the image."""

CLUSTER_OF_POD = "${aws:PrincipalTag/eks-cluster-name}"
"""The cluster of the pod that calls, whose name nobody knows yet: a session tag that EKS Pod Identity sets. Source: EKS
user guide, "Grant Pods access to AWS resources based on tags"."""


class Addons(pulumi.ComponentResource):
    """EKS add-ons that need nodes, and the default class of disks. Depends on the system node group."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        cluster_name: pulumi.Input[str],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:EksAddons", name, {"account": spec.account, "region": spec.region}, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=_after(opts))
        home = Home(spec.account, spec.region, cluster_name, spec.addons)
        declare_addons(name, ON_NODES, home=home, tags=tags, opts=child)
        kubernetes.declare(f"{name}-gp3", storage_class(), child)
        self.register_outputs({})


class Autoscaler(pulumi.ComponentResource):
    """Adds and removes nodes of the cluster's groups as pods need them. Depends on the system node group."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        cluster_name: pulumi.Input[str],
        artifacts: ArtifactsSpec,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:EksAutoscaler", name, {"account": spec.account, "region": spec.region}, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=_after(opts))
        trust = pod_trust(spec.account, spec.region, NAMESPACE, AUTOSCALER)
        allowed = autoscaler_policy(spec.account, spec.region)
        role = declare_role(name, trust, inline=allowed, tags=tags, opts=child)
        pod = {"namespace": NAMESPACE, "service_account": AUTOSCALER, "role_arn": role.arn}
        identity = aws.eks.PodIdentityAssociation(name, cluster_name=cluster_name, **pod, tags=dict(tags), opts=child)
        release = release_inputs(AUTOSCALER, NAMESPACE, autoscaler_values(spec, cluster_name, artifacts), artifacts)
        # A pod gets an identity only when it starts after the association.
        ready = pulumi.ResourceOptions(depends_on=[identity, *role.permissions])
        kubernetes.release(name, release, pulumi.ResourceOptions.merge(child, ready))
        self.register_outputs({})


def _after(opts: pulumi.ResourceOptions | None) -> Any:
    # Pulumi orders a component's children after what the component depends on only when each child says so.
    return opts.depends_on if opts else None


def storage_class() -> Manifest:
    """The class of volumes that name none: gp3, encrypted, made in the zone of the pod that first uses it."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "gp3", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "ebs.csi.aws.com",
        "parameters": {"type": "gp3", "encrypted": "true"},
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
        "reclaimPolicy": "Delete",
    }


def autoscaler_policy(account: str, region: str) -> dict[str, Any]:
    """What the autoscaler may do: read, and scale the groups of its own cluster.

    Actions: kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md, full policy. EKS tags the scaling
    group of every managed node group with eks:cluster-name. The condition key is the one of Auto Scaling itself.
    """
    return document(
        {
            # None of these takes a resource.
            "Action": [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
            ],
            "Resource": "*",
        },
        {
            "Action": "eks:DescribeNodegroup",
            "Resource": f"arn:aws:eks:{region}:{account}:nodegroup/{CLUSTER_OF_POD}/*/*",
        },
        {
            "Action": ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            "Resource": f"arn:aws:autoscaling:{region}:{account}:autoScalingGroup:*:autoScalingGroupName/*",
            "Condition": {"StringEquals": {"autoscaling:ResourceTag/eks:cluster-name": CLUSTER_OF_POD}},
        },
    )


def autoscaler_values(spec: ClusterSpec, cluster_name: Any, artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart. The image has the cluster's own minor version, as the autoscaler's project asks."""
    image = catalogue.image(f"{AUTOSCALER}-{spec.kubernetes}")
    return {
        "cloudProvider": "aws",
        "awsRegion": spec.region,
        "autoDiscovery": {"clusterName": cluster_name},
        "fullnameOverride": AUTOSCALER,
        "image": {"repository": f"{artifacts.images or image.registry}/{image.repository}", "tag": image.tag},
        "rbac": {"serviceAccount": {"name": AUTOSCALER}},
        "extraArgs": {
            "expander": "least-waste",
            # Model servers keep shared memory and downloads in emptyDir: by default their nodes would never be removed.
            "skip-nodes-with-local-storage": False,
            # The default, 0.5, would drain a node of whose GPUs less than half are used, and a large model takes long
            # to load elsewhere. One of sixteen is 0.06: below 0.05 no pod uses any.
            "scale-down-gpu-utilization-threshold": 0.05,
            "balance-similar-node-groups": True,
        },
        "resources": {"requests": {"cpu": "100m", "memory": "600Mi"}, "limits": {"memory": "600Mi"}},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "fsGroup": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containerSecurityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
