"""The role of the GPU nodes, whose pods load models from S3."""

import json

import pulumi_aws as aws

nodes = aws.iam.Role(
    "gpu-nodes",
    assume_role_policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ],
        }
    ),
    tags={"owner": "inference", "cost-center": "4711"},
)
for policy in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"):
    aws.iam.RolePolicyAttachment(policy, role=nodes.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}")
# Models come and go, and so do their buckets.
models = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
aws.iam.RolePolicy("models", role=nodes.name, policy=json.dumps({"Version": "2012-10-17", "Statement": [models]}))
