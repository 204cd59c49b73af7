"""Roles of an EKS cluster: who may take them, and what they may do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

MANAGED = "arn:aws:iam::aws:policy/"
"""Where AWS keeps the policies that it maintains."""

CLUSTER_POLICIES = ("AmazonEKSClusterPolicy",)
NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""What kubelet itself needs. Pods get roles of their own: they do not reach the node's, which is behind one hop of the
metadata service. The VPC CNI is such a pod too, so AmazonEKS_CNI_Policy is not here."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role and what it may do."""

    name: Any
    arn: Any
    permissions: Sequence[pulumi.Resource]
    """To depend on: AWS lets a role be used before its permissions are there."""


def declare_role(
    name: str,
    trust: Mapping[str, Any],
    *,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    managed: Sequence[str] = (),
    inline: Mapping[str, Any] | None = None,
) -> Role:
    """Declares a role with AWS-managed policies and at most one of its own."""
    role = aws.iam.Role(name, assume_role_policy=json.dumps(trust), tags=dict(tags), opts=opts)
    permissions: list[pulumi.Resource] = [
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy.rpartition('/')[2]}", role=role.name, policy_arn=MANAGED + policy, opts=opts
        )
        for policy in managed
    ]
    if inline is not None:
        permissions.append(aws.iam.RolePolicy(name, role=role.id, policy=json.dumps(inline), opts=opts))
    return Role(role.name, role.arn, permissions)


def document(*statements: Mapping[str, Any]) -> dict[str, Any]:
    """A policy document of statements that allow something."""
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement} for statement in statements]}


def service_trust(service: str) -> dict[str, Any]:
    """Lets one AWS service take the role."""
    return document({"Principal": {"Service": service}, "Action": "sts:AssumeRole"})


def pod_trust(account: str, region: str, namespace: str, service_account: str) -> dict[str, Any]:
    """Lets EKS Pod Identity take the role for one service account, in clusters of one account and region.

    The request tags are those that EKS Pod Identity sends (EKS user guide, "EKS Pod Identity role").
    """
    return document(
        {
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                },
                "StringLike": {"aws:RequestTag/eks-cluster-arn": f"arn:aws:eks:{region}:{account}:cluster/*"},
            },
        }
    )
