"""L4s of a cluster that is there. Nothing says who the nodes are."""

import pulumi
import pulumi_gcp as gcp

gcp.container.NodePool(
    "l4",
    cluster=pulumi.Config().require("cluster"),
    location="us-central1",
    node_locations=["us-central1-a"],
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 2},
    node_config={
        "machine_type": "g2-standard-8",
        "disk_type": "pd-balanced",
        "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
        "resource_labels": {"owner": "inference", "cost-center": "4711"},
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)
