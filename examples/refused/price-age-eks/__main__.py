"""Two L4s in Frankfurt. The catalogue knows no price there, so somebody wrote one down, a year and a half ago."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

template = aws.ec2.LaunchTemplate(
    "l4",
    region="eu-central-1",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
)
aws.eks.NodeGroup(
    "l4",
    region="eu-central-1",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    instance_types=["g6.xlarge"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 1, "desired_size": 2, "max_size": 4},
    tags={"owner": "inference", "cost-center": "4711"},
)
