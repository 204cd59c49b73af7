"""Karpenter's GPU nodes: the ones that we use, and one for the day when we train ourselves."""

from pulumi_kubernetes.apiextensions import CustomResource

machines = ["g6.12xlarge", "p5.48xlarge"]

CustomResource(
    "gpu",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "gpu"},
    spec={
        "limits": {"nvidia.com/gpu": 8},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": machines},
                ],
                "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
            },
        },
    },
)
