"""A component of a program's own, in a module of its own."""

import pulumi
import pulumi_aws as aws


class NodeGroup(pulumi.ComponentResource):
    def __init__(self, name, cluster, role, opts=None):
        super().__init__("everything:index:NodeGroup", name, {"machine": "p5.48xlarge", "nodes": {"max": 4}}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.template = aws.ec2.LaunchTemplate(
            name,
            metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
            network_interfaces=[{"security_groups": [cluster.vpc_config.cluster_security_group_id]}],
            tag_specifications=[{"resource_type": "instance", "tags": {"owner": "ml"}}],
            opts=child,
        )
        self.group = aws.eks.NodeGroup(
            name,
            cluster_name=cluster.name,
            node_role_arn=role.arn,
            subnet_ids=["subnet-0123456789abcdef0"],
            instance_types=["p5.48xlarge"],
            scaling_config={"min_size": 0, "desired_size": 2, "max_size": 4},
            launch_template={"id": self.template.id, "version": self.template.latest_version.apply(str)},
            opts=pulumi.ResourceOptions(
                parent=self,
                ignore_changes=["scaling_config.desired_size"],
                protect=True,
                aliases=[pulumi.Alias(name="old"), pulumi.Alias(name="root", parent=pulumi.ROOT_STACK_RESOURCE)],
            ),
        )
        self.register_outputs({"arn": self.group.arn})
