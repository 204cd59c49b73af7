"""L4s for a GKE cluster, with NVIDIA's GPU Operator as on all our clusters. GKE installs the driver by itself."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

gcp.container.NodePool(
    "l4",
    cluster=pulumi.Config().require("cluster"),
    location="us-central1",
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 2},
    node_config={
        "machine_type": "g2-standard-8",
        "service_account": "nodes@example-inference.iam.gserviceaccount.com",
        "disk_type": "pd-balanced",
        "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
        "resource_labels": {"owner": "inference", "cost-center": "4711"},
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)
k8s.helm.v3.Release(
    "gpu-operator",
    chart="gpu-operator",
    version="v26.7.0",
    namespace="gpu-operator",
    repository_opts={"repo": "https://helm.ngc.nvidia.com/nvidia"},
    values={
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": True},
    },
)
