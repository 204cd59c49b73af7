"""A model server. Spot machines cost a third, so it runs there."""

import pulumi_kubernetes as k8s

triton = {
    "name": "triton",
    "image": "nvcr.io/nvidia/tritonserver:26.10-py3",
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi", "nvidia.com/gpu": "1"}},
}
pod = {
    "automount_service_account_token": False,
    "node_selector": {"cloud.google.com/gke-spot": "true"},
    "containers": [triton],
}
k8s.apps.v1.Deployment(
    "score",
    metadata={"name": "score", "namespace": "fraud"},
    spec={
        "replicas": 2,
        "selector": {"match_labels": {"app": "score"}},
        "template": {"metadata": {"labels": {"app": "score"}}, "spec": pod},
    },
)
