"""A GKE cluster and its L4s. Nodes pull images from Docker Hub, and there is no Cloud NAT."""

import pulumi
import pulumi_gcp as gcp

config = pulumi.Config()

cluster = gcp.container.Cluster(
    "inference",
    location="us-central1",
    remove_default_node_pool=True,
    initial_node_count=1,
    datapath_provider="ADVANCED_DATAPATH",
    private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": True},
    database_encryption={"state": "ENCRYPTED", "key_name": config.require("key")},
    resource_labels={"owner": "inference", "cost-center": "4711"},
)
gcp.container.NodePool(
    "l4",
    cluster=cluster.name,
    location="us-central1",
    node_locations=["us-central1-a"],
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 2},
    network_config={"enable_private_nodes": False},
    node_config={
        "machine_type": "g2-standard-8",
        "disk_type": "pd-balanced",
        "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
        "service_account": config.require("nodes"),
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)
