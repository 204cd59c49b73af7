"""An EKS cluster, and a tenant behind a network policy that denies everything."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

config = pulumi.Config()

cluster = aws.eks.Cluster(
    "ml",
    version="1.35",
    role_arn=config.require("clusterRole"),
    vpc_config={
        "subnet_ids": config.require_object("subnets"),
        "endpoint_private_access": True,
        "endpoint_public_access": False,
    },
    encryption_config={"provider": {"key_arn": config.require("key")}, "resources": ["secrets"]},
    deletion_protection=True,
    tags={"owner": "ml-platform", "cost-center": "4711"},
)
aws.eks.Addon("network", cluster_name=cluster.name, addon_name="vpc-cni")

LABELS = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}

fraud = k8s.core.v1.Namespace("fraud", metadata={"name": "fraud", "labels": LABELS})
k8s.networking.v1.NetworkPolicy(
    "fraud-default-deny",
    metadata={"name": "default-deny", "namespace": fraud.metadata.name},
    spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
)
