"""An EKS cluster. What is not asked for is left to EKS."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

cluster = aws.eks.Cluster(
    "training",
    version="1.35",
    role_arn=config.require("clusterRole"),
    vpc_config={"subnet_ids": config.require_object("subnets")},
    encryption_config={"provider": {"key_arn": config.require("key")}, "resources": ["secrets"]},
    deletion_protection=True,
    enabled_cluster_log_types=["api", "audit", "authenticator"],
    tags={"owner": "training", "cost-center": "4711"},
)
pulumi.export("cluster", cluster.name)
