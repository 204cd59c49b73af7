"""Add-ons of EKS: what each is told, which version it has, which role it takes, and when it can run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pulumi
import pulumi_aws as aws

from gpuyard.components.cluster.aws_iam import declare_role, pod_trust
from gpuyard.components.spec import pattern

AddonName = Literal[
    "kube-proxy",
    "eks-pod-identity-agent",
    "vpc-cni",
    "coredns",
    "aws-ebs-csi-driver",
    "metrics-server",
    "eks-node-monitoring-agent",
]
"""An add-on that every cluster has."""

BEFORE_NODES: tuple[AddonName, ...] = ("kube-proxy", "eks-pod-identity-agent", "vpc-cni")
"""DaemonSets that make a node ready. EKS calls them active while there is no node yet.

The VPC CNI takes its role from the identity agent. That works on a new node because both use the host's network: the
agent starts without the CNI, and the CNI tries again until the agent answers.
"""

ON_NODES: tuple[AddonName, ...] = ("coredns", "aws-ebs-csi-driver", "metrics-server", "eks-node-monitoring-agent")
"""Deployments, for which EKS waits until a node runs them, and the agent that reports sick accelerators."""

GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}

CONFIGURATION: Mapping[str, Mapping[str, Any]] = {
    # "true" is a text. Source: EKS user guide, "Restrict Pod network traffic with Kubernetes network policies".
    "vpc-cni": {"enableNetworkPolicy": "true"},
    # Its DCGM part tolerates no taint by itself. Source: aws/eks-node-monitoring-agent, configuration.schema.json.
    "eks-node-monitoring-agent": {"dcgmAgent": {"tolerations": [GPU_TOLERATION]}},
}
"""Configuration values where an add-on's own defaults do not do."""

IDENTITIES = {
    "vpc-cni": ("aws-node", "AmazonEKS_CNI_Policy"),
    "aws-ebs-csi-driver": ("ebs-csi-controller-sa", "service-role/AmazonEBSCSIDriverPolicy"),
}
"""Service account and AWS-managed policy of the add-ons that call AWS. Source: EKS user guide, "AWS add-ons"."""

NAMESPACE = "kube-system"

AddonVersion = Annotated[
    str,
    pattern(
        r"^v[0-9]+(\.[0-9]+){2}-eksbuild\.[0-9]+$",
        "a version as `aws eks describe-addon-versions` lists it, such as v1.8.7-eksbuild.2",
    ),
]
"""A version of an add-on, such as v1.8.7-eksbuild.2."""


def addon_inputs(addon: AddonName, version: str | None, tags: Mapping[str, str]) -> dict[str, Any]:
    """One add-on. Without a version EKS takes its default for the Kubernetes version that the cluster has now, and
    leaves it there (EKS user guide, "Update an Amazon EKS add-on").

    `tags` go on the volumes that it makes, so that those which outlive the cluster are found.
    """
    inputs: dict[str, Any] = {
        "addon_name": addon,
        "resolve_conflicts_on_create": "OVERWRITE",
        "resolve_conflicts_on_update": "OVERWRITE",
    }
    if version is not None:
        inputs["addon_version"] = version
    if addon == "aws-ebs-csi-driver":
        inputs["configuration_values"] = json.dumps({"controller": {"extraVolumeTags": dict(tags)}})
    elif addon in CONFIGURATION:
        inputs["configuration_values"] = json.dumps(CONFIGURATION[addon])
    return inputs


@dataclass(frozen=True, slots=True)
class Home:
    """The cluster that an add-on is for."""

    account: str
    region: str
    cluster_name: pulumi.Input[str]
    versions: Mapping[AddonName, str]
    """Versions of add-ons, where they are chosen."""


def declare_addons(
    name: str, addons: Sequence[AddonName], *, home: Home, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Declares add-ons, each with the role that it needs."""
    return [_declare_addon(f"{name}-{addon}", addon, home, tags, opts) for addon in addons]


def _declare_addon(
    name: str, addon: AddonName, home: Home, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> pulumi.Resource:
    inputs = addon_inputs(addon, home.versions.get(addon), tags)
    if addon in IDENTITIES:
        service_account, policy = IDENTITIES[addon]
        trust = pod_trust(home.account, home.region, NAMESPACE, service_account)
        role = declare_role(name, trust, managed=[policy], tags=tags, opts=opts)
        inputs["pod_identity_associations"] = [{"service_account": service_account, "role_arn": role.arn}]
        # The ARN does not wait for the permissions.
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=role.permissions))
    declared: pulumi.Resource = aws.eks.Addon(
        name, cluster_name=home.cluster_name, **inputs, tags=dict(tags), opts=opts
    )
    return declared
