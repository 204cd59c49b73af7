"""One of each thing that a recorder has to get right."""

import json

import parts
import pulumi
import pulumi_aws as aws
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s
from pulumi_kubernetes.yaml import ConfigGroup as OldConfigGroup
from pulumi_kubernetes.yaml.v2 import ConfigGroup

config = pulumi.Config()
token = config.require_secret("token")
port = config.require_secret_int("port")
database = config.require_object("database")
pulumi.log.warn(f"region {aws.get_region().region}, size {config.require_int('size')}")


def tagged(args):
    """A transform of the whole stack, in the SDK's present form."""
    if args.type_ == "aws:iam/role:Role":
        return pulumi.ResourceTransformResult({**args.props, "tags": {"by": "stack"}}, args.opts)
    return None


pulumi.runtime.register_resource_transform(tagged)


def protected(args):
    """A transform of one component: it holds for what is inside it, too."""
    if args.type_ == "aws:kms/key:Key":
        args.opts.protect = True
        return pulumi.ResourceTransformResult({**args.props, "enableKeyRotation": True}, args.opts)
    return None


def renamed(args):
    """A transformation, the form that came before."""
    args.props["description"] = "changed"
    return pulumi.ResourceTransformationResult(args.props, args.opts)


class Platform(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__(
            "everything:index:Platform",
            name,
            {"environment": "dev"},
            pulumi.ResourceOptions(transforms=[protected], retain_on_delete=True),
        )
        child = pulumi.ResourceOptions(parent=self)
        trust = aws.iam.get_policy_document(
            statements=[
                {
                    "actions": ["sts:AssumeRole"],
                    "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
                }
            ]
        )
        self.role = aws.iam.Role(f"{name}-node", assume_role_policy=trust.json, opts=child)
        self.key = aws.kms.Key(
            f"{name}-key", description="x", opts=pulumi.ResourceOptions(parent=self, transformations=[renamed])
        )
        self.cluster = aws.eks.Cluster(
            name,
            name="given",
            role_arn=self.role.arn,
            vpc_config={"subnet_ids": ["subnet-0123456789abcdef0"], "endpoint_public_access": False},
            encryption_config={"provider": {"key_arn": self.key.arn}, "resources": ["secrets"]},
            opts=child,
        )
        self.nodes = parts.NodeGroup(f"{name}-h100", self.cluster, self.role, child)
        self.register_outputs({})


platform = Platform("main")
kubeconfig = pulumi.Output.json_dumps({"clusters": [{"cluster": {"server": platform.cluster.endpoint}}]})
later = k8s.Provider("later", kubeconfig=kubeconfig)
now = k8s.Provider("now", kubeconfig="{}", cluster_identifier="now")
inside = pulumi.ResourceOptions(provider=later, depends_on=[platform.nodes])

namespace = k8s.core.v1.Namespace("team", metadata={"name": "team"}, opts=inside)
known = k8s.core.v1.Namespace("known", metadata={"name": "known"}, opts=pulumi.ResourceOptions(provider=now))
k8s.core.v1.ConfigMap(
    "uses",
    metadata={"name": "uses", "namespace": namespace.metadata["name"], "annotations": {"k": known.metadata["name"]}},
    data={"a/b": "slash", "c~d": "tilde", "port": port.apply(str), "host": database["host"]},
    opts=inside,
)
k8s.core.v1.Secret("hf", metadata={"name": "hf"}, string_data={"token": token}, opts=inside)
k8s.apps.v1.Deployment(
    "llama",
    metadata={"name": "llama"},
    spec={
        "replicas": 2,
        "selector": {"matchLabels": {"app": "llama"}},
        "template": {
            "metadata": {"labels": {"app": "llama"}},
            "spec": {
                "containers": [
                    {
                        "name": "vllm",
                        "image": "vllm/vllm-openai:v0.1",
                        "env": [
                            {"name": "TOKEN", "value": token},
                            {"name": "PASSWORD", "value": database["password"]},
                            {"name": "PLAIN", "value": pulumi.Output.secret("hunter2-in-the-clear")},
                            {"name": "URL", "value": pulumi.Output.concat("https://", platform.cluster.endpoint)},
                        ],
                        "resources": {"limits": {"nvidia.com/gpu": 4, "memory": "1.5Gi"}},
                    }
                ]
            },
        },
    },
    opts=inside,
)
k8s.helm.v3.Release(
    "operator",
    chart="gpu-operator",
    namespace="gpu-operator",
    repository_opts={"repo": "https://charts.example"},
    values={"driver": {"enabled": False}, "ngc": {"key": token}, "empty": {}, "none": None, "list": []},
    opts=inside,
)
manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "decoded"}, "data": {"yes": "no"}}
OldConfigGroup("old-group", yaml=[json.dumps(manifest)], opts=inside)
ConfigGroup("new-group", objs=[manifest], opts=inside)
pulumi.CustomResource("kubernetes:apps/v1:DaemonSet", "raw", {"apiVersion": "apps/v1", "kind": "DaemonSet"}, inside)

gke = gcp.container.Cluster("gke", location="us-central1", initial_node_count=1)
gcp.container.NodePool(
    "l4",
    cluster=gke.id,
    location=gke.location,
    autoscaling={"total_max_node_count": 4},
    node_config={"machine_type": "g2-standard-12", "guest_accelerators": [{"type": "nvidia-l4", "count": 1}]},
)

shared = pulumi.StackReference("organization/network/dev")
existing = aws.ec2.Vpc.get("existing", "vpc-0123456789abcdef0")
aws.ec2.Subnet("in-existing", vpc_id=existing.id, cidr_block="10.0.0.0/24", tags={"zone": existing.cidr_block})
aws.ec2.Subnet("in-shared", vpc_id=shared.require_output("vpc"), cidr_block="10.0.1.0/24")
aws.s3.BucketObject(
    "asset",
    bucket="bucket",
    source=pulumi.AssetArchive({"a.txt": pulumi.StringAsset("in the asset")}),
    content=aws.get_caller_identity_output().account_id,
)
pulumi.export("endpoint", platform.cluster.endpoint)
pulumi.export("token", token)
