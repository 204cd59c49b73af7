"""Karpenter's GPU nodes. They start slowly, so they are kept."""

from pulumi_kubernetes.apiextensions import CustomResource

CustomResource(
    "gpu",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "gpu"},
    spec={
        "limits": {"nvidia.com/gpu": 4},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g6.12xlarge"]},
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]},
                ],
                "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
            },
        },
    },
)
