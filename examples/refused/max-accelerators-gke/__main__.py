"""Four L4s at most, for a GKE cluster that is there already."""

import pulumi
import pulumi_gcp as gcp

gcp.container.NodePool(
    "l4",
    cluster=pulumi.Config().require("cluster"),
    location="us-central1",
    autoscaling={"min_node_count": 0, "max_node_count": 4},
    node_config={
        "machine_type": "g2-standard-8",
        "service_account": "nodes@example-inference.iam.gserviceaccount.com",
        "disk_type": "pd-balanced",
        "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
        "resource_labels": {"owner": "inference", "cost-center": "4711"},
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)
