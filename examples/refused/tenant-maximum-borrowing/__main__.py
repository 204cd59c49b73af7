"""Two teams lend each other GPUs. The namespace of one has a quota from the time before."""

import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource

tenant = "fraud"
labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}
k8s.core.v1.Namespace(tenant, metadata={"name": tenant, "labels": labels})
k8s.networking.v1.NetworkPolicy(
    "default-deny",
    metadata={"name": "default-deny", "namespace": tenant},
    spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
)
k8s.core.v1.ResourceQuota(
    "gpus",
    metadata={"name": "gpus", "namespace": tenant},
    spec={"hard": {"requests.nvidia.com/gpu": "8"}},
)
k8s.core.v1.LimitRange(
    "defaults",
    metadata={"name": "defaults", "namespace": tenant},
    spec={"limits": [{"type": "Container", "default_request": {"cpu": "100m", "memory": "256Mi"}}]},
)
teams = {"fraud": {"borrowingLimit": "8"}, "vision": {"borrowingLimit": "0"}}
for team, borrowing in teams.items():
    quota = {"name": "nvidia.com/gpu", "nominalQuota": "8", **borrowing}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "h100", "resources": [quota]}]}
    CustomResource(
        team,
        api_version="kueue.x-k8s.io/v1beta2",
        kind="ClusterQueue",
        metadata={"name": team},
        spec={"cohortName": "all", "namespaceSelector": {}, "resourceGroups": [group]},
    )
CustomResource(
    "default",
    api_version="kueue.x-k8s.io/v1beta2",
    kind="LocalQueue",
    metadata={"name": "default", "namespace": tenant},
    spec={"clusterQueue": "fraud"},
)
