"""Resources of each kind that a run which is cut off may leave behind: named by the engine, named by the cloud, and an
object of Kubernetes."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes

from gpuyard.components import kubernetes

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
TAGS = {"stack": pulumi.get_stack()}

cloud = pulumi.ResourceOptions(provider=aws.Provider("cloud", region="us-east-1"))
aws.iam.Role("control-plane", assume_role_policy=json.dumps(TRUST), tags=TAGS, opts=cloud)
aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", tags=TAGS | {"Name": "network"}, opts=cloud)

cluster = pulumi_kubernetes.Provider("cluster", cluster_identifier="cut-off", enable_server_side_apply=True)
label = pulumi.Config().get("label") or "first"
space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cut-off", "labels": {"a": label}}}
kubernetes.declare("space", space, pulumi.ResourceOptions(provider=cluster))
