"""Eight L4s at most, in an account that has never had so many."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

account = aws.Provider("inference", region="us-east-1", allowed_account_ids=["111122223333"])
template = aws.ec2.LaunchTemplate(
    "l4",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
    opts=pulumi.ResourceOptions(provider=account),
)
aws.eks.NodeGroup(
    "l4",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    instance_types=["g6.12xlarge"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 0, "desired_size": 1, "max_size": 2},
    tags={"owner": "inference", "cost-center": "4711"},
    opts=pulumi.ResourceOptions(provider=account),
)
