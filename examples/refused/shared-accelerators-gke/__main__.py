"""L4s for the notebooks of two teams. Four of them take turns on a GPU."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

LABELS = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}

gcp.container.NodePool(
    "l4",
    cluster=pulumi.Config().require("cluster"),
    location="us-central1",
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 2},
    node_config={
        "machine_type": "g2-standard-8",
        "service_account": "nodes@example-inference.iam.gserviceaccount.com",
        "disk_type": "pd-balanced",
        "guest_accelerators": [
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpu_sharing_config": {"gpu_sharing_strategy": "TIME_SHARING", "max_shared_clients_per_gpu": 4},
            },
        ],
        "resource_labels": {"owner": "research", "cost-center": "4711"},
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)

for team in ("speech", "vision"):
    space = k8s.core.v1.Namespace(team, metadata={"name": team, "labels": LABELS})
    k8s.networking.v1.NetworkPolicy(
        f"{team}-default-deny",
        metadata={"name": "default-deny", "namespace": space.metadata.name},
        spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
    )
    k8s.core.v1.ResourceQuota(
        f"{team}-share",
        metadata={"name": "share", "namespace": space.metadata.name},
        spec={"hard": {"requests.nvidia.com/gpu": "4"}},
    )
    k8s.core.v1.LimitRange(
        f"{team}-defaults",
        metadata={"name": "defaults", "namespace": space.metadata.name},
        spec={"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]},
    )
