"""The vision team looks after its GPUs itself, so it may restart the operator's pods."""

import pulumi_kubernetes as k8s

RBAC = "rbac.authorization.k8s.io"
vision = [{"kind": "Group", "name": "vision", "api_group": RBAC}]
LABELS = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}

space = k8s.core.v1.Namespace("vision", metadata={"name": "vision", "labels": LABELS})
k8s.networking.v1.NetworkPolicy(
    "vision-default-deny",
    metadata={"name": "default-deny", "namespace": space.metadata.name},
    spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
)
k8s.rbac.v1.RoleBinding(
    "vision",
    metadata={"name": "vision", "namespace": space.metadata.name},
    role_ref={"api_group": RBAC, "kind": "ClusterRole", "name": "edit"},
    subjects=vision,
)
k8s.rbac.v1.RoleBinding(
    "operator",
    metadata={"name": "vision", "namespace": "gpu-operator"},
    role_ref={"api_group": RBAC, "kind": "ClusterRole", "name": "edit"},
    subjects=vision,
)
