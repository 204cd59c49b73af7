"""A GKE cluster of a platform whose limits ask for signed images."""

import pulumi
import pulumi_gcp as gcp

config = pulumi.Config()

gcp.container.Cluster(
    "inference",
    location="us-central1",
    remove_default_node_pool=True,
    initial_node_count=1,
    datapath_provider="ADVANCED_DATAPATH",
    private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": True},
    database_encryption={"state": "ENCRYPTED", "key_name": config.require("key")},
    resource_labels={"owner": "inference", "cost-center": "4711"},
)
