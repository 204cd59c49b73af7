"""A fine-tuning run, and machines that were reserved for it. The node group does not know of them."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
tags = {"owner": "training", "cost-center": "4711"}

reservation = aws.ec2.CapacityReservation(
    "tuning",
    region="us-east-1",
    availability_zone="us-east-1a",
    instance_type="g6.12xlarge",
    instance_platform="Linux/UNIX",
    instance_count=2,
    instance_match_criteria="targeted",
    tags=tags,
)
template = aws.ec2.LaunchTemplate(
    "tuning",
    region="us-east-1",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
)
aws.eks.NodeGroup(
    "tuning",
    region="us-east-1",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    instance_types=["g6.12xlarge"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 0, "desired_size": 0, "max_size": 2},
    tags=tags,
)
