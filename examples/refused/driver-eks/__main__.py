"""One RTX PRO 4500 at a time, on a release of EKS's image that is older than its support of them."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

template = aws.ec2.LaunchTemplate(
    "trial",
    region="us-east-1",
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
)
aws.eks.NodeGroup(
    "trial",
    region="us-east-1",
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("nodeRole"),
    subnet_ids=config.require_object("subnets"),
    ami_type="AL2023_x86_64_NVIDIA",
    version="1.35",
    release_version="1.35.6-20260714",
    instance_types=["g7.2xlarge"],
    launch_template={"id": template.id, "version": template.latest_version},
    scaling_config={"min_size": 0, "desired_size": 0, "max_size": 2},
    tags={"owner": "research", "cost-center": "4711"},
)
