"""A Lustre file system that feeds the training nodes."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

scratch = aws.fsx.LustreFileSystem(
    "training-data",
    deployment_type="PERSISTENT_2",
    per_unit_storage_throughput=250,
    storage_capacity=4800,
    subnet_ids=config.require("subnet"),
    kms_key_id=config.require("key"),
    opts=pulumi.ResourceOptions(protect=True),
)
pulumi.export("mount", scratch.mount_name)
