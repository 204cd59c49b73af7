"""A namespace for the fraud team. Nobody else reaches its pods."""

import pulumi_kubernetes as k8s

LABELS = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}

fraud = k8s.core.v1.Namespace("fraud", metadata={"name": "fraud", "labels": LABELS})

k8s.networking.v1.NetworkPolicy(
    "fraud-default-deny",
    metadata={"name": "default-deny", "namespace": fraud.metadata.name},
    spec={"pod_selector": {}, "policy_types": ["Ingress"]},
)
