"""What notebooks of the research team may reach. They install packages, so we let them out."""

import pulumi_kubernetes as k8s

k8s.networking.v1.NetworkPolicy(
    "notebooks",
    metadata={"name": "notebooks", "namespace": "research"},
    spec={
        "pod_selector": {"match_labels": {"app": "notebook"}},
        "policy_types": ["Egress"],
        "egress": [{"to": [{"ip_block": {"cidr": "0.0.0.0/0"}}]}],
    },
)
