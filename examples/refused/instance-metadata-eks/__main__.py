"""A node group of L4s on an EKS cluster that is there already."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

aws.eks.NodeGroup(
    "l4",
    region="us-east-1",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    instance_types=["g6.xlarge"],
    ami_type="AL2023_x86_64_NVIDIA",
    scaling_config={"min_size": 0, "desired_size": 1, "max_size": 4},
    tags={"owner": "recommendations", "cost-center": "4711"},
)
