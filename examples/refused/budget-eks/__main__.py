"""CPU nodes that prepare training data. They scale with the queue, and there is always a queue."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

template = aws.ec2.LaunchTemplate(
    "workers",
    region="us-east-1",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
)
aws.eks.NodeGroup(
    "workers",
    region="us-east-1",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    instance_types=["m7i.8xlarge"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 0, "desired_size": 2, "max_size": 30},
    tags={"owner": "training", "cost-center": "4711"},
)
