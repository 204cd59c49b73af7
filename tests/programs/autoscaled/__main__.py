"""One node group in a cluster that exists; the configuration says how large it may be."""

import pulumi
import pulumi_aws as aws

from gpuyard.components.node_groups.aws import NodeGroup, NodeGroupSpec

config = pulumi.Config()
nodes = {"min": config.require_int("min"), "max": config.require_int("max")}
cloud = aws.Provider("cloud", region="us-east-1")
NodeGroup(
    "l40s",
    NodeGroupSpec.model_validate({"machine": "g6e.4xlarge", "nodes": nodes}),
    cluster_name=config.require("cluster"),
    node_role_arn=config.require("role"),
    subnets={"us-east-1a": config.require("subnet")},
    kubernetes_version="1.35",
    tags={"stack": pulumi.get_stack()},
    opts=pulumi.ResourceOptions(providers=[cloud]),
)
