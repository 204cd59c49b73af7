"""A Ray cluster as the first guide on the web writes it."""

import pulumi_kubernetes as k8s

container = {
    "name": "ray-head",
    "image": "vllm/vllm-openai:v0.32.0",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi"}},
}

k8s.apiextensions.CustomResource(
    "training",
    api_version="ray.io/v1",
    kind="RayCluster",
    metadata={"name": "training", "namespace": "assistants"},
    spec={
        "rayVersion": "2.60.1",
        "headGroupSpec": {
            "rayStartParams": {},
            "template": {"spec": {"automountServiceAccountToken": False, "containers": [container]}},
        },
    },
)
