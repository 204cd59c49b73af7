"""A model server on four GPUs, which says nothing of what it needs beside them."""

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
    "resources": {"limits": {"nvidia.com/gpu": "4"}},
}
pod = {
    "automount_service_account_token": False,
    "containers": [triton],
    "volumes": [{"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": "8Gi"}}],
}
k8s.apps.v1.Deployment(
    "score",
    metadata={"name": "score", "namespace": "fraud"},
    spec={
        "selector": {"match_labels": {"app": "score"}},
        "template": {"metadata": {"labels": {"app": "score"}}, "spec": pod},
    },
)
