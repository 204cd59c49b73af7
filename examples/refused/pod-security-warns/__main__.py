"""A namespace for the vision team. Pods that are not restricted get a warning."""

import pulumi_kubernetes as k8s

vision = k8s.core.v1.Namespace(
    "vision",
    metadata={
        "name": "vision",
        "labels": {
            "pod-security.kubernetes.io/warn": "restricted",
        },
    },
)
k8s.networking.v1.NetworkPolicy(
    "vision-default-deny",
    metadata={"name": "default-deny", "namespace": vision.metadata.name},
    spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
)
