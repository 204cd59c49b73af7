"""A file system for weights that all nodes share."""

import pulumi
import pulumi_aws as aws

aws.efs.FileSystem(
    "weights",
    throughput_mode="elastic",
    tags={"owner": "inference", "cost-center": "4711"},
    opts=pulumi.ResourceOptions(protect=True),
)
